"""What makes a check pass, and what a certificate says of all of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from leadline.calibration import Certificate, Check, check_place
from leadline.calibration.checks import DRAWN_CHECKS, FALSE_ALARM, equal, inside
from leadline.calibration.coverage import ITEMS, fewest_covered
from leadline.errors import UsageError


def a_check(found: float = 100.0) -> Check:
    return equal("suites", "oracle", "quick", "score", true=100.0, found=found, n=5)


def certificate(*checks: Check) -> Certificate:
    created = datetime(2026, 1, 2, tzinfo=UTC)
    return Certificate(checks, ("quick",), {}, 42, True, "t", created, 1.25, 5, {"vt": 1}, {"leadline": "0"})


def test_numbers_may_differ_by_rounding_and_texts_not_at_all() -> None:
    assert a_check(100.0 - 1e-12).passed
    assert not a_check(99.9).passed
    assert not equal("effective length", "limit", "quick", "length", true="2K", found="<2K", n=5).passed


def test_the_truth_must_lie_in_the_interval() -> None:
    for low, high, passed in ((40.0, 60.0, True), (50.0, 60.0, True), (51.0, 60.0, False), (30.0, 49.0, False)):
        check = inside("curve", "logistic", "vt", "score", true=50.0, found=55.0, interval=(low, high), n=9)
        assert check.passed is passed
        assert (check.low, check.high) == (low, high)


def test_one_failure_fails_a_certificate_and_nothing_certifies_nothing() -> None:
    assert certificate(a_check(), a_check()).passed
    assert not certificate(a_check(), a_check(0.0)).passed
    assert not certificate().passed
    assert "oracle (score)" in certificate(a_check(), a_check(0.0)).sentence


def test_a_certificate_is_json_with_every_check(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    certificate(a_check(), a_check(0.0)).write(path)
    data = json.loads(path.read_text())
    assert data["passed"] is False
    assert data["created"] == "2026-01-02T00:00:00+00:00"
    assert data["versions"] == {"leadline": "0"}
    assert data["tasks"] == {"vt": 1}
    assert [check["passed"] for check in data["checks"]] == [True, False]
    assert {"found", "true", "n", "passed"} <= set(data["checks"][0])


def test_a_place_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        check_place(tmp_path)
    with pytest.raises(UsageError, match="there is no folder"):
        check_place(tmp_path / "none" / "certificate.json")


def test_intervals_that_cover_too_little_are_found_out() -> None:
    from scipy.stats import binom

    low = fewest_covered(80)
    assert binom.cdf(round(80 * low) - 1, 80, 0.95) <= FALSE_ALARM / DRAWN_CHECKS
    assert binom.cdf(round(80 * low) - 1, 80, 0.7) > 0.9


def test_wilson_covers_what_is_claimed_of_it() -> None:
    from scipy.stats import binom

    from leadline.analysis.intervals import wilson

    for true in (0.8, 0.5, 0.2):
        inside = [count for count in range(ITEMS + 1) if wilson(count, ITEMS)[0] <= true <= wilson(count, ITEMS)[1]]
        assert float(sum(binom.pmf(inside, ITEMS, true))) == pytest.approx(0.957, abs=0.0025)

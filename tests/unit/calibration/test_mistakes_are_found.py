"""A calibration of a tool that is wrong fails: each mistake is put in and must be found out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from leadline.analysis import cells
from leadline.calibration.coverage import coverage_checks, measure_curve
from leadline.calibration.fixed import tie_checks
from leadline.calibration.lengths import suite_checks
from leadline.calibration.measuring import Bench, Measured
from leadline.models import curves
from leadline.models.readers import READERS, ReaderKind


def no_interval(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    return successes / trials, successes / trials


def one_too_few(index: int, percent: int) -> bool:
    return index < percent - 1


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, 42, True, lambda message: None)


@pytest.fixture(scope="module")
def curve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    yield measure_curve(Bench(tmp_path_factory.mktemp("curve"), 42, True, lambda message: None), 15)


def test_intervals_that_are_too_narrow(curve: Measured, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(check.passed for check in coverage_checks(curve))
    monkeypatch.setattr(cells, "wilson", no_interval)
    failed = [check.what for check in coverage_checks(curve) if not check.passed]
    assert "a cell's interval, one target" in failed


def test_a_limit_that_is_not_kept(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        READERS, "limit", ReaderKind("knows all", lambda options: READERS["oracle"].make({}), ("tokens",))
    )
    failed = {
        (check.reader.partition("?")[0], check.what) for check in suite_checks(bench, "quick", 1) if not check.passed
    }
    assert failed == {("limit", "scores"), ("limit", "effective length")}


def test_a_tie_that_is_none(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "right_of_hundred", one_too_few)
    failed = [check.what for check in tie_checks(bench) if not check.passed]
    assert failed == ["scores", "effective length"]

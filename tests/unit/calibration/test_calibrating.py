"""Calibrations: the small one in every run of the tests, the whole one where there is time."""

from __future__ import annotations

import pytest

from leadline.calibration import Certificate, calibrate
from leadline.errors import UsageError


@pytest.fixture(scope="module")
def small() -> Certificate:
    return calibrate(quick=True, offline=True)


def test_the_tool_finds_what_is_true(small: Certificate) -> None:
    assert small.passed, small.sentence
    assert {check.group for check in small.checks} == {
        "suites",
        "effective length",
        "fixed score",
        "curve",
        "coverage",
        "position",
        "failure kind",
    }


def test_it_says_of_what_it_speaks(small: Certificate) -> None:
    assert small.suites == ("quick",)
    assert small.tokenizer == "tiktoken/cl100k_base"
    assert small.tasks["niah_single_1"] >= 1
    assert {"leadline", "python", "numpy", "scipy", "tiktoken"} <= set(small.versions)
    assert small.trials > 1000


def test_an_unknown_suite_is_named() -> None:
    with pytest.raises(UsageError, match="'rulre'"):
        calibrate(["rulre"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [42, 1])
def test_the_whole_calibration_passes(seed: int) -> None:
    whole = calibrate(seed=seed, offline=True)
    assert whole.passed, whole.sentence
    assert len(whole.suites) > 5
    assert whole.took_s < 600

"""Intervals of proportions and of differences."""

from __future__ import annotations

import math

import pytest
from scipy.stats import binomtest

from leadline.analysis.intervals import difference_interval, simultaneous_confidence, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_against_published_values(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (3, 5), (92, 100), (500, 500)])
def test_wilson_against_its_formula(successes: int, trials: int) -> None:
    z, share = 1.959963984540054, successes / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2))
    assert wilson(successes, trials) == pytest.approx((centre - half, centre + half), abs=1e-9)


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (7, 9), (92, 100), (500, 500)])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.995])
def test_wilson_against_another_implementation(successes: int, trials: int, confidence: float) -> None:
    other = binomtest(successes, trials).proportion_ci(confidence_level=confidence, method="wilson")
    assert wilson(successes, trials, confidence) == pytest.approx((other.low, other.high), abs=1e-12)


def test_more_confidence_is_a_wider_interval() -> None:
    narrow, wide = wilson(50, 100, 0.9), wilson(50, 100, 0.99)
    assert wide[0] < narrow[0] < 0.5 < narrow[1] < wide[1]


def test_no_trial_has_no_interval() -> None:
    with pytest.raises(ValueError, match="at least one trial"):
        wilson(0, 0)
    with pytest.raises(ValueError, match="3 successes of 2"):
        wilson(3, 2)


def test_a_difference_adds_distances_as_squares() -> None:
    assert difference_interval(0.9, (0.8, 0.95), 0.5, (0.4, 0.6)) == pytest.approx(
        (0.4 - math.hypot(0.1, 0.1), 0.4 + math.hypot(0.05, 0.1))
    )


def test_a_difference_from_a_known_number_keeps_the_interval() -> None:
    assert difference_interval(90, (80, 95), 85, (85, 85)) == pytest.approx((-5, 10))


@pytest.mark.parametrize(("comparisons", "confidence"), [(1, 0.95), (2, 0.95), (6, 1 - 0.1 / 6), (13, 1 - 0.1 / 13)])
def test_each_comparison_gets_its_share_of_the_error(comparisons: int, confidence: float) -> None:
    assert simultaneous_confidence(comparisons) == pytest.approx(confidence)

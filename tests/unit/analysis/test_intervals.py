"""Intervals of proportions and of means of proportions."""

from __future__ import annotations

import math

import pytest

from leadline.analysis.intervals import mean_interval, wilson


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


def test_more_confidence_is_a_wider_interval() -> None:
    narrow, wide = wilson(50, 100, 0.9), wilson(50, 100, 0.99)
    assert wide[0] < narrow[0] < 0.5 < narrow[1] < wide[1]


def test_no_trial_has_no_interval() -> None:
    with pytest.raises(ValueError, match="at least one trial"):
        wilson(0, 0)


def test_mean_of_one_keeps_its_interval() -> None:
    assert mean_interval([0.9], [(0.8, 0.95)]) == pytest.approx((0.8, 0.95))


def test_mean_of_equal_estimates_narrows_by_the_root_of_their_number() -> None:
    low, high = mean_interval([0.5] * 4, [(0.4, 0.7)] * 4)
    assert (low, high) == pytest.approx((0.45, 0.6))


def test_a_mean_needs_one_interval_for_each_estimate() -> None:
    with pytest.raises(ValueError, match="at least one"):
        mean_interval([], [])
    with pytest.raises(ValueError, match="argument 2"):
        mean_interval([0.5, 0.6], [(0.4, 0.7)])

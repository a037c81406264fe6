"""Confidence intervals of proportions and of differences."""

from __future__ import annotations

import math

CONFIDENCE = 0.95

Interval = tuple[float, float]


def wilson(successes: int, trials: int, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval of a proportion, both ends 0 to 1.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", 1927. It stays inside
    [0, 1] and does not collapse where every trial succeeds.

    Raises:
        ValueError: no trial, or more successes than trials.
    """
    from scipy.special import ndtri

    if trials < 1:
        raise ValueError("an interval needs at least one trial")
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials")
    z, share = float(ndtri((1 + confidence) / 2)), successes / trials
    centre = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    # At the ends the two terms are equal, and rounding must not make them differ.
    low = 0.0 if successes == 0 else (centre - half) / scale
    high = 1.0 if successes == trials else (centre + half) / scale
    return low, high


def difference_interval(one: float, of_one: Interval, other: float, of_other: Interval) -> Interval:
    """Interval of `one` - `other` from the interval of each, in their unit.

    The distances that matter for an end add up as squares: Zou and Donner, "Construction of confidence limits about
    effect measures", 2008 (MOVER), for independent estimates. Estimates that rise and fall together have a narrower
    interval, so that leaving their correlation out errs on the safe side.
    """
    difference = one - other
    below = math.hypot(one - of_one[0], of_other[1] - other)
    above = math.hypot(of_one[1] - one, other - of_other[0])
    return difference - below, difference + above


def simultaneous_confidence(comparisons: int, confidence: float = CONFIDENCE) -> float:
    """Level of two-sided intervals whose single ends are all right together at `confidence`, after Bonferroni.

    Each of the comparisons looks at one end, which errs with (1 - confidence) / comparisons.
    """
    return 1 - 2 * (1 - confidence) / max(2, comparisons)

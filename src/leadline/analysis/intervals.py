"""Confidence intervals of proportions and of their means."""

from __future__ import annotations

import math
from collections.abc import Sequence

CONFIDENCE = 0.95


def wilson(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval of a proportion, both ends 0 to 1.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", 1927. It stays inside
    [0, 1] and keeps its coverage near 0 and 1, where these scores live.

    Raises:
        ValueError: no trial, or more successes than trials.
    """
    from scipy.stats import binomtest

    if trials < 1:
        raise ValueError("an interval needs at least one trial")
    interval = binomtest(successes, trials).proportion_ci(confidence_level=confidence, method="wilson")
    return float(interval.low), float(interval.high)


def mean_interval(points: Sequence[float], intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Interval of the mean of independent estimates, in their unit, from the interval of each.

    The distances to the ends add up as squares, each side by itself: Zou and Donner, "Construction of confidence
    limits about effect measures", 2008, which is Newcombe's method for differences, generalised. One estimate gives
    its own interval back.

    Raises:
        ValueError: no estimate, or not one interval for each.
    """
    if not points:
        raise ValueError("a mean needs at least one estimate")
    pairs = list(zip(points, intervals, strict=True))
    mean = math.fsum(points) / len(points)
    below = math.hypot(*(point - low for point, (low, _) in pairs)) / len(points)
    above = math.hypot(*(high - point for point, (_, high) in pairs)) / len(points)
    return mean - below, mean + above

"""Means over tasks and lengths, and their intervals: tasks are strata, and an item is one unit at all its lengths."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from leadline.analysis.intervals import CONFIDENCE, Interval

ItemScores = Sequence[tuple[Hashable, float]]
"""Scores 0 to 1, each with the item that it belongs to."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """What an interval needs to know of one task.

    Attributes:
        mean: the task's figure, 0 to 1.
        items: independent items that it rests on; over several lengths, those of the length with the fewest.
        variance: of `mean`; None where one item cannot tell.
    """

    mean: float
    items: int
    variance: float | None


def make_stratum(parts: Sequence[tuple[float, ItemScores]]) -> Stratum:
    """A task's mean over one or more lengths, with weights that add up to 1.

    Items are the units: what an item adds to the figure at all lengths is summed before it is squared, so that
    lengths may be correlated in any way. Items that are missing at some lengths are allowed for. Source: the
    linearised ("ultimate cluster") variance of survey sampling, Cochran, "Sampling techniques", 3rd ed., chapter 9A.

    Raises:
        ValueError: a part has no score.
    """
    if not parts or not all(scores for _, scores in parts):
        raise ValueError("a mean over lengths needs a score at each")
    total, influence = 0.0, defaultdict[Hashable, float](float)
    for weight, scores in parts:
        mean = math.fsum(score for _, score in scores) / len(scores)
        total += weight * mean
        for item, score in scores:
            influence[item] += weight * (score - mean) / len(scores)
    items = min(len({item for item, _ in scores}) for _, scores in parts)
    count = len(influence)
    squares = math.fsum(value * value for value in influence.values())
    return Stratum(total, items, None if items < 2 else squares * count / (count - 1))


def stratified_interval(strata: Sequence[Stratum], confidence: float = CONFIDENCE) -> Interval:
    """Interval of the plain mean over the strata, both ends 0 to 1.

    Korn and Graubard, "Confidence intervals for proportions with small expected number of positive counts estimated
    from survey data", 1998: the exact binomial (Clopper-Pearson) limits with the number of trials that would give
    the variance found. With strata k = 1 ... K of n_k items, means p_k of variance v_k, mean p:

        s = sum of 1 / n_k, over K^2                      1 / s is the number of trials of one plain sample
        v = sum of v_k, over K^2                          p_k (1 - p_k) is at most p (1 - p) on average
        r = (v + s^2) / (s p (1 - p) + s^2)               how much less the strata vary than a plain sample
        n = (z / t)^2 / (s r)                             z normal, t Student with sum of (n_k - 1) degrees
        low, high = the quantiles of Beta(p n, n - p n + 1) and Beta(p n + 1, n - p n)

    The two s^2 are ours: one trial that misses by all there is to miss, added to both variances. It keeps a few
    small deviations (a chain with one name missing) from passing for proof that no trial ever fails wholly, and it
    makes n the number of all trials where every answer is right. A stratum of one item cannot tell its variance and
    gets p (1 - p).

    Raises:
        ValueError: no stratum.
    """
    from scipy.special import betaincinv, ndtri, stdtrit

    if not strata:
        raise ValueError("a mean needs at least one stratum")
    number = len(strata)
    mean = min(1.0, max(0.0, math.fsum(stratum.mean for stratum in strata) / number))
    spread = mean * (1 - mean)
    sampling = math.fsum(1 / stratum.items for stratum in strata) / number**2
    variance = math.fsum(spread / stratum.items if stratum.variance is None else stratum.variance for stratum in strata)
    ratio = (variance / number**2 + sampling**2) / (sampling * spread + sampling**2)
    tail = (1 - confidence) / 2
    degrees = sum(stratum.items - 1 for stratum in strata)
    heavier = float(ndtri(tail) / stdtrit(degrees, tail)) if degrees else 1.0
    trials = heavier**2 / (sampling * ratio)
    hits, misses = mean * trials, (1 - mean) * trials
    # A mean of exactly 0 or 1 makes one parameter 0, where the quantile is that end itself; sums may miss it by a hair.
    tiny = 1e-9
    low = 0.0 if hits < tiny else float(betaincinv(hits, misses + 1, tail))
    high = 1.0 if misses < tiny else float(betaincinv(hits + 1, misses, 1 - tail))
    return low, high

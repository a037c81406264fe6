"""The middle of the context against its ends."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from leadline.analysis.intervals import CONFIDENCE, Interval
from leadline.analysis.placed import DEEPEST, Placed

MIDDLE = (DEEPEST / 3, 2 * DEEPEST / 3)
"""The middle third: from its first end on, and short of its second."""

Part = Literal["middle", "ends"]


@dataclass(frozen=True, slots=True)
class MiddleAgainstEnds:
    """Score in the middle third minus score in the outer thirds, in points of per cent.

    Attributes:
        middle, ends: the two scores, over the tasks and lengths that have both, weighed alike; in per cent.
        difference, low, high: `middle` - `ends` with its 95 % interval; below 0 where the middle is worse.
        simultaneous: an interval that holds together with those of all other lengths.
        n_middle, n_ends: places that each rests on.
    """

    middle: float
    ends: float
    difference: float
    low: float
    high: float
    simultaneous: Interval
    n_middle: int
    n_ends: int

    @property
    def seen(self) -> bool:
        """Whether there is a difference, with all lengths looked at together."""
        return self.simultaneous[0] > 0 or self.simultaneous[1] < 0

    def sentence(self) -> str:
        """What was found, in words, without a full stop: better, worse, or nothing that shows at 95 %."""
        low, high = self.low, self.high
        if low <= 0 <= high:
            return (
                f"no difference to be seen between the middle and the ends ({_signed(low)} to {_signed(high)} points)"
            )
        if high < 0:
            return f"in the middle {-self.difference:.1f} points worse ({-high:.1f} to {-low:.1f})"
        return f"in the middle {self.difference:.1f} points better ({low:.1f} to {high:.1f})"

    def as_dict(self) -> dict[str, Any]:
        """The comparison as it may be written."""
        return {
            "middle": self.middle,
            "ends": self.ends,
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
            "simultaneous": list(self.simultaneous),
            "n_middle": self.n_middle,
            "n_ends": self.n_ends,
            "sentence": self.sentence(),
        }


def middle_against_ends(
    placed: Iterable[Placed], comparisons: int = 1, confidence: float = CONFIDENCE
) -> MiddleAgainstEnds | None:
    """The comparison; None where no task has, at one length, something in the middle and something outside.

    Middle and ends are compared within each task and length s, so that it does not matter which tasks have more in
    the middle, and the differences are weighed with w_s = m_s e_s / (m_s + e_s), for m_s places in the middle and e_s
    outside (Cochran, "Some methods for strengthening the common chi-square tests", 1954; the weights of Mantel and
    Haenszel). Each of the two weighed means has Wilson's limits with an effective number of trials, and the limits of
    the difference are put together from these (after Yan and Su, "Stratified Wilson and Newcombe confidence intervals
    for multiple proportions", 2010; for means that may be correlated as in Zou, "Toward using confidence intervals to
    compare correlations", 2007). Items are the units: an item at several lengths, or with needles in both parts,
    counts as one. The interval does not collapse where every answer is right.

    Args:
        placed: each place once.
        comparisons: how many such intervals shall hold together in `simultaneous` (Bonferroni).
        confidence: level of the interval.
    """
    strata: dict[Hashable, dict[Part, list[Placed]]] = defaultdict(lambda: {"middle": [], "ends": []})
    for one in placed:
        strata[one.stratum]["middle" if MIDDLE[0] <= one.place < MIDDLE[1] else "ends"].append(one)
    both = [parts for parts in strata.values() if parts["middle"] and parts["ends"]]
    if not both:
        return None
    weights = [_weight(parts) for parts in both]
    total = math.fsum(weights)
    shares = [weight / total for weight in weights]
    middle, ends = _part("middle", both, shares), _part("ends", both, shares)
    low, high = _difference(middle, ends, confidence)
    return MiddleAgainstEnds(
        middle=100 * middle.mean,
        ends=100 * ends.mean,
        difference=100 * (middle.mean - ends.mean),
        low=100 * low,
        high=100 * high,
        simultaneous=_in_points(_difference(middle, ends, 1 - (1 - confidence) / comparisons)),
        n_middle=sum(len(parts["middle"]) for parts in both),
        n_ends=sum(len(parts["ends"]) for parts in both),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """One of the two weighed means.

    Attributes:
        influence: what each item adds to the mean's error.
        items: of equal weight that would be as good (Kish's effective sample size).
        variance: of the mean, from the influences.
    """

    mean: float
    influence: Mapping[Hashable, float]
    items: float
    variance: float

    @property
    def guarded(self) -> float:
        """The variance with one item more that misses by all there is to miss, as in `strata`."""
        return self.variance + 1 / self.items**2

    def interval(self, confidence: float) -> Interval:
        """Wilson's limits with the number of plain trials that would be as good."""
        plain = self.mean * (1 - self.mean) / self.items + 1 / self.items**2
        return _wilson(self.mean, self.items * plain / self.guarded, confidence)


def _weight(parts: Mapping[Part, Sequence[Placed]]) -> float:
    middle, ends = len(parts["middle"]), len(parts["ends"])
    return middle * ends / (middle + ends)


def _part(part: Part, strata: Sequence[Mapping[Part, Sequence[Placed]]], shares: Sequence[float]) -> _Part:
    """The weighed mean of one part, with what each item has to do with it.

    A stratum may have one place in the middle, which says nothing of its own spread. So an observation's deviation is
    taken from the mean of its whole stratum, the other part included: right where there is no difference, and too
    large, on the safe side, where there is one.
    """
    means = [math.fsum(one.score for one in parts[part]) / len(parts[part]) for parts in strata]
    influence, weights = defaultdict[Hashable, float](float), defaultdict[Hashable, float](float)
    for parts, share in zip(strata, shares, strict=True):
        here, everywhere = parts[part], (*parts["middle"], *parts["ends"])
        centre = math.fsum(one.score for one in everywhere) / len(everywhere)
        lost = math.sqrt(len(everywhere) / (len(everywhere) - 1))
        for one in here:
            influence[one.item] += share * lost * (one.score - centre) / len(here)
            weights[one.item] += share / len(here)
    squares = math.fsum(value * value for value in influence.values())
    count = len(influence)
    return _Part(
        # Divided by the sum of the shares, so that all right is exactly 1.
        mean=math.fsum(share * mean for share, mean in zip(shares, means, strict=True)) / math.fsum(shares),
        influence=influence,
        items=1 / math.fsum(weight * weight for weight in weights.values()),
        variance=squares * count / (count - 1) if count > 1 else squares,
    )


def _difference(middle: _Part, ends: _Part, confidence: float) -> Interval:
    """Limits of `middle` - `ends`, both -1 to 1."""
    in_both = middle.influence.keys() & ends.influence.keys()
    covariance = math.fsum(middle.influence[item] * ends.influence[item] for item in in_both)
    correlation = max(-1.0, min(1.0, covariance / math.sqrt(middle.guarded * ends.guarded)))
    low, high = middle.interval(confidence)
    ends_low, ends_high = ends.interval(confidence)
    difference = middle.mean - ends.mean
    below = _distance(middle.mean - low, ends_high - ends.mean, correlation)
    above = _distance(high - middle.mean, ends.mean - ends_low, correlation)
    return max(-1.0, difference - below), min(1.0, difference + above)


def _wilson(share: float, trials: float, confidence: float) -> Interval:
    """Wilson's score interval for a number of trials that need not be whole."""
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    centre = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return min(share, (centre - half) / scale), max(share, (centre + half) / scale)


def _distance(one: float, other: float, correlation: float) -> float:
    return math.sqrt(max(0.0, one * one + other * other - 2 * correlation * one * other))


def _in_points(interval: Interval) -> Interval:
    return 100 * interval[0], 100 * interval[1]


def _signed(value: float) -> str:
    """With its sign, and no minus before a nought."""
    return "0.0" if abs(value) < 0.05 else f"{value:+.1f}"

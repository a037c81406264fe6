"""NoLiMa's base score: what a model scores where length is no difficulty, pair by pair (section 4.1).

Source: NoLiMa (arXiv 2502.05167): for each question-needle pair the mean over haystacks and depths at 250, 500 and
1,000 tokens; the greatest of the three; the mean of that over the pairs. The effective length is the greatest tested
length that keeps 85 % of it.

The greatest of three noisy means is too high on average: by about two points at 130 trials of each pair and length, and
by far more with a few. So unless the whole design was asked, the length is chosen on one half of the depths and scored
on the other, both ways (cross-fitting); the mean of the two has no such bias.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from leadline.analysis.strata import make_stratum, stratified_interval

FULL_TRIALS = 130
"""Trials of a pair at one length in the published design: 26 depths of 5 books."""


@dataclass(frozen=True, slots=True)
class BaseRule:
    """How a base score is taken and what share of it a length must keep.

    Attributes:
        times: the share, 0 to 1.
        lengths: the base lengths, in tokens.
        shortest: the shortest length that can be an effective length.
    """

    times: float
    lengths: tuple[int, ...]
    shortest: int = 1000


class Observation(NamedTuple):
    """One trial's score (0 to 1) with what the base score groups by."""

    pair: str
    depth: float
    length: int
    item: Hashable
    score: float


@dataclass(frozen=True, slots=True)
class BaseScore:
    """A base score in per cent.

    Attributes:
        low, high: 95 % interval over the trials that it rests on, pairs as strata.
        pairs: how many pairs it is a mean over.
        trials_per_pair: the fewest trials of a pair at a base length; bases of different numbers are not comparable.
        cross_fitted: each pair's length was chosen on other trials than it was scored on.
        incomplete: base lengths at which a pair has no trial; with any, there is no base score.
    """

    score: float | None
    low: float | None
    high: float | None
    pairs: int
    trials_per_pair: int
    cross_fitted: bool
    incomplete: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The base as it stands in the summary."""
        return {
            "score": self.score,
            "low": self.low,
            "high": self.high,
            "pairs": self.pairs,
            "trials_per_pair": self.trials_per_pair,
            "cross_fitted": self.cross_fitted,
            "incomplete": list(self.incomplete),
        }


Trials = list[tuple[float, Hashable, float]]
"""Depth, item and score of trials of one pair at one length."""


def base_score(observations: Iterable[Observation], rule: BaseRule) -> BaseScore:
    """The base score of these trials; those at other lengths may be among them."""
    by_pair: dict[str, dict[int, Trials]] = defaultdict(lambda: defaultdict(list))
    pairs: set[str] = set()
    for pair, depth, length, item, score in observations:
        pairs.add(pair)
        if length in rule.lengths:
            by_pair[pair][length].append((depth, item, score))
    missing = tuple(length for length in rule.lengths if any(not by_pair[pair][length] for pair in pairs))
    if missing or not pairs:
        return BaseScore(None, None, None, len(pairs), 0, cross_fitted=True, incomplete=missing)
    fewest = min(len(trials) for lengths in by_pair.values() for trials in lengths.values())
    full = fewest >= FULL_TRIALS
    chosen = _greatest(by_pair) if full else _cross_fitted(by_pair, rule.lengths)
    means = [math.fsum(score for _, score in scores) / len(scores) for scores in chosen]
    low, high = stratified_interval([make_stratum([(1.0, scores)]) for scores in chosen])
    return BaseScore(
        100 * math.fsum(means) / len(means), 100 * low, 100 * high, len(pairs), fewest, cross_fitted=not full
    )


Scores = list[tuple[Hashable, float]]


def _greatest(by_pair: Mapping[str, Mapping[int, Trials]]) -> list[Scores]:
    """The scores of each pair at the length of its greatest mean."""
    return [
        [(item, score) for _, item, score in max(lengths.values(), key=_mean)] for _, lengths in sorted(by_pair.items())
    ]


def _cross_fitted(by_pair: Mapping[str, Mapping[int, Trials]], lengths: Sequence[int]) -> list[Scores]:
    """The scores of each half of each pair's depths at the length that is best on the other half.

    A pair with trials in one half only takes the length that is best for all other pairs together.
    """
    of_pairs = [trials for of_length in by_pair.values() for trials in of_length.values()]
    depths = sorted({depth for trials in of_pairs for depth, _, _ in trials})
    half_of = {depth: rank % 2 for rank, depth in enumerate(depths)}
    totals = {length: math.fsum(_mean(of_length[length]) for of_length in by_pair.values()) for length in lengths}
    chosen: list[Scores] = []
    for _, of_length in sorted(by_pair.items()):
        halves = [
            {length: [trial for trial in of_length[length] if half_of[trial[0]] == half] for length in lengths}
            for half in (0, 1)
        ]
        scores: Scores = []
        for scored, other in (halves, halves[::-1]):
            if all(other[length] for length in lengths):
                best = max(lengths, key=lambda length: _mean(other[length]))
            else:
                best = max(lengths, key=lambda length: totals[length] - _mean(of_length[length]))
            scores += [(item, score) for _, item, score in scored[best]]
        chosen.append(scores or [(item, score) for _, item, score in of_length[lengths[-1]]])
    return chosen


def _mean(trials: Trials) -> float:
    return math.fsum(score for _, _, score in trials) / len(trials)

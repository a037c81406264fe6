"""Base score, threshold and effective length of a NoLiMa run, for all of its pairs and for each subset of them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analysis.base_score import BaseRule, BaseScore, Observation, base_score
from leadline.analysis.strata import make_stratum, stratified_interval

SUBSET_FACTORS = ("hops", "order", "reasoning", "group")
"""Factors of a pair by which subsets are made, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class SubsetLength:
    """A subset's mean over its pairs at one length, in per cent.

    `normalised` is its share of the base score in per cent; below half of the base it is marked. There is no interval
    where a stop rule ended the length early.
    """

    length: int
    n: int
    score: float
    low: float | None
    high: float | None
    normalised: float | None
    below_half: bool

    def as_dict(self) -> dict[str, Any]:
        """The length as it stands in the summary."""
        return {
            "length": self.length,
            "n": self.n,
            "score": self.score,
            "low": self.low,
            "high": self.high,
            "normalised": self.normalised,
            "below_half": self.below_half,
        }


@dataclass(frozen=True, slots=True)
class Subset:
    """All pairs of one value of one factor, or all pairs of a task.

    Attributes:
        task: whose trials they are: another task is another variant of the same pairs.
        factor, value: what makes the subset; ``"all"`` and ``""`` for all pairs.
        threshold: share of the base score that a length must keep, in per cent; None without a base.
        effective: the greatest tested length, in tokens, that keeps it; None where none does or nothing is claimed.
        censored: `below` where no tested length keeps it, `above` where the greatest does.
    """

    task: str
    factor: str
    value: str
    pairs: int
    base: BaseScore
    threshold: float | None
    effective: int | None
    censored: str | None
    lengths: tuple[SubsetLength, ...]

    def as_dict(self) -> dict[str, Any]:
        """The subset as it stands in the summary."""
        return {
            "task": self.task,
            "factor": self.factor,
            "value": self.value,
            "pairs": self.pairs,
            "base": self.base.as_dict(),
            "threshold": self.threshold,
            "effective_length": {"value": self.effective, "censored": self.censored},
            "by_length": [length.as_dict() for length in self.lengths],
        }


def subsets(
    task: str,
    observations: Sequence[Observation],
    labels: Mapping[str, Mapping[str, str]],
    rule: BaseRule,
    stopped: frozenset[int] = frozenset(),
) -> tuple[Subset, ...]:
    """All pairs of a task, then the subsets by each factor that has more than one value.

    Args:
        task: the task's name.
        observations: its trials.
        labels: of each pair, the values of its factors.
        rule: how the base score is taken.
        stopped: lengths that a stop rule ended early; it was certain of no subset's effective length.
    """
    found = [_subset(task, "all", "", observations, rule, stopped)]
    for factor in SUBSET_FACTORS:
        by_value: dict[str, list[Observation]] = defaultdict(list)
        for observation in observations:
            value = labels.get(observation.pair, {}).get(factor)
            if value is not None:
                by_value[value].append(observation)
        if len(by_value) > 1:
            found += [_subset(task, factor, value, trials, rule, stopped) for value, trials in sorted(by_value.items())]
    return tuple(found)


def _subset(
    task: str,
    factor: str,
    value: str,
    observations: Sequence[Observation],
    rule: BaseRule,
    stopped: frozenset[int],
) -> Subset:
    base = base_score(observations, rule)
    by_length: dict[int, list[Observation]] = defaultdict(list)
    for observation in observations:
        by_length[observation.length].append(observation)
    lengths = tuple(
        _length(length, trials, base, early=length in stopped) for length, trials in sorted(by_length.items())
    )
    threshold = None if base.score is None else rule.times * base.score
    effective, censored = (None, None) if stopped else _effective(lengths, threshold, rule)
    pairs = len({observation.pair for observation in observations})
    return Subset(task, factor, value, pairs, base, threshold, effective, censored, lengths)


def _length(length: int, trials: Sequence[Observation], base: BaseScore, *, early: bool) -> SubsetLength:
    by_pair: dict[str, list[tuple[Any, float]]] = defaultdict(list)
    for trial in trials:
        by_pair[trial.pair].append((trial.item, trial.score))
    means = [math.fsum(score for _, score in scores) / len(scores) for scores in by_pair.values()]
    score = 100 * math.fsum(means) / len(means)
    low = high = None
    if not early:
        ends = stratified_interval([make_stratum([(1.0, scores)]) for scores in by_pair.values()])
        low, high = (100 * end for end in ends)
    normalised = None if not base.score else 100 * score / base.score
    below_half = base.score is not None and score < base.score / 2
    return SubsetLength(length, len(trials), score, low, high, normalised, below_half)


def _effective(
    lengths: Sequence[SubsetLength], threshold: float | None, rule: BaseRule
) -> tuple[int | None, str | None]:
    tested = [length for length in lengths if length.length >= rule.shortest]
    if not threshold or not tested:
        return None, None
    passing = [length.length for length in tested if length.score >= threshold - 1e-9]
    if not passing:
        return None, "below"
    return passing[-1], "above" if passing[-1] == tested[-1].length else None

"""Closed book: what NoLiMa's questions score without haystack and needle, which must be chance.

More than chance means that the question or the drawn name gives the answer away, or that the model names one character
so often that some of its answers are right by luck of the draw.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from leadline.analysis.names import chance_of, place_of
from leadline.analysis.strata import make_stratum, stratified_interval
from leadline.items import NO_CONTEXT
from leadline.records import Record
from leadline.scoring.trials import score

ABOVE_BELOW = 0.01
"""A score is said to be above chance where p is below this: a check that is made of every run should seldom cry."""


@dataclass(frozen=True, slots=True)
class ClosedBook:
    """One task's questions without any text.

    Attributes:
        right, n: answers that hold the name, of so many.
        low, high: 95 % interval of the share that is right, in per cent, over places.
        chance: what guessing scores, in per cent.
        p: probability that so many or more are right by guessing. All questions about one place have the same name, so
            that a model with a favourite name has them right together; it is reckoned so for any model.
    """

    task: str
    right: int
    n: int
    low: float
    high: float
    chance: float
    p: float

    @property
    def above_chance(self) -> bool:
        """Whether it is more than guessing explains."""
        return self.p < ABOVE_BELOW

    def as_dict(self) -> dict[str, Any]:
        """The check as it stands in the summary."""
        return {
            "task": self.task,
            "right": self.right,
            "n": self.n,
            "score": 100 * self.right / self.n,
            "low": self.low,
            "high": self.high,
            "chance": self.chance,
            "p": self.p,
            "above_chance": self.above_chance,
        }


class _Trial(NamedTuple):
    place: str
    score: float
    chance: float


class ClosedBookCount:
    """Counts records, oldest first: the newest of a key counts, and of all records the controls without a text."""

    def __init__(self) -> None:
        self._trials: dict[str, dict[Hashable, _Trial]] = {}

    def add(self, record: Record) -> None:
        """Count one more record."""
        if record.key.wording != NO_CONTEXT or (chance := chance_of(record)) is None:
            return
        item, scored = record.key.item, score(record)
        trials = self._trials.setdefault(sys.intern(item.task), {})
        name = (item.version, sys.intern(item.params), item.seed, item.index)
        if scored is None:
            trials.pop(name, None)
        else:
            trials[name] = _Trial(place_of(record), scored.recall, 1 / chance.names)

    def result(self) -> tuple[ClosedBook, ...]:
        """The check of each task that was asked so."""
        return tuple(_checked(task, list(trials.values())) for task, trials in sorted(self._trials.items()) if trials)


def _checked(task: str, trials: Sequence[_Trial]) -> ClosedBook:
    right, n = round(math.fsum(trial.score for trial in trials)), len(trials)
    chance = math.fsum(trial.chance for trial in trials) / n
    low, high = stratified_interval([make_stratum([(1.0, [(trial.place, trial.score) for trial in trials])])])
    sizes = Counter(trial.place for trial in trials)
    p = _tail(list(sizes.values()), chance, right)
    return ClosedBook(task, right, n, 100 * low, 100 * high, 100 * chance, p)


def _tail(sizes: Sequence[int], chance: float, right: int) -> float:
    """Probability of so many right answers or more where the questions of each place are right or wrong together."""
    import numpy as np

    of_count = np.zeros(sum(sizes) + 1)
    of_count[0] = 1.0
    for size in sizes:
        hit = np.zeros_like(of_count)
        hit[size:] = of_count[:-size]
        of_count = (1 - chance) * of_count + chance * hit
    return min(1.0, float(of_count[right:].sum()))

"""When enough has been asked at one length: a pure function of the completed rounds, in order.

A rule says on which side of its threshold the mean of the run's own full protocol lies, or that it lies within the
margin of it. `leadline.analysis.stopping_evidence` holds the test and its proof. Only one error is possible in any
situation, so that none needs to be shared out: where the true mean is below the threshold, `above` is wrong, and so is
`within` where it is below by more than the margin; both rest on evidence that the mean is greater than a bound that it
does not reach. `above` asks for that evidence at both bounds, and so the two errors together are no likelier than one.

Scores are intervals: a trial without a usable answer is [0, 1]. Everything is judged once with all lower and once with
all upper ends, each of which is a population of its own, and a verdict must hold for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from leadline.analysis.stopping_evidence import Floats, log_evidence

Bounds = tuple[float, float]
"""Lower and upper end of a score, 0 to 1; the same number twice where it is known."""

UNKNOWN: Bounds = (0.0, 1.0)
"""A trial without a usable answer."""

Round = Mapping[str, Bounds]
"""The score of the next item of every task that still has one, by task."""

Verdict = Literal["open", "above", "below", "within", "exhausted"]

_ROUNDING = 1e-9
"""A mean that equals the threshold but for floating-point error reaches it."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What is known of one length.

    Attributes:
        verdict: `above` or `below` the threshold; `within` the margin of it, on either side; `exhausted` where every
            item was asked first, so that no inference is needed; else `open`.
        passes: whether the length reaches the threshold; None where that is not decided.
        rounds: how many rounds it rests on; later ones change nothing.
        of: rounds of the full protocol.
        mean: of those rounds, over the tasks' means; both ends, 0 to 1. A mean of a stopped length is not an unbiased
            figure, since the rule stops sooner where it happens to be far from the threshold.
    """

    verdict: Verdict
    passes: bool | None
    rounds: int
    of: int
    mean: Bounds

    @property
    def open(self) -> bool:
        """More rounds are needed."""
        return self.verdict == "open"


@dataclass(frozen=True, slots=True)
class LookTimes:
    """The number of rounds after which each verdict first holds; `never` stands for one that does not.

    Attributes:
        above, below, within: shape (...).
        never: greater than any number of rounds.
    """

    above: npt.NDArray[np.int64]
    below: npt.NDArray[np.int64]
    within: npt.NDArray[np.int64]
    never: int

    def first(self, run: int | tuple[()] = ()) -> tuple[int, Verdict, bool | None]:
        """The verdict that holds first in one of the runs, with its time and whether the threshold is reached."""
        verdicts: tuple[tuple[int, Verdict, bool | None], ...] = (
            (int(self.below[run]), "below", False),
            (int(self.above[run]), "above", True),
            (int(self.within[run]), "within", None),
        )
        return min(verdicts, key=lambda verdict: verdict[0])


@dataclass(frozen=True, slots=True)
class StopRule:
    """When a length is decided.

    Attributes:
        items: of each task in the full protocol.
        threshold: what the mean over the tasks' means must reach, 0 to 1.
        slack: how much greater than `threshold` that may be, where it is not known exactly; verdicts hold for all.
        margin: distance from the threshold, 0 to 1, within which the side does not matter; None where it always does.
        error_above: probability with which `above` may be wrong, at most, over all looks.
        error_below: the same for `below`. The error of `within` is the greater of the two.
        weights: of each task in the mean, in any unit; empty where all weigh the same.

    Raises:
        ValueError: no task, a task without items or weight, or a number outside its range.
    """

    items: Mapping[str, int]
    threshold: float
    margin: float | None = None
    error_above: float = 0.05
    error_below: float = 0.05
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    slack: float = 0.0

    def __post_init__(self) -> None:
        if not self.items or min(self.items.values()) < 1:
            raise ValueError(f"a stop rule needs tasks with items: {dict(self.items)}")
        if self.weights and (self.weights.keys() != self.items.keys() or min(self.weights.values()) <= 0):
            raise ValueError(f"the weights of a stop rule are for its tasks, and above 0: {dict(self.weights)}")
        if not (0 < self.error_above < 1 and 0 < self.error_below < 1):
            raise ValueError(f"errors must be between 0 and 1: {self.error_above}, {self.error_below}")
        if not 0 <= self.threshold <= self.greatest_threshold <= 1 or (
            self.margin is not None and not 0 < self.margin < 1
        ):
            raise ValueError(f"threshold and margin are shares of 1: {self.threshold}, {self.margin}")

    @property
    def greatest_threshold(self) -> float:
        """The upper end of what must be reached."""
        return self.threshold + self.slack

    @property
    def rounds(self) -> int:
        """Rounds of the full protocol: items of the task that has most."""
        return max(self.items.values())

    @property
    def shares(self) -> Floats:
        """Of each task in the mean, adding up to 1, in the order of `items`."""
        weights = np.array([self.weights[task] if self.weights else 1.0 for task in self.items])
        return weights / weights.sum()

    def decide(self, rounds: Sequence[Round]) -> Decision:
        """The decision after these rounds; the same for every longer sequence that begins so, once it is not open.

        Raises:
            ValueError: more rounds than the protocol has, or a round lacks a task that still has items.
        """
        if not rounds:
            return Decision("open", None, 0, self.rounds, UNKNOWN)
        low, high = self._ends(rounds)
        times = self.look_times(low, high)
        time, verdict, passes = times.first()
        if time < self.rounds and time < times.never:
            return Decision(verdict, passes, time, self.rounds, self._mean(low, high, time))
        mean = self._mean(low, high, len(rounds))
        if len(rounds) < self.rounds:
            return Decision("open", None, len(rounds), self.rounds, mean)
        return Decision("exhausted", self.passes(mean), self.rounds, self.rounds, mean)

    def passes(self, mean: Bounds) -> bool | None:
        """Whether a mean of which nothing is left to ask reaches the threshold; None where one end alone does."""
        low, high = mean
        sure = low >= self.greatest_threshold - _ROUNDING
        return sure if sure or high < self.threshold - _ROUNDING else None

    def look_times(self, low: Floats, high: Floats) -> LookTimes:
        """When each verdict first holds, for many runs at once.

        Args:
            low: the scores' lower ends, shape (..., rounds, tasks), tasks in the order of `items`.
            high: their upper ends, likewise.
        """
        margin = 0.0 if self.margin is None else self.margin
        above = self._reached(low, high, self.greatest_threshold, greater=True)
        below = self._reached(low, high, self.threshold, greater=False)
        never = low.shape[-2] + 1
        if not margin:
            return LookTimes(_first(above), _first(below), np.full(above.shape[:-1], never), never)
        # The mean is always greater than a bound below 0, and less than one beyond 1.
        not_far_below = self._reached(low, high, self.greatest_threshold - margin, greater=True)
        not_far_above = self._reached(low, high, self.threshold + margin, greater=False)
        return LookTimes(
            _first(above & not_far_below),
            _first(below & not_far_above),
            _first(not_far_below & not_far_above),
            never,
        )

    def _reached(self, low: Floats, high: Floats, bound: float, *, greater: bool) -> npt.NDArray[np.bool_]:
        """Whether the evidence that the mean is greater (less) than a bound is enough, after each round."""
        if not 0 <= bound <= 1:
            return np.ones(low.shape[:-1], dtype=np.bool_)
        items = np.array(list(self.items.values()), dtype=np.int64)
        needed = -np.log(self.error_above if greater else self.error_below)
        enough = np.ones(low.shape[:-1], dtype=np.bool_)
        for ends in [low] if np.array_equal(low, high, equal_nan=True) else [low, high]:
            scores, limit = (ends, bound) if greater else (1 - ends, 1 - bound)
            enough &= log_evidence(scores, items, self.shares, limit) >= needed
        return enough

    def _ends(self, rounds: Sequence[Round]) -> tuple[Floats, Floats]:
        """Lower and upper ends, each of shape (rounds, tasks); not a number where a task has no item left."""
        if len(rounds) > self.rounds:
            raise ValueError(f"{len(rounds)} rounds of a protocol of {self.rounds}")
        ends = np.full((2, len(rounds), len(self.items)), np.nan)
        for number, scores in enumerate(rounds):
            for place, (task, items) in enumerate(self.items.items()):
                if number < items:
                    if task not in scores:
                        raise ValueError(f"round {number + 1} has no score of {task}, which has {items} items")
                    ends[:, number, place] = scores[task]
        known = ends[~np.isnan(ends)]
        if known.min() < 0 or known.max() > 1:
            raise ValueError("scores must be from 0 to 1")
        return ends[0], ends[1]

    def _mean(self, low: Floats, high: Floats, rounds: int) -> Bounds:
        means = [float((self.shares * np.nanmean(ends[:rounds], axis=0)).sum()) for ends in (low, high)]
        return means[0], means[1]


def _first(holds: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Rounds until something first holds, and one more than all of them where it never does; shape (...)."""
    return np.where(holds.any(-1), holds.argmax(-1) + 1, holds.shape[-1] + 1)

"""A cell: one task at one length."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

from leadline.analysis.bounded_mean import betting_interval
from leadline.analysis.design import TaskDesign
from leadline.analysis.intervals import CONFIDENCE, Interval, wilson
from leadline.records import OUTCOMES, Outcome
from leadline.scoring.policy import POLICY


class Trial(NamedTuple):
    """What the analysis keeps of a record. The scores are 0 to 1; None where the outcome is not scored.

    `item` names the item, the same at every length; None is an item of its own.
    """

    outcome: Outcome
    recall: float | None
    strict: float | None
    item: Hashable = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A task at a length.

    Attributes:
        n: trials that the score rests on.
        outcomes: how many trials ended how; outcomes that did not occur are left out.
        score, low, high, strict: in per cent; None where there is none. `low` and `high` are Wilson's interval for a
            task with 0/1 scores, the betting interval for any other; None where a stop rule ended the length early.
        complete: every trial that was asked for is there and scored.
        absent: an item of the cell does not fit the length, so the cell says nothing.
        binary: the task scores 0 or 1.
        scores: of each trial, 0 to 1, with its item, in the items' order; zeros for trials that were not asked after
            a refusal.
    """

    task: str
    length: int
    n: int
    outcomes: Mapping[Outcome, int]
    score: float | None
    low: float | None
    high: float | None
    strict: float | None
    complete: bool
    absent: bool
    binary: bool = True
    scores: tuple[tuple[Hashable, float], ...] = field(default=(), repr=False)

    def interval(self, confidence: float = CONFIDENCE) -> Interval | None:
        """Interval of the score in per cent at any level; None where there is no score.

        An item that was asked in several wordings counts once, with the mean of its scores.
        """
        if not self.scores:
            return None
        by_item: dict[Hashable, list[float]] = {}
        for item, score in self.scores:
            by_item.setdefault(item, []).append(score)
        values = [math.fsum(scores) / len(scores) for scores in by_item.values()]
        if self.binary and all(value in {0.0, 1.0} for value in values):
            low, high = wilson(round(sum(values)), len(values), confidence)
        else:
            low, high = betting_interval(values, confidence)
        return 100 * low, 100 * high

    def as_dict(self) -> dict[str, Any]:
        """The cell as it stands in the summary."""
        return {
            "task": self.task,
            "length": self.length,
            "n": self.n,
            "outcomes": dict(self.outcomes),
            "score": self.score,
            "low": self.low,
            "high": self.high,
            "strict": self.strict,
            "complete": self.complete,
            "absent": self.absent,
        }


def make_cell(
    task: TaskDesign, length: int, trials: Sequence[Trial], samples: int, stopped: bool = False, unneeded: bool = False
) -> Cell:
    """The cell of these trials, of `samples` that were asked for.

    A length that a model once refused as too long is not asked further, and the trials that were not asked score 0
    like those that were: the mean is then over all samples, while `n` tells how many were asked.

    Args:
        task: the cell's task.
        length: the cell's length.
        trials: one for each key, the newest.
        samples: trials that were asked for; 0 makes a cell without trials absent.
        stopped: a stop rule decided this length, so that fewer trials are no gap.
        unneeded: a stop rule needs nothing of this length, so that no trials are no gap either.
    """
    counts = Counter(trial.outcome for trial in trials)
    outcomes: dict[Outcome, int] = {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}
    if any(POLICY[outcome] == "absent" for outcome in outcomes) or (not trials and not samples):
        return Cell(task.name, length, 0, outcomes, None, None, None, None, complete=True, absent=True)
    scored = [(trial.item, value) for trial in _in_order(trials) if (value := getattr(trial, task.metric)) is not None]
    stricts = [trial.strict for trial in trials if trial.strict is not None]
    too_long = "over_length" in outcomes
    complete = len(scored) == len(trials) and (len(trials) >= samples or too_long or (stopped and bool(trials)))
    if not scored:
        nothing = unneeded and not trials
        return Cell(task.name, length, 0, outcomes, None, None, None, None, complete=nothing, absent=False)
    asked = len(scored)
    of = max(samples, asked) if too_long else asked
    scored += [(None, 0.0)] * (of - asked)
    cell = Cell(
        task=task.name,
        length=length,
        n=asked,
        outcomes=outcomes,
        score=100 * math.fsum(score for _, score in scored) / of,
        low=None,
        high=None,
        strict=100 * math.fsum(stricts) / of,
        complete=complete,
        absent=False,
        binary=task.binary,
        scores=tuple((("own", place) if item is None else item, score) for place, (item, score) in enumerate(scored)),
    )
    # An ordinary interval does not hold for a number of trials that the scores themselves have chosen.
    low, high = (None if stopped else cell.interval()) or (None, None)
    return replace(cell, low=low, high=high)


def _in_order(trials: Sequence[Trial]) -> list[Trial]:
    """By item, so that a figure does not depend on the order in which the answers came."""
    if any(trial.item is None for trial in trials):
        return list(trials)
    return sorted(trials, key=lambda trial: cast("tuple[Any, ...]", trial.item))

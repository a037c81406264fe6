"""A cell: one task at one length."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from leadline.analysis.design import TaskDesign
from leadline.analysis.intervals import wilson
from leadline.records import OUTCOMES, Outcome
from leadline.scoring.policy import POLICY


class Trial(NamedTuple):
    """What the analysis keeps of a record. The scores are 0 to 1; None where the outcome is not scored."""

    outcome: Outcome
    recall: float | None
    strict: float | None


@dataclass(frozen=True, slots=True)
class Cell:
    """A task at a length.

    Attributes:
        n: trials that the score rests on.
        outcomes: how many trials ended how; outcomes that did not occur are left out.
        score, low, high, strict: in per cent; None where there is none. `low` and `high` are the Wilson interval of a
            task with 0/1 scores.
        complete: every trial that was asked for is there and scored.
        absent: an item of the cell does not fit the length, so the cell says nothing.
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


def make_cell(task: TaskDesign, length: int, trials: Sequence[Trial], samples: int, stopped: bool = False) -> Cell:
    """The cell of these trials, of `samples` that were asked for.

    A length that a model once refused as too long is not asked further, and the trials that were not asked score 0
    like those that were: the mean is then over all samples, while `n` tells how many were asked.

    Args:
        task: the cell's task.
        length: the cell's length.
        trials: one for each key, the newest.
        samples: trials that were asked for; 0 makes a cell without trials absent.
        stopped: a stop rule decided this length, so that fewer trials are no gap.
    """
    counts = Counter(trial.outcome for trial in trials)
    outcomes: dict[Outcome, int] = {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}
    if any(POLICY[outcome] == "absent" for outcome in outcomes) or (not trials and not samples):
        return Cell(task.name, length, 0, outcomes, None, None, None, None, complete=True, absent=True)
    scores = [value for trial in trials if (value := getattr(trial, task.metric)) is not None]
    stricts = [trial.strict for trial in trials if trial.strict is not None]
    too_long = "over_length" in outcomes
    complete = len(scores) == len(trials) and (len(trials) >= samples or too_long or (stopped and bool(trials)))
    if not scores:
        return Cell(task.name, length, 0, outcomes, None, None, None, None, complete=False, absent=False)
    of = max(samples, len(scores)) if too_long else len(scores)
    total = math.fsum(scores)
    low, high = _interval(scores, of) if task.binary else (None, None)
    return Cell(
        task=task.name,
        length=length,
        n=len(scores),
        outcomes=outcomes,
        score=100 * total / of,
        low=low,
        high=high,
        strict=100 * math.fsum(stricts) / of,
        complete=complete,
        absent=False,
    )


def _interval(scores: Sequence[float], of: int) -> tuple[float | None, float | None]:
    """Wilson interval in per cent; none where a score is neither 0 nor 1."""
    if any(score not in {0.0, 1.0} for score in scores):
        return None, None
    low, high = wilson(round(sum(scores)), of)
    return 100 * low, 100 * high

"""Short-context control: whether a model is weak before length is any difficulty.

A score that is low at the shortest length already says nothing about length: the model cannot do the task, does not
follow its format, or is asked through the wrong template. What a longer context takes away is then taken from little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from leadline.analysis.design import Design
from leadline.analysis.lengths import LengthScore
from leadline.analysis.standings import Standing, Threshold, passes, standings_of
from leadline.analysis.summary import Summary

WEAK_BELOW = 70.0
"""Mean in per cent that a model should reach at the shortest length where no absolute threshold is set. Of the aligned
models of RULER's table 3 all but one score 82 or more at 4K; NoLiMa's 18 have base scores of 73 and more."""

WEAK_TASK_BELOW = 50.0
"""The same for a single task: good models score little more than that on some (RULER's table 16: qa_2 at 4K)."""

Strength = Literal["strong", "weak", "unsure"]


@dataclass(frozen=True, slots=True)
class WeakTask:
    """A task whose interval at the shortest length lies below `WEAK_TASK_BELOW`; its score in per cent."""

    task: str
    score: float


@dataclass(frozen=True, slots=True)
class ShortControl:
    """What the shortest length says of a model.

    Attributes:
        length: the shortest one, in tokens.
        score: mean over the tasks there, in per cent; None where it is incomplete.
        bound: what it is held against.
        strength: which side of `bound` the score's 95 % interval lies on; `unsure` where it lies on both, or where
            there is no score.
        weak_tasks: tasks that are weak by themselves, the weakest first.
    """

    length: int
    score: float | None
    bound: float
    strength: Strength
    weak_tasks: tuple[WeakTask, ...]

    @property
    def sentence(self) -> str | None:
        """The caveat that a verdict needs, without a full stop; None where it needs none."""
        if self.strength == "weak" and self.score is not None:
            return (
                f"it scores {self.score:.1f} at {self.length} tokens already, below {self.bound:g}: weak before length "
                "is a difficulty, so look at single answers first"
            )
        if not self.weak_tasks:
            return None
        named = ", ".join(f"{weak.task} ({weak.score:.0f})" for weak in self.weak_tasks)
        return f"weak at {self.length} tokens already, where length is no difficulty: {named}"

    def as_dict(self) -> dict[str, Any]:
        """The control as it may be written."""
        return {
            "length": self.length,
            "score": self.score,
            "bound": self.bound,
            "strength": self.strength,
            "weak_tasks": [{"task": weak.task, "score": weak.score} for weak in self.weak_tasks],
            "sentence": self.sentence,
        }


def short_control(summary: Summary, design: Design, bound: float | None = None) -> ShortControl | None:
    """The control of a run; None where nothing was measured.

    Args:
        summary: the run's figures.
        design: what was measured.
        bound: mean in per cent to be reached; the absolute threshold by default, else `WEAK_BELOW`.
    """
    if not summary.by_length:
        return None
    asked = bound if bound is not None else design.threshold_absolute
    if asked is None:
        asked = WEAK_BELOW
    shortest = summary.by_length[0]
    weak = [
        WeakTask(cell.task, cell.score)
        for cell in summary.cells
        if cell.length == shortest.length
        and cell.score is not None
        and cell.high is not None
        and cell.high < WEAK_TASK_BELOW
    ]
    return ShortControl(
        shortest.length,
        shortest.score if shortest.complete else None,
        asked,
        _strength(shortest, asked),
        tuple(sorted(weak, key=lambda one: one.score)),
    )


def _strength(shortest: LengthScore, bound: float) -> Strength:
    """Where there is an interval, it decides; else the score does."""
    if shortest.low is None or shortest.high is None:
        passed = passes(shortest, bound)
        return "unsure" if passed is None else "strong" if passed else "weak"
    (standing,) = standings_of([shortest], Threshold(bound, bound, bound), given=None)
    named: dict[Standing, Strength] = {"passes": "strong", "fails": "weak", "undecided": "unsure"}
    return named[standing]

"""Short-context control: whether a model is weak before length is any difficulty.

A score that is low at the shortest length already says nothing about length: the model cannot do the task, does not
follow its format, or is asked through the wrong template. What a longer context takes away is then taken from little.

A run that asks its suite's shortest length has its control there. Any other asks a few items of each task at that
length beside its own, which are in none of its figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from leadline.analysis.cells import Cell, Trial, make_cell
from leadline.analysis.design import Design
from leadline.analysis.lengths import LengthScore, length_scores
from leadline.analysis.standings import Standing, Threshold, passes, standings_of

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
        n: trials that it rests on.
        own: it is a length of the run; else its trials were asked beside the run's.
    """

    length: int
    score: float | None
    bound: float
    strength: Strength
    weak_tasks: tuple[WeakTask, ...]
    n: int
    own: bool

    def caveat(self, at: str) -> str | None:
        """What a verdict must add, without a full stop; None where it needs nothing.

        Args:
            at: the length as people write it.
        """
        beside = "" if self.own else f" (a control of {self.n} trials)"
        if self.strength == "weak" and self.score is not None:
            return (
                f"it is weak at {at} already{beside}, where length is no difficulty: it scores {self.score:.1f} there, "
                f"below {self.bound:g}, so look at single answers first"
            )
        if not self.weak_tasks:
            return None
        named = ", ".join(f"{weak.task} ({weak.score:.0f})" for weak in self.weak_tasks)
        return f"weak at {at} already{beside}, where length is no difficulty: {named}"

    def as_dict(self) -> dict[str, Any]:
        """The control as it stands in the summary."""
        return {
            "length": self.length,
            "score": self.score,
            "bound": self.bound,
            "strength": self.strength,
            "weak_tasks": [{"task": weak.task, "score": weak.score} for weak in self.weak_tasks],
            "n": self.n,
            "own": self.own,
        }


def short_control(
    scores: Sequence[LengthScore],
    cells: Sequence[Cell],
    design: Design,
    beside: Mapping[str, Sequence[Trial]] | None = None,
    bound: float | None = None,
) -> ShortControl | None:
    """The control of a run; None where nothing was measured at its suite's shortest length.

    Args:
        scores: of the run's lengths, ascending.
        cells: of the run.
        design: what was measured.
        beside: the control's trials, by task, where they were asked beside the run's own.
        bound: mean in per cent to be reached; the absolute threshold by default, else `WEAK_BELOW`.
    """
    asked = bound if bound is not None else design.threshold_absolute
    if asked is None:
        asked = WEAK_BELOW
    shortest = design.control_length
    if scores and (shortest is None or scores[0].length <= shortest):
        return _control(scores[0], cells, asked, own=True)
    if shortest is None or not beside:
        return None
    tasks = tuple(task for task in design.tasks if beside.get(task.name))
    control = replace(design, lengths=(shortest,), tasks=tasks, weights={}, stopped=None, stopped_lengths=frozenset())
    made = [make_cell(task, shortest, beside[task.name], len(beside[task.name])) for task in tasks]
    (score,) = length_scores(made, control)
    return _control(score, made, asked, own=False)


def _control(shortest: LengthScore, cells: Sequence[Cell], bound: float, *, own: bool) -> ShortControl:
    weak = [
        WeakTask(cell.task, cell.score)
        for cell in cells
        if cell.length == shortest.length
        and cell.score is not None
        and cell.high is not None
        and cell.high < WEAK_TASK_BELOW
    ]
    return ShortControl(
        shortest.length,
        shortest.score if shortest.complete else None,
        bound,
        _strength(shortest, bound),
        tuple(sorted(weak, key=lambda one: one.score)),
        shortest.n,
        own,
    )


def _strength(shortest: LengthScore, bound: float) -> Strength:
    """Where there is an interval, it decides; else the score does."""
    if shortest.low is None or shortest.high is None:
        passed = passes(shortest, bound)
        return "unsure" if passed is None else "strong" if passed else "weak"
    (standing,) = standings_of([shortest], Threshold(bound, bound, bound), given=None)
    named: dict[Standing, Strength] = {"passes": "strong", "fails": "weak", "undecided": "unsure"}
    return named[standing]

"""Where a model fails: score by position, and the middle of the context against its ends."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from leadline.analysis.curves import Axis, Curve, curves_of
from leadline.analysis.design import Design
from leadline.analysis.inflation import MATTERS_POINTS, Inflation, inflation
from leadline.analysis.intervals import CONFIDENCE
from leadline.analysis.placed import Place, Placed, depths_of, spread_of
from leadline.records import Record
from leadline.scoring.trials import Scored, score


@dataclass(frozen=True, slots=True)
class Positions:
    """Scores by position of a run, and recall against the strict score.

    Attributes:
        curves: for all tasks together and for each task: over all lengths, then at each.
        inflations: one for each task and length with scored trials.
    """

    curves: tuple[Curve, ...]
    inflations: tuple[Inflation, ...]

    def curve(self, task: str | None = None, length: int | None = None, axis: Axis = "depth") -> Curve | None:
        """The curve of this task and length, where there is one."""
        for curve in self.curves:
            if (curve.axis, curve.task, curve.length) == (axis, task, length):
                return curve
        return None

    def grid(self, task: str | None = None) -> tuple[Curve, ...]:
        """Depth by length: the curves at the single lengths, whose bins have the same ends."""
        return tuple(
            curve for curve in self.curves if curve.axis == "depth" and curve.task == task and curve.length is not None
        )

    @property
    def mattering(self) -> tuple[Inflation, ...]:
        """Cells where recall is above the strict score by `MATTERS_POINTS` or more, the greatest first."""
        return tuple(sorted((one for one in self.inflations if one.matters), key=lambda one: -one.points))

    def as_dict(self) -> dict[str, Any]:
        """All of it as it may be written: aggregates alone."""
        return {
            "curves": [curve.as_dict() for curve in self.curves],
            "grid": [
                {"task": curve.task, "length": curve.length, **one.as_dict()}
                for curve in self.curves
                if curve.axis == "depth" and curve.length is not None
                for one in curve.bins
            ],
            "strict_against_recall": [one.as_dict() for one in self.inflations],
            "matters_points": MATTERS_POINTS,
            "matters": [{"task": one.task, "length": one.length, "points": one.points} for one in self.mattering],
        }


class _Trial(NamedTuple):
    """What is kept of a record."""

    scored: Scored
    depths: tuple[Place, ...]
    spread: Place | None


class PositionCount:
    """Takes records one by one, oldest first, and keeps a few numbers of each: the newest of a key counts."""

    def __init__(self, design: Design) -> None:
        self._design = design
        self._tasks = {task.name: task for task in design.tasks}
        self._lengths = frozenset(design.lengths)
        self._trials: dict[tuple[str, int], dict[tuple[Any, ...], _Trial | None]] = defaultdict(dict)

    def add(self, record: Record, scored: Scored | None) -> None:
        """Count one more record, with its scores; controls and those of other tasks or lengths are left out."""
        item = record.key.item
        task = self._tasks.get(item.task)
        if task is None or record.key.length not in self._lengths or record.key.is_control:
            return
        name = (item.version, sys.intern(item.params), item.seed, item.index, sys.intern(record.key.wording))
        self._trials[task.name, record.key.length][name] = (
            None
            if scored is None
            else _Trial(scored, depths_of(record, scored, task.metric), spread_of(record, scored, task.metric))
        )

    def result(self, confidence: float = CONFIDENCE) -> Positions:
        """The positions of all that was added."""
        placed: dict[Axis, dict[tuple[str, int], list[Placed]]] = {"depth": {}, "spread": {}}
        inflations: list[Inflation] = []
        for task in self._design.tasks:
            for length in self._design.lengths:
                trials = {name: trial for name, trial in self._trials[task.name, length].items() if trial is not None}
                if not trials:
                    continue
                cell = task.name, length
                inflations.append(inflation(*cell, [trial.scored for trial in trials.values()], confidence))
                placed["depth"][cell] = [
                    Placed(cell, (task.name, *name[:-1]), *place)
                    for name, trial in trials.items()
                    for place in trial.depths
                ]
                placed["spread"][cell] = [
                    Placed(cell, (task.name, *name[:-1]), *trial.spread)
                    for name, trial in trials.items()
                    if trial.spread is not None
                ]
        names = [task.name for task in self._design.tasks]
        curves = [curve for name in (None, *names) for curve in curves_of("depth", name, placed["depth"], confidence)]
        curves += [curve for name in names for curve in curves_of("spread", name, placed["spread"], confidence)]
        return Positions(tuple(curves), tuple(inflations))


def positions(records: Iterable[Record], design: Design) -> Positions:
    """Score by position over these records, oldest first: the newest record of a key counts.

    Trials that are scored 0 without an answer (a refusal, a length beyond the model's context) count as such at their
    place, so that the figures agree with the cells' scores. Records of tasks or lengths outside the design are left
    out, and so are those without a place in curves.
    """
    count = PositionCount(design)
    for record in records:
        count.add(record, score(record))
    return count.result()

"""The score at a length: the mean over the tasks of the task means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analysis.cells import Cell
from leadline.analysis.design import Design
from leadline.analysis.intervals import CONFIDENCE, Interval, simultaneous_confidence
from leadline.analysis.stopped import StoppedLength
from leadline.analysis.strata import make_stratum, stratified_interval


@dataclass(frozen=True, slots=True)
class LengthScore:
    """A length's score over the tasks that are present at all lengths.

    Attributes:
        n: trials that the score rests on.
        score, low, high, strict: in per cent; None where a cell has no score.
        categories: the same mean within each category.
        incomplete_categories: those with a cell that is not complete.
        complete: every cell is complete. An incomplete length neither passes nor fails.
        simultaneous: the wider interval that holds for all lengths of the run together, for the effective length as
            a set.
        stopped: what a stop rule said of this length, or None. Where it was decided early there are no intervals:
            ordinary ones do not hold for a number of trials that the scores themselves have chosen.
    """

    length: int
    n: int
    score: float | None
    low: float | None
    high: float | None
    strict: float | None
    categories: Mapping[str, float | None]
    incomplete_categories: frozenset[str]
    complete: bool
    simultaneous: Interval | None = None
    stopped: StoppedLength | None = None

    @property
    def early(self) -> bool:
        """A stop rule decided it before everything was asked, so that its mean is not an unbiased figure."""
        return self.stopped is not None and self.stopped.early

    def as_dict(self) -> dict[str, Any]:
        """The length as it stands in the summary."""
        return {
            "length": self.length,
            "n": self.n,
            "score": self.score,
            "low": self.low,
            "high": self.high,
            "strict": self.strict,
            "categories": dict(self.categories),
            "complete": self.complete,
            **({} if self.stopped is None else self.stopped.as_dict()),
        }


def left_out_tasks(cells: Sequence[Cell], design: Design) -> tuple[str, ...]:
    """Tasks that are absent at one length or more, and so left out of every length's score."""
    absent = {cell.task for cell in cells if cell.absent}
    return tuple(task.name for task in design.tasks if task.name in absent)


def length_scores(cells: Sequence[Cell], design: Design) -> tuple[LengthScore, ...]:
    """One score for each of the design's lengths, in order."""
    kept = _kept(cells, design)
    return tuple(
        _length_score(length, [cell for cell in kept if cell.length == length], design) for length in design.lengths
    )


def category_scores(cells: Sequence[Cell], design: Design) -> dict[str, tuple[LengthScore, ...]]:
    """The same over the tasks of each category alone."""
    categories = {
        category: [task.name for task in design.tasks if task.category == category] for category in design.categories
    }
    return {
        category: length_scores([cell for cell in cells if cell.task in tasks], design)
        for category, tasks in categories.items()
    }


def average_interval(cells: Sequence[Cell], design: Design, weights: Sequence[float]) -> Interval | None:
    """Interval in per cent of the average over the lengths with these weights; None where a cell has no score.

    An item stands at every length, so that scores at two lengths are not independent: each task is one stratum, whose
    units are items over all lengths (`leadline.analysis.strata`).
    """
    of_length = {
        length: weight / math.fsum(weights) for length, weight in zip(design.lengths, weights, strict=True) if weight
    }
    by_task: dict[str, list[Cell]] = {}
    for cell in _kept(cells, design):
        if cell.length in of_length:
            by_task.setdefault(cell.task, []).append(cell)
    if not by_task or any(not cell.scores for group in by_task.values() for cell in group):
        return None
    strata = [make_stratum([(of_length[cell.length], cell.scores) for cell in group]) for group in by_task.values()]
    low, high = stratified_interval(strata)
    return 100 * low, 100 * high


def _kept(cells: Sequence[Cell], design: Design) -> list[Cell]:
    left_out = set(left_out_tasks(cells, design))
    return [cell for cell in cells if cell.task not in left_out]


def _length_score(length: int, cells: Sequence[Cell], design: Design) -> LengthScore:
    category_of = {task.name: task.category for task in design.tasks}
    own, simultaneous = _intervals(cells, (CONFIDENCE, simultaneous_confidence(len(design.lengths))))
    stopped = None if design.stopped is None else design.stopped.lengths.get(length)
    if stopped is not None and stopped.early:
        own = simultaneous = None
    low, high = own or (None, None)
    return LengthScore(
        length=length,
        n=sum(cell.n for cell in cells),
        score=_mean([cell.score for cell in cells]),
        low=low,
        high=high,
        strict=_mean([cell.strict for cell in cells]),
        categories={
            category: _mean([cell.score for cell in cells if category_of[cell.task] == category])
            for category in design.categories
        },
        incomplete_categories=frozenset(category_of[cell.task] for cell in cells if not cell.complete),
        complete=bool(cells) and all(cell.complete for cell in cells),
        simultaneous=simultaneous,
        stopped=stopped,
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean; None where a value is missing, because a mean over fewer tasks is another figure."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return math.fsum(known) / len(known)


def _intervals(cells: Sequence[Cell], levels: Sequence[float]) -> list[Interval | None]:
    """The interval in per cent at each level. One cell keeps its own interval; several are strata."""
    if not cells or not all(cell.scores for cell in cells):
        return [None for _ in levels]
    if len(cells) == 1:
        return [cells[0].interval(level) for level in levels]
    strata = [make_stratum([(1.0, cell.scores)]) for cell in cells]
    ends = [stratified_interval(strata, level) for level in levels]
    return [(100 * low, 100 * high) for low, high in ends]


def average(scores: Sequence[LengthScore]) -> float | None:
    """The plain mean over the lengths, in per cent."""
    return weighted_average(scores, [1.0] * len(scores))


def weighted_average(scores: Sequence[LengthScore], weights: Sequence[float]) -> float | None:
    """The mean over the lengths with these weights, in per cent; None where a length that weighs has no score.

    RULER's wAvg (inc) has the weights 1, 2, ... n over the ascending lengths, wAvg (dec) n, ... 2, 1.
    """
    weighed = [(weight, score.score) for weight, score in zip(weights, scores, strict=True) if weight]
    known = [(weight, value) for weight, value in weighed if value is not None]
    if not known or len(known) < len(weighed):
        return None
    return math.fsum(weight * value for weight, value in known) / math.fsum(weight for weight, _ in known)

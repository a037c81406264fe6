"""The score at a length: the mean over the tasks of the task means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analysis.cells import Cell
from leadline.analysis.design import Design
from leadline.analysis.intervals import mean_interval


@dataclass(frozen=True, slots=True)
class LengthScore:
    """A length's score over the tasks that are present at all lengths.

    Attributes:
        n: trials that the score rests on.
        score, low, high, strict: in per cent; None where a cell has no score. The interval is there where every cell
            has one.
        categories: the same mean within each category.
        incomplete_categories: those with a cell that is not complete.
        complete: every cell is complete. An incomplete length neither passes nor fails.
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
        }


def left_out_tasks(cells: Sequence[Cell], design: Design) -> tuple[str, ...]:
    """Tasks that are absent at one length or more, and so left out of every length's score."""
    absent = {cell.task for cell in cells if cell.absent}
    return tuple(task.name for task in design.tasks if task.name in absent)


def length_scores(cells: Sequence[Cell], design: Design) -> tuple[LengthScore, ...]:
    """One score for each of the design's lengths, in order."""
    left_out = set(left_out_tasks(cells, design))
    category_of = {task.name: task.category for task in design.tasks}
    kept = [cell for cell in cells if cell.task not in left_out]
    return tuple(
        _length_score(length, [cell for cell in kept if cell.length == length], category_of, design)
        for length in design.lengths
    )


def _length_score(length: int, cells: Sequence[Cell], category_of: Mapping[str, str], design: Design) -> LengthScore:
    low, high = _interval(cells)
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
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean; None where a value is missing, because a mean over fewer tasks is another figure."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return math.fsum(known) / len(known)


def _interval(cells: Sequence[Cell]) -> tuple[float | None, float | None]:
    points = [cell.score for cell in cells if cell.score is not None]
    intervals = [(cell.low, cell.high) for cell in cells if cell.low is not None and cell.high is not None]
    if not cells or len(points) < len(cells) or len(intervals) < len(cells):
        return None, None
    low, high = mean_interval(points, intervals)
    return max(0.0, low), min(100.0, high)


def average(scores: Sequence[LengthScore]) -> float | None:
    """The plain mean over the lengths, in per cent."""
    return weighted_average(scores, [1.0] * len(scores))


def weighted_average(scores: Sequence[LengthScore], weights: Sequence[float]) -> float | None:
    """The mean over the lengths with these weights, in per cent; None where a length has no score.

    RULER's wAvg (inc) has the weights 1, 2, ... n over the ascending lengths, wAvg (dec) n, ... 2, 1.
    """
    known = [score.score for score in scores if score.score is not None]
    if not known or len(known) < len(scores):
        return None
    return math.fsum(weight * value for weight, value in zip(weights, known, strict=True)) / math.fsum(weights)

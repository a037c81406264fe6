"""Score by position: curves of bins, each with its interval."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from leadline.analysis.intervals import CONFIDENCE, Interval, wilson
from leadline.analysis.middle import MiddleAgainstEnds, middle_against_ends
from leadline.analysis.placed import DEEPEST, Placed
from leadline.analysis.strata import make_stratum, stratified_interval

BINS = 10
"""Bins of a curve where there are enough places for them."""

FEWEST_BINS = 3
PLACES_PER_BIN = 5
"""Different places that a bin should hold on average, or the bins are made wider."""

Axis = Literal["depth", "spread"]


@dataclass(frozen=True, slots=True)
class Bin:
    """A stretch of the context.

    Attributes:
        start, end: in per cent; the end belongs to the next bin, but for the last.
        n: places observed in it, each at each length.
        items: different items among them.
        score, low, high: mean in per cent with its 95 % interval; None where n is 0.
    """

    start: float
    end: float
    n: int
    items: int
    score: float | None
    low: float | None
    high: float | None

    def as_dict(self) -> dict[str, Any]:
        """The bin as it may be written."""
        return {
            "start": self.start,
            "end": self.end,
            "n": self.n,
            "items": self.items,
            "score": self.score,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True, slots=True)
class Curve:
    """Score by position.

    Attributes:
        axis: ``depth`` of what was asked for, or ``spread`` of a chain: both in per cent of the context.
        task: or None for all tasks that have a depth.
        length: or None for all lengths.
        bins: from the beginning of the context on; those of a task's lengths have the same ends.
        middle: the middle third against the outer ones; None for a spread, or where there is too little to compare.
    """

    axis: Axis
    task: str | None
    length: int | None
    bins: tuple[Bin, ...]
    middle: MiddleAgainstEnds | None = None

    def as_dict(self) -> dict[str, Any]:
        """The curve as it may be written."""
        return {
            "axis": self.axis,
            "task": self.task,
            "length": self.length,
            "bins": [one.as_dict() for one in self.bins],
            "middle": None if self.middle is None else self.middle.as_dict(),
        }


def curves_of(
    axis: Axis,
    task: str | None,
    cells: Mapping[tuple[str, int], Sequence[Placed]],
    confidence: float = CONFIDENCE,
) -> list[Curve]:
    """The curve of a task (None: of all together) over all lengths, then one for each length that has places.

    Args:
        axis: what the places are.
        task: the others' cells are left out.
        cells: places by (task, length).
        confidence: level of the intervals.
    """
    by_length: dict[int, list[Placed]] = defaultdict(list)
    for (name, length), placed in cells.items():
        if placed and task in {None, name}:
            by_length[length] += placed
    if not by_length:
        return []
    everything = [one for placed in by_length.values() for one in placed]
    common = min(_bin_count(placed) for placed in by_length.values())
    curves = [_curve(axis, task, None, everything, _bin_count(everything), 1, confidence)]
    for length in sorted(by_length):
        curves.append(_curve(axis, task, length, by_length[length], common, len(by_length), confidence))
    return curves


def _curve(
    axis: Axis,
    task: str | None,
    length: int | None,
    placed: Sequence[Placed],
    bins: int,
    comparisons: int,
    confidence: float,
) -> Curve:
    held: list[list[Placed]] = [[] for _ in range(bins)]
    for one in placed:
        held[min(bins - 1, int(one.place * bins / DEEPEST))].append(one)
    middle = middle_against_ends(placed, comparisons, confidence) if axis == "depth" else None
    ends = [DEEPEST * number / bins for number in range(bins + 1)]
    return Curve(
        axis,
        task,
        length,
        tuple(_bin(ends[number], ends[number + 1], held[number], confidence) for number in range(bins)),
        middle,
    )


def _bin_count(placed: Sequence[Placed]) -> int:
    """Bins that so many different places can fill; an item at several lengths is one place."""
    places = len({(one.item, one.place) for one in placed})
    return max(FEWEST_BINS, min(BINS, places // PLACES_PER_BIN))


def _bin(start: float, end: float, held: Sequence[Placed], confidence: float) -> Bin:
    if not held:
        return Bin(start, end, 0, 0, None, None, None)
    items = len({one.item for one in held})
    mean = math.fsum(one.score for one in held) / len(held)
    low, high = _interval(held, items, confidence)
    return Bin(start, end, len(held), items, 100 * mean, 100 * low, 100 * high)


def _interval(held: Sequence[Placed], items: int, confidence: float) -> Interval:
    """Wilson's where each item was seen once and is right or wrong; else that of a mean over clusters of an item."""
    if items == len(held) and all(one.score in {0.0, 1.0} for one in held):
        return wilson(sum(one.score == 1 for one in held), len(held), confidence)
    return stratified_interval([make_stratum([(1.0, [(one.item, one.score) for one in held])])], confidence)

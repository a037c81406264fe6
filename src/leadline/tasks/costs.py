"""Prices of sizes: how many tokens a request has with n units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.haystacks.prose import Prose
from leadline.tokenizers.counting import Counter

FIRST_BLOCK = 64


@dataclass(frozen=True, slots=True)
class LinearCost:
    """Every unit costs the same: fixed + size x per_unit."""

    fixed: int
    per_unit: int
    upto: int

    @property
    def largest(self) -> int:
        """The first size whose request is longer than `upto` tokens."""
        return max(1, (self.upto - self.fixed) // self.per_unit + 1)

    def __getitem__(self, size: int) -> int:
        return self.fixed + size * self.per_unit


@dataclass(frozen=True, slots=True)
class RunningCost:
    """Units with costs of their own: fixed + running[size], running of shape (sizes + 1,)."""

    fixed: int
    running: npt.NDArray[np.int64]

    @property
    def largest(self) -> int:
        """The greatest size whose cost was counted."""
        return len(self.running) - 1

    def __getitem__(self, size: int) -> int:
        return self.fixed + int(self.running[size])


@dataclass(frozen=True, slots=True)
class ProseCost:
    """Sentences joined by spaces, with needles planted between them.

    `fixed` holds the frame, head, tail and the needles, each needle counted with a space before it; `running` the
    sentences likewise. The first element has no space before it and the last a newline after it, so those two edges
    are counted for the element that really stands there.
    """

    fixed: int
    running: npt.NDArray[np.int64]
    prose: Prose
    first: int
    places: tuple[float, ...]
    needles: tuple[str, ...]
    counter: Counter

    @property
    def largest(self) -> int:
        """The greatest size whose cost was counted."""
        return len(self.running) - 1

    def __getitem__(self, size: int) -> int:
        slots = [int(place * size) for place in self.places]
        begins = self.needles[slots.index(0)] if 0 in slots else self.prose.sentence(self.first)
        ends = self.needles[slots.index(size)] if size in slots else self.prose.sentence(self.first + size - 1)
        return self.fixed + int(self.running[size]) + edges(self.counter, begins, ends, "\n")


def edges(counter: Counter, first: str, last: str, newline: str) -> int:
    """What the two ends of a text joined by spaces cost beyond its elements' counts with a space before each."""
    opening, closing = first.partition(" ")[0], " " + last.rpartition(" ")[2]
    bare, spaced, ended, open_end = counter.chunk_counts([opening, " " + opening, closing + newline, closing])
    return int(bare) - int(spaced) + int(ended) - int(open_end)


def grown(
    running: Callable[[int], npt.NDArray[np.int64]], upto: int, limit: int | None, first: int = FIRST_BLOCK
) -> npt.NDArray[np.int64]:
    """A running sum that is asked for more units until it passes `upto` tokens or there are no more units.

    Args:
        running: gives the running sum over the first n units, shape (n + 1,).
        upto: tokens to pass.
        limit: the greatest number of units, or None.
        first: how many units to ask for first.
    """
    units = first
    while True:
        units = units if limit is None else min(units, limit)
        sums = running(units)
        if sums[-1] > upto or units == limit:
            return sums
        # Aim a little past the target: the mean cost so far tells how many units that takes.
        units = max(units * 3 // 2, int(units * (upto + 64) / max(1, int(sums[-1])) * 1.05) + 8)


def running_sum(costs: Sequence[Any] | npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """0, then the sums of the first 1, 2, ... costs; shape (len(costs) + 1,)."""
    sums = np.zeros(len(costs) + 1, dtype=np.int64)
    np.cumsum(costs, out=sums[1:])
    return sums

"""How far a run is, in figures: trials, tokens, cost, rate, time left, and the score of each length so far."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from leadline.analysis.verdict import format_length
from leadline.records import Record
from leadline.report.spent import format_usd
from leadline.scoring.trials import score

CLOSING = frozenset({"does_not_fit", "over_length"})
"""Outcomes after which nothing more of a cell is asked."""

LEAST_S = 1e-9


class Costs(Protocol):
    """What a run took, in money."""

    def add(self, record: Record) -> None:
        """Count one more record."""
        ...

    @property
    def usd(self) -> float | None:
        """What that costs in US dollars; None where the price is not known."""
        ...


@dataclass(frozen=True, slots=True)
class LengthTally:
    """One length of a run that goes on.

    Attributes:
        name: the length as people write it.
        done, of: trials asked by now and trials to ask, in this invocation.
        score: mean of the task means so far in per cent, answers of earlier invocations included; None before any.
    """

    name: str
    done: int
    of: int
    score: float | None


@dataclass(slots=True)
class _Cell:
    """A task at a length: whether this invocation asks it, what is done and left of it, and its scores."""

    asked: bool = False
    done: int = 0
    of: int = 0
    tokens_left: int = 0
    scored: int = 0
    total: float = 0.0


class Tally:
    """Counts what a run tells, and gives the figures that every kind of progress shows."""

    def __init__(
        self,
        costs: Costs | None = None,
        *,
        at_most: bool = False,
        k: int = 1024,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing.

        Args:
            costs: counts what the run's requests cost; None leaves money out.
            at_most: the run may end before all is asked, because its verdict is certain.
            k: tokens in a K of the lengths' names.
            clock: seconds from any beginning.
        """
        self._costs, self._at_most, self._k, self._clock = costs, at_most, k, clock
        self._cells: dict[tuple[str, int], _Cell] = defaultdict(_Cell)
        self._started = clock()
        self.tokens = 0

    def begin(self, cells: Mapping[tuple[str, int], tuple[int, int]]) -> None:
        """Take how many trials and prompt tokens there are to ask of each task and length, and start the clock."""
        for name, (trials, tokens) in cells.items():
            cell = self._cells[name]
            cell.asked, cell.of, cell.tokens_left = True, trials, tokens
        self._started = self._clock()

    def earlier(self, record: Record) -> None:
        """Take an answer of an earlier invocation into the scores, and into nothing else."""
        if not record.key.is_control:
            self._score(self._cells[record.key.item.task, record.key.length], record)

    def record(self, record: Record) -> None:
        """Count a trial."""
        if self._costs is not None:
            self._costs.add(record)
        tokens = record.prompt_tokens or 0
        if record.response is not None:
            self.tokens += tokens
        if record.key.is_control:
            return
        cell = self._cells[record.key.item.task, record.key.length]
        if record.response is not None:
            cell.done += 1
            cell.tokens_left = max(0, cell.tokens_left - tokens)
            self._score(cell, record)
        if record.outcome in CLOSING:
            cell.of, cell.tokens_left = cell.done, 0

    def _score(self, cell: _Cell, record: Record) -> None:
        scored = score(record)
        if scored is not None:
            cell.scored += 1
            cell.total += scored.recall

    @property
    def done(self) -> int:
        """Trials asked by now."""
        return sum(cell.done for cell in self._cells.values())

    @property
    def of(self) -> int:
        """Trials to ask, those that are done included."""
        return sum(max(cell.of, cell.done) for cell in self._cells.values())

    @property
    def tokens_per_s(self) -> float:
        """Prompt tokens a second, over this invocation."""
        return self.tokens / max(LEAST_S, self._clock() - self._started)

    @property
    def left_s(self) -> float | None:
        """Seconds that the rest takes at this rate, by tokens since long prompts take most of the time."""
        if not self.tokens:
            return None
        return sum(cell.tokens_left for cell in self._cells.values()) / max(LEAST_S, self.tokens_per_s)

    @property
    def lengths(self) -> list[LengthTally]:
        """The lengths that this invocation asks, ascending, with the scores of the tasks that it asks."""
        by_length: dict[int, list[_Cell]] = defaultdict(list)
        for (_, length), cell in self._cells.items():
            if cell.asked:
                by_length[length].append(cell)
        return [self._length(length, cells) for length, cells in sorted(by_length.items())]

    def _length(self, length: int, cells: list[_Cell]) -> LengthTally:
        means = [cell.total / cell.scored for cell in cells if cell.scored]
        return LengthTally(
            name=format_length(length, self._k),
            done=sum(cell.done for cell in cells),
            of=sum(max(cell.of, cell.done) for cell in cells),
            score=100 * sum(means) / len(means) if means else None,
        )

    def sentence(self) -> str:
        """All but the scores, in words."""
        bound = "at most " if self._at_most else ""
        told = [f"{self.done:,} of {bound}{self.of:,} trials", f"{self.tokens:,} prompt tokens"]
        if self.left_s is not None:
            told += [f"{self.tokens_per_s:,.0f} a second", f"{bound}{duration(self.left_s)} left"]
        usd = None if self._costs is None else self._costs.usd
        if usd is not None:
            told.append(format_usd(usd))
        return ", ".join(told)


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"

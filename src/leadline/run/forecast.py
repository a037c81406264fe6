"""What a run would ask: trials, tokens, and what a prefix cache can save, without asking or drafting anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadline.items import Prefix
from leadline.run.controls import Control
from leadline.sampler import Sampler
from leadline.sizing.haystack import is_windowed
from leadline.tasks.base import Task

FITTED_ITEMS = 5
"""Items of each cell whose size is really fitted; the others are taken to need as many tokens on average."""


@dataclass(frozen=True, slots=True)
class CellForecast:
    """One task at one length.

    Attributes:
        trials: how many would be asked; 0 for a cell that is absent or beyond the model.
        prompt_tokens: of all its trials together, estimated from the items that were fitted.
        output_tokens: at most, of all its trials together.
        absent: an item does not fit, so the cell is left out.
        beyond: the model does not accept the length.
        notes: what runs out.
    """

    task: str
    length: int
    trials: int
    prompt_tokens: int
    output_tokens: int
    absent: bool = False
    beyond: bool = False
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The cell as ``leadline plan --json`` prints it."""
        return {
            "task": self.task,
            "length": self.length,
            "trials": self.trials,
            "prompt_tokens": self.prompt_tokens,
            "output_tokens": self.output_tokens,
            "absent": self.absent,
            "beyond_context": self.beyond,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Forecast:
    """A whole run; `controls` and the `closed_book` are asked beside its cells.

    `saved_tokens` are prompt tokens that a server with a prefix cache of one context for each request in flight need
    not compute, when the trials come in the order of `leadline run`.
    """

    cells: tuple[CellForecast, ...]
    saved_tokens: int
    controls: tuple[CellForecast, ...] = ()
    closed_book: tuple[CellForecast, ...] = ()

    @property
    def trials(self) -> int:
        """Trials of the whole run, with all that is asked beside its cells."""
        return sum(cell.trials for cell in self._all)

    @property
    def prompt_tokens(self) -> int:
        """Prompt tokens of the whole run, with all that is asked beside its cells."""
        return sum(cell.prompt_tokens for cell in self._all)

    @property
    def output_tokens(self) -> int:
        """Output tokens of the whole run at most, with all that is asked beside its cells."""
        return sum(cell.output_tokens for cell in self._all)

    @property
    def beside_tokens(self) -> int:
        """Prompt tokens of what is asked beside the cells."""
        return sum(cell.prompt_tokens for cell in (*self.controls, *self.closed_book))

    @property
    def _all(self) -> tuple[CellForecast, ...]:
        return (*self.cells, *self.controls, *self.closed_book)

    def as_dict(self) -> dict[str, Any]:
        """The forecast as ``leadline plan --json`` prints it."""
        return {
            "trials": self.trials,
            "prompt_tokens": self.prompt_tokens,
            "output_tokens": self.output_tokens,
            "saved_tokens": self.saved_tokens,
            "controls": _sums(self.controls),
            "closed_book": _sums(self.closed_book),
            "cells": [cell.as_dict() for cell in self.cells],
        }


def _sums(cells: Sequence[CellForecast]) -> dict[str, int]:
    return {
        "trials": sum(cell.trials for cell in cells),
        "prompt_tokens": sum(cell.prompt_tokens for cell in cells),
    }


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a trial stands in the sorted queue, and how much of it a neighbour may have.

    `shared_tokens` are those up to what is planted; `whole_tokens` those of opening and haystack, which a neighbour of
    the same inner group shares too.
    """

    round: int
    group: str
    shared_tokens: int
    length: int
    prompt_tokens: int
    whole_tokens: int = 0
    inner: str = ""


def forecast(
    sampler: Sampler,
    tasks: Sequence[Task],
    lengths: Sequence[int],
    samples: int,
    context_tokens: int | None,
    lanes: int,
    controls: Sequence[Control] = (),
    closed_book: Sequence[Control] = (),
) -> Forecast:
    """What asking these tasks at these lengths would take.

    Args:
        sampler: plans and fits.
        tasks: what is asked.
        lengths: at which lengths.
        samples: how many of each task and length.
        context_tokens: the longest request that the model accepts, or None.
        lanes: requests in flight, each with a cached context of its own.
        controls: what is asked besides.
        closed_book: the closed book, asked besides too.
    """
    cells: list[CellForecast] = []
    queue: list[_Place] = []
    for task in tasks:
        mean_tokens: dict[int, int] = {}
        rounds: dict[int, list[Sequence[int]]] = {}
        for length in lengths:
            variant = task.at_length(length)
            rounds[length] = list(variant.rounds(samples, sampler.sources))
            cell = _cell(sampler, variant, length, sum(map(len, rounds[length])), context_tokens)
            cells.append(cell)
            if cell.trials:
                mean_tokens[length] = cell.prompt_tokens // cell.trials
        shares = bool(mean_tokens) and sampler.plan(task, 0).prefix is not None
        prefixes: dict[tuple[Task, int], Prefix | None] = {}
        opening = opening_tokens(sampler, task) if shares else 0
        for length, tokens in mean_tokens.items():
            variant = task.at_length(length)
            for number, indices in enumerate(rounds[length]):
                for index in indices:
                    if shares and (variant, index) not in prefixes:
                        prefixes[variant, index] = sampler.plan(variant, index).prefix
                    prefix = prefixes.get((variant, index))
                    queue.append(_place(prefix, number, length, tokens, opening, is_windowed(variant)))
    short, closed = (
        tuple(_cell(sampler, control.task, control.length, len(control.indices), context_tokens) for control in beside)
        for beside in (controls, closed_book)
    )
    return Forecast(tuple(cells), _saved(queue, lanes), short, closed)


def _cell(sampler: Sampler, task: Task, length: int, samples: int, context_tokens: int | None) -> CellForecast:
    if context_tokens is not None and length > context_tokens:
        return CellForecast(task.name, length, 0, 0, 0, beyond=True)
    tokens: list[int] = []
    notes: dict[str, None] = {}
    for index in range(min(samples, FITTED_ITEMS)):
        plan = sampler.plan(task, index)
        fit = sampler.fit(task, plan, length)
        if fit is None:
            return CellForecast(task.name, length, 0, 0, 0, absent=True, notes=tuple(notes))
        tokens.append(fit.prompt_tokens)
        notes.update(dict.fromkeys(sampler.notes(task, plan, fit, length)))
    prompt_tokens = round(samples * sum(tokens) / len(tokens))
    return CellForecast(
        task.name, length, samples, prompt_tokens, samples * task.params.output_tokens, notes=tuple(notes)
    )


def opening_tokens(sampler: Sampler, task: Task) -> int:
    """Tokens of a window's request before its haystack; those of the frame itself are left out."""
    if not is_windowed(task):
        return 0
    plan = sampler.plan(task, 0)
    head, _ = task.edges(plan, "", sampler.sources)
    texts = (task.system(plan, sampler.sources) or "", head)
    return sum(map(sampler.counter.counter.tokenizer.count, texts))


def _place(prefix: Prefix | None, number: int, length: int, prompt_tokens: int, opening: int, windowed: bool) -> _Place:
    if prefix is None:
        return _Place(number, "", 0, length, prompt_tokens)
    if not windowed:
        shared = int(prefix.fraction * prompt_tokens)
        return _Place(number, prefix.group, shared, length, prompt_tokens, prompt_tokens, prefix.inner)
    shared, whole = (min(opening + int(share * length), prompt_tokens) for share in (prefix.fraction, 1))
    return _Place(number, f"{prefix.group}:{length:09}", shared, length, prompt_tokens, whole, prefix.inner)


def _saved(queue: list[_Place], lanes: int) -> int:
    """Tokens that each trial shares with the one before it in its lane."""
    queue.sort(key=lambda place: (place.round, place.group, -place.shared_tokens, place.length, place.inner))
    saved = 0
    rounds: dict[int, int] = {}
    for place in queue:
        rounds[place.round] = rounds.get(place.round, 0) + place.prompt_tokens
    spent = lane = 0
    previous: _Place | None = None
    for place in queue:
        if previous is None or previous.round != place.round:
            spent = lane = 0
            previous = None
        if previous is not None and place.group and previous.group == place.group:
            whole = place.inner and place.inner == previous.inner
            saved += place.whole_tokens if whole else min(previous.shared_tokens, place.shared_tokens)
        spent += place.prompt_tokens
        previous = place
        if spent * lanes >= rounds[place.round] * (lane + 1):
            # The next trial opens a lane of its own, whose cache holds none of this.
            lane += 1
            previous = _Place(place.round, "", 0, 0, 0)
    return saved

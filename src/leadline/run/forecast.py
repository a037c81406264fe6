"""What a run would ask: trials, tokens, and what a prefix cache can save, without asking or drafting anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadline.items import Prefix
from leadline.run.schedule import ROUND_ITEMS
from leadline.sampler import Sampler
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
    """A whole run.

    `saved_tokens` are prompt tokens that a server with a prefix cache of one context for each request in flight need
    not compute, when the trials come in the order of `leadline run`.
    """

    cells: tuple[CellForecast, ...]
    saved_tokens: int

    @property
    def trials(self) -> int:
        """Trials of the whole run."""
        return sum(cell.trials for cell in self.cells)

    @property
    def prompt_tokens(self) -> int:
        """Prompt tokens of the whole run."""
        return sum(cell.prompt_tokens for cell in self.cells)

    @property
    def output_tokens(self) -> int:
        """Output tokens of the whole run, at most."""
        return sum(cell.output_tokens for cell in self.cells)

    def as_dict(self) -> dict[str, Any]:
        """The forecast as ``leadline plan --json`` prints it."""
        return {
            "trials": self.trials,
            "prompt_tokens": self.prompt_tokens,
            "output_tokens": self.output_tokens,
            "saved_tokens": self.saved_tokens,
            "cells": [cell.as_dict() for cell in self.cells],
        }


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a trial stands in the sorted queue."""

    round: int
    group: str
    shared_tokens: int
    length: int
    prompt_tokens: int


def forecast(
    sampler: Sampler,
    tasks: Sequence[Task],
    lengths: Sequence[int],
    samples: int,
    context_tokens: int | None,
    lanes: int,
) -> Forecast:
    """What asking these tasks at these lengths would take.

    Args:
        sampler: plans and fits.
        tasks: what is asked.
        lengths: at which lengths.
        samples: how many of each task and length.
        context_tokens: the longest request that the model accepts, or None.
        lanes: requests in flight, each with a cached context of its own.
    """
    cells: list[CellForecast] = []
    queue: list[_Place] = []
    for task in tasks:
        mean_tokens: dict[int, int] = {}
        for length in lengths:
            cell = _cell(sampler, task.at_length(length), length, samples, context_tokens)
            cells.append(cell)
            if cell.trials:
                mean_tokens[length] = cell.prompt_tokens // cell.trials
        shares = bool(mean_tokens) and sampler.plan(task, 0).prefix is not None
        for index in range(samples) if mean_tokens else ():
            prefix = sampler.plan(task, index).prefix if shares else None
            queue += [_place(prefix, index // ROUND_ITEMS, length, tokens) for length, tokens in mean_tokens.items()]
    return Forecast(tuple(cells), _saved(queue, lanes))


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


def _place(prefix: Prefix | None, number: int, length: int, prompt_tokens: int) -> _Place:
    if prefix is None:
        return _Place(number, "", 0, length, prompt_tokens)
    return _Place(number, prefix.group, int(prefix.fraction * prompt_tokens), length, prompt_tokens)


def _saved(queue: list[_Place], lanes: int) -> int:
    """Tokens that each trial shares with the one before it in its lane."""
    queue.sort(key=lambda place: (place.round, place.group, -place.shared_tokens, place.length))
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
            saved += min(previous.shared_tokens, place.shared_tokens)
        spent += place.prompt_tokens
        previous = place
        if spent * lanes >= rounds[place.round] * (lane + 1):
            # The next trial opens a lane of its own, whose cache holds none of this.
            lane += 1
            previous = _Place(place.round, "", 0, 0, 0)
    return saved

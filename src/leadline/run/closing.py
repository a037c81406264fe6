"""Cells that are asked no more: a length that the server refuses, or of which it does not read all."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from leadline.items import TrialKey
from leadline.run.schedule import Cell, Trial
from leadline.tasks.base import Task, item_key

UNREAD_TRIALS = 3
"""Trials that the server read in part, and none whole, after which a cell's others are left for a next run."""

_CONTEXT = re.compile(
    r"context|maximum (?:prompt|input|sequence|model) length|n_ctx|max_model_len|too (?:long|many tokens)"
)
"""What servers call their limit: "maximum context length" (OpenAI, vLLM, SGLang), "available context size"
(llama.cpp), "prompt is too long" (Anthropic)."""


@dataclass(slots=True)
class Cells:
    """Which cells of a run are still asked.

    Attributes:
        tasks, lengths: all cells there are.
        closed: asked no more, kept up to date; shared with the schedule.
        answered: at least one trial was read whole, in this run or before, so the length is possible.
    """

    tasks: Sequence[Task]
    lengths: Collection[int]
    closed: set[Cell]
    answered: set[Cell] = field(default_factory=set[Cell])
    _unread: dict[Cell, int] = field(default_factory=dict[Cell, int])

    def is_open(self, trial: Trial) -> bool:
        """Whether this trial's cell is still asked."""
        return cell_of(trial) not in self.closed

    def note_read(self, trial: Trial) -> None:
        """The server read this trial's prompt."""
        self.answered.add(cell_of(trial))

    def note_unread(self, trial: Trial) -> bool:
        """The server read a part of this trial's prompt; True where this closes its cell."""
        cell = cell_of(trial)
        self._unread[cell] = self._unread.get(cell, 0) + 1
        if cell in self.closed or cell in self.answered or self._unread[cell] < UNREAD_TRIALS:
            return False
        self.closed.add(cell)
        return True

    def refuse(self, trial: Trial, message: str, limit_tokens: int | None, seed: int) -> list[TrialKey]:
        """The server refused this trial as too long: close its cell and whatever is longer.

        Where the message speaks of the server's context, that is every cell of this length or more, or of more than
        `limit_tokens`; else the greater lengths of this task. A cell that has been answered stays open.

        Returns:
            A key for each other cell that is closed by it, to be recorded: its figure then stands on that record.
        """
        own = cell_of(trial)
        of_server = limit_tokens is not None or _CONTEXT.search(message.lower()) is not None
        self.closed.add(own)
        keys: list[TrialKey] = []
        for task, length in self._cells():
            longer = length >= own[1] or (limit_tokens is not None and length > limit_tokens)
            cell = (task.name, length)
            if not longer or not (of_server or task.name == own[0]) or cell in self.closed or cell in self.answered:
                continue
            self.closed.add(cell)
            keys.append(TrialKey(item_key(task.at_length(length), seed, 0), length))
        return keys

    def _cells(self) -> Iterator[tuple[Task, int]]:
        for task in self.tasks:
            for length in self.lengths:
                yield task, length


def cell_of(trial: Trial) -> Cell:
    """The cell that a trial belongs to; a control's is one of its own, so that its answers open no other."""
    name = f"{trial.task.name} ({trial.key.wording})" if trial.key.is_control else trial.task.name
    return name, trial.key.length

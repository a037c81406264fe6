"""The summary of a run: all its figures, from its records alone."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from leadline.analysis.cells import Cell, Trial, make_cell
from leadline.analysis.design import Design
from leadline.analysis.effective import EffectiveLengths, effective_lengths
from leadline.analysis.lengths import LengthScore, average, left_out_tasks, length_scores, weighted_average
from leadline.records import Record
from leadline.scoring.trials import score

_TrialName = tuple[int, str, int, int, str]


@dataclass(slots=True)
class Tokens:
    """Tokens that a run took, over every request ever made for it, those that were asked again included.

    Attributes:
        asked: requests that got a response, an error included.
        prompt: prompt tokens as the server counts them, or by the local tokenizer where it does not tell.
        output: tokens of the answers; None where no server told.
        cached: prompt tokens that came from a prefix cache; None where no server told.
    """

    asked: int = 0
    prompt: int = 0
    output: int | None = None
    cached: int | None = None

    def add(self, record: Record) -> None:
        """Count one more record."""
        response = record.response
        if response is None:
            return
        self.asked += 1
        self.prompt += response.prompt_tokens if response.prompt_tokens is not None else record.prompt_tokens or 0
        if response.output_tokens is not None:
            self.output = (self.output or 0) + response.output_tokens
        if response.cached_tokens is not None:
            self.cached = (self.cached or 0) + response.cached_tokens

    def as_dict(self) -> dict[str, int | None]:
        """The counts as they stand in the summary."""
        return {"prompt": self.prompt, "output": self.output, "cached": self.cached, "asked": self.asked}


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run. Scores in per cent, lengths in tokens, None where there is none.

    Attributes:
        cells: by task, then by length, one for each of the design's.
        by_length: one for each length, ascending.
        left_out_tasks: tasks that are absent at some length, and so are in no length's score.
    """

    model: str
    suite: str
    protocol: str
    lengths: tuple[int, ...]
    cells: tuple[Cell, ...]
    by_length: tuple[LengthScore, ...]
    effective_length: EffectiveLengths
    average: float | None
    wavg_inc: float | None
    wavg_dec: float | None
    left_out_tasks: tuple[str, ...]
    tokens: Tokens = field(default_factory=Tokens)

    def cell(self, task: str, length: int) -> Cell:
        """The cell of this task at this length.

        Raises:
            KeyError: the design has no such cell.
        """
        for cell in self.cells:
            if cell.task == task and cell.length == length:
                return cell
        raise KeyError((task, length))

    def as_dict(self) -> dict[str, Any]:
        """The summary as it is written to ``summary.json``."""
        effective = self.effective_length
        return {
            "model": self.model,
            "suite": self.suite,
            "protocol": self.protocol,
            "lengths": list(self.lengths),
            "cells": [cell.as_dict() for cell in self.cells],
            "by_length": [length.as_dict() for length in self.by_length],
            "effective_length": {
                "absolute": effective.absolute.as_dict(),
                "relative": effective.relative.as_dict(),
                "strict": effective.strict.as_dict(),
            },
            "average": self.average,
            "wavg_inc": self.wavg_inc,
            "wavg_dec": self.wavg_dec,
            "tokens": self.tokens.as_dict(),
            "absent": [{"task": cell.task, "length": cell.length} for cell in self.cells if cell.absent],
            "incomplete": [{"task": cell.task, "length": cell.length} for cell in self.cells if not cell.complete],
            "left_out_tasks": list(self.left_out_tasks),
        }


def summarise(records: Iterable[Record], design: Design) -> Summary:
    """The summary of these records, oldest first: the newest record of a key counts.

    Records of tasks or lengths outside the design are counted in the tokens and nowhere else. A few words are kept
    for each trial, never a record.
    """
    tokens = Tokens()
    trials: dict[tuple[str, int], dict[_TrialName, Trial]] = defaultdict(dict)
    wanted = {(task.name, length) for task in design.tasks for length in design.lengths}
    for record in records:
        tokens.add(record)
        item = record.key.item
        if (item.task, record.key.length) not in wanted:
            continue
        name = (item.version, sys.intern(item.params), item.seed, item.index, sys.intern(record.key.wording))
        scored = score(record)
        trials[item.task, record.key.length][name] = (
            Trial(record.outcome, None, None) if scored is None else Trial(record.outcome, scored.recall, scored.strict)
        )
    cells = tuple(
        make_cell(
            task,
            length,
            tuple(trials[task.name, length].values()),
            samples=design.samples_of(task.name, length),
            stopped=length in design.stopped_lengths,
        )
        for task in design.tasks
        for length in design.lengths
    )
    return _summary(cells, design, tokens)


def _summary(cells: tuple[Cell, ...], design: Design, tokens: Tokens) -> Summary:
    left_out = left_out_tasks(cells, design)
    by_length = length_scores(cells, design)
    ascending = [float(weight) for weight in range(1, len(by_length) + 1)]
    return Summary(
        model=design.model,
        suite=design.suite,
        protocol=design.protocol,
        lengths=design.lengths,
        cells=cells,
        by_length=by_length,
        effective_length=effective_lengths(
            by_length, design, present=[task.name for task in design.tasks if task.name not in left_out]
        ),
        average=average(by_length),
        wavg_inc=weighted_average(by_length, ascending),
        wavg_dec=weighted_average(by_length, ascending[::-1]),
        left_out_tasks=left_out,
        tokens=tokens,
    )

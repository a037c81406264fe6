"""The summary of a run: all its figures, from its records alone."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from leadline.analysis.base_score import BaseScore, Observation
from leadline.analysis.cells import Cell, Trial, make_cell
from leadline.analysis.closed_book import ClosedBook, ClosedBookCount
from leadline.analysis.control import ShortControl, short_control
from leadline.analysis.design import Design
from leadline.analysis.effective import (
    EffectiveLength,
    EffectiveLengths,
    category_effective_lengths,
    effective_lengths,
)
from leadline.analysis.intervals import Interval
from leadline.analysis.lengths import (
    LengthScore,
    average_interval,
    category_scores,
    left_out_tasks,
    length_scores,
    weighted_average,
)
from leadline.analysis.names import NameCount, Names
from leadline.analysis.no_context import NoContext, NoContextCount
from leadline.analysis.stopped import StoppedRun
from leadline.analysis.subsets import SUBSET_FACTORS, Subset, subsets
from leadline.items import SHORT_CONTROL, Factor
from leadline.records import Record
from leadline.scoring.trials import Scored, score

_TrialName = tuple[int, str, int, int, str]


@dataclass(slots=True)
class Tokens:
    """Tokens that a run took, over every request ever made for it, those that were asked again included.

    Attributes:
        asked: requests that got a response, an error included.
        prompt: prompt tokens as the server counts them, or by the local tokenizer where it does not tell.
        output: tokens of the answers; None where no server told.
        cached: prompt tokens that came from a prefix cache; None where no server told.
        least_told, most_told: the server's count of a prompt over the local one, of the trials that were read whole;
            None where no server told.
    """

    asked: int = 0
    prompt: int = 0
    output: int | None = None
    cached: int | None = None
    least_told: float | None = None
    most_told: float | None = None

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
        if response.prompt_tokens and record.prompt_tokens and record.outcome != "truncated_prompt":
            told = response.prompt_tokens / record.prompt_tokens
            self.least_told = told if self.least_told is None else min(self.least_told, told)
            self.most_told = told if self.most_told is None else max(self.most_told, told)

    def as_dict(self) -> dict[str, int | float | None]:
        """The counts as they stand in the summary."""
        counts = {"prompt": self.prompt, "output": self.output, "cached": self.cached, "asked": self.asked}
        return {**counts, "least_told": _rounded(self.least_told), "most_told": _rounded(self.most_told)}


def _rounded(ratio: float | None) -> float | None:
    return None if ratio is None else round(ratio, 4)


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run. Scores in per cent, lengths in tokens, None where there is none.

    Attributes:
        cells: by task, then by length, one for each of the design's.
        by_length: one for each length, ascending.
        left_out_tasks: tasks that are absent at some length, and so are in no length's score.
        wavg_user: the average with the user's own weights, where there are any.
        intervals: of `average`, `wavg_inc`, `wavg_dec` and `wavg_user`, where each is known.
        by_category: the lengths' scores over the tasks of each category.
        category_effective_length: for the categories that have a threshold of their own.
        base: NoLiMa's base score, of the first task; None for other tests.
        subsets: base score, threshold and effective length of each task's pairs and of subsets of them.
        stopped: what a stop rule said of each length; the averages are then None where a length was stopped early,
            since their means lie where the rule happened to stop.
        names: accuracy by name, of tests whose answer is a name that is drawn.
        closed_book: what these score without any text, where that was asked.
        no_context: what questions on documents score without documents, where that was asked.
        control: whether the model is weak at the suite's shortest length already, where that was asked.
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
    wavg_user: float | None = None
    weights: Mapping[int, float] = field(default_factory=dict[int, float])
    intervals: Mapping[str, Interval] = field(default_factory=dict[str, Interval])
    by_category: Mapping[str, tuple[LengthScore, ...]] = field(default_factory=dict[str, tuple[LengthScore, ...]])
    category_effective_length: Mapping[str, EffectiveLength] = field(default_factory=dict[str, EffectiveLength])
    base: BaseScore | None = None
    subsets: tuple[Subset, ...] = ()
    stopped: StoppedRun | None = None
    names: Names | None = None
    closed_book: tuple[ClosedBook, ...] = ()
    no_context: tuple[NoContext, ...] = ()
    control: ShortControl | None = None

    def cell(self, task: str, length: int) -> Cell:
        """The cell of this task at this length.

        Raises:
            KeyError: the design has no such cell.
        """
        for cell in self.cells:
            if cell.task == task and cell.length == length:
                return cell
        raise KeyError((task, length))

    def with_name_tokens(self, tokens: Mapping[str, int]) -> Summary:
        """The same with the number of tokens of each name, as far as they are known."""
        return self if self.names is None or not tokens else replace(self, names=self.names.with_tokens(tokens))

    def as_dict(self) -> dict[str, Any]:
        """The summary as it is written to ``summary.json``."""
        effective = self.effective_length
        rules = {"absolute": effective.absolute, "relative": effective.relative, "strict": effective.strict}
        return {
            "model": self.model,
            "suite": self.suite,
            "protocol": self.protocol,
            "lengths": list(self.lengths),
            "cells": [cell.as_dict() for cell in self.cells],
            "by_length": [
                length.as_dict() | {"category_intervals": self._category_intervals(place)}
                for place, length in enumerate(self.by_length)
            ],
            "effective_length": {name: length.as_dict() for name, length in rules.items()},
            "effective_length_set": {name: _set(length) for name, length in rules.items()},
            "category_effective_length": {
                category: length.as_dict() | {"set": _set(length)}
                for category, length in self.category_effective_length.items()
            },
            "average": self.average,
            "wavg_inc": self.wavg_inc,
            "wavg_dec": self.wavg_dec,
            "wavg_user": self.wavg_user,
            "weights": {str(length): weight for length, weight in self.weights.items()},
            "intervals": {name: list(interval) for name, interval in self.intervals.items()},
            "tokens": self.tokens.as_dict(),
            "absent": [{"task": cell.task, "length": cell.length} for cell in self.cells if cell.absent],
            "incomplete": [{"task": cell.task, "length": cell.length} for cell in self.cells if not cell.complete],
            "left_out_tasks": list(self.left_out_tasks),
            **({} if self.stopped is None else {"stopping": self.stopped.as_dict()}),
            **({} if self.base is None else {"base": self.base.as_dict()}),
            **({} if self.names is None else {"names": self.names.as_dict()}),
            **({} if self.control is None else {"control": self.control.as_dict()}),
            **({"no_context": [one.as_dict() for one in self.no_context]} if self.no_context else {}),
            **({"closed_book": [check.as_dict() for check in self.closed_book]} if self.closed_book else {}),
            **({"subsets": [subset.as_dict() for subset in self.subsets]} if self.subsets else {}),
        }

    def _category_intervals(self, place: int) -> dict[str, list[float] | None]:
        """Low and high of each category's mean at one length."""
        return {
            category: None if score.low is None or score.high is None else [score.low, score.high]
            for category, scores in self.by_category.items()
            for score in scores[place : place + 1]
        }


def _set(length: EffectiveLength) -> dict[str, Any] | None:
    return None if length.possible is None else length.possible.as_dict()


def summarise(records: Iterable[Record], design: Design) -> Summary:
    """The summary of these records, oldest first: the newest record of a key counts.

    Controls, and records of tasks or lengths outside the design, are counted in the tokens and nowhere else. A few
    words are kept for each trial, never a record.
    """
    tokens, names, closed_book = Tokens(), NameCount(), ClosedBookCount()
    no_context, beside = NoContextCount(design), defaultdict[str, dict[_TrialName, Trial]](dict)
    trials: dict[tuple[str, int], dict[_TrialName, Trial]] = defaultdict(dict)
    observed: dict[str, dict[tuple[_TrialName, int], Observation]] = defaultdict(dict)
    labels: dict[str, dict[str, str]] = {}
    wanted = {(task.name, length) for task in design.tasks for length in design.lengths}
    for record in records:
        tokens.add(record)
        closed_book.add(record)
        key, item = record.key, record.key.item
        if (item.task, key.length) not in wanted and not key.is_control:
            continue
        name = (item.version, sys.intern(item.params), item.seed, item.index, sys.intern(key.wording))
        scored = score(record)
        of_item = name[:-1]
        late = design.stopped is not None and not design.stopped.counts(item.task, key.length, item.index)
        if key.is_control or not late:
            no_context.add(record, scored)
        if key.is_control:
            if key.wording == SHORT_CONTROL and key.length == design.control_length:
                beside[item.task][name] = _trial(record, scored, of_item)
            continue
        if not late:
            names.add(record, scored)
        if scored is None or late:
            observed[item.task].pop((name, key.length), None)
        elif design.base is not None:
            pair = _note_pair(record.factors, labels)
            place = record.factors.get("depth", record.factors.get("from_end", 0))
            depth = float(place) if isinstance(place, int | float) else 0.0
            observed[item.task][name, key.length] = Observation(pair, depth, key.length, of_item, scored.recall)
        trials[item.task, key.length][name] = _trial(record, scored, of_item)
    cells = tuple(
        make_cell(
            task,
            length,
            _counted(trials[task.name, length], design, task.name, length),
            samples=design.samples_of(task.name, length),
            stopped=length in design.stopped_lengths,
            unneeded=design.stopped is not None and not design.stopped.needs(length),
        )
        for task in design.tasks
        for length in design.lengths
    )
    found = [
        subset
        for task in design.tasks
        if design.base is not None and observed[task.name]
        for subset in subsets(
            task.name, list(observed[task.name].values()), labels, design.base, design.stopped_lengths
        )
    ]
    made = _summary(cells, design, tokens, tuple(found))
    return replace(
        made,
        subsets=_with_verdict(made, design),
        names=names.result(),
        closed_book=closed_book.result(),
        no_context=no_context.result(),
        control=short_control(
            made.by_length, cells, design, {task: list(trials.values()) for task, trials in beside.items()}
        ),
    )


def _with_verdict(summary: Summary, design: Design) -> tuple[Subset, ...]:
    """The subsets; all pairs of a test that a stop rule ended early have the effective length of its verdict."""
    if not design.stopped_lengths:
        return summary.subsets
    told = summary.effective_length.relative
    return tuple(
        replace(one, effective=told.value, censored=told.censored) if one.factor == "all" else one
        for one in summary.subsets
    )


def _trial(record: Record, scored: Scored | None, item: Hashable) -> Trial:
    if scored is None:
        return Trial(record.outcome, None, None, item)
    return Trial(record.outcome, scored.recall, scored.strict, item)


def _counted(trials: Mapping[_TrialName, Trial], design: Design, task: str, length: int) -> tuple[Trial, ...]:
    """The trials that a cell's figures rest on: without those beyond the round at which a stop rule decided.

    Where nothing else is known of a cell, what closed it is kept, whichever item it was recorded with.
    """
    if design.stopped is None:
        return tuple(trials.values())
    kept = tuple(trial for name, trial in trials.items() if design.stopped.counts(task, length, name[3]))
    return kept or tuple(trial for trial in trials.values() if trial.outcome in ("over_length", "does_not_fit"))


def _note_pair(factors: Mapping[str, Factor], labels: dict[str, dict[str, str]]) -> str:
    """The pair of a trial, whose factors are kept once."""
    pair = str(factors.get("pair", ""))
    if pair not in labels:
        labels[pair] = {name: str(factors[name]) for name in SUBSET_FACTORS if factors.get(name) is not None}
    return pair


def _summary(all_cells: tuple[Cell, ...], design: Design, tokens: Tokens, found: tuple[Subset, ...] = ()) -> Summary:
    # Variants of one test are no tasks to be averaged: a base score speaks of the first one alone.
    main = {task.name for task in design.tasks[:1]} if design.base is not None else None
    cells = tuple(cell for cell in all_cells if main is None or cell.task in main)
    base = next((subset.base for subset in found if subset.factor == "all" and main and subset.task in main), None)
    left_out = left_out_tasks(cells, design)
    by_length = length_scores(cells, design)
    by_category = category_scores(cells, design)
    present = [task.name for task in design.tasks if task.name not in left_out]
    ascending = [float(weight) for weight in range(1, len(by_length) + 1)]
    weights = {
        "average": [1.0] * len(by_length),
        "wavg_inc": ascending,
        "wavg_dec": ascending[::-1],
        "wavg_user": [design.weights.get(length, 0.0) for length in design.lengths] if design.weights else [],
    }
    if design.stopped_lengths:
        weights = {name: list[float]() for name in weights}
    intervals = {name: average_interval(cells, design, weighed) for name, weighed in weights.items() if weighed}
    averages = {name: weighted_average(by_length, weighed) if weighed else None for name, weighed in weights.items()}
    return Summary(
        model=design.model,
        suite=design.suite,
        protocol=design.protocol,
        lengths=design.lengths,
        cells=all_cells,
        by_length=by_length,
        effective_length=effective_lengths(by_length, design, present, base),
        average=averages["average"],
        wavg_inc=averages["wavg_inc"],
        wavg_dec=averages["wavg_dec"],
        left_out_tasks=left_out,
        tokens=tokens,
        wavg_user=averages["wavg_user"],
        weights=design.weights,
        intervals={name: interval for name, interval in intervals.items() if interval is not None},
        by_category=by_category,
        category_effective_length=category_effective_lengths(by_category, design, present),
        base=base,
        subsets=found,
        stopped=design.stopped,
    )

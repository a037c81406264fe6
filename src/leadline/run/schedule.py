"""Which trials to ask, in which order: rounds, prefix order, lanes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from leadline.items import Fit, ItemKey, Plan, Sample, TrialKey
from leadline.sampler import Sampler
from leadline.sizing.haystack import is_windowed
from leadline.sizing.request import budget_for
from leadline.tasks.base import Sources, Task, item_key
from leadline.tokenizers.fast import FastTokenizer


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial that is to be asked.

    Its plan is made again when its turn comes; only the fit is kept, since finding it costs the most.
    """

    task: Task
    key: TrialKey
    fit: Fit
    group: str
    shared_tokens: int
    inner: str = ""


@dataclass(slots=True)
class Round:
    """A balanced share of every task and length.

    Attributes:
        trials: what to ask, in order.
        unfit: one key for every cell that is found absent: this item does not fit its length.
        beyond: one key for every cell whose length the model does not accept.
    """

    number: int
    trials: list[Trial] = field(default_factory=list[Trial])
    unfit: list[TrialKey] = field(default_factory=list[TrialKey])
    beyond: list[TrialKey] = field(default_factory=list[TrialKey])

    @property
    def prompt_tokens(self) -> int:
        """Prompt tokens of all its trials."""
        return sum(trial.fit.prompt_tokens for trial in self.trials)


Cell = tuple[str, int]
"""A task's name and a length."""


@dataclass(slots=True)
class Schedule:
    """The rounds of a run.

    Attributes:
        done: trials that have a final record.
        closed: cells of which nothing more is asked: absent, or beyond the model. Grows while the run goes on.
        context_tokens: the longest request that the model accepts, or None where unknown.
    """

    sampler: Sampler
    tasks: Sequence[Task]
    lengths: Sequence[int]
    samples: int
    shard: tuple[int, int]
    in_prefix_order: bool
    context_tokens: int | None
    done: Collection[TrialKey]
    closed: set[Cell] = field(default_factory=set[Cell])

    def rounds(self, lengths: Sequence[int] | None = None) -> Iterator[Round]:
        """One round after the other, each made when it is asked for; of all lengths, or of these."""
        shares = {
            (task.name, length): task.at_length(length).rounds(self.samples, self.sampler.sources)
            for task in self.tasks
            for length in (self.lengths if lengths is None else lengths)
        }
        for number in count():
            indices = {cell: share for cell, rounds in shares.items() if (share := next(rounds, None)) is not None}
            if not indices:
                return
            yield self.make_round(number, indices)

    def estimate(self) -> tuple[int, int]:
        """About how many trials and prompt tokens there are to ask, from lengths alone."""
        cells = self.estimate_by_cell().values()
        return sum(trials for trials, _ in cells), sum(tokens for _, tokens in cells)

    def estimate_by_cell(self) -> dict[Cell, tuple[int, int]]:
        """The same for each cell that is asked."""
        mine, shards = self.shard
        estimates: dict[Cell, tuple[int, int]] = {}
        names = {task.name for task in self.tasks}
        finished: dict[Cell, int] = {}
        for key in self.done:
            cell = (key.item.task, key.length)
            if (
                key.item.task in names
                and not key.is_control
                and key.item.index < self.samples
                and key.item.index % shards == mine
            ):
                finished[cell] = finished.get(cell, 0) + 1
        for task in self.tasks:
            for length in self.lengths:
                cell = (task.name, length)
                if cell in self.closed or (self.context_tokens is not None and length > self.context_tokens):
                    continue
                variant = task.at_length(length)
                rounds = variant.rounds(self.samples, self.sampler.sources)
                share = sum(index % shards == mine for indices in rounds for index in indices)
                missing = max(0, share - finished.get(cell, 0))
                tokens = max(0, length if is_windowed(variant) else budget_for(variant, length))
                estimates[cell] = missing, missing * tokens
        return estimates

    def make_round(self, number: int, indices: Mapping[Cell, Sequence[int]]) -> Round:
        """The round of these indices, without what is done and with what is found closed on the way."""
        made = Round(number)
        mine, shards = self.shard
        for task in self.tasks:
            # Item by item, so that the plan of an item is still at hand at its other lengths.
            asked: dict[int, list[tuple[int, Task]]] = {}
            for length in self.lengths:
                variant, share = task.at_length(length), indices.get((task.name, length), ())
                if share and self._is_open(made, variant, length, share):
                    for index in share:
                        if index % shards == mine:
                            asked.setdefault(index, []).append((length, variant))
            for index, variants in asked.items():
                for length, variant in variants:
                    if (task.name, length) not in self.closed:
                        self._place(made, variant, item_key(variant, self.sampler.seed, index), length)
        made.trials = [trial for trial in made.trials if (trial.task.name, trial.key.length) not in self.closed]
        if self.in_prefix_order:
            made.trials.sort(key=lambda trial: (trial.group, -trial.shared_tokens, trial.key.length, trial.inner))
        return made

    def _is_open(self, made: Round, task: Task, length: int, indices: Sequence[int]) -> bool:
        """Whether a cell is to be asked; the first refusal of a cell leaves one key to be recorded."""
        cell = (task.name, length)
        if cell in self.closed:
            return False
        if self.context_tokens is None or length <= self.context_tokens:
            return True
        self.closed.add(cell)
        made.beyond.append(TrialKey(item_key(task, self.sampler.seed, indices[0]), length))
        return False

    def _place(self, made: Round, task: Task, item: ItemKey, length: int) -> None:
        """Put a trial into the round unless it is done. An item that does not fit closes its cell."""
        key = TrialKey(item, length)
        if key in self.done:
            return
        plan = self.sampler.plan_of(task, item)
        fit = self.sampler.fit(task, plan, length)
        cell = (task.name, length)
        if fit is None:
            self.closed.add(cell)
            made.unfit.append(key)
            return
        if self.context_tokens is not None and fit.prompt_tokens + task.params.output_tokens > self.context_tokens:
            self.closed.add(cell)
            made.beyond.append(key)
            return
        made.trials.append(Trial(task, key, fit, *shared_prefix(plan, fit, length)))


def items_of(tasks: Sequence[Task], lengths: Sequence[int], samples: int, sources: Sources) -> dict[Cell, int]:
    """How many items of each task and length there are among the first `samples`."""
    return {
        (task.name, length): sum(map(len, task.at_length(length).rounds(samples, sources)))
        for task in tasks
        for length in lengths
    }


def shared_prefix(plan: Plan, fit: Fit, length: int) -> tuple[str, int, str]:
    """Group, shared tokens and inner group of a trial: what it has in common with its neighbours in the queue."""
    prefix = plan.prefix
    if prefix is None:
        return "", 0, ""
    if fit.window is None:
        return prefix.group, int(prefix.fraction * fit.prompt_tokens), prefix.inner
    # A window begins elsewhere at another length, so that only trials of one length share anything.
    return f"{prefix.group}:{length:09}", int(prefix.fraction * fit.size), prefix.inner


def lanes(trials: Sequence[Trial], count: int) -> list[Sequence[Trial]]:
    """The queue cut into at most `count` contiguous parts of about equal prompt tokens.

    Each part is asked by one worker in order, so that neighbours in the queue follow each other on the server; a
    common pool over a sorted queue loses most of what they share.
    """
    total = sum(trial.fit.prompt_tokens for trial in trials)
    parts: list[Sequence[Trial]] = []
    start = spent = 0
    for position, trial in enumerate(trials, start=1):
        spent += trial.fit.prompt_tokens
        if spent * count >= total * (len(parts) + 1) or position == len(trials):
            parts.append(trials[start:position])
            start = position
    return parts


def prove_tokenizer(
    sampler: Sampler, tasks: Sequence[Task], lengths: Sequence[int], report: Callable[[str], None]
) -> None:
    """Let a faster tokenizer count from now on if it reads all samples of the audit like the exact one.

    `report` is told of any difference.
    """
    tokenizer = sampler.counter.counter.tokenizer
    if not isinstance(tokenizer, FastTokenizer):
        return
    samples = (
        sample for task in tasks for length in _extremes(lengths) for _, sample in _audited(sampler, task, length)
    )
    frame = sampler.frame
    difference = tokenizer.prove(
        frame.render(sample.text, sample.answer_prefix, sample.turns, sample.system) for sample in samples
    )
    if difference is not None:
        report(f"{difference}: this run counts with the exact tokenizer, which is slower")


def audit(sampler: Sampler, tasks: Sequence[Task], lengths: Sequence[int], report: Callable[[str], None]) -> None:
    """Count a few finished samples of each task as whole texts, at the smallest and the greatest length.

    A task whose sums do not equal the whole count is from then on counted as whole text, which is slow and exact;
    `report` is told.
    """
    for task in tasks:
        for length in _extremes(lengths):
            for fit, sample in _audited(sampler, task, length):
                whole = sampler.counter.whole(sample.text, sample.answer_prefix, sample.turns, sample.system)
                if whole != fit.prompt_tokens:
                    sampler.distrust(task)
                    report(
                        f"{task.name} at {length}: the sum of its parts is {fit.prompt_tokens} tokens and the whole "
                        f"text {whole}: this task is counted as whole text from now on, which is slower"
                    )
                    break


def _extremes(lengths: Sequence[int]) -> list[int]:
    return sorted({min(lengths), max(lengths)}) if lengths else []


def _audited(sampler: Sampler, task: Task, length: int) -> Iterator[tuple[Fit, Sample]]:
    """The samples of a task that are counted in full at a length: its first two, if they fit."""
    variant = task.at_length(length)
    for index in range(2):
        plan = sampler.plan(variant, index)
        fit = sampler.fit(variant, plan, length)
        if fit is not None:
            yield fit, sampler.sample(variant, plan, fit, length)

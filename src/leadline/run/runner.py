"""A whole run: open the model, find or make the run's folder, ask what is missing, sum up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from leadline.data.loading import load_tokenizer, quicken
from leadline.data.sources import Sources
from leadline.errors import UsageError
from leadline.items import TrialKey
from leadline.models.base import Backend
from leadline.models.registry import ModelOptions, open_model
from leadline.prompt import Frame, FrameCounter, chat_frame, frame_from_option, named_frame
from leadline.records import ASK_AGAIN, Record
from leadline.run.engine import Engine
from leadline.run.identity import folder_name, identity
from leadline.run.manifest import MANIFEST, merged_manifest, write_manifest
from leadline.run.schedule import Cell, Schedule, audit, prove_tokenizer
from leadline.run.store import Damage, RecordWriter, read_records
from leadline.sampler import Sampler
from leadline.spec import RunSpec
from leadline.tasks.base import Task
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.counting import Counter
from leadline.tokenizers.fast import backend_of


class Progress(Protocol):
    """What a run tells while it goes on."""

    def say(self, message: str) -> None:
        """Something the user should know."""
        ...

    def begin(self, trials: int, prompt_tokens: int) -> None:
        """How much there is to ask, as far as is known."""
        ...

    def record(self, record: Record) -> None:
        """A trial is done."""
        ...


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended.

    Attributes:
        folder: where it is.
        stopped_early: a limit ended it before everything was asked.
    """

    folder: Path
    stopped_early: bool


def resolve_frame(spec: RunSpec, backend: Backend, tokenizer: Tokenizer) -> Frame:
    """The frame of a run: what ``--template`` says, else the model's own chat template, else none (a base model)."""
    facts, prefill = backend.facts(), backend.abilities().prefill
    if spec.template is not None:
        return frame_from_option(spec.template, facts.special_tokens, tokenizer, prefill=prefill)
    if facts.chat_template is not None:
        return chat_frame(facts.name, facts.chat_template, facts.special_tokens, tokenizer, prefill=prefill)
    return named_frame("base", tokenizer)


def open_sampler(spec: RunSpec, backend: Backend, sources: Sources) -> Sampler:
    """The sampler of a run against this backend."""
    tokenizer = backend.tokenizer()
    if spec.tokenizer is not None:
        tokenizer = load_tokenizer(spec.tokenizer, offline=spec.offline)
    tokenizer = quicken(tokenizer, offline=spec.offline)
    frame = resolve_frame(spec, backend, tokenizer)
    counter = FrameCounter(Counter(tokenizer), frame)
    return Sampler(frame, counter, sources, spec.seed, repeat=spec.exhaust == "repeat")


def check_lengths(spec: RunSpec, tasks: list[Task], sampler: Sampler) -> None:
    """Refuse a length at which no task of the run fits.

    Raises:
        UsageError: names the length and the smallest one that is possible.
    """
    shortest = min(spec.lengths)
    needs = {task.name: sampler.smallest_length(task.at_length(shortest), 0) for task in tasks}
    name, smallest = min(needs.items(), key=lambda entry: entry[1])
    if shortest < smallest:
        raise UsageError(
            f"at length {shortest} no task fits: the smallest sample ({name}) takes {smallest} tokens, answer "
            f"included; ask for --lengths {smallest} or more"
        )


def data_hashes(spec: RunSpec, sampler: Sampler, sources: Sources) -> dict[str, str]:
    """Hashes of all data that the suite's tasks draw from, whichever of them this run asks."""
    for task in spec.make_suite_tasks():
        for length in spec.lengths:
            sampler.smallest_length(task.at_length(length), 0)
    return sources.hashes()


async def run(spec: RunSpec, progress: Progress) -> Ended:
    """Measure what `spec` says; what a run of the same identity has already is not asked again.

    Raises:
        LeadlineError: what is asked for cannot be done, or the run cannot go on; nothing recorded is lost.
    """
    backend = open_model(spec.model, ModelOptions(spec.tokenizer, spec.offline))
    try:
        tasks = spec.make_tasks()
        sources = Sources(offline=spec.offline)
        sampler = open_sampler(spec, backend, sources)
        check_lengths(spec, tasks, sampler)
        prove_tokenizer(sampler, tasks, _within(spec.lengths, backend.abilities().context_tokens), progress.say)
        return await _measure(spec, backend, tasks, sampler, data_hashes(spec, sampler, sources), progress)
    finally:
        await backend.aclose()


async def _measure(
    spec: RunSpec,
    backend: Backend,
    tasks: list[Task],
    sampler: Sampler,
    hashes: Mapping[str, str],
    progress: Progress,
) -> Ended:
    parts = identity(spec, backend.facts(), sampler.counter.counter.tokenizer.id, sampler.frame, hashes)
    folder = spec.out / folder_name(spec, backend.facts(), parts)
    writer = RecordWriter(folder, spec.shard_of())
    try:
        resumed = (folder / MANIFEST).exists()
        manifest = merged_manifest(folder, spec, backend.facts(), sampler.frame, parts)
        manifest["tokenizer_backend"] = backend_of(sampler.counter.counter.tokenizer)
        if resumed:
            progress.say(
                f"going on with the run of {manifest['created'][:16].replace('T', ' ')} UTC in {folder}; "
                "another set-up under the same name needs --label"
            )
        write_manifest(folder, manifest)
        done, closed = _known(folder, spec, progress)
        abilities = backend.abilities()
        audit(sampler, tasks, _within(spec.lengths, abilities.context_tokens), progress.say)
        schedule = Schedule(
            sampler=sampler,
            tasks=tasks,
            lengths=spec.lengths,
            samples=spec.samples,
            shard=spec.shard_of(),
            in_prefix_order=spec.order == "prefix",
            context_tokens=abilities.context_tokens,
            done=done,
            closed=closed,
        )
        concurrency = min(spec.concurrency or abilities.max_concurrency, abilities.max_concurrency)
        engine = Engine(backend, sampler, writer, concurrency, closed, progress.record)
        progress.begin(*schedule.estimate())
        spent = 0
        for made in schedule.rounds():
            spent += made.prompt_tokens
            if spec.limit_tokens is not None and spent > spec.limit_tokens:
                progress.say(
                    f"stopped before round {made.number + 1}: it would take the run to {spent:,} prompt tokens and "
                    f"--limit-tokens is {spec.limit_tokens:,}; run again with a higher limit to go on"
                )
                return Ended(folder, stopped_early=True)
            await engine.run(made)
        return Ended(folder, stopped_early=False)
    finally:
        writer.close()


def _within(lengths: tuple[int, ...], context_tokens: int | None) -> list[int]:
    return [length for length in lengths if context_tokens is None or length <= context_tokens]


def _known(folder: Path, spec: RunSpec, progress: Progress) -> tuple[set[TrialKey], set[Cell]]:
    """Trials that have a final record, and cells that are closed."""
    damage = Damage()
    done: set[TrialKey] = set()
    closed: set[Cell] = set()
    for record in read_records(folder, skip_damaged=spec.skip_damaged, damage=damage):
        if record.outcome in ASK_AGAIN:
            done.discard(record.key)
            continue
        done.add(record.key)
        if record.outcome in ("does_not_fit", "over_length"):
            closed.add((record.key.item.task, record.key.length))
    if damage.lines:
        progress.say(f"{damage.lines} damaged record lines were skipped")
    return done, closed

"""A whole run: open the model, find or make the run's folder, ask what is missing, sum up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Protocol

from leadline.data.sources import Sources
from leadline.errors import UsageError
from leadline.items import TrialKey
from leadline.models.base import Backend
from leadline.models.registry import ModelOptions, open_model
from leadline.records import ASK_AGAIN, Record
from leadline.run.certain import Asking, bundles_of, check_same_design, target_of
from leadline.run.closed_book import closed_book_controls
from leadline.run.closing import Cells
from leadline.run.controls import control_round, controls_of
from leadline.run.engine import Engine
from leadline.run.framing import check_lengths, open_sampler
from leadline.run.identity import folder_name, identity
from leadline.run.manifest import MANIFEST, merged_manifest, write_manifest
from leadline.run.name_tokens import name_tokens
from leadline.run.patience import STANDARD, Traffic
from leadline.run.prices import Bill, price_of_run
from leadline.run.schedule import Cell, Round, Schedule, audit, items_of, prove_tokenizer
from leadline.run.store import Damage, RecordWriter, read_records
from leadline.sampler import Sampler
from leadline.spec import RunSpec
from leadline.tasks.base import Task
from leadline.tokenizers.fast import backend_of
from leadline.tokenizers.stand_in import StandIn
from leadline.values import parse_markers


class Progress(Protocol):
    """What a run tells while it goes on."""

    def say(self, message: str) -> None:
        """Something the user should know."""
        ...

    def begin(self, cells: Mapping[Cell, tuple[int, int]]) -> None:
        """How many trials and prompt tokens there are to ask of each task and length, as far as is known."""
        ...

    def earlier(self, record: Record) -> None:
        """A trial was done by an earlier invocation; told before `begin`."""
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
    if spec.limit_cost is not None and price_of_run(spec) is None:
        raise UsageError(
            f"--limit-cost {spec.limit_cost:g}: the price of {spec.model} is not known: give it too with --price IN,OUT"
        )
    if spec.stop == "certain":
        target_of(spec)
    backend = open_model(spec.model, ModelOptions.of(spec))
    try:
        tasks = spec.make_tasks()
        sources = Sources(offline=spec.offline)
        sampler = open_sampler(spec, backend, sources)
        tokenizer = sampler.counter.counter.tokenizer
        if isinstance(tokenizer, StandIn) and tokenizer.calibration is not None:
            progress.say(tokenizer.calibration.described)
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
        items = items_of(tasks, spec.lengths, spec.samples, sampler.sources)
        manifest = merged_manifest(folder, spec, backend.facts(), sampler.frame, parts, items)
        abilities = backend.abilities()
        concurrency = min(spec.concurrency or abilities.max_concurrency, abilities.max_concurrency)
        closed: set[Cell] = set()
        asking: Asking | None = None
        if spec.stop == "certain":
            check_same_design(manifest["asked"], items)
            manifest["bundles"] = bundles_of(spec, sampler.sources)
            asking = Asking.of(spec, items, closed, concurrency, manifest["bundles"])
        manifest["tokenizer_backend"] = backend_of(sampler.counter.counter.tokenizer)
        if counts := name_tokens(tasks, sampler.sources, sampler.counter.counter.tokenizer):
            manifest["name_tokens"] = counts
        if resumed:
            progress.say(
                f"going on with the run of {manifest['created'][:16].replace('T', ' ')} UTC in {folder}; "
                "another set-up under the same name needs --label"
            )
        write_manifest(folder, manifest)
        known = _known(folder, spec, abilities.context_tokens, progress, closed, asking)
        audit(sampler, tasks, _within(spec.lengths, abilities.context_tokens), progress.say)
        schedule = Schedule(
            sampler=sampler,
            tasks=tasks,
            lengths=spec.lengths,
            samples=spec.samples,
            shard=spec.shard_of(),
            in_prefix_order=spec.order == "prefix",
            context_tokens=abilities.context_tokens,
            done=known.done,
            closed=closed,
        )

        def keep(record: Record) -> None:
            known.bill.add(record)
            if asking is not None:
                asking.file(record)
            progress.record(record)

        engine = Engine(
            backend=backend,
            sampler=sampler,
            writer=writer,
            traffic=Traffic(concurrency, STANDARD, server=backend.facts().name),
            concurrency=concurrency,
            cells=Cells(tasks, spec.lengths, closed, known.answered),
            on_record=keep,
            say=progress.say,
            reasoning_tokens=spec.reasoning_tokens,
            reasoning_markers=parse_markers(spec.reasoning_markers),
        )
        progress.begin(schedule.estimate_by_cell())
        earlier = [int(length) for samples in manifest["asked"].values() for length in samples]
        controls = [*controls_of(spec, tasks, earlier), *closed_book_controls(spec, tasks, sampler.sources)]
        beside = control_round(0, controls, sampler, known.done, spec.shard_of())
        for made in chain([beside], _rounds(schedule, asking)):
            if (limit := _passed_limit(spec, known.bill, made)) is not None:
                progress.say(
                    f"stopped before round {made.number + 1}: it would take the run to {limit}; run again with a "
                    "higher limit to go on"
                )
                return Ended(folder, stopped_early=True)
            await engine.run(made)
        return Ended(folder, stopped_early=False)
    finally:
        writer.close()


def _rounds(schedule: Schedule, asking: Asking | None) -> Iterator[Round]:
    """All rounds, or those that a stop rule asks for; each is made when the one before it is done."""
    if asking is None:
        yield from schedule.rounds()
        return
    made = count()
    for whole in schedule.rounds(asking.in_full):
        yield replace(whole, number=next(made))
    for indices in asking.lots():
        yield schedule.make_round(next(made), indices)


def _within(lengths: tuple[int, ...], context_tokens: int | None) -> list[int]:
    return [length for length in lengths if context_tokens is None or length <= context_tokens]


def _passed_limit(spec: RunSpec, bill: Bill, made: Round) -> str | None:
    """Which limit the run would be past at the end of this round, in words; None where it would be past none."""
    prompt_tokens = bill.prompt_tokens + made.prompt_tokens
    if made.trials and spec.limit_tokens is not None and prompt_tokens > spec.limit_tokens:
        return f"{prompt_tokens:,} prompt tokens and --limit-tokens is {spec.limit_tokens:,}"
    if made.trials and spec.limit_cost is not None and bill.price is not None and bill.usd is not None:
        budget = sum(trial.task.params.output_tokens + spec.reasoning_tokens for trial in made.trials)
        usd = bill.usd + bill.price.cost_usd(made.prompt_tokens, budget)
        if usd > spec.limit_cost:
            return f"${usd:,.2f} at most and --limit-cost is ${spec.limit_cost:,.2f}"
    return None


@dataclass(frozen=True, slots=True)
class _Known:
    """What a run's folder holds.

    Attributes:
        done: trials that have a final record.
        answered: cells of which a trial was read whole.
        bill: what all records took.
    """

    done: set[TrialKey]
    answered: set[Cell]
    bill: Bill


def _known(
    folder: Path,
    spec: RunSpec,
    context_tokens: int | None,
    progress: Progress,
    closed: set[Cell],
    asking: Asking | None,
) -> _Known:
    """What is in the folder; a length that was refused and that the server accepts now is open again.

    Cells of which nothing more is asked are put into `closed`, and final records are filed in `asking`.
    """
    bill = Bill(price_of_run(spec))
    damage = Damage()
    done: set[TrialKey] = set()
    answered: set[Cell] = set()
    for record in read_records(folder, skip_damaged=spec.skip_damaged, damage=damage):
        bill.add(record)
        cell = (record.key.item.task, record.key.length)
        accepted = record.outcome == "over_length" and context_tokens is not None and cell[1] <= context_tokens
        if record.outcome in ASK_AGAIN or accepted:
            done.discard(record.key)
            continue
        done.add(record.key)
        if record.key.is_control:
            continue
        progress.earlier(record)
        if asking is not None:
            asking.file(record)
        (closed if record.outcome in ("does_not_fit", "over_length") else answered).add(cell)
    if damage.lines:
        progress.say(f"{damage.lines} damaged record lines were skipped")
    return _Known(done, answered, bill)

"""Seconds, memory and page of `leadline report` on a full run of RULER: 13 tasks, 6 lengths, 500 samples each.

    python benchmarks/report.py [--samples 500] [--tasks vt,cwe] [--keep FOLDER]

The records are those of a model that was never asked: items, factors and answers are planned as in a run, answers go
wrong more often with the length and towards the middle, in every way that a task can go wrong; sizes and hashes are
made up. They are written by the store that every run writes with. `leadline report` and `leadline score` then run in
processes of their own, whose seconds, by the clock and of the processor, and greatest resident memory are
printed, with the page's size.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from leadline.data.sources import Sources
from leadline.items import Fit, Plan, TrialKey, digest
from leadline.models.registry import ModelOptions, open_model
from leadline.records import Outcome, Record
from leadline.requests import Response
from leadline.run.framing import open_sampler
from leadline.run.identity import folder_name, identity
from leadline.run.manifest import merged_manifest, write_manifest
from leadline.run.runner import data_hashes
from leadline.run.schedule import items_of
from leadline.run.store import RecordWriter
from leadline.sampler import Sampler
from leadline.spec import RunSpec, resolve
from leadline.tasks.base import Task

WRONG_SHARE = (0.03, 0.05, 0.1, 0.2, 0.4, 0.6)
"""Share of wrong answers at each of the lengths."""

MIDDLE = 1.5
"""How many times as many are wrong in the middle third of the context."""

KINDS = {
    "empty": 1,
    "copied_example": 1,
    "copied_context": 2,
    "neighbour": 3,
    "distractor_value": 4,
    "duplicated": 1,
    "not_in_context": 4,
    "partial": 5,
}
"""Failure kinds with their weights."""

OTHER_OUTCOMES: dict[Outcome, float] = {"truncated_output": 0.01, "refused": 0.005, "degenerate": 0.003}
"""Share of the trials that end in another way than with an answer."""

TOKENS_OF_PROSE = 60


@dataclass(frozen=True, slots=True)
class Seen:
    """What a command took."""

    seconds: float
    processor_s: float
    resident_mb: float


def simulated(spec: RunSpec, tasks: Sequence[Task], sampler: Sampler) -> Iterator[Record]:
    """The records of the run, round by round as a run writes them."""
    chance = Random(spec.seed)
    for index in range(spec.samples):
        for task in tasks:
            for place, length in enumerate(spec.lengths):
                plan = sampler.plan(task.at_length(length), index)
                yield record_of(plan, length, WRONG_SHARE[place % len(WRONG_SHARE)], chance)


def record_of(plan: Plan, length: int, wrong_share: float, chance: Random) -> Record:
    """A trial that ends as chance has it."""
    depth = plan.factors.get("depth")
    if isinstance(depth, int | float) and 100 / 3 < depth < 200 / 3:
        wrong_share = min(0.95, MIDDLE * wrong_share)
    right = [forms[0] for forms in plan.answers]
    kind: str | None = None
    text, outcome = " " + ", ".join(right), "answered"
    if chance.random() < wrong_share:
        kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
        text = wrong_text(kind, right, chance)
    other = chance.random()
    for name, share in OTHER_OUTCOMES.items():
        if (other := other - share) < 0:
            outcome, kind = name, None
            break
    prompt_tokens = length - chance.randrange(100)
    hashes = digest(str(plan.item), str(length))
    return Record(
        key=TrialKey(plan.item, length),
        fit=Fit(length // 20, prompt_tokens),
        item_hash=hashes,
        prompt_hash=digest(hashes),
        prompt_tokens=prompt_tokens,
        factors=plan.factors,
        answers=plan.answers,
        facts=plan.facts,
        response=Response(text, prompt_tokens=prompt_tokens, output_tokens=TOKENS_OF_PROSE, latency_s=1.0),
        outcome=outcome,
        failure=kind,
    )


def wrong_text(kind: str, right: Sequence[str], chance: Random) -> str:
    """An answer of this kind, more or less, as long as such answers are."""
    if kind == "empty":
        return ""
    if kind == "partial" and len(right) > 1:
        return " " + ", ".join(right[: len(right) // 2])
    if kind == "copied_context":
        return " The grass is green. The sky is blue. The sun is yellow. Here we go." * 4
    number = str(chance.randrange(10**6, 10**7))
    return f" {number}, which I found in the text above; it speaks of cities, of people and of what to make of them."


async def write_run(folder: Path, spec: RunSpec) -> tuple[Path, int]:
    """Write the run's folder; give it and how many records it holds."""
    backend = open_model(spec.model, ModelOptions.of(spec))
    sources = Sources()
    sampler = open_sampler(spec, backend, sources)
    tasks = spec.make_tasks()
    hashes = data_hashes(spec, sampler, sources)
    parts = identity(spec, backend.facts(), sampler.counter.counter.tokenizer.id, sampler.frame, hashes)
    run = folder / folder_name(spec, backend.facts(), parts)
    writer = RecordWriter(run, spec.shard_of())
    items = items_of(tasks, spec.lengths, spec.samples, sources)
    write_manifest(run, merged_manifest(run, spec, backend.facts(), sampler.frame, parts, items))
    try:
        written = [writer.put(record) for record in simulated(spec, tasks, sampler)]
        await asyncio.gather(*written)
    finally:
        writer.close()
        await backend.aclose()
    return run, len(written)


def seen(arguments: Sequence[str]) -> Seen:
    """Run a command of leadline and measure it."""
    started = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "leadline", *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"leadline {arguments[0]} ended with {process.returncode}")
    took_s = time.monotonic() - started
    return Seen(took_s, used.ru_utime + used.ru_stime, used.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2))


def measure(folder: Path, spec: RunSpec) -> None:
    """Write the run and measure what reads it."""
    started = time.monotonic()
    run, count = asyncio.run(write_run(folder, spec))
    size_mb = sum(path.stat().st_size for path in run.glob("records-*")) / 1e6
    print(f"{count:,} records, {size_mb:.0f} MB, written in {time.monotonic() - started:.0f} s")
    page = folder / "page.html"
    print("| command | seconds | of processor | MB resident |\n|---|--:|--:|--:|")
    for arguments in (["report", str(run), "-o", str(page)], ["score", str(run), "--json"]):
        took = seen(arguments)
        print(f"| {arguments[0]} | {took.seconds:.1f} | {took.processor_s:.1f} | {took.resident_mb:.0f} |")
    print(f"page: {page.stat().st_size / 1e6:.2f} MB")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--tasks", help="only these, separated by commas")
    parser.add_argument("--keep", type=Path, help="write the run here and leave it, instead of a temporary folder")
    options = parser.parse_args()
    given = {"model": "reader/oracle", "samples": options.samples}
    spec = resolve("ruler", given | ({"tasks": options.tasks} if options.tasks else {}))
    if options.keep is not None:
        measure(options.keep, spec)
        return
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), spec)


if __name__ == "__main__":
    main()

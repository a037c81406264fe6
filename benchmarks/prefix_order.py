"""Prompt tokens computed by a real llama.cpp server, and wall time, by the order of the requests, in one run.

    python benchmarks/prefix_order.py [--model local] [--tasks niah_single_2] [--lengths 1k,2k] [--samples 25]
        [--slots 1]

Four ways to ask the same trials, each of a server of its own: in prefix order cut into lanes (what `leadline run`
does), in prefix order from a common pool (the same where there is one slot), in random order, and with the server's
cache off. "computed" is the share of prompt tokens that the server says it computed; the rest came from its cache.
Answers are one token long, so that the time is that of reading.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from leadline.data.sources import Sources
from leadline.models.llamacpp import LlamaCpp, open_llamacpp
from leadline.models.registry import ModelOptions
from leadline.prompt import request_for
from leadline.run.framing import open_sampler
from leadline.run.schedule import Round, Schedule, Trial, lanes
from leadline.sampler import Sampler
from leadline.spec import RunSpec, resolve


@dataclass(slots=True)
class Spent:
    """What one way took."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    wall_s: float = 0.0

    @property
    def computed(self) -> float:
        """Share of the prompt tokens that were computed."""
        return 1 - self.cached_tokens / self.prompt_tokens


class Uncached:
    """A llama.cpp server that is told to use nothing of an earlier prompt."""

    made: Callable[[Any], Any]

    def __init__(self, params: Any) -> None:
        self._server = type(self).made(params)

    def handle_completions(self, body: dict[str, Any], take: Callable[[dict[str, Any]], bool]) -> None:
        """Ask with the cache off."""
        self._server.handle_completions({**body, "cache_prompt": False}, take)


def rounds(spec: RunSpec, sampler: Sampler, context_tokens: int | None) -> Iterator[Round]:
    """The rounds of a run, in prefix order."""
    return Schedule(
        sampler, spec.make_tasks(), spec.lengths, spec.samples, (0, 1), True, context_tokens, frozenset()
    ).rounds()


async def ask_all(backend: LlamaCpp, sampler: Sampler, parts: Sequence[Sequence[Trial]], spent: Spent) -> None:
    """Ask parts side by side, each in order."""

    async def ask(part: Sequence[Trial]) -> None:
        for trial in part:
            plan = sampler.plan(trial.task, trial.key.item.index)
            request = request_for(sampler.sample(trial.task, plan, trial.fit, trial.key.length), sampler.frame)
            response = await backend.answer(replace(request, max_tokens=1))
            spent.prompt_tokens += response.prompt_tokens or 0
            spent.cached_tokens += response.cached_tokens or 0

    await asyncio.gather(*(ask(part) for part in parts))


async def measure(spec: RunSpec, model: Path, slots: int, way: str) -> Spent:
    """One way, on a server of its own."""
    backend = open_llamacpp(model, ModelOptions(concurrency=slots))
    spent = Spent()
    try:
        sampler = open_sampler(spec, backend, Sources())
        made = list(rounds(spec, sampler, backend.abilities().context_tokens))
        # The model is loaded and the texts are read before the clock starts.
        await ask_all(backend, sampler, [made[0].trials[-1:]], Spent())
        started = time.perf_counter()
        for one in made:
            trials = one.trials
            if way == "random order":
                random.Random(0).shuffle(trials)
            pooled = way != "prefix order, lanes"
            await ask_all(backend, sampler, pool(trials, slots) if pooled else lanes(trials, slots), spent)
        spent.wall_s = time.perf_counter() - started
    finally:
        await backend.aclose()
    return spent


def pool(trials: Sequence[Trial], slots: int) -> list[Sequence[Trial]]:
    """Dealt out one by one, as a common pool does where all take equally long."""
    return [trials[number::slots] for number in range(slots)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="local")
    parser.add_argument("--tasks", default="niah_single_2")
    parser.add_argument("--lengths", default="1k,2k")
    parser.add_argument("--samples", type=int, default=25)
    parser.add_argument("--slots", type=int, default=1)
    given = parser.parse_args()
    spec = resolve("ruler", {"tasks": given.tasks, "lengths": given.lengths, "samples": given.samples})

    engine = import_module("xllamacpp")
    server = engine.Server
    Uncached.made = server
    print(f"{given.tasks} at {given.lengths}, {given.samples} samples, {given.slots} slots")
    print(f"{'':22}{'prompt tokens':>14}{'computed':>10}{'seconds':>9}")
    for way in ("prefix order, lanes", "prefix order, pool", "random order", "no cache"):
        vars(engine)["Server"] = Uncached if way == "no cache" else server
        spent = asyncio.run(measure(spec, Path(given.model), given.slots, way))
        print(f"{way:22}{spent.prompt_tokens:14,}{spent.computed:10.2f}{spent.wall_s:9.1f}", flush=True)


if __name__ == "__main__":
    main()

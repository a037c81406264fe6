"""Prompt tokens computed by a real llama.cpp server, and wall time, by the order of the requests, in one run.

    python benchmarks/prefix_order.py [--suite ruler] [--tasks niah_single_2] [--lengths 1k] [--samples 8]
        [--cells 2 --needles 3] [--model local] [--slots 1]

Ways to ask the same trials, each of a server of its own: in prefix order cut into lanes (what `leadline run` does), in
prefix order from a common pool (where there is more than one slot), in random order, and with the server's cache off.
"computed" is the share of prompt tokens that the server says it computed; the rest came from its cache. "forecast" is
what `leadline plan` expects of prefix order, and for random order the same rule in that order. Answers are one token
long, so that the time is that of reading.

With `--cells`, NoLiMa's trials are those of so many depths of its first book, with every question of the first
`--needles` needles: a corner of the whole design, in which neighbours share as much as they do in all of it.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from leadline.data.sources import Sources
from leadline.models.llamacpp import LlamaCpp, open_llamacpp
from leadline.models.registry import ModelOptions
from leadline.prompt import request_for
from leadline.requests import Request
from leadline.run.forecast import forecast, opening_tokens
from leadline.run.framing import open_sampler
from leadline.run.schedule import Schedule, Trial, lanes
from leadline.sampler import Sampler
from leadline.spec import RunSpec, resolve
from leadline.tasks.base import Task


@dataclass(slots=True)
class Spent:
    """What one way took."""

    requests: int = 0
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


class Corner:
    """A task of which only some items are asked, in one round."""

    def __init__(self, task: Task, indices: Sequence[int]) -> None:
        self._task = task
        self._indices = indices

    def __getattr__(self, name: str) -> Any:
        """Everything but the items is the task's own."""
        return getattr(self._task, name)

    def rounds(self, _samples: int, _sources: Sources) -> Iterator[Sequence[int]]:
        """The chosen items."""
        yield self._indices

    def at_length(self, _length: int) -> Task:
        """The same items at every length."""
        return cast("Task", self)


def corner(task: Task, sampler: Sampler, cells: int, needles: int) -> tuple[Task, int]:
    """A NoLiMa task at `cells` depths of its first book with all questions of the first needles; how many they are."""
    everything = [index for share in task.rounds(10**9, sampler.sources) for index in share]
    factors = {index: sampler.plan(task, index).factors for index in everything}
    book = min(str(told["book"]) for told in factors.values())
    depths = sorted({float(told["depth"] or 0) for told in factors.values()})
    kept = {depths[(2 * number + 1) * len(depths) // (2 * cells)] for number in range(cells)}
    groups = sorted({str(told["needle"]) for told in factors.values()})[:needles]
    chosen = [
        index
        for index, told in factors.items()
        if told["book"] == book and told["depth"] in kept and str(told["needle"]) in groups
    ]
    return cast("Task", Corner(task, chosen)), len(chosen)


def expected(trials: Sequence[Trial], opening: int) -> float:
    """Share of the prompt tokens that one cached context leaves to compute, by what each trial shares with the last."""
    saved = 0
    for before, trial in pairwise(trials):
        if trial.group and before.group == trial.group:
            shared = min(before.shared_tokens, trial.shared_tokens)
            saved += trial.fit.size if trial.inner and trial.inner == before.inner else shared
            saved += opening
    return 1 - saved / sum(trial.fit.prompt_tokens for trial in trials)


async def ask_all(backend: LlamaCpp, sampler: Sampler, parts: Sequence[Sequence[Trial]], spent: Spent) -> None:
    """Ask parts side by side, each in order."""

    async def ask(part: Sequence[Trial]) -> None:
        for trial in part:
            plan = sampler.plan(trial.task, trial.key.item.index)
            request = request_for(sampler.sample(trial.task, plan, trial.fit, trial.key.length), sampler.frame)
            response = await backend.answer(replace(request, max_tokens=1))
            spent.requests += 1
            spent.prompt_tokens += response.prompt_tokens or 0
            spent.cached_tokens += response.cached_tokens or 0

    await asyncio.gather(*(ask(part) for part in parts))


async def measure(spec: RunSpec, model: Path, slots: int, way: str, cells: int, needles: int) -> tuple[Spent, float]:
    """One way, on a server of its own, and the share of tokens that the forecast has computed."""
    backend = open_llamacpp(model, ModelOptions(concurrency=slots))
    spent = Spent()
    try:
        sampler = open_sampler(spec, backend, Sources())
        task, samples = spec.make_tasks()[0], spec.samples
        if cells:
            task, samples = corner(task, sampler, cells, needles)
        context_tokens = backend.abilities().context_tokens
        schedule = Schedule(sampler, [task], spec.lengths, samples, (0, 1), True, context_tokens, frozenset())
        made = list(schedule.rounds())
        planned = forecast(sampler, [task], spec.lengths, samples, context_tokens, slots)
        model_share = 1 - planned.saved_tokens / planned.prompt_tokens
        if way == "random order":
            for one in made:
                random.Random(0).shuffle(one.trials)
            model_share = expected([trial for one in made for trial in one.trials], opening_tokens(sampler, task))
        # The model is loaded before the clock starts, and nothing of the trials is in its cache.
        await backend.answer(Request(max_tokens=1, text="Hello"))
        started = time.perf_counter()
        for one in made:
            pooled = way != "prefix order, lanes"
            await ask_all(backend, sampler, (pool if pooled else lanes)(one.trials, slots), spent)
        spent.wall_s = time.perf_counter() - started
    finally:
        await backend.aclose()
    return spent, 1.0 if way == "no cache" else model_share


def pool(trials: Sequence[Trial], slots: int) -> list[Sequence[Trial]]:
    """Dealt out one by one, as a common pool does where all take equally long."""
    return [trials[number::slots] for number in range(slots)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default="ruler")
    parser.add_argument("--model", default="local")
    parser.add_argument("--tasks", default="niah_single_2", help="one task")
    parser.add_argument("--lengths", default="1k")
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--cells", type=int, default=0, help="NoLiMa: depths of one book")
    parser.add_argument("--needles", type=int, default=3, help="NoLiMa: needles at each of them")
    parser.add_argument("--slots", type=int, default=1)
    given = parser.parse_args()
    spec = resolve(given.suite, {"tasks": given.tasks, "lengths": given.lengths, "samples": given.samples})

    engine = import_module("xllamacpp")
    server = engine.Server
    Uncached.made = server
    ways = ["prefix order, lanes", "prefix order, pool", "random order", "no cache"]
    if given.slots == 1:
        ways.remove("prefix order, pool")
    print(f"{given.tasks} at {given.lengths}, {given.slots} slots")
    print(f"{'':22}{'requests':>9}{'prompt tokens':>15}{'computed':>10}{'forecast':>10}{'seconds':>9}")
    for way in ways:
        vars(engine)["Server"] = Uncached if way == "no cache" else server
        spent, share = asyncio.run(measure(spec, Path(given.model), given.slots, way, given.cells, given.needles))
        print(
            f"{way:22}{spent.requests:9}{spent.prompt_tokens:15,}{spent.computed:10.2f}{share:10.2f}"
            f"{spent.wall_s:9.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()

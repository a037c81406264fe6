"""A sampler that needs no data, backends that misbehave on purpose, and an engine over them."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from leadline.data.sources import Sources
from leadline.items import Fit, ItemKey, TrialKey
from leadline.prompt import FrameCounter, named_frame
from leadline.records import Outcome, Record
from leadline.requests import Abilities, ModelFacts, Request, Response
from leadline.run.closing import Cells
from leadline.run.engine import Engine
from leadline.run.patience import Patience, Traffic
from leadline.run.schedule import Cell, Round, Schedule
from leadline.run.store import RecordWriter
from leadline.sampler import Sampler
from leadline.tasks.base import Task
from leadline.tasks.registry import make_task
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.counting import Counter

HASTE = Patience(attempts=3, first_wait_s=0.001, longest_wait_s=0.002)
"""So that a test waits for nothing."""

Answer = Callable[[Request], Awaitable[Response]]


class WordTokenizer:
    """A token is a word with the space before it, a run of white space, or a run of punctuation."""

    id = "words"
    exact = True
    bos_tokens = 0

    def pieces(self, text: str) -> list[str]:
        return re.findall(r" ?\w+|\s+?(?=\s\w)|\s+| ?[^\w\s]+", text)

    def encode(self, text: str) -> list[int]:
        return [hash(piece) for piece in self.pieces(text)]

    def count(self, text: str) -> int:
        return len(self.pieces(text))

    def count_in_place(self, texts: Sequence[str], before: str, after: str) -> npt.NDArray[np.int32]:
        base = self.count(before + after)
        return np.array([self.count(before + text + after) - base for text in texts], dtype=np.int32)

    def offsets(self, text: str) -> npt.NDArray[np.int64]:
        sizes = np.array([len(piece) for piece in self.pieces(text)], dtype=np.int64)
        return np.cumsum(sizes) - sizes


class MergingTokenizer(WordTokenizer):
    """A token is any seven characters, spaces and newlines included: sums of parts are never the whole."""

    id = "sevens"

    def count(self, text: str) -> int:
        return math.ceil(len(text) / 7)


class StubBackend:
    """Answers with a function; counts what it was asked and how many requests were in flight at once."""

    def __init__(self, answer: Answer, *, context_tokens: int | None = None) -> None:
        self._answer = answer
        self._context_tokens = context_tokens
        self.asked: list[TrialKey] = []
        self.finished: list[TrialKey] = []
        self.in_flight = 0
        self.most_in_flight = 0

    def abilities(self) -> Abilities:
        return Abilities(prefill=True, template="local", context_tokens=self._context_tokens, max_concurrency=8)

    def facts(self) -> ModelFacts:
        return ModelFacts("stub")

    def tokenizer(self) -> Tokenizer:
        return WordTokenizer()

    async def answer(self, request: Request) -> Response:
        assert request.sample is not None
        self.asked.append(request.sample.key)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._answer(request)
        finally:
            self.in_flight -= 1
            self.finished.append(request.sample.key)

    async def aclose(self) -> None:
        return None


def right(request: Request) -> Response:
    """The answer to a request's sample."""
    assert request.sample is not None
    return Response(", ".join(forms[0] for forms in request.sample.plan.answers))


@dataclass
class Bench:
    """Runs a schedule against a backend and keeps what was recorded."""

    folder: Path
    sampler: Sampler
    tasks: list[Task]
    closed: set[Cell] = field(default_factory=set[Cell])
    records: list[Record] = field(default_factory=list[Record])
    said: list[str] = field(default_factory=list[str])

    def schedule(
        self,
        lengths: Sequence[int] = (1024,),
        samples: int = 5,
        *,
        shard: tuple[int, int] = (0, 1),
        in_prefix_order: bool = True,
        context_tokens: int | None = None,
        done: frozenset[TrialKey] = frozenset(),
    ) -> Schedule:
        return Schedule(
            self.sampler, self.tasks, lengths, samples, shard, in_prefix_order, context_tokens, done, self.closed
        )

    async def run(
        self, backend: StubBackend, schedule: Schedule, concurrency: int = 4, patience: Patience = HASTE
    ) -> list[Record]:
        return await self.ask(backend, schedule.rounds(), schedule.lengths, concurrency, patience)

    async def ask(
        self,
        backend: StubBackend,
        rounds: Iterable[Round],
        lengths: Sequence[int] = (1024,),
        concurrency: int = 4,
        patience: Patience = HASTE,
    ) -> list[Record]:
        writer = RecordWriter(self.folder, (0, 1))
        cells = Cells(self.tasks, lengths, self.closed)
        engine = Engine(
            backend,
            self.sampler,
            writer,
            Traffic(concurrency, patience, server="stub"),
            concurrency,
            cells,
            self.records.append,
            self.said.append,
        )
        try:
            for made in rounds:
                await engine.run(made)
        finally:
            writer.close()
        return self.records


def make_sampler(tokenizer: Tokenizer, template: str = "base", seed: int = 42) -> Sampler:
    frame = named_frame(template, tokenizer)
    return Sampler(frame, FrameCounter(Counter(tokenizer), frame), Sources(offline=True), seed)


def record_of(index: int = 0, length: int = 1024, outcome: Outcome = "answered", text: str = "1") -> Record:
    """A record with little in it."""
    key = TrialKey(ItemKey("vt", 1, "{}", 42, index), length)
    response = Response(text, error="failed" if outcome == "failed" else None)
    return Record(key, Fit(3, 900), "i", "p", 900, {"depth": 1.5}, (("ABC",),), {"é": "\u2028"}, response, outcome)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Needles in repeated noise, which needs no data, counted by words."""
    return Bench(tmp_path / "run", make_sampler(WordTokenizer()), [make_task("niah_single_1")])


@pytest.fixture
def at_once() -> Answer:
    async def answer(request: Request) -> Response:
        await asyncio.sleep(0)
        return right(request)

    return answer

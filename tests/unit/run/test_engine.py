"""The local engine against backends that fail, stall and refuse."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from leadline.errors import LeadlineError, ModelError
from leadline.items import TrialKey
from leadline.requests import PermanentError, Request, Response, TransientError
from leadline.run.store import read_records
from leadline.tasks.registry import make_task

from .conftest import Answer, Bench, StubBackend, right


async def test_every_trial_is_asked_once_and_on_disk(bench: Bench, at_once: Answer) -> None:
    backend = StubBackend(at_once)
    records = await bench.run(backend, bench.schedule([1024, 2048], 30))
    assert len(records) == 60 == len(set(backend.asked))
    assert {record.key for record in read_records(bench.folder)} == set(backend.asked)
    assert {record.outcome for record in records} == {"answered"}


async def test_a_transient_error_is_tried_again(bench: Bench) -> None:
    attempts: Counter[TrialKey] = Counter()

    async def answer(request: Request) -> Response:
        assert request.sample is not None
        attempts[request.sample.key] += 1
        if attempts[request.sample.key] < 3:
            raise TransientError("busy", retry_after_s=0.001)
        return right(request)

    records = await bench.run(StubBackend(answer), bench.schedule(samples=3))
    assert [record.outcome for record in records] == ["answered"] * 3
    assert set(attempts.values()) == {3}


async def test_an_error_that_stays_becomes_failed_and_the_run_goes_on(bench: Bench) -> None:
    async def answer(request: Request) -> Response:
        assert request.sample is not None
        if request.sample.key.item.index == 1:
            raise TransientError("still busy", retry_after_s=0.001)
        return right(request)

    backend = StubBackend(answer)
    records = await bench.run(backend, bench.schedule(samples=4), concurrency=1)
    outcomes = {record.key.item.index: record.outcome for record in records}
    assert outcomes == {0: "answered", 1: "failed", 2: "answered", 3: "answered"}
    failed = next(record for record in records if record.outcome == "failed")
    assert "still busy" in failed.notes
    assert len(backend.asked) == 3 + 3


async def test_a_length_that_is_refused_is_asked_no_more(bench: Bench) -> None:
    async def answer(request: Request) -> Response:
        assert request.sample is not None
        if request.sample.key.length > 1024:
            raise PermanentError("over_length", "at most 1024 tokens")
        return right(request)

    backend = StubBackend(answer)
    records = await bench.run(backend, bench.schedule([1024, 2048], 30), concurrency=1)
    refused = [record for record in records if record.key.length == 2048]
    assert [record.outcome for record in refused] == ["over_length"]
    assert sum(key.length == 2048 for key in backend.asked) == 1
    assert sum(key.length == 1024 for key in backend.asked) == 30
    assert bench.closed == {("niah_single_1", 2048)}


async def test_a_length_beyond_the_context_is_recorded_and_never_asked(bench: Bench, at_once: Answer) -> None:
    backend = StubBackend(at_once, context_tokens=1500)
    records = await bench.run(backend, bench.schedule([1024, 2048], 4, context_tokens=1500))
    beyond = [record for record in records if record.key.length == 2048]
    assert [(record.outcome, record.response) for record in beyond] == [("over_length", None)]
    assert {key.length for key in backend.asked} == {1024}


async def test_a_length_at_which_an_item_does_not_fit_is_recorded_and_never_asked(
    bench: Bench, at_once: Answer
) -> None:
    bench.tasks = [make_task("vt")]
    backend = StubBackend(at_once)
    records = await bench.run(backend, bench.schedule([200, 2048], 3))
    assert [record.outcome for record in records if record.key.length == 200] == ["does_not_fit"]
    assert len(backend.asked) == 3


async def test_a_slow_answer_does_not_stall_the_other_lanes(bench: Bench) -> None:
    """The first request of the queue waits for everything that the other lanes have to ask."""
    everything_else = asyncio.Event()

    async def answer(request: Request) -> Response:
        if len(backend.asked) == 1:
            await asyncio.wait_for(everything_else.wait(), 10)
        elif len(backend.asked) == 1 + 15:
            everything_else.set()
        await asyncio.sleep(0)
        return right(request)

    backend = StubBackend(answer)
    schedule = bench.schedule(samples=20)
    records = await bench.run(backend, schedule, concurrency=4)
    assert len(records) == 20
    assert backend.finished.index(backend.asked[0]) >= 12


@pytest.mark.parametrize("concurrency", [1, 3, 8])
async def test_no_more_requests_are_in_flight_than_allowed(bench: Bench, concurrency: int) -> None:
    async def answer(request: Request) -> Response:
        await asyncio.sleep(0.002)
        return right(request)

    backend = StubBackend(answer)
    await bench.run(backend, bench.schedule(samples=20), concurrency)
    assert backend.most_in_flight == concurrency


async def test_an_error_that_stops_the_run_keeps_what_is_recorded(bench: Bench) -> None:
    async def answer(request: Request) -> Response:
        if len(backend.asked) == 4:
            raise ModelError("the engine is gone")
        return right(request)

    backend = StubBackend(answer)
    with pytest.raises(LeadlineError, match="the engine is gone"):
        await bench.run(backend, bench.schedule(samples=10), concurrency=1)
    assert len(list(read_records(bench.folder))) == 3


async def test_what_is_done_is_not_asked_again(bench: Bench, at_once: Answer) -> None:
    first = await bench.run(StubBackend(at_once), bench.schedule(samples=4))
    done = frozenset(record.key for record in first)
    backend = StubBackend(at_once)
    await bench.run(backend, bench.schedule(samples=9, done=done))
    assert sorted(key.item.index for key in backend.asked) == [4, 5, 6, 7, 8]


async def test_tokens_that_the_server_did_not_read_make_the_trial_invalid(bench: Bench) -> None:
    async def answer(request: Request) -> Response:
        return Response("1234567", prompt_tokens=400)

    records = await bench.run(StubBackend(answer), bench.schedule(samples=1))
    assert [record.outcome for record in records] == ["truncated_prompt"]

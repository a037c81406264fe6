"""The local engine against backends that fail, stall and refuse."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from leadline.errors import LeadlineError, ModelError
from leadline.items import TrialKey
from leadline.requests import PermanentError, Request, Response, TransientError
from leadline.run.patience import Patience
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
    assert failed.notes == ("still busy (3 calls)",)
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


@pytest.mark.parametrize(
    ("message", "limit", "asked_of_vt", "refused"),
    [
        ("at most 9 words", None, {1024, 1536, 2048}, {("niah_single_1", 1536), ("niah_single_1", 2048)}),
        (
            "This model's maximum context length is 1200 tokens.",
            None,
            {1024},
            {(name, length) for name in ("niah_single_1", "vt") for length in (1536, 2048)},
        ),
        (
            "no",
            1200,
            {1024},
            {(name, length) for name in ("niah_single_1", "vt") for length in (1536, 2048)},
        ),
    ],
)
async def test_greater_lengths_are_not_asked_after_a_refusal(
    bench: Bench, message: str, limit: int | None, asked_of_vt: set[int], refused: set[tuple[str, int]]
) -> None:
    bench.tasks = [make_task("niah_single_1"), make_task("vt")]

    async def answer(request: Request) -> Response:
        assert request.sample is not None
        key = request.sample.key
        if key.item.task == "niah_single_1" and key.length > 1200:
            raise PermanentError("over_length", message, limit)
        return right(request)

    backend = StubBackend(answer)
    records = await bench.run(backend, bench.schedule([1024, 1536, 2048], 3, in_prefix_order=False), concurrency=1)
    assert {key.length for key in backend.asked if key.item.task == "vt"} == asked_of_vt
    assert {key.length for key in backend.asked if key.item.task == "niah_single_1"} == {1024, 1536}
    over = [(record.key.item.task, record.key.length) for record in records if record.outcome == "over_length"]
    assert sorted(over) == sorted(refused), "one record for each cell"
    assert bench.closed == refused
    assert len(bench.said) == 1
    assert message in bench.said[0]


async def test_a_limit_below_this_length_closes_what_lies_between(bench: Bench) -> None:
    async def answer(request: Request) -> Response:
        raise PermanentError("over_length", "too long", 1024)

    backend = StubBackend(answer)
    schedule = bench.schedule([1024, 1536, 2048], 3)
    await bench.run(backend, schedule, concurrency=1)
    assert [key.length for key in backend.asked] == [2048, 1024]
    assert {length for _, length in bench.closed} == {1024, 1536, 2048}


async def test_a_length_that_was_answered_is_not_closed_by_another_task(bench: Bench) -> None:
    bench.tasks = [make_task("vt"), make_task("niah_single_1")]

    async def answer(request: Request) -> Response:
        assert request.sample is not None
        if request.sample.key.item.task == "niah_single_1":
            raise PermanentError("over_length", "the context is full")
        return right(request)

    records = await bench.run(StubBackend(answer), bench.schedule([1024], 4, in_prefix_order=False), concurrency=1)
    assert [record.outcome for record in records] == ["answered"] * 4 + ["over_length"]
    assert bench.closed == {("niah_single_1", 1024)}


async def test_a_server_that_reads_a_part_is_told_once_and_its_length_left_alone(bench: Bench) -> None:
    """Its trials are asked again by the next run; those of a length that fits go on."""

    async def answer(request: Request) -> Response:
        assert request.sample is not None
        told = min(1024, request.sample.fit.prompt_tokens)
        return Response(right(request).text, prompt_tokens=told)

    backend = StubBackend(answer)
    records = await bench.run(backend, bench.schedule([1024, 2048], 20), concurrency=1)
    outcomes = Counter((record.key.length, record.outcome) for record in records)
    assert outcomes == {(1024, "answered"): 20, (2048, "truncated_prompt"): 3}
    (said,) = bench.said
    assert "prompts of 2048 tokens do not arrive whole" in said
    assert "read 1024 of" in said


async def test_reasoning_is_recorded_apart(bench: Bench) -> None:
    async def answer(request: Request) -> Response:
        return Response("<think>It was 7654321. No.</think>" + (right(request).text or ""))

    (record,) = await bench.run(StubBackend(answer), bench.schedule(samples=1))
    assert record.response is not None
    assert record.response.reasoning == "It was 7654321. No."
    assert record.response.text is not None and "7654321" not in record.response.text
    assert record.outcome == "answered"


async def test_doubled_tokens_at_the_beginning_are_told_once(bench: Bench) -> None:
    async def answer(request: Request) -> Response:
        return Response(right(request).text, bos_tokens=2)

    records = await bench.run(StubBackend(answer), bench.schedule(samples=5))
    assert {record.outcome for record in records} == {"answered"}
    assert all("beginning of text" in record.notes[0] for record in records)
    assert len(bench.said) == 1


async def test_a_server_that_is_gone_stops_the_run_and_keeps_what_is_recorded(bench: Bench) -> None:
    async def answer(request: Request) -> Response:
        if len(backend.asked) > 6:
            raise TransientError("connection refused", cause="unreachable")
        return right(request)

    backend = StubBackend(answer)
    with pytest.raises(ModelError, match=r"stub cannot be reached: .*connection refused; every answer so far is kept"):
        await bench.run(
            backend, bench.schedule(samples=20), patience=Patience(gone_calls=8, gone_s=0, longest_wait_s=0.001)
        )
    assert len(list(read_records(bench.folder))) == 6


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

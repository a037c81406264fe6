"""Calls that fail, in a time that the tests make themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import pytest

from leadline.errors import ModelError
from leadline.requests import PermanentError, Response, TransientCause, TransientError
from leadline.run.patience import Patience, Traffic

PATIENCE = Patience()
OK = Response("1")


@dataclass
class Time:
    """A clock that goes on while somebody sleeps; sleepers wake in order."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list[float])

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        until = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, until)

    def traffic(self, most: int = 4, patience: Patience = PATIENCE, draw: float = 1.0) -> Traffic:
        return Traffic(most, patience, server="m", clock=self.clock, sleep=self.sleep, draw=lambda: draw)


def failing(
    times: int, cause: TransientCause = "other", after_s: float | None = None
) -> Callable[[], Awaitable[Response]]:
    """Fails so often, then answers."""
    left = times

    async def call() -> Response:
        nonlocal left
        await asyncio.sleep(0)
        if left:
            left -= 1
            raise TransientError("busy", after_s, cause)
        return OK

    return call


async def test_waits_double_up_to_a_cap() -> None:
    time = Time()
    traffic = time.traffic(patience=replace(PATIENCE, attempts=10, longest_wait_s=30))
    assert await traffic.send(failing(9)) == OK
    assert time.slept == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


async def test_a_wait_is_any_time_up_to_its_bound() -> None:
    time = Time()
    await time.traffic(draw=0.25).send(failing(3))
    assert time.slept == [0.125, 0.25, 0.5]


@pytest.mark.parametrize(("asked_s", "waited_s"), [(0.0, 0.0), (7.0, 7.5), (100_000.0, 300.5)])
async def test_retry_after_is_obeyed_up_to_a_cap(asked_s: float, waited_s: float) -> None:
    time = Time()
    await time.traffic().send(failing(1, after_s=asked_s))
    assert time.slept == [waited_s]


async def test_an_error_that_stays_is_a_failed_response() -> None:
    response = await Time().traffic(patience=replace(PATIENCE, attempts=3)).send(failing(99))
    assert (response.error, response.error_message) == ("failed", "busy (3 calls)")


async def test_patience_ends_by_time_too() -> None:
    time = Time()
    response = await time.traffic(patience=replace(PATIENCE, attempts=1000, total_s=100)).send(failing(999))
    assert response.error == "failed"
    assert sum(time.slept) <= 100


async def test_a_permanent_error_is_not_tried_again() -> None:
    calls = 0

    async def call() -> Response:
        nonlocal calls
        calls += 1
        raise PermanentError("over_length", "too long", 2048)

    with pytest.raises(PermanentError, match="too long"):
        await Time().traffic().send(call)
    assert calls == 1


async def test_an_overloaded_server_gets_half_as_many_requests_and_then_slowly_more() -> None:
    traffic = Time().traffic(most=8)
    assert traffic.allowed == 8
    await traffic.send(failing(1, "overloaded"))
    assert traffic.allowed == 4
    for _ in range(4):
        await traffic.send(failing(0))
    assert traffic.allowed == 5
    for _ in range(100):
        await traffic.send(failing(0))
    assert traffic.allowed == 8


async def test_other_errors_do_not_slow_the_lanes() -> None:
    traffic = Time().traffic(most=8)
    await traffic.send(failing(5, "other"))
    await traffic.send(failing(5, "unreachable"))
    assert traffic.allowed == 8


async def test_refusals_of_one_burst_halve_once() -> None:
    traffic = Time().traffic(most=8)
    await asyncio.gather(*(traffic.send(failing(1, "overloaded")) for _ in range(8)))
    assert traffic.allowed >= 4


async def test_no_more_are_in_flight_than_the_server_bears() -> None:
    most = now = 0

    async def call() -> Response:
        nonlocal most, now
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        raise TransientError("x", cause=cause)

    cause: TransientCause = "other"
    traffic = Time().traffic(most=4, patience=replace(PATIENCE, attempts=1))
    await asyncio.gather(*(traffic.send(call) for _ in range(9)))
    assert most == 4
    cause, most = "overloaded", 0
    await asyncio.gather(*(traffic.send(call) for _ in range(40)))
    assert traffic.allowed == 1
    most = 0
    await asyncio.gather(*(traffic.send(call) for _ in range(4)))
    assert most == 1


async def test_all_lanes_wait_where_one_is_told_to() -> None:
    time, sent = Time(), list[float]()
    traffic = time.traffic(most=4)
    first = True

    async def call() -> Response:
        nonlocal first
        sent.append(time.now)
        if first:
            first = False
            raise TransientError("429", 20.0, "overloaded")
        return OK

    await traffic.send(call)
    await asyncio.gather(*(traffic.send(call) for _ in range(5)))
    assert sent[0] == 1000
    assert min(sent[1:]) >= 1020


async def test_a_server_that_is_gone_stops_the_run() -> None:
    time = Time()
    traffic = time.traffic(most=4)
    assert await traffic.send(failing(0)) == OK
    with pytest.raises(ModelError) as stopped:
        await traffic.send(failing(9999, "unreachable"))
    message = str(stopped.value)
    assert message.startswith("m cannot be reached: ")
    assert "busy; every answer so far is kept" in message
    assert "start the same command again" in message
    assert PATIENCE.gone_s <= time.now - 1000 <= PATIENCE.gone_s + PATIENCE.longest_wait_s


async def test_a_server_that_never_was_there_stops_the_run_sooner() -> None:
    time = Time()
    traffic = time.traffic(most=8)
    with pytest.raises(ModelError, match="cannot be reached"):
        await asyncio.gather(*(traffic.send(failing(9999, "unreachable")) for _ in range(8)))
    assert PATIENCE.never_s <= time.now - 1000 < PATIENCE.gone_s / 2


async def test_a_server_that_comes_back_in_time_costs_no_trial() -> None:
    """It is away for longer than a trial's attempts would last."""
    time = Time()
    traffic = time.traffic(patience=replace(PATIENCE, attempts=2))
    assert await traffic.send(failing(0)) == OK
    assert await traffic.send(failing(6, "unreachable")) == OK


async def test_a_trial_that_alone_cannot_reach_the_server_is_given_up() -> None:
    """Other calls are answered meanwhile, so this one is to blame."""
    time = Time()
    traffic = time.traffic(patience=replace(PATIENCE, attempts=3))
    calls = 0

    async def killing() -> Response:
        nonlocal calls
        calls += 1
        await traffic.send(failing(0))
        raise TransientError("reset", cause="unreachable")

    response = await traffic.send(killing)
    assert (response.error, calls) == ("failed", 3)


async def test_errors_alone_stop_the_run_after_a_longer_time() -> None:
    time = Time()
    traffic = time.traffic(patience=replace(PATIENCE, attempts=10_000, total_s=1e9))
    with pytest.raises(ModelError, match="answers with errors alone"):
        await traffic.send(failing(99_999))
    assert time.now - 1000 >= PATIENCE.silent_s


async def test_one_answer_closes_the_circuit_again() -> None:
    time = Time()
    traffic = time.traffic(patience=replace(PATIENCE, gone_calls=3, gone_s=0, never_s=0))
    for _ in range(5):
        assert await traffic.send(failing(2, "unreachable")) == OK


async def test_a_lane_that_is_cancelled_frees_its_place() -> None:
    traffic = Time().traffic(most=1)

    async def forever() -> Response:
        await asyncio.Event().wait()
        return OK

    lane = asyncio.create_task(traffic.send(forever))
    await asyncio.sleep(0)
    lane.cancel()
    await asyncio.gather(lane, return_exceptions=True)
    assert await traffic.send(failing(0)) == OK

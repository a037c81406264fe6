"""How long and how often a call is tried, and how many are in flight: shared by all lanes of a run.

Three rules, each over all lanes together:

- *Back-off*: a call that failed waits a random time up to a bound that doubles with each failure ("full jitter",
  Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog 2015). Every lane obeys a server's Retry-After.
- *Requests in flight*: halved where the server is overloaded, one more after as many answers as are in flight (additive
  increase, multiplicative decrease; Chiu and Jain 1989). Refusals of calls sent before the last halving count once.
- *Circuit breaker*: where nothing has been answered for a stated time, over a stated number of calls, the run stops.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from leadline.errors import ModelError
from leadline.requests import PermanentError, Response, TransientError


@dataclass(frozen=True, slots=True)
class Patience:
    """The limits.

    Attributes:
        attempts: calls for one trial. A call to a server that cannot be reached counts only where another call was
            answered since the trial's last: while the server is away nothing is used up.
        total_s: of one trial's calls and waits; no further call is begun after it. Queueing does not count.
        first_wait_s: bound of the wait after a first failure.
        longest_wait_s: bound of any wait of our own.
        longest_retry_after_s: a server that asks for a longer wait is asked again after this one.
        gone_calls: failures in a row, over all lanes, without which a run is not stopped.
        gone_s: time from the first of them on after which a run stops where the server cannot be reached.
        never_s: the same where it has never been reached in this run.
        silent_s: the same where it can be reached and answers with errors.
    """

    attempts: int = 8
    total_s: float = 1800.0
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    longest_retry_after_s: float = 300.0
    gone_calls: int = 10
    gone_s: float = 120.0
    never_s: float = 15.0
    silent_s: float = 1800.0


STANDARD = Patience()


class Traffic:
    """Sends calls, as many at once as the server bears, and tries again what may pass."""

    def __init__(
        self,
        most: int,
        patience: Patience = STANDARD,
        *,
        server: str = "the server",
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        """Begin with `most` calls at once, which is never exceeded.

        Args:
            most: calls in flight at most.
            patience: the limits.
            server: what to call it in an error.
            clock: seconds, monotonic.
            sleep: waits for seconds.
            draw: a number from 0 to 1, for jitter; it is no part of what is measured.
        """
        self._most = most
        self._patience = patience
        self._server = server
        self._clock, self._sleep, self._draw = clock, sleep, draw
        self._limit = float(most)
        self._in_flight = 0
        self._waiting = 0
        self._free = asyncio.Condition()
        self._halvings = 0
        self._paused_until = 0.0
        self._answered = 0
        self._failed_in_row = 0
        self._failing_since = 0.0
        self._reached = False

    @property
    def allowed(self) -> int:
        """How many calls may be in flight now."""
        return max(1, int(self._limit))

    async def send(self, call: Callable[[], Awaitable[Response]]) -> Response:
        """The response to a call, or the last error as a response where trying again did not help.

        Raises:
            PermanentError: as the call raised it.
            ModelError: nothing has been answered for too long, so the run must stop.
        """
        spent_s, counted, tried = 0.0, 0, 0
        while True:
            async with _Slot(self):
                began, halvings, answered = self._clock(), self._halvings, self._answered
                try:
                    response = await call()
                except PermanentError:
                    self._note_answer()
                    raise
                except TransientError as error:
                    failure = error
                else:
                    self._note_answer()
                    return response
            spent_s += self._clock() - began
            tried += 1
            counted += failure.cause != "unreachable" or self._answered > answered
            self._note_failure(failure, halvings)
            wait_s = self._wait_s(failure, tried)
            spent_s += wait_s
            if counted >= self._patience.attempts or spent_s >= self._patience.total_s:
                told = f"{failure} ({tried} {'call' if tried == 1 else 'calls'})"
                return Response(None, "unknown", error="failed", error_message=told)
            await self._sleep(wait_s)

    def _wait_s(self, failure: TransientError, tried: int) -> float:
        patience = self._patience
        bound_s = min(patience.longest_wait_s, patience.first_wait_s * 2.0 ** min(tried - 1, 30))
        wait_s = bound_s * self._draw()
        if failure.retry_after_s is None:
            return wait_s
        # Jitter on top, lest all lanes come back in the same instant.
        asked_s = min(max(0.0, failure.retry_after_s), patience.longest_retry_after_s)
        return asked_s + min(wait_s, asked_s)

    def _note_answer(self) -> None:
        self._answered += 1
        self._failed_in_row = 0
        self._reached = False
        self._limit = min(float(self._most), self._limit + 1.0 / self._limit)

    def _note_failure(self, failure: TransientError, halvings: int) -> None:
        if not self._failed_in_row:
            self._failing_since = self._clock()
        self._failed_in_row += 1
        self._reached = self._reached or failure.cause != "unreachable"
        if failure.cause == "overloaded":
            if halvings == self._halvings:
                self._halvings += 1
                self._limit = max(1.0, self._limit / 2)
            if failure.retry_after_s is not None:
                pause_s = min(failure.retry_after_s, self._patience.longest_retry_after_s)
                self._paused_until = max(self._paused_until, self._clock() + pause_s)
        self._stop_if_gone(failure)

    def _stop_if_gone(self, failure: TransientError) -> None:
        patience = self._patience
        failing_s = self._clock() - self._failing_since
        bound_s = patience.silent_s if self._reached else patience.gone_s if self._answered else patience.never_s
        if self._failed_in_row >= patience.gone_calls and failing_s >= bound_s:
            gone = "answers with errors alone" if self._reached else "cannot be reached"
            raise ModelError(
                f"{self._server} {gone}: {self._failed_in_row} calls in a row failed over {failing_s:.0f} s, the last "
                f"with: {failure}; every answer so far is kept: see to the server, then start the same command again"
            )

    async def enter(self) -> None:
        """Wait until one more call may be in flight."""
        if self._in_flight >= self.allowed:
            self._waiting += 1
            try:
                async with self._free:
                    await self._free.wait_for(lambda: self._in_flight < self.allowed)
            finally:
                self._waiting -= 1
        self._in_flight += 1
        try:
            while (left_s := self._paused_until - self._clock()) > 0:
                await self._sleep(left_s)
        except BaseException:
            await self.leave()
            raise

    async def leave(self) -> None:
        """A call has come back."""
        self._in_flight -= 1
        if self._waiting:
            async with self._free:
                # An answer may have made room for one more than itself.
                self._free.notify(max(0, self.allowed - self._in_flight))


class _Slot:
    """A place among the calls in flight, held while one is."""

    __slots__ = ("_traffic",)

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic

    async def __aenter__(self) -> None:
        await self._traffic.enter()

    async def __aexit__(self, *error: object) -> None:
        await self._traffic.leave()

"""Asking a model test questions, and keeping account of what that takes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import replace

from leadline.items import Draft, Fit, ItemKey, Piece, Plan, TrialKey
from leadline.models.base import Backend
from leadline.prompt import assemble, request_for
from leadline.requests import PermanentError, Request, Response
from leadline.run.examination.findings import Spent
from leadline.run.examination.probes import ANSWER_TOKENS, LINES, Probe, words_of
from leadline.run.patience import Patience, Traffic
from leadline.sampler import Sampler

PATIENCE = Patience(attempts=3, longest_wait_s=10.0, longest_retry_after_s=60.0, gone_s=20.0, silent_s=300.0)
"""Whoever waits at a terminal is told sooner that a server fails than a run of hours would stop."""

SCALED_CYCLES = 4


class UnansweredError(Exception):
    """A question got no answer.

    Attributes:
        limit_tokens: the longest request that the server says it accepts, where it says so.
    """

    def __init__(self, message: str, limit_tokens: int | None = None) -> None:
        super().__init__(message)
        self.limit_tokens = limit_tokens


class Asker:
    """Makes questions in a run's own frame and asks them."""

    def __init__(self, backend: Backend, sampler: Sampler, reasoning_tokens: int = 0) -> None:
        """Ask one backend.

        Args:
            backend: who answers.
            sampler: its frame and its counter.
            reasoning_tokens: tokens that an answer may take for reasoning, besides its own.
        """
        self.backend = backend
        self.frame = sampler.frame
        self.counter = sampler.counter
        self.reasoning_tokens = reasoning_tokens
        abilities = backend.abilities()
        self._traffic = Traffic(abilities.max_concurrency, PATIENCE, server=backend.facts().name)
        self._calls = self._prompt_tokens = self._output_tokens = 0
        self._began = time.perf_counter()
        self._lines = [int(self.counter.counter.text(line)) for line in LINES]
        bare = self.probe(0)
        self._bare_tokens = self.count(bare)
        # A calibrated counter counts whole requests in other tokens than their parts.
        filled = self.count(replace(bare, lines=LINES * SCALED_CYCLES)) - self._bare_tokens
        self._scale = filled / (SCALED_CYCLES * sum(self._lines))

    @property
    def spent(self) -> Spent:
        """What has been asked so far."""
        return Spent(self._calls, self._prompt_tokens, self._output_tokens, time.perf_counter() - self._began)

    def probe(self, prompt_tokens: int) -> Probe:
        """A text with two markers and a question about them; no two of them begin alike.

        Args:
            prompt_tokens: what the whole request may take by our own count, which it falls short of by less than a
                line; the smallest probe has no lines at all.
        """
        lines: list[str] = []
        if prompt_tokens:
            cycle = sum(self._lines)
            left = int(max(0, prompt_tokens - self._bare_tokens) / self._scale)
            lines += list(LINES) * (left // cycle)
            left %= cycle
            for line, tokens in zip(LINES, self._lines, strict=True):
                if tokens > left:
                    break
                lines.append(line)
                left -= tokens
        # Not drawn from a seed: a server must not know this text from an earlier examination.
        numbers = (str(secrets.randbelow(9 * 10**8) + 10**8), str(secrets.randbelow(9 * 10**8) + 10**8))
        probe = Probe(words_of(numbers[0]), numbers, tuple(lines))
        while probe.lines and self.count(probe) > prompt_tokens:  # one title may take more tokens than another
            probe = replace(probe, lines=probe.lines[:-1])
        return probe

    def count(self, probe: Probe) -> int:
        """Tokens of the whole request by our own count, answer prefix included."""
        return self.counter.whole(probe.message, probe.answer_prefix, (), None)

    async def ask_probe(self, probe: Probe, answer_tokens: int = ANSWER_TOKENS) -> Response:
        """The answer to a probe.

        Raises:
            UnansweredError: there was none.
        """
        answers = [(number,) for number in probe.numbers]
        return await self.ask(self.request(probe.message, probe.answer_prefix, answer_tokens, answers))

    def request(
        self, message: str, answer_prefix: str, answer_tokens: int, answers: Sequence[tuple[str, ...]] = ()
    ) -> Request:
        """A request in the run's frame, with a sample for the readers."""
        key = TrialKey(ItemKey("doctor", 1, "{}", 0, 0), 0)
        plan = Plan(key.item, {}, tuple(answers))
        fit = Fit(0, self.counter.whole(message, answer_prefix, (), None))
        sample = assemble(Draft((Piece(message),), answer_prefix), key, plan, fit, self.frame, answer_tokens)
        return replace(request_for(sample, self.frame), reasoning_tokens=self.reasoning_tokens)

    async def ask(self, request: Request) -> Response:
        """The answer to a request.

        Raises:
            UnansweredError: there was none.
            ModelError: no request can have one.
        """
        calls = 0

        async def call() -> Response:
            nonlocal calls
            calls += 1
            return await self.backend.answer(request)

        try:
            response = await self._traffic.send(call)
        except PermanentError as error:
            raise UnansweredError(str(error), error.limit_tokens) from None
        finally:
            self._calls += calls
        if response.error is not None:
            raise UnansweredError(response.error_message or response.error)
        sample = request.sample
        ours = 0 if sample is None else sample.fit.prompt_tokens
        self._prompt_tokens += ours if response.prompt_tokens is None else response.prompt_tokens
        self._output_tokens += self.output_tokens(response)
        return response

    def output_tokens(self, response: Response) -> int:
        """Tokens of an answer: as it was told, or by our own count."""
        if response.output_tokens is not None:
            return response.output_tokens
        return self.counter.counter.whole(response.text or "")

"""The local engine: lanes of requests in one process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leadline.errors import LeadlineError
from leadline.items import TrialKey
from leadline.models.base import Backend
from leadline.prompt import request_for
from leadline.records import Outcome, Record
from leadline.requests import PermanentError, Request, Response, TransientError
from leadline.run.schedule import Cell, Round, Trial, lanes
from leadline.run.store import RecordWriter
from leadline.sampler import Sampler
from leadline.scoring.failures import failure_kind
from leadline.scoring.outcomes import judge

ATTEMPTS = 3
FIRST_WAIT_S = 1.0


@dataclass(frozen=True, slots=True)
class Engine:
    """Asks the trials of a round with a bounded number of requests in flight.

    Attributes:
        closed: cells of which nothing more is asked; a length that the model refuses is added.
        on_record: told of every record once it is on disk.
    """

    backend: Backend
    sampler: Sampler
    writer: RecordWriter
    concurrency: int
    closed: set[Cell]
    on_record: Callable[[Record], None]

    async def run(self, made: Round) -> None:
        """Ask everything of a round; returns when each trial's record is on disk.

        Raises:
            LeadlineError: the first error that stops the run; the other lanes are cancelled.
        """
        for key in made.unfit:
            await self._keep(_unasked(key, "does_not_fit", "its smallest sample is longer than this length"))
        for key in made.beyond:
            await self._keep(_unasked(key, "over_length", "the length is beyond the model's context"))
        try:
            async with asyncio.TaskGroup() as group:
                for lane in lanes(made.trials, self.concurrency):
                    group.create_task(self._ask_lane(lane))
        except* LeadlineError as errors:
            raise errors.exceptions[0] from errors

    async def _ask_lane(self, lane: Sequence[Trial]) -> None:
        for trial in lane:
            if (trial.task.name, trial.key.length) not in self.closed:
                await self._ask(trial)

    async def _ask(self, trial: Trial) -> None:
        plan = self.sampler.plan(trial.task, trial.key.item.index)
        sample = self.sampler.sample(trial.task, plan, trial.fit, trial.key.length)
        request = request_for(sample, self.sampler.frame)
        response = await self._answer(request)
        outcome, notes = judge(
            response,
            expected_prompt_tokens=sample.fit.prompt_tokens,
            exact_tokenizer=self.sampler.counter.counter.tokenizer.exact,
            prompt_text=sample.text,
            budget_tokens=request.max_tokens,
            answers=sample.plan.answers,
        )
        if outcome == "over_length":
            self.closed.add((trial.task.name, trial.key.length))
        supply = self.sampler.notes(trial.task, plan, trial.fit, trial.key.length)
        await self._keep(
            Record.of(sample, response, outcome, failure_kind(sample, response.text, outcome), (*notes, *supply))
        )

    async def _answer(self, request: Request) -> Response:
        """The response, or the error as a response, after a few attempts where it may pass."""
        wait_s = FIRST_WAIT_S
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self.backend.answer(request)
            except PermanentError as error:
                return Response(None, "unknown", error=error.kind, error_message=str(error))
            except TransientError as error:
                if attempt == ATTEMPTS:
                    return Response(None, "unknown", error="failed", error_message=str(error))
                await asyncio.sleep(error.retry_after_s or wait_s)
                wait_s *= 2
        raise AssertionError("the last attempt returns")

    async def _keep(self, record: Record) -> None:
        await self.writer.append(record)
        self.on_record(record)


def _unasked(key: TrialKey, outcome: Outcome, note: str) -> Record:
    """The record of a trial that was not asked."""
    return Record(key, None, None, None, None, {}, (), {}, None, outcome, notes=(note,))

"""The local engine: lanes of requests in one process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from leadline.errors import LeadlineError
from leadline.items import Sample, TrialKey
from leadline.models.base import Backend
from leadline.prompt import request_for
from leadline.records import Outcome, Record
from leadline.requests import PermanentError, Request, Response
from leadline.run.closing import Cells
from leadline.run.patience import Traffic
from leadline.run.schedule import Round, Trial, lanes
from leadline.run.store import RecordWriter
from leadline.sampler import Sampler
from leadline.scoring.failures import failure_kind
from leadline.scoring.matching import THINK, ReasoningMarkers
from leadline.scoring.outcomes import DOUBLED_BOS, Judgement, judge, reasoning_apart


def _say_nothing(message: str) -> None:
    """Where nobody listens."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Asks the trials of a round with a bounded number of requests in flight.

    Attributes:
        traffic: sends the calls and tries again.
        cells: which are still asked; a length that the model refuses is closed.
        on_record: told of every record once it is on disk; called by the loop, so that it must not raise.
        say: told what the user should know, each thing once.
        reasoning_tokens: tokens for reasoning, beside those of the answer.
        reasoning_markers: what stands around reasoning inside an answer.
    """

    backend: Backend
    sampler: Sampler
    writer: RecordWriter
    traffic: Traffic
    concurrency: int
    cells: Cells
    on_record: Callable[[Record], None]
    say: Callable[[str], None] = _say_nothing
    reasoning_tokens: int = 0
    reasoning_markers: ReasoningMarkers = THINK
    _said: set[str] = field(default_factory=set[str])

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
        """Ask one trial after the other; the next is asked while the last one's record is on its way to the disk."""
        kept: asyncio.Future[None] | None = None
        for trial in lane:
            if not self.cells.is_open(trial):
                continue
            record, refusal = await self._ask(trial)
            # From here on the line is written, whatever becomes of this lane.
            durable = self._put(record)
            if kept is not None:
                await kept
            kept = durable
            if record.outcome == "over_length":
                await kept
                await self._close_longer(trial, record, None if refusal is None else refusal.limit_tokens)
            elif record.outcome == "truncated_prompt":
                self._warn_of_unread(trial, record.notes)
            elif record.outcome != "failed":
                self.cells.note_read(trial)
        if kept is not None:
            await kept

    async def _ask(self, trial: Trial) -> tuple[Record, PermanentError | None]:
        """The record of a trial, and the error with which the model refused it."""
        plan = self.sampler.plan_of(trial.task, trial.key.item)
        sample = self.sampler.sample(trial.task, plan, trial.fit, trial.key.length, trial.key.wording)
        request = request_for(sample, self.sampler.frame, self.reasoning_tokens)
        refusal: PermanentError | None = None
        try:
            response = await self.traffic.send(lambda: self.backend.answer(request))
        except PermanentError as error:
            refusal = error
            response = Response(None, "unknown", error=error.kind, error_message=str(error))
        outcome, notes = self._judge(response, request, sample)
        for note in notes:
            if note.startswith(DOUBLED_BOS):
                self._say_once(note)
        response = reasoning_apart(response, self.reasoning_markers)
        supply = self.sampler.notes(trial.task, plan, trial.fit, trial.key.length)
        kind = failure_kind(sample, response.text, outcome)
        return Record.of(sample, response, outcome, kind, (*notes, *supply)), refusal

    def _judge(self, response: Response, request: Request, sample: Sample) -> Judgement:
        return judge(
            response,
            expected_prompt_tokens=sample.fit.prompt_tokens,
            exact_tokenizer=self.sampler.counter.counter.tokenizer.exact,
            prompt_text=sample.text,
            budget_tokens=request.max_tokens,
            reasoning_tokens=request.reasoning_tokens,
            answers=sample.plan.answers,
            reasoning_markers=self.reasoning_markers,
        )

    async def _close_longer(self, trial: Trial, record: Record, limit_tokens: int | None) -> None:
        """Close what is longer too, and record that it was not asked."""
        message = (record.response.error_message if record.response else None) or "too long"
        known = not self.cells.is_open(trial)
        refused = self.cells.refuse(trial, message, limit_tokens, self.sampler.seed)
        length = trial.key.length
        if refused:
            shortest = min(length, *(key.length for key in refused))
            self._say_once(
                f"the server refuses {length} tokens ({message}): what is as long, from {shortest} tokens on, is asked "
                "no more and scores 0"
            )
        elif not known:
            self._say_once(f"the server refuses {trial.task.name} at {length} tokens ({message}): it is asked no more")
        for key in refused:
            await self._keep(_unasked(key, "over_length", f"not asked: the server refused {length} tokens"))

    def _warn_of_unread(self, trial: Trial, notes: Sequence[str]) -> None:
        if self.cells.note_unread(trial):
            self._say_once(
                f"prompts of {trial.key.length} tokens do not arrive whole ({notes[0]}): "
                f"{trial.task.name} at this length is left for a next run, and nothing of it is scored"
            )

    def _say_once(self, message: str) -> None:
        if message not in self._said:
            self._said.add(message)
            self.say(message)

    async def _keep(self, record: Record) -> None:
        await self._put(record)

    def _put(self, record: Record) -> asyncio.Future[None]:
        """Hand the record over; it is told of as soon as it is on the disk, before who waits for the future goes on."""

        def tell(durable: asyncio.Future[None]) -> None:
            if not durable.cancelled() and durable.exception() is None:
                self.on_record(record)

        durable = self.writer.put(record)
        durable.add_done_callback(tell)
        return durable


def _unasked(key: TrialKey, outcome: Outcome, note: str) -> Record:
    """The record of a trial that was not asked."""
    return Record(key, None, None, None, None, {}, (), {}, None, outcome, notes=(note,))

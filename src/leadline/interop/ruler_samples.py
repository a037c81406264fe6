"""The samples of a run made again from its records, for files that hold whole prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from leadline.data.sources import Sources
from leadline.errors import LeadlineError
from leadline.items import TrialKey
from leadline.prompt import NAMED, Frame, assemble
from leadline.records import Record
from leadline.spec import RunSpec
from leadline.tasks.base import Task, item_key
from leadline.tasks.registry import make_task

BARE = Frame("base", "completion", "", "")
"""What stands around a message whose template is not known: nothing."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model was asked, in two parts that follow one another."""

    text: str
    answer_prefix: str


@dataclass(slots=True)
class Remaker:
    """Makes the samples of one run again.

    Attributes:
        reasons: why the samples of a task cannot be made, by task.
        without_template: prompts that were made without the model's chat template, which the manifest lacks.
    """

    manifest: Mapping[str, Any]
    spec: RunSpec
    sources: Sources
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    without_template: int = 0

    @property
    def imported(self) -> bool:
        """The run was made of other tools' files, so that its samples are not ours."""
        return "imported" in self.manifest

    def task(self, key: TrialKey) -> Task | None:
        """The task of a trial as it was asked, or None where this leadline has another version of it."""
        task = self._asked(key)
        if self.imported or item_key(task, key.item.seed, key.item.index) != key.item:
            self.reasons.setdefault(
                key.item.task,
                "its samples are of other files" if self.imported else "it has changed since it was asked",
            )
            return None
        return task

    def output_tokens(self, key: TrialKey) -> int:
        """Tokens that the answer of a trial could take."""
        return self._asked(key).params.output_tokens

    def answers(self, key: TrialKey) -> tuple[tuple[str, ...], ...] | None:
        """The answers of an item that was never sent, or None where it cannot be planned."""
        task = self.task(key)
        if task is None:
            return None
        try:
            return task.plan(key.item, self.sources).answers
        except LeadlineError as error:
            self.reasons.setdefault(key.item.task, str(error))
            return None

    def prompt(self, record: Record) -> Prompt | None:
        """The prompt of a record, or None where it cannot be made as it was."""
        if record.fit is None or record.item_hash is None or (task := self.task(record.key)) is None:
            return None
        frame = self._frame()
        try:
            plan = task.plan(record.key.item, self.sources)
            draft = task.draft(plan, record.fit, self.sources)
        except LeadlineError as error:
            self.reasons.setdefault(record.key.item.task, str(error))
            return None
        sample = assemble(draft, record.key, plan, record.fit, frame, task.params.output_tokens)
        if sample.item_hash != record.item_hash:
            self.reasons.setdefault(record.key.item.task, "its text or its data have changed since it was asked")
            return None
        if sample.prompt_hash != record.prompt_hash:
            self.without_template += 1
            frame = BARE
        return Prompt(
            text=f"{frame.opening(sample.turns, sample.system)}{sample.text}{frame.middle}",
            answer_prefix=sample.answer_prefix + frame.after,
        )

    def _asked(self, key: TrialKey) -> Task:
        """The task with the parameters that the run's spec gives it."""
        return make_task(key.item.task, self.spec.changes(key.item.task)).at_length(key.length)

    def _frame(self) -> Frame:
        """The run's frame, as far as its manifest has it."""
        told: Mapping[str, Any] | None = self.manifest.get("frame")
        if told is None:
            return BARE
        named = NAMED.get(told["name"])
        return Frame(
            name=told["name"],
            mode=told["mode"],
            before=told["before"],
            middle=told["middle"],
            after=told.get("after", ""),
            turn_middle=told.get("turn_middle", told["middle"]),
            turn_end=told.get("turn_end", named[2] if named is not None else "\n\n"),
        )

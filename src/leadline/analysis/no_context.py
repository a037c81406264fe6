"""What a model answers to questions on documents without any document: how much of its score it knew before.

A question on Wikipedia that is answered right may have been answered from memory. And a wrong answer that is the same
with the documents as without them was not found in the text either: the model said what it believed.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from leadline.analysis.design import Design
from leadline.analysis.intervals import wilson
from leadline.items import NO_CONTEXT
from leadline.records import Record
from leadline.scoring.matching import clean, normalised
from leadline.scoring.trials import Scored

CATEGORY = "qa"
"""Of the tasks that are asked so."""


@dataclass(frozen=True, slots=True)
class NoContext:
    """One task's questions without documents.

    Attributes:
        right, n: answers that are right without documents, of so many.
        low, high: 95 % interval of the share that is right, in per cent.
        wrong: wrong answers with documents, over all lengths, to the questions that were asked without them too.
        same: those of them that equal the answer without documents, but for case, articles and punctuation.
    """

    task: str
    right: int
    n: int
    low: float
    high: float
    wrong: int
    same: int

    @property
    def score(self) -> float:
        """In per cent."""
        return 100 * self.right / self.n

    def as_dict(self) -> dict[str, Any]:
        """The baseline as it stands in the summary."""
        return {
            "task": self.task,
            "right": self.right,
            "n": self.n,
            "score": self.score,
            "low": self.low,
            "high": self.high,
            "wrong_with_context": self.wrong,
            "same_as_without": self.same,
        }


class NoContextCount:
    """Takes records one by one, oldest first, and keeps the words of a few: the newest of a key counts."""

    def __init__(self, design: Design) -> None:
        self._tasks = [task.name for task in design.tasks if task.category == CATEGORY]
        self._alone: dict[str, dict[Hashable, tuple[bool, str]]] = {task: {} for task in self._tasks}
        self._wrong: dict[str, dict[tuple[Hashable, int], str]] = {task: {} for task in self._tasks}

    def add(self, record: Record, scored: Scored | None) -> None:
        """Count one more record, with its scores."""
        key, item = record.key, record.key.item
        if item.task not in self._alone or (key.is_control and key.wording != NO_CONTEXT):
            return
        of_item = (item.seed, item.index)
        if key.wording == NO_CONTEXT:
            self._alone[item.task].pop(of_item, None)
            if scored is not None:
                self._alone[item.task][of_item] = (scored.recall == 1, _said(record))
            return
        self._wrong[item.task].pop((of_item, key.length), None)
        if scored is not None and scored.recall < 1 and record.outcome == "answered":
            self._wrong[item.task][of_item, key.length] = sys.intern(_said(record))

    def result(self) -> tuple[NoContext, ...]:
        """The baseline of each task that was asked so."""
        return tuple(self._baseline(task) for task in self._tasks if self._alone[task])

    def _baseline(self, task: str) -> NoContext:
        alone = self._alone[task]
        right = sum(found for found, _ in alone.values())
        low, high = wilson(right, len(alone))
        both = [(said, alone[item][1]) for (item, _), said in self._wrong[task].items() if item in alone]
        same = sum(bool(with_documents) and with_documents == without for with_documents, without in both)
        return NoContext(task, right, len(alone), 100 * low, 100 * high, len(both), same)


def _said(record: Record) -> str:
    """An answer as it is compared; empty where there is none."""
    text = None if record.response is None else record.response.text
    return normalised(clean(text)) if text else ""

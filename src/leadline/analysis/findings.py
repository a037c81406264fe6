"""What a run shows beside its scores: where the model fails, and how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from leadline.analysis.design import Design
from leadline.analysis.failures import Excerpt, FailureCount, Failures
from leadline.analysis.positions import PositionCount, Positions
from leadline.analysis.spending import Spending, SpendingCount
from leadline.records import Record
from leadline.scoring.trials import score


@dataclass(frozen=True, slots=True)
class Findings:
    """Positions and failure kinds of a run, and what it took.

    Attributes:
        positions: score by position, and recall against the strict score.
        failures: rates of the failure kinds.
        spending: requests, tokens and time of each length, then of all; empty where nothing was asked.
    """

    positions: Positions
    failures: Failures
    spending: tuple[Spending, ...] = ()

    @property
    def excerpts(self) -> Mapping[str, tuple[Excerpt, ...]]:
        """Up to three answers of each failure kind."""
        return self.failures.excerpts

    def as_dict(self) -> dict[str, Any]:
        """The findings as they may be written: aggregates alone, no answers."""
        return {
            "positions": self.positions.as_dict(),
            "failures": self.failures.as_dict(),
            "spending": [one.as_dict() for one in self.spending],
        }


def findings(records: Iterable[Record], design: Design) -> Findings:
    """The findings of these records, oldest first, in one pass: the newest record of a key counts.

    Records of tasks or lengths outside the design are left out, and so are answers that a stop rule does not count; but
    for what they took.
    """
    tasks, lengths = {task.name for task in design.tasks}, frozenset(design.lengths)
    places, kinds, spent = PositionCount(design), FailureCount(), SpendingCount()
    for record in records:
        spent.add(record)
        item, length = record.key.item, record.key.length
        late = design.stopped is not None and not design.stopped.counts(item.task, length, item.index)
        if item.task in tasks and length in lengths and not late:
            scored = score(record)
            places.add(record, scored)
            kinds.add(record, scored)
    return Findings(places.result(), kinds.result(), spent.result())

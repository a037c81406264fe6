"""How a model fails: rates of the failure kinds by task and length, from records alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from leadline.analysis.intervals import CONFIDENCE, wilson
from leadline.items import TrialKey
from leadline.records import Record
from leadline.scoring.failures import JUDGED, KINDS
from leadline.scoring.trials import score

EXCERPTS = 3
"""Answers shown of a kind."""

EXCERPT_CHARACTERS = 200
"""Characters shown of an answer."""


@dataclass(frozen=True, slots=True)
class FailureRate:
    """How often one kind occurs among the wrong answers of a cell.

    Attributes:
        kind: the failure kind.
        count: wrong answers of this kind.
        of_wrong: wrong answers of the cell whose kind is known.
        rate, low, high: share of `count` in `of_wrong` with Wilson's interval, all in per cent. They generalise to
            further wrong answers of the same task at the same length.
    """

    task: str
    length: int
    kind: str
    count: int
    of_wrong: int
    rate: float
    low: float
    high: float

    def as_dict(self) -> dict[str, Any]:
        """The row as it may be written."""
        return {
            "task": self.task,
            "length": self.length,
            "kind": self.kind,
            "count": self.count,
            "of_wrong": self.of_wrong,
            "rate": self.rate,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An answer of a kind, in the model's own words: escape it before it goes into a page."""

    task: str
    length: int
    index: int
    wanted: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Failures:
    """Failure kinds of a run.

    Attributes:
        rates: by task, length and kind, kinds that did not occur left out; tasks in the order in which they came.
        excerpts: up to three answers of each kind, from different tasks first.
        unjudged: wrong answers without a kind, such as those of records from before kinds were judged.
    """

    rates: tuple[FailureRate, ...]
    excerpts: Mapping[str, tuple[Excerpt, ...]] = field(default_factory=dict[str, tuple[Excerpt, ...]])
    unjudged: int = 0


def failure_rates(records: Iterable[Record], confidence: float = CONFIDENCE) -> Failures:
    """Rates of the failure kinds among the wrong answers of each task and length.

    Wrong is a valid answer whose recall is less than 1; refusals, filters, loops and echoes are outcomes and are not
    counted here. The newest record of a key counts.
    """
    newest: dict[TrialKey, Record] = {}
    for record in records:
        newest[record.key] = record
    cells: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    examples: dict[str, list[Record]] = defaultdict(list)
    order: dict[str, int] = {}
    unjudged = 0
    for record in newest.values():
        task = record.key.item.task
        order.setdefault(task, len(order))
        if record.outcome not in JUDGED or (scored := score(record)) is None or scored.recall == 1:
            continue
        if record.failure is None:
            unjudged += 1
            continue
        cells[task, record.key.length][record.failure] += 1
        examples[record.failure].append(record)
    rates = [
        _rate(cell, kind, counts, confidence)
        for cell, counts in sorted(cells.items(), key=lambda entry: (order[entry[0][0]], entry[0][1]))
        for kind in sorted(counts, key=_place)
    ]
    shown = {kind: _excerpts(examples[kind]) for kind in sorted(examples, key=_place)}
    return Failures(tuple(rates), shown, unjudged)


def _place(kind: str) -> tuple[int, str]:
    """Known kinds in their order, then those of other versions by name."""
    known: tuple[str, ...] = KINDS
    return (known.index(kind) if kind in known else len(known)), kind


def _rate(cell: tuple[str, int], kind: str, counts: Counter[str], confidence: float) -> FailureRate:
    task, length = cell
    wrong = counts.total()
    low, high = wilson(counts[kind], wrong, confidence)
    return FailureRate(task, length, kind, counts[kind], wrong, 100 * counts[kind] / wrong, 100 * low, 100 * high)


def _excerpts(records: list[Record]) -> tuple[Excerpt, ...]:
    """Answers of a kind: by length and index, each task once before any comes again."""
    records = sorted(records, key=lambda record: (record.key.length, record.key.item.index, record.key.item.task))
    seen: Counter[str] = Counter()
    turns: list[int] = []
    for record in records:
        turns.append(seen[record.key.item.task])
        seen[record.key.item.task] += 1
    ranked = sorted(range(len(records)), key=lambda place: (turns[place], place))
    return tuple(_excerpt(records[place]) for place in ranked[:EXCERPTS])


def _excerpt(record: Record) -> Excerpt:
    text = "" if record.response is None else (record.response.text or "").strip()
    if len(text) > EXCERPT_CHARACTERS:
        text = text[: EXCERPT_CHARACTERS - 1] + "…"
    wanted = tuple(forms[0] for forms in record.answers)
    return Excerpt(record.key.item.task, record.key.length, record.key.item.index, wanted, text)

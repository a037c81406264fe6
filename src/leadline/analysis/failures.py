"""How a model fails: rates of the failure kinds by task and length, from records alone."""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from leadline.analysis.intervals import CONFIDENCE, wilson
from leadline.records import Record
from leadline.scoring.failures import JUDGED, KINDS
from leadline.scoring.trials import Scored, score
from leadline.visible import code_point, is_hidden

EXCERPTS = 3
"""Answers shown of a kind."""

EXCERPT_CHARACTERS = 200
"""Characters shown of an answer."""

_MOST_MARKS = 2


@dataclass(frozen=True, slots=True)
class FailureRate:
    """How often one kind occurs among the wrong answers of a cell.

    Attributes:
        task: or None for all tasks of a length.
        kind: the failure kind.
        count: wrong answers of this kind.
        of_wrong: wrong answers of the cell whose kind is known.
        rate, low, high: share of `count` in `of_wrong` with Wilson's interval, all in per cent. They generalise to
            further wrong answers of the same tasks at the same length.
    """

    task: str | None
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
    """An answer of a kind, in the model's own words: escape it before it goes into a page.

    Attributes:
        wanted: the first accepted form of each target.
        text: the beginning of the answer; both as `shown` leaves them.
    """

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
        by_length: the rates over all tasks of a length.
    """

    rates: tuple[FailureRate, ...]
    excerpts: Mapping[str, tuple[Excerpt, ...]] = field(default_factory=dict[str, tuple[Excerpt, ...]])
    unjudged: int = 0
    by_length: tuple[FailureRate, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The rates as they may be written: aggregates alone, no answers."""
        return {
            "rates": [rate.as_dict() for rate in self.rates],
            "by_length": [rate.as_dict() for rate in self.by_length],
            "unjudged": self.unjudged,
        }


class FailureCount:
    """Takes records one by one, oldest first, and keeps little of each: the newest of a key counts."""

    def __init__(self) -> None:
        self._wrong: dict[tuple[Any, ...], _Wrong | None] = {}
        self._order: dict[str, int] = {}

    def add(self, record: Record, scored: Scored | None) -> None:
        """Count one more record, with its scores; controls are left out."""
        key, item = record.key, record.key.item
        if key.is_control:
            return
        self._order.setdefault(item.task, len(self._order))
        name = (
            sys.intern(item.task),
            key.length,
            item.index,
            item.seed,
            item.version,
            sys.intern(item.params),
            key.wording,
        )
        wrong = record.outcome in JUDGED and scored is not None and scored.recall != 1
        kept = _Wrong(record.failure, _excerpt(record)) if wrong and record.failure is not None else _UNJUDGED
        self._wrong[name] = kept if wrong else None

    def result(self, confidence: float = CONFIDENCE) -> Failures:
        """The rates of all that was added."""
        cells: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
        lengths: dict[int, Counter[str]] = defaultdict(Counter)
        examples: dict[str, list[Excerpt]] = defaultdict(list)
        unjudged = 0
        for wrong in self._wrong.values():
            if wrong is None:
                continue
            if wrong.kind is None or wrong.excerpt is None:
                unjudged += 1
                continue
            excerpt = wrong.excerpt
            cells[excerpt.task, excerpt.length][wrong.kind] += 1
            lengths[excerpt.length][wrong.kind] += 1
            examples[wrong.kind].append(excerpt)
        return Failures(
            rates=tuple(
                _rate(task, length, kind, counts, confidence)
                for (task, length), counts in sorted(cells.items(), key=self._cell_place)
                for kind in sorted(counts, key=_place)
            ),
            excerpts={kind: _few(examples[kind]) for kind in sorted(examples, key=_place)},
            unjudged=unjudged,
            by_length=tuple(
                _rate(None, length, kind, counts, confidence)
                for length, counts in sorted(lengths.items())
                for kind in sorted(counts, key=_place)
            ),
        )

    def _cell_place(self, cell: tuple[tuple[str, int], Counter[str]]) -> tuple[int, int]:
        (task, length), _ = cell
        return self._order[task], length


class _Wrong(NamedTuple):
    """What is kept of a wrong answer; None and None where its kind is not known."""

    kind: str | None
    excerpt: Excerpt | None


_UNJUDGED = _Wrong(None, None)


def failure_rates(records: Iterable[Record], confidence: float = CONFIDENCE) -> Failures:
    """Rates of the failure kinds among the wrong answers of each task and length.

    Wrong is a valid answer whose recall is less than 1; refusals, filters, loops and echoes are outcomes and are not
    counted here. The newest record of a key counts.
    """
    count = FailureCount()
    for record in records:
        count.add(record, score(record))
    return count.result(confidence)


def _place(kind: str) -> tuple[int, str]:
    """Known kinds in their order, then those of other versions by name."""
    known: tuple[str, ...] = KINDS
    return (known.index(kind) if kind in known else len(known)), kind


def _rate(task: str | None, length: int, kind: str, counts: Counter[str], confidence: float) -> FailureRate:
    wrong = counts.total()
    low, high = wilson(counts[kind], wrong, confidence)
    return FailureRate(task, length, kind, counts[kind], wrong, 100 * counts[kind] / wrong, 100 * low, 100 * high)


def _few(excerpts: list[Excerpt]) -> tuple[Excerpt, ...]:
    """Answers of a kind: by length and index, each task once before any comes again."""
    excerpts = sorted(excerpts, key=lambda excerpt: (excerpt.length, excerpt.index, excerpt.task))
    seen: Counter[str] = Counter()
    turns: list[int] = []
    for excerpt in excerpts:
        turns.append(seen[excerpt.task])
        seen[excerpt.task] += 1
    ranked = sorted(range(len(excerpts)), key=lambda place: (turns[place], place))
    return tuple(excerpts[place] for place in ranked[:EXCERPTS])


def _excerpt(record: Record) -> Excerpt:
    text = "" if record.response is None else (record.response.text or "").strip()
    wanted = tuple(shown(forms[0]) for forms in record.answers if forms)
    return Excerpt(record.key.item.task, record.key.length, record.key.item.index, wanted, shown(text))


def shown(text: str, characters: int = EXCERPT_CHARACTERS) -> str:
    """The beginning of a text that others wrote, fit to be shown.

    Line ends and tabs become spaces. What has no picture of its own and could turn the text round it about or hide in
    it (control, bidirectional, zero-width and unassigned characters, halves of surrogate pairs) is named by its code
    point; what would stack on the letter before, without end, stops after two. See Unicode Technical Report 36,
    "Unicode security considerations", section 2.
    """
    plain = " ".join(text[: 4 * characters].split())
    if plain.isascii() and plain.isprintable() and len(plain) <= characters and len(text) <= 4 * characters:
        return plain  # as nearly all are
    parts: list[str] = []
    length, marks = 0, 0
    for character in plain:
        category = unicodedata.category(character)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if marks > _MOST_MARKS:
            continue
        part = code_point(character) if is_hidden(character) else character
        parts.append(part)
        length += len(part)
        if length > characters:
            break
    if length <= characters and len(text) <= 4 * characters:
        return "".join(parts)
    while length > characters - 1 and parts:
        length -= len(parts.pop())
    return "".join(parts) + "…"

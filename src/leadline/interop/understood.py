"""A prompt that was read out of a file: its text, marked as a sample's is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from leadline.items import Factor, Span, SpanKind


@dataclass(frozen=True, slots=True)
class Understood:
    """What a prompt holds.

    Attributes:
        text: the task's own text, without any chat template.
        spans: in characters of `text`.
        factors, facts: as in a plan.
    """

    text: str
    spans: tuple[Span, ...]
    factors: Mapping[str, Factor]
    facts: Mapping[str, Any]


class Mark(NamedTuple):
    """Characters start to end (exclusive) of a whole file's text."""

    kind: SpanKind
    start: int
    end: int

    def span(self, first: int) -> Span:
        """The same characters counted from `first` on."""
        return Span(self.kind, self.start - first, self.end - first)


def spans_of(marks: Sequence[Mark], first: int, begin: int, end: int, last: int) -> tuple[Span, ...]:
    """Spans of a message: the marks, the haystack between them, and the question behind it.

    Args:
        marks: what is planted, in order.
        first: where the message begins.
        begin: where its haystack begins.
        end: where the haystack ends and the question begins.
        last: where the question ends.
    """
    spans: list[Span] = []
    done = begin
    for mark in [*marks, Mark("question", end, last)]:
        if mark.start > done:
            spans.append(Mark("haystack", done, mark.start).span(first))
        spans.append(mark.span(first))
        done = mark.end
    return tuple(spans)


def shares(planted: Sequence[tuple[int, int]], begin: int, end: int) -> list[float]:
    """Where planted pieces stand in a haystack from `begin` to `end`: the share of its other characters before each."""
    others = end - begin - sum(last - first for first, last in planted)
    places: list[float] = []
    taken = 0
    for first, last in planted:
        places.append((first - begin - taken) / others if others else 0.0)
        taken += last - first
    return places


def last_match(pattern: re.Pattern[str], text: str, start: int = 0) -> re.Match[str] | None:
    """The last place where a pattern holds, from `start` on."""
    found = None
    for match in pattern.finditer(text, start):
        found = match
    return found

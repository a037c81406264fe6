"""What is asked: items, the plan of an item, the fit to a length, the draft, the sample.

Data flows one way: an item's plan (all its randomness, no size), its fit (a size for a length), its draft (pieces of
text), its sample (messages with marked spans). None of them knows a model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Counts = Literal["request", "haystack", "units"]
SpanKind = Literal["haystack", "needle", "distractor", "gold", "example", "question"]
Factor = str | int | float | bool | None

SHORT_CONTROL = "short-control"
"""Wording of a trial at the suite's shortest length, in a run whose lengths are all greater."""

NO_CONTEXT = "no-context"
"""Wording of a trial that asks its question without any text that could answer it."""

CONTROL_WORDINGS = frozenset({SHORT_CONTROL, NO_CONTEXT})


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(*parts: str) -> str:
    """First 32 hexadecimal digits of the SHA-256 of the parts, lengths included."""
    hasher = hashlib.sha256()
    for part in parts:
        data = part.encode()
        hasher.update(len(data).to_bytes(8, "little"))
        hasher.update(data)
    return hasher.hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class ItemKey:
    """Which item: the same for every length, model and tokenizer.

    `params` are the task's parameters that the item depends on, as canonical JSON.
    """

    task: str
    version: int
    params: str
    seed: int
    index: int


@dataclass(frozen=True, slots=True)
class TrialKey:
    """An item at a length (in tokens, or in units where the suite counts units), under one wording of its template."""

    item: ItemKey
    length: int
    wording: str = "default"

    @property
    def is_control(self) -> bool:
        """Whether it is asked beside the run's own trials, and so belongs to none of the run's cells."""
        return self.wording in CONTROL_WORDINGS

    def as_dict(self) -> dict[str, Any]:
        """The key as it stands in a record."""
        item = self.item
        return {
            "task": item.task,
            "version": item.version,
            "params": json.loads(item.params),
            "seed": item.seed,
            "index": item.index,
            "length": self.length,
            "wording": self.wording,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TrialKey:
        """The key that `as_dict` wrote."""
        item = ItemKey(data["task"], data["version"], canonical_json(data["params"]), data["seed"], data["index"])
        return cls(item, data["length"], data["wording"])


@dataclass(frozen=True, slots=True)
class Prefix:
    """Which beginning an item shares with others.

    Items of one `group` have the same text up to `fraction` (0 to 1) of the haystack; at the same length, two of them
    share the smaller of their fractions. Those of one `inner` group share all of the
    haystack and differ in the question.
    """

    group: str
    fraction: float
    inner: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """All the randomness of an item, and nothing about its size.

    Attributes:
        item: which item it is; further draws of the same item are named after it.
        factors: what the analysis groups by (depth, pair, haystack, hops, place of the gold document).
        answers: a tuple of targets, each a tuple of its accepted forms.
        facts: what is asked and what is planted: distractor values, worked example, other chains.
        prefix: the beginning that it shares with other items, or None.
    """

    item: ItemKey
    factors: Mapping[str, Factor]
    answers: tuple[tuple[str, ...], ...]
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    prefix: Prefix | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """The size found for a length.

    Attributes:
        size: number of units of the haystack (sentences, lines, documents, words; tokens for a window).
        prompt_tokens: tokens of the whole request at that size, BOS and answer prefix included.
        window: first and last character of the book's window, where the haystack is one.
        places: characters of the book before which lines are planted in a window, the needle's first.
        recount: tokens of the window's text counted by itself, which the cuts at its ends make differ from `size` by
            at most two.
    """

    size: int
    prompt_tokens: int
    window: tuple[int, int] | None = None
    places: tuple[int, ...] = ()
    recount: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The fit as it stands in a record."""
        fit: dict[str, Any] = {"size": self.size, "prompt_tokens": self.prompt_tokens, "window": self.window}
        if self.window is not None:
            fit |= {"places": self.places, "recount": self.recount}
        return fit

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Fit:
        """The fit that `as_dict` wrote."""
        window = data["window"]
        if window is None:
            return cls(data["size"], data["prompt_tokens"])
        places = tuple(data.get("places", ()))
        return cls(data["size"], data["prompt_tokens"], (window[0], window[1]), places, data.get("recount"))


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the user's message. `kind` None is the template's own text."""

    text: str
    kind: SpanKind | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A sample as pieces, before any chat template.

    Attributes:
        pieces: the last message, which is the user's, in order.
        answer_prefix: the beginning of the answer, put into the model's mouth.
        system: a system message, or None for the template's own default.
        turns: earlier questions and their answers, oldest first.
    """

    pieces: tuple[Piece, ...]
    answer_prefix: str
    system: str | None = None
    turns: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """Characters start to end (exclusive) of the last message."""

    kind: SpanKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A finished sample.

    `item_hash` identifies what is asked whatever the backend (comparisons pair on it); `prompt_hash` the rendered
    text that is sent, which may differ between backends with and without prefill.
    """

    key: TrialKey
    plan: Plan
    fit: Fit
    messages: tuple[Mapping[str, str], ...]
    answer_prefix: str
    spans: tuple[Span, ...]
    item_hash: str
    prompt_hash: str
    max_tokens: int

    @property
    def system(self) -> str | None:
        """The system message, or None."""
        first = self.messages[0]
        return first["content"] if first["role"] == "system" else None

    @property
    def turns(self) -> tuple[tuple[str, str], ...]:
        """Earlier questions and their answers, oldest first."""
        texts = [message["content"] for message in self.messages[:-1] if message["role"] != "system"]
        return tuple(zip(texts[0::2], texts[1::2], strict=True))

    @property
    def text(self) -> str:
        """The last message, which is the user's; the spans count its characters."""
        return self.messages[-1]["content"]

    def span_texts(self, *kinds: SpanKind) -> list[str]:
        """The texts of the spans of these kinds, in order."""
        return [self.text[span.start : span.end] for span in self.spans if span.kind in kinds]

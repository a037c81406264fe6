"""Readers that are right with a known probability, and two that are wrong in a known way.

What is drawn for an item is named after the item alone: the same at every length, in every order, under every server
setting; another seed of the run draws anew.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.errors import UsageError
from leadline.items import Sample
from leadline.models.failing import COPIED_CHARACTERS, copied_example, not_in_context
from leadline.models.failing import neighbour as line_or_document_beside
from leadline.seeds import Draws, rng_for
from leadline.tokenizers.base import Tokenizer

SLOPE = 2.0
"""Of the logistic in log2(length / half) times log 2: 80 % at half of `half`, 50 % at it, 20 % at twice of it."""

PER_CENT = 100
_PLAIN_WORD = re.compile(r"[A-Za-z]{4,}")


def chance_at(length: float, half: float) -> float:
    """Probability that ``reader/logistic?half=N`` is right at a length: 1 / (1 + (length / half) ^ 2)."""
    return 1 / (1 + (length / half) ** SLOPE)


def chance_in_the_middle(place: float, dip: float) -> float:
    """Probability that ``reader/middle?dip=P`` finds what stands at `place` (0 to 1): 1 - dip sin^2(pi place).

    `dip` is a share: 1 at both ends of the context, 1 - dip half-way.
    """
    return 1 - dip * math.sin(math.pi * place) ** 2


def right_of_hundred(index: int, percent: int) -> bool:
    """Whether item `index` is one of the `percent` that are right of each hundred, spread evenly over them."""
    return (index + 1) * percent // PER_CENT > index * percent // PER_CENT


@dataclass(frozen=True, slots=True)
class Logistic:
    """Right with a probability that falls with the length, in the suite's own measure: tokens, as a rule.

    Each item has a length of its own at which it is lost, and it stays lost beyond. The draw does not know `half`, so
    that a reader with a greater one is right wherever one with a lesser one is.
    """

    half: int

    def __call__(self, sample: Sample, text: str, tokenizer: Tokenizer) -> str:
        """All answers, or as many wrong ones."""
        drawn = float(_draws(sample, "logistic").fractions(1)[0])
        return _said(sample, [drawn < chance_at(sample.key.length, self.half)] * len(sample.plan.answers))


@dataclass(frozen=True, slots=True)
class Middle:
    """Right with a probability that falls by `dip` (a share) half-way through the context, for each target alone.

    A target without a place of its own in the plan stands at the item's depth; without that, it is always found.
    """

    dip: float

    @classmethod
    def of(cls, options: Mapping[str, int]) -> Middle:
        """The reader of ``?dip=P``, in per cent.

        Raises:
            UsageError: a dip of more than 100 per cent.
        """
        return cls(_percent("middle", "dip", options) / PER_CENT)

    def __call__(self, sample: Sample, text: str, tokenizer: Tokenizer) -> str:
        """The answers that it finds, and a wrong one for each other."""
        places = places_of(sample)
        drawn: list[float] = _draws(sample, "middle").fractions(len(places)).tolist()
        found = [
            place is None or one < chance_in_the_middle(place, self.dip)
            for one, place in zip(drawn, places, strict=True)
        ]
        return _said(sample, found)


@dataclass(frozen=True, slots=True)
class Tie:
    """Right on exactly `percent` of every hundred items, the same at every length: a score that is no estimate."""

    percent: int

    @classmethod
    def of(cls, options: Mapping[str, int]) -> Tie:
        """The reader of ``?at=P``, in per cent.

        Raises:
            UsageError: more than 100 per cent.
        """
        return cls(_percent("tie", "at", options))

    def __call__(self, sample: Sample, text: str, tokenizer: Tokenizer) -> str:
        """All answers, or as many wrong ones."""
        return _said(sample, [right_of_hundred(sample.key.item.index, self.percent)] * len(sample.plan.answers))


def copier(sample: Sample, text: str, tokenizer: Tokenizer) -> str:
    """Copies the worked example's answer; without one, the first stretch of the context that holds no answer."""
    example = copied_example(sample)
    if example is not None and not _holds_an_answer(sample, example):
        return example
    for span in sample.spans:
        if span.kind not in {"haystack", "distractor"}:
            continue
        for start in range(span.start, max(span.start + 1, span.end - COPIED_CHARACTERS), COPIED_CHARACTERS):
            stretch = sample.text[start : min(span.end, start + COPIED_CHARACTERS)]
            if stretch.strip() and not _holds_an_answer(sample, stretch):
                return " " + stretch
    return ""


def neighbour(sample: Sample, text: str, tokenizer: Tokenizer) -> str:
    """Gives what stands beside the right thing.

    The line beside in a haystack of needles, a word of the golden document, the value planted nearest to the one that
    was asked for; where nothing of the kind stands in the text, the next word behind the right one.
    """
    said = line_or_document_beside(sample)
    if said is not None and not _holds_an_answer(sample, said):
        return said
    planted = _planted_beside(sample)
    if planted is not None and not _holds_an_answer(sample, planted):
        return f" {planted}"
    word = _word_behind(sample)
    return "" if word is None else f" {word}"


def places_of(sample: Sample) -> list[float | None]:
    """Where each target stands, 0 (the beginning) to 1; None where the plan does not say."""
    facts: Mapping[str, Any] = sample.plan.facts
    depth = sample.plan.factors.get("depth")
    own: float | None = depth / PER_CENT if isinstance(depth, int | float) else None
    places: dict[str, float] = {needle["value"]: needle["place"] for needle in facts.get("needles", ())}
    for chain in facts.get("chains", ())[:1]:
        places |= dict(zip(chain["names"], chain["places"], strict=True))
    return [places.get(forms[0], own) for forms in sample.plan.answers]


def _percent(reader: str, option: str, options: Mapping[str, int]) -> int:
    if options[option] > PER_CENT:
        raise UsageError(f"reader/{reader}: {option}={options[option]} is in per cent: give 1 to {PER_CENT}")
    return options[option]


def _draws(sample: Sample, reader: str) -> Draws:
    item = sample.key.item
    return rng_for(item.seed, "reader", reader, item.task, item.params, item.index)


def _said(sample: Sample, right: Sequence[bool]) -> str:
    """The answers that are right, and something of the same form that stands nowhere for each other one."""
    wanted = [forms[0] for forms in sample.plan.answers]
    if all(right):
        return " " + ", ".join(wanted)
    instead = not_in_context(sample) or ""
    if not any(right):
        return instead
    wrong = instead.strip().split(", ")
    return " " + ", ".join(want if good else bad for want, bad, good in zip(wanted, wrong, right, strict=True))


def _holds_an_answer(sample: Sample, text: str) -> bool:
    """Whether recall would find an accepted form in the text."""
    folded = " ".join(text.lower().split())
    return any(" ".join(form.lower().split()) in folded for forms in sample.plan.answers for form in forms)


def _planted_beside(sample: Sample) -> str | None:
    """The value of another key that is planted nearest to the first target."""
    needles: Sequence[Mapping[str, Any]] = sample.plan.facts.get("needles", ())
    wanted = {forms[0] for forms in sample.plan.answers}
    others = [needle for needle in needles if needle["value"] not in wanted]
    own = places_of(sample)[0]
    if not others or own is None:
        return None
    return str(min(others, key=lambda needle: abs(needle["place"] - own))["value"])


def _word_behind(sample: Sample) -> str | None:
    """The next word behind the first target that holds no answer."""
    start = sample.text.find(sample.plan.answers[0][0])
    if start < 0:
        return None
    words = _PLAIN_WORD.finditer(sample.text, start + len(sample.plan.answers[0][0]))
    return next((match[0] for match in words if not _holds_an_answer(sample, match[0])), None)

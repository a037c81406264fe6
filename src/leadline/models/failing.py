"""Readers that fail in one way each: the failure kinds of RULER's section 5, acted out from their descriptions.

Where a sample offers no way to fail like that (a task without a worked example, say), a reader answers right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.items import Sample
from leadline.requests import Response
from leadline.tokenizers.base import Tokenizer

COPIED_CHARACTERS = 160
"""Less than what the outcome rules call an echo of the prompt."""

UUID_CHARACTERS = 20
"""Of 36: the reader gives up in the middle."""

_FREQUENT = "the an a of and to in is that for it as was with be by on not he this are or his from at"
"""Words that are frequent in English texts: more of them than any task of the paper asks for."""

_PLAIN_WORD = re.compile(r"[A-Za-z]{5,}")


@dataclass(frozen=True, slots=True)
class Failing:
    """A reader that fails in one way.

    Attributes:
        kind: the failure kind.
        about: what it does, for people.
        says: its wrong answer; None where the sample offers no way to fail like that.
        cut: its wrong answers end because the budget does.
    """

    kind: str
    about: str
    says: Callable[[Sample], str | None]
    cut: bool = False

    @property
    def name(self) -> str:
        """The reader's name, without the prefix ``reader/``."""
        return f"fails-{self.kind.replace('_', '-')}"

    def __call__(self, sample: Sample, text: str, tokenizer: Tokenizer) -> str | Response:
        """The wrong answer, or the right one where it cannot fail."""
        said = self.says(sample)
        if said is None:
            return _listed([forms[0] for forms in sample.plan.answers])
        return Response(said, "length") if self.cut else said


def _listed(items: Sequence[str]) -> str:
    return " " + ", ".join(items)


def _wanted(sample: Sample) -> list[str]:
    return [forms[0] for forms in sample.plan.answers]


def _half(sample: Sample) -> list[str] | None:
    """The first half of several answers; None of one."""
    wanted = _wanted(sample)
    return wanted[: len(wanted) // 2] if len(wanted) > 1 else None


def _needles_by_line(sample: Sample) -> tuple[list[str], list[int]] | None:
    """Values of a haystack of needles, line by line, and the lines of the targets."""
    if sample.plan.factors.get("haystack") != "needle":
        return None
    lines = [line for line in sample.text.splitlines() if line.startswith("One of the special magic")]
    values = [line.rpartition(" is: ")[2].removesuffix(".") for line in lines]
    wanted = _wanted(sample)
    return values, [number for number, value in enumerate(values) if value in wanted]


def _distractors(sample: Sample) -> list[str]:
    """Things of the right form that stand in the text and were not asked for, as many as were asked for at most."""
    facts, wanted = sample.plan.facts, set(_wanted(sample))
    lines = _needles_by_line(sample)
    if lines is not None:
        values, targets = lines
        far = sorted(range(len(values)), key=lambda number: -min(abs(number - target) for target in targets))
        planted = [values[number] for number in far if values[number] not in wanted]
    elif "needles" in facts:
        planted = [needle["value"] for needle in facts["needles"] if needle["value"] not in wanted]
    elif "chains" in facts:
        planted = []
    elif "question" in facts:
        gold = " ".join(sample.span_texts("gold", "question")).lower()
        elsewhere = _PLAIN_WORD.findall(" ".join(sample.span_texts("haystack")))
        forms = " ".join(form for forms in sample.plan.answers for form in forms).lower()
        planted = [word for word in elsewhere if word.lower() not in gold and word.lower() not in forms]
    else:
        planted = [word for word in re.findall(r"[a-z]{4,}", sample.span_texts("haystack")[0]) if word not in wanted]
    return list(dict.fromkeys(planted))[: len(wanted)]


def distractor_value(sample: Sample) -> str | None:
    """Values that stand in the text under another key."""
    found = _distractors(sample)
    return _listed(found) if found else None


def neighbour(sample: Sample) -> str | None:
    """The value of the line beside the target, or a word of the golden document."""
    lines = _needles_by_line(sample)
    if lines is not None:
        values, targets = lines
        beside = targets[0] + 1 if targets[0] + 1 < len(values) else targets[0] - 1
        return _listed([values[beside]])
    forms = " ".join(form for forms in sample.plan.answers for form in forms).lower()
    asked = " ".join(sample.span_texts("question")).lower()
    words = _PLAIN_WORD.findall(" ".join(sample.span_texts("gold")))
    return next((f" {word}" for word in words if word.lower() not in forms and word.lower() not in asked), None)


def partial(sample: Sample) -> str | None:
    """Half of the answers, and no more."""
    half = _half(sample)
    return None if half is None else _listed(half)


def duplicated(sample: Sample) -> str | None:
    """Half of the answers, given again in place of the others."""
    half, wanted = _half(sample), _wanted(sample)
    return None if half is None else _listed((half * len(wanted))[: len(wanted)])


def copied_context(sample: Sample) -> str | None:
    """The text from its first line on."""
    start = min((span.start for span in sample.spans if span.kind in {"haystack", "distractor"}), default=None)
    return None if start is None else " " + sample.text[start : start + COPIED_CHARACTERS]


def copied_example(sample: Sample) -> str | None:
    """The answer of the worked example."""
    example: Any = sample.plan.facts.get("example")
    if not example:
        return None
    if "chains" in sample.plan.facts:
        return " " + " ".join(example[0]["names"])
    return " " + " ".join(f"{number}. {word}" for number, word in enumerate(example["common"], start=1))


def other_chain(sample: Sample) -> str | None:
    """The variables of another chain."""
    chains: Any = sample.plan.facts.get("chains", ())
    return _listed(list(chains[1]["names"])) if len(chains) > 1 else None


def empty(sample: Sample) -> str | None:
    """Nothing at all."""
    return ""


def common_words(sample: Sample) -> str | None:
    """The words that are frequent in English, whatever stands in the list."""
    if sample.plan.facts.keys() & {"needles", "chains", "question"}:
        return None
    return _listed(_FREQUENT.split()[: len(sample.plan.answers)])


def not_in_context(sample: Sample) -> str | None:
    """Things of the right form that stand nowhere in the text: digits and letters are moved on until they do."""
    message = sample.text.lower()
    return _listed([_moved(answer, message) for answer in _wanted(sample)])


def _moved(answer: str, message: str) -> str:
    for step in range(1, 26):
        moved = "".join(_move(character, step) for character in answer)
        if not any(word in message for word in moved.lower().split()):
            return moved
    return "zqxjkv"


def _move(character: str, step: int) -> str:
    if character in "0123456789":
        return str((int(character) + step) % 10)
    if "a" <= character.lower() <= "z":
        first = ord("a") if character.islower() else ord("A")
        return chr(first + (ord(character) - first + step) % 26)
    return character


def cut_uuid(sample: Sample) -> str | None:
    """A UUID that ends in the middle."""
    wanted = _wanted(sample)
    if not all(re.fullmatch(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", value) for value in wanted):
        return None
    return _listed([value[:UUID_CHARACTERS] for value in wanted])


def cut_by_budget(sample: Sample) -> str | None:
    """Half of several answers and the beginning of the next, where the tokens run out."""
    half, wanted = _half(sample), _wanted(sample)
    return None if half is None else _listed([*half, wanted[len(half)][:2]])


FAILING: tuple[Failing, ...] = (
    Failing("distractor_value", "gives a value of another key, or another word of the text", distractor_value),
    Failing("neighbour", "gives what stands beside the target", neighbour),
    Failing("partial", "gives half of several answers", partial),
    Failing("duplicated", "gives half of several answers twice", duplicated),
    Failing("copied_context", "copies the text from its beginning", copied_context),
    Failing("copied_example", "gives the worked example's answer", copied_example),
    Failing("other_chain", "gives the variables of another chain", other_chain),
    Failing("empty", "says nothing", empty),
    Failing("common_words", "gives frequent English words instead of those of the list", common_words),
    Failing("not_in_context", "gives something of the right form that stands nowhere", not_in_context),
    Failing("cut_uuid", "gives UUIDs that end in the middle", cut_uuid),
    Failing("cut_by_budget", "runs out of tokens half-way through several answers", cut_by_budget, cut=True),
)
"""One reader for each failure kind."""

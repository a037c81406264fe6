"""What an answer shows: its items, what it copied, and the parts of the message they are looked up in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from leadline.items import Sample

COPY_CHARACTERS = 40
"""A shorter stretch of the message may stand in an answer by chance, or as part of a sentence that names the answer."""

ANSWER_CHARACTERS = 2_000
"""How much of an answer is looked at for copied stretches; every answer budget of the suites is shorter."""

REPEATED_CHARACTERS = 16
"""Less than this much of repetition may be a list of few short entries."""

LONG_CHARACTERS = 10_000
"""A longer text is worth a look before it is cut into words."""

WHITE_SPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + ("\u2028\u2029\u202f\u205f\u3000")
)
"""What `str.isspace` says of, the space itself left out."""

FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be but by for from had has have he her his i in is it its not of on or she that the their "
        "there they this to was we were which will with you your",
    )
)
"""The words that English texts hold most of, whatever they are about: what a model answers that counts in its memory
rather than in the text (RULER, section 5: "the", "an", "a")."""

_LETTER_OR_DIGIT = r"[^\W_]"
_NUMBERED = re.compile(r"(?<!\d)\d{1,3}[.)]\s*[*_\"'`]*([A-Za-z][A-Za-z'-]*)")
_LISTED = re.compile(r"[,;\n/|]|\band\b|(?<!\d)\d{1,3}[.)]")
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!\d)")


@dataclass(frozen=True, slots=True)
class Item:
    """Something in an answer that has the shape of a target: case folded, with its first and last character."""

    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Characters start to end (exclusive) of an answer that stand in the message word for word."""

    start: int
    end: int

    @property
    def characters(self) -> int:
        """Its length."""
        return self.end - self.start


def folded_white_space(text: str) -> str:
    """The text with every run of white space as one space."""
    if len(text) > LONG_CHARACTERS:
        # The same ten times as fast: most kinds of white space are nowhere in a text.
        for character in WHITE_SPACE:
            if character in text:
                text = text.replace(character, " ")
        while "  " in text:
            text = text.replace("  ", " ")
        return text.strip(" ")
    return " ".join(text.split())


def folded_lines(text: str) -> str:
    """The same with the line breaks kept: as long as `folded_white_space` makes it, character by character."""
    return re.sub(r"\s+", lambda run: "\n" if "\n" in run[0] else " ", text.strip())


def without_thousands_commas(text: str) -> str:
    """``9,984`` as ``9984``; everything else as it was."""
    return _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)


def context_of(sample: Sample) -> str:
    """The message up to the question, worked example left out."""
    end = min((span.start for span in sample.spans if span.kind == "question"), default=len(sample.text))
    first = max((span.end for span in sample.spans if span.kind == "example"), default=0)
    return sample.text[first:end]


def example_of(sample: Sample) -> str:
    """The worked example, in the message or as turns of its own; empty where there is none."""
    turns = [text for turn in sample.turns for text in turn]
    return "\n".join([*turns, *sample.span_texts("example")])


def example_items(sample: Sample) -> frozenset[str]:
    """What the worked example answers, case folded: its variables or its common words."""
    example: Any = sample.plan.facts.get("example")
    if not example:
        return frozenset()
    if isinstance(example, dict):
        return folded(cast("dict[str, list[str]]", example)["common"])
    return folded(cast("list[dict[str, list[str]]]", example)[0]["names"])


def folded(texts: Iterable[str]) -> frozenset[str]:
    """The texts, case folded."""
    return frozenset(text.casefold() for text in texts)


def shaped_items(answer: str, pattern: str, also: Iterable[str], without: frozenset[str]) -> list[Item]:
    """Whatever has the pattern's shape, or is one of `also`, at word boundaries and in order."""
    exact = "|".join(re.escape(text) for text in sorted(also))
    shape = rf"(?:{pattern})" + (rf"|(?i:{exact})" if exact else "")
    found = re.compile(f"(?<!{_LETTER_OR_DIGIT})(?:{shape})(?!{_LETTER_OR_DIGIT})").finditer(answer)
    items = (Item(match[0].casefold(), match.start(), match.end()) for match in found)
    return [item for item in items if item.value not in without]


def listed_words(answer: str) -> list[Item]:
    """The words of a list: numbered, or between commas, lines or "and"; without an opening sentence before a colon.

    An entry of more than two words is prose and holds no item, unless nothing else is there.
    """
    numbered = [Item(match[1].casefold(), match.start(1), match.end(1)) for match in _NUMBERED.finditer(answer)]
    if len(numbered) >= 2:
        return numbered
    at = answer.find(":") + 1
    items: list[Item] = []
    for end in [*(match.start() for match in _LISTED.finditer(answer, at)), len(answer)]:
        words = list(_WORD.finditer(answer, at, max(at, end)))
        words = [word for word in words if word[0].casefold() != "and"]
        if 1 <= len(words) <= 2:
            items += [Item(word[0].casefold(), word.start(), word.end()) for word in words]
        at = end
    return items


def spaced_words(answer: str) -> list[Item]:
    """Every word behind an opening sentence that ends in a colon."""
    found = _WORD.finditer(answer, answer.find(":") + 1)
    return [Item(match[0].casefold(), match.start(), match.end()) for match in found]


def copied(answer: str, source: str) -> Stretch | None:
    """The first stretch of at least `COPY_CHARACTERS` that the answer has from the source; white space is folded.

    Every such stretch holds a whole block of half its length, so blocks are looked up first, and the windows around
    those that are found; the end of the first window that is found is then bisected.
    """
    answer, half = answer[:ANSWER_CHARACTERS], COPY_CHARACTERS // 2
    for block in range(0, len(answer) - half + 1, half):
        if answer[block : block + half] not in source:
            continue
        for at in range(max(0, block - half), min(block, len(answer) - COPY_CHARACTERS) + 1):
            end = at + COPY_CHARACTERS
            if answer[at:end] in source:
                right = _most(len(answer) - end, lambda more, a=at, e=end: answer[a : e + more] in source)
                return Stretch(at, end + right)
    return None


def repeats(text: str) -> bool:
    """Whether at least half of a text, up to its end, is one stretch said twice or more (and 16 characters or more).

    Such an answer was not on its way to anything when its budget ran out. The stretch may be cut at the end, and may be
    of any length: what `leadline.scoring.degeneration` calls a loop is the whole of an answer and has short units.
    """
    for unit in range(1, len(text) // 2 + 1):
        same = 0
        while same < len(text) - unit and text[-1 - same] == text[-1 - same - unit]:
            same += 1
        if same >= unit and 2 * (same + unit) >= max(len(text), 2 * REPEATED_CHARACTERS):
            return True
    return False


def _most(limit: int, holds: Callable[[int], bool]) -> int:
    """The greatest number up to the limit for which a test holds that holds at 0 and, once it fails, fails on."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low

"""The prompts of RULER's word tasks, read out of their text: numbered lists of words, and coded text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leadline.interop.understood import Mark, Understood, last_match, spans_of

_CWE_HEAD = (
    "Below is a numbered list of words. In these words, some appear more often than others. Memorize the ones that "
    "appear most often."
)
_CWE_TAIL = re.compile(r"Question: What are the (?P<count>\d+) most common words in the above list\?")
_CWE_ANSWER = re.compile(r"Answer: The top \d+ words that appear most often in the list are:")
_ENTRY = re.compile(r"\d+\. ?(?P<word>\S+)")

_FWE_HEAD = re.compile(
    r"Read the following coded text and track the frequency of each coded word\. Find the \w+ most frequently appeared "
    r"coded words\. "
)
_FWE_TAIL = re.compile(
    r"Question: Do not provide any explanation\. Please ignore the dots '\.\.\.\.'\. What are the \w+ most frequently "
    r"appeared words in the above coded text\?"
)
_FWE_ANSWER = "Answer: According to the coded text above, the three most frequently appeared words are:"


def parse_common_words(text: str) -> Understood | None:
    """A numbered list, with the worked example before it."""
    first, last = text.find(_CWE_HEAD), text.rfind(_CWE_HEAD)
    tail = None if last < 0 else last_match(_CWE_TAIL, text, last)
    if tail is None:
        return None
    example = _example(text[first:last])
    spans = spans_of([], first, last + len(_CWE_HEAD), tail.start(), tail.end())
    return Understood(
        text=text[first : tail.end()],
        spans=spans if example is None else (Mark("example", 0, last - first).span(0), *spans),
        factors={},
        facts={
            "example": example,
            "distractors": example["common"] if example else [],
            # The list's further words are drawn from another vocabulary than ours: there is no place in ours.
            "first_candidate": None,
            "item_pattern": r"(?<=\d\. )[a-z]+|(?<=, )[a-z]+",
        },
    )


def _example(text: str) -> dict[str, list[str]] | None:
    """The words of the worked example: those of its answer, in order, and the others of its list."""
    answer = _CWE_ANSWER.search(text)
    if answer is None:
        return None
    common = [entry["word"] for entry in _ENTRY.finditer(text, answer.end())]
    listed = dict.fromkeys(entry["word"] for entry in _ENTRY.finditer(text, 0, answer.start()))
    return {"common": common, "uncommon": [word for word in listed if word not in common]}


def parse_coded_words(text: str, outputs: Sequence[str]) -> Understood | None:
    """A coded text; its template's own words of the same length are given, not found."""
    head, tail = _FWE_HEAD.search(text), last_match(_FWE_TAIL, text)
    if head is None or tail is None or tail.start() < head.end():
        return None
    letters = max(len(output) for output in outputs)
    told = {word.strip("'.:?,") for word in f"{head[0]} {tail[0]} {_FWE_ANSWER}".split()}
    return Understood(
        text=text[head.start() : tail.end()],
        spans=spans_of([], head.start(), head.end(), tail.start(), tail.end()),
        factors={},
        facts={
            "given": sorted(word for word in told if len(word) == letters and word.islower()),
            "item_pattern": rf"[a-z]{{{letters}}}",
        },
    )

"""What a prompt of RULER's tool holds, read out of its text: needles, chains, words, documents and where they stand.

A prompt is known by the fixed sentences of its template (RULER, paper table 8, as its generator has them). Whatever
stands before the first and behind the last of them (a chat template) is left out. A text without them is not
understood, and nothing is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.haystacks.noise import NOISE
from leadline.interop.ruler_word_texts import parse_coded_words, parse_common_words
from leadline.interop.understood import Mark, Understood, last_match, shares, spans_of
from leadline.items import Factor
from leadline.tasks.base import Task
from leadline.tasks.niah import PATTERNS, NiahParams

_NIAH_HEAD = re.compile(
    r"(?:A|Some) special magic (?P<kind>word|number|uuid)s? (?:is|are) hidden within the following text\. Make sure to "
    r"memorize it\. I will quiz you about the \w+ afterwards\.\n"
)
_NIAH_TAIL = re.compile(
    r"What (?:is|are all) the special magic (?:word|number|uuid)s? for (?P<query>[^\n]*?) mentioned in the provided "
    r"text\?"
)
_NEEDLE = re.compile(
    r"One of the special magic (?:word|number|uuid)s for (?P<key>[^\n]+?) is: (?P<value>[^\n]+?)\.(?=\s|$)"
)
_AND = re.compile(r", and |, ")
_NOISE_START = NOISE.partition(".")[0]

_VT_HEAD = "Memorize and track the chain(s) of variable assignment hidden in the following text."
_VT_TAIL = re.compile(r"Question: Find all variables that are assigned the value (?P<value>\d+) in the text above\.")
_ASSIGNMENT = re.compile(r"VAR (?P<name>[A-Z]+) = (?:VAR )?(?P<source>[A-Z]+|\d+)\b")

_QA_OPENING = "Answer the question based on the given documents."
_QA_HEAD = "The following are given documents.\n\n"
_QA_TAIL = f"\n\n{_QA_OPENING}"
_QUESTION = re.compile(r"Question: (?P<question>[^\n]*)")
_DOCUMENT = re.compile(r"(?:\A|\n\n)Document (?P<number>\d+):\n")


def shape(task: Task, outputs: Sequence[str]) -> dict[str, Any]:
    """What is known of an item without its prompt: the shape of its answers, for the strict score."""
    if isinstance(task.params, NiahParams):
        return {"item_pattern": PATTERNS[task.params.type_value]}
    letters = max(len(output) for output in outputs)
    pattern = {
        "vt": rf"[A-Z]{{{letters}}}",
        "fwe": rf"[a-z]{{{letters}}}",
        "cwe": r"(?<=\d\. )[a-z]+|(?<=, )[a-z]+",
    }.get(task.family)
    return {} if pattern is None else {"item_pattern": pattern}


def understand(task: Task, text: str, outputs: Sequence[str]) -> Understood | None:
    """What a prompt of this task holds; None where it is not of the task's template."""
    match task.family:
        case "niah":
            return _needles(text, outputs)
        case "vt":
            return _variables(text)
        case "cwe":
            return parse_common_words(text)
        case "fwe":
            return parse_coded_words(text, outputs)
        case "qa":
            return _documents(text, outputs)
        case _:
            return None


def _needles(text: str, outputs: Sequence[str]) -> Understood | None:
    head, tail = _NIAH_HEAD.search(text), last_match(_NIAH_TAIL, text)
    if head is None or tail is None or tail.start() < head.end():
        return None
    query = _AND.split(tail["query"])
    found = list(_NEEDLE.finditer(text, head.end(), tail.start()))
    between = _NEEDLE.sub("", text[head.end() : tail.start()])
    haystack = "needle" if not between.strip() else "repeat" if _NOISE_START in between else "essay"
    planted = [needle for needle in found if haystack != "needle" or needle["key"] in query]
    asked = [needle for needle in planted if needle["key"] in query]
    if not asked:
        return None
    marks = [
        Mark("needle" if needle["key"] in query else "distractor", needle.start(), needle.end()) for needle in found
    ]
    places = shares([(needle.start(), needle.end()) for needle in planted], head.end(), tail.start())
    needles = [
        {"key": needle["key"], "value": needle["value"], "place": place}
        for needle, place in zip(planted, places, strict=True)
    ]
    first = next((each for each in needles if each["value"] == outputs[0]), None)
    depth = needles[planted.index(asked[0])]["place"] if first is None else first["place"]
    return Understood(
        text=text[head.start() : tail.end()],
        spans=spans_of(marks, head.start(), head.end(), tail.start(), tail.end()),
        factors={"depth": round(100 * float(depth), 2), "haystack": haystack},
        facts={
            "query": query,
            "given": query,
            "distractors": [each["value"] for each in needles if each["key"] not in query],
            "needles": needles,
            "item_pattern": PATTERNS[head["kind"]],
        },
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """An assignment with the value at the beginning of its chain, and its characters in the text."""

    name: str
    value: str
    start: int
    end: int


def _variables(text: str) -> Understood | None:
    first, last = text.find(_VT_HEAD), text.rfind(_VT_HEAD)
    tail = None if last < 0 else last_match(_VT_TAIL, text, last)
    if tail is None:
        return None
    begin = last + len(_VT_HEAD)
    lines = _assignments(text, begin, tail.start())
    asked = [line for line in lines if line.value == tail["value"]]
    if not asked:
        return None
    places = shares([(line.start, line.end) for line in lines], begin, tail.start())
    place_of = {line.name: place for line, place in zip(lines, places, strict=True)}
    chains = _chains(lines, tail["value"], place_of)
    target = [place_of[line.name] for line in asked]
    marks = [Mark("needle" if line in asked else "distractor", line.start, line.end) for line in lines]
    example = _example_chains(text, first, last)
    spans = spans_of(marks, first, begin, tail.start(), tail.end())
    factors: Mapping[str, Factor] = {
        "depth": round(100 * sum(target) / len(target), 2),
        "spread": round(100 * (target[-1] - target[0]), 2),
        "hops": len(asked) - 1,
    }
    return Understood(
        text=text[first : tail.end()],
        spans=spans if example is None else (Mark("example", 0, last - first).span(0), *spans),
        factors=factors,
        facts={
            "value": tail["value"],
            "distractors": [line.name for line in lines if line not in asked],
            "chains": chains,
            "example": example,
            "item_pattern": rf"[A-Z]{{{max(len(line.name) for line in asked)}}}",
        },
    )


def _assignments(text: str, start: int, end: int) -> list[_Line]:
    """The assignments in order; a variable's value is that of the variable it is assigned."""
    found = list(_ASSIGNMENT.finditer(text, start, end))
    source_of = {each["name"]: each["source"] for each in found}
    lines: list[_Line] = []
    for each in found:
        value, steps = each["source"], 0
        while value in source_of and steps < len(source_of):
            value, steps = source_of[value], steps + 1
        lines.append(_Line(each["name"], value, each.start(), each.end()))
    return lines


def _chains(lines: Sequence[_Line], asked: str, place_of: Mapping[str, float]) -> list[dict[str, Any]]:
    """Chains with their names in order; the one that is asked for comes first."""
    values = sorted(dict.fromkeys(line.value for line in lines), key=lambda value: value != asked)
    names = {value: [line.name for line in lines if line.value == value] for value in values}
    return [
        {"value": value, "names": names[value], "places": [place_of.get(name, 0.0) for name in names[value]]}
        for value in values
    ]


def _example_chains(text: str, first: int, last: int) -> list[dict[str, Any]] | None:
    """The chains of the worked example before the task, or None where there is none."""
    tail = None if first == last else _VT_TAIL.search(text, first, last)
    if tail is None:
        return None
    lines = _assignments(text, first, tail.start())
    places = shares([(line.start, line.end) for line in lines], first + len(_VT_HEAD), tail.start())
    return _chains(lines, tail["value"], {line.name: at for line, at in zip(lines, places, strict=True)}) or None


def _documents(text: str, outputs: Sequence[str]) -> Understood | None:
    head, tail = text.find(_QA_HEAD), text.rfind(_QA_TAIL)
    asked = last_match(_QUESTION, text, max(tail, 0))
    if asked is None:
        return None
    question = asked["question"].removesuffix("Answer:").strip()
    if head < 0 or tail < head:
        return Understood(
            text[asked.start() : asked.end()],
            (Mark("question", 0, asked.end() - asked.start()).span(0),),
            {},
            {"question": question},
        )
    opening = text.find(_QA_OPENING, 0, head)
    first, begin = opening if opening >= 0 else head, head + len(_QA_HEAD)
    labels = list(_DOCUMENT.finditer(text[begin:tail]))
    ends = [*(label.start() for label in labels[1:]), tail - begin]
    bounds = [(begin + label.end(), begin + end) for label, end in zip(labels, ends, strict=True)] if labels else []
    golds = [number for number, (start, end) in enumerate(bounds) if _holds(text[start:end], outputs)]
    marks = [Mark("gold" if at in golds else "haystack", start, end) for at, (start, end) in enumerate(bounds)]
    depths = [round(100 * number / max(1, len(bounds) - 1), 2) for number in golds]
    spans = tuple(mark.span(first) for mark in [*marks, Mark("question", asked.start(), asked.end())])
    return Understood(
        text=text[first : asked.end()],
        spans=spans,
        # Where several documents hold an answer, which of them is the golden one is not known, and nor is its depth.
        factors={"depth": depths[0]} if len(depths) == 1 else {},
        facts={"question": question, "golds": depths, "documents": len(bounds)},
    )


def _holds(document: str, outputs: Sequence[str]) -> bool:
    """Whether any answer stands in a document, case folded and at word boundaries."""
    folded = document.casefold()
    forms = [form.casefold() for form in outputs if form and form.casefold() in folded]
    return any(re.search(rf"(?<![^\W_]){re.escape(form)}(?![^\W_])", folded) for form in forms)

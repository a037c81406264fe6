"""Why a valid answer is wrong: the failure kinds of RULER's section 5, by rules for each family of tasks.

One principle: a kind says what stands where a missing answer should be. One order, and the first rule that holds
decides (``docs/failures.md`` has it with examples):

 1. nothing is left of the answer          `empty`; `cut_by_budget` where the budget ran out
 2. a stretch of the worked example        `copied_example`
 3. a stretch of the context               `copied_context`, unless the answer begins with an item and runs on
 4. the beginning of a wanted UUID         `cut_uuid`; `cut_by_budget` where the budget ran out there
 5. wrong items, or right ones again       the kind that most of them are; ties go by the order of `KINDS`
 6. right items, but not all               `cut_by_budget` where the budget ran out behind the last, else `partial`
 7. no item at all                         `partial`, `cut_by_budget`, `common_words`, `copied_context`, else
                                           `not_in_context`
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, get_args

from leadline.items import Sample
from leadline.records import Outcome
from leadline.scoring.failure_evidence import (
    COPY_CHARACTERS,
    FUNCTION_WORDS,
    Item,
    Stretch,
    context_of,
    copied,
    example_items,
    example_of,
    folded,
    folded_white_space,
    repeats,
    without_thousands_commas,
)
from leadline.scoring.failures_items import items_of
from leadline.scoring.failures_of_questions import kind_of_question
from leadline.scoring.matching import clean, recall

FailureKind = Literal[
    "empty",
    "copied_example",
    "copied_context",
    "cut_uuid",
    "other_chain",
    "neighbour",
    "distractor_value",
    "common_words",
    "duplicated",
    "not_in_context",
    "cut_by_budget",
    "partial",
]
KINDS: tuple[FailureKind, ...] = get_args(FailureKind)
"""In the order in which ties are decided."""

JUDGED: frozenset[Outcome] = frozenset({"answered", "truncated_output"})
"""Outcomes of which a kind is judged: a refusal, a loop or an echo is an outcome of its own."""

NEIGHBOUR_LINES = 5
"""Lines between the target and a value that still counts as its neighbour."""

NEIGHBOUR_SHARE = 20
"""... and at most one in so many of all lines on each side, so that at most about a tenth of blind guesses count."""

UUID_DIGITS = 8
"""The first digits by which a UUID that was cut is known again: its first group."""

RUN_ON_CHARACTERS = 24
"""An answer that goes on for longer behind its last item has ended before the budget did."""

LED_IN_CHARACTERS, LED_OUT_CHARACTERS = 4, 16
"""A copied stretch with this much text before and behind its first item copies the text, not the item: ``VAR `` before
a variable is the shortest; an answer that quotes its one sentence ends with the item."""

GIVEN_BACK_SHARE = 0.75
"""An answer with a key that was asked for gives the question back where so many of its words are the question's. A
sentence that says that there is no such number has more words of its own."""

_ASSIGNMENT = re.compile(r"VAR \w+ = (?:VAR )?\w+")
"""A line of variable tracking: names are asked for, so that an answer that begins with one copies the text."""

_DIGITS = re.compile(r"[0-9-]+")

_UUID_RUN = re.compile(r"(?<![^\W_])[0-9a-f][0-9a-f-]{6,}[0-9a-f](?![^\W_])", re.IGNORECASE)


def failure_kind(sample: Sample, response_text: str | None, outcome: Outcome) -> FailureKind | None:
    """The kind of a wrong answer.

    None where the answer is right (recall 1), where it is right but for commas in a number, and where the outcome is
    no answer.
    """
    if outcome not in JUDGED:
        return None
    answer, targets = clean(response_text or ""), sample.plan.answers
    plain = folded_white_space(answer)
    if recall(answer, targets) == 1 or ("," in plain and recall(without_thousands_commas(plain), targets) == 1):
        return None
    cut = outcome == "truncated_output"
    if not any(character.isalnum() for character in plain):
        return "cut_by_budget" if cut else "empty"
    if "question" in sample.plan.facts:
        return kind_of_question(sample, answer, cut)
    return _judge(sample, plain, cut, items_of(sample, answer, plain))


def _judge(sample: Sample, answer: str, cut: bool, items: Sequence[Item]) -> FailureKind:
    """Rules 2 to 7, for everything but questions on documents."""
    # Folding a long text takes longer than all else; a short answer that has items is never looked up in it.
    looked_up = len(answer) >= COPY_CHARACTERS or not items or _ASSIGNMENT.match(answer) is not None
    context = context_of(sample) if looked_up else ""
    if " " in answer:
        context = folded_white_space(context)
    if (kind := _copied(sample, answer, context, items)) is not None:
        return kind
    missing = [forms for forms in sample.plan.answers if not recall(answer, (forms,))]
    if _is_cut_uuid(answer, missing):
        return "cut_by_budget" if cut and _ends_in_digits(answer) else "cut_uuid"
    wanted = folded(form for forms in sample.plan.answers for form in forms)
    if cut and items and items[-1].end >= len(answer.rstrip(" .,;")) and _may_become(items[-1], wanted):
        items = items[:-1]  # the budget ended inside it
        if not items and not repeats(answer):
            return "cut_by_budget"
    if not items:
        return _without_items(sample, answer, context, cut, missing)
    return _of_items(sample, answer, cut, items[: len(sample.plan.answers)], wanted)


def _of_items(sample: Sample, answer: str, cut: bool, items: Sequence[Item], wanted: frozenset[str]) -> FailureKind:
    """Rules 5 and 6: as many items as were asked for, from the first on."""
    classify = _classifier(sample)
    seen: set[str] = set()
    wrong: Counter[FailureKind] = Counter()
    for item in items:
        if item.value in wanted:
            wrong["duplicated"] += item.value in seen
        elif item.value not in seen:
            wrong[classify(item.value)] += 1
        seen.add(item.value)
    if wrong.total():
        return max(KINDS, key=lambda kind: wrong[kind])
    return "cut_by_budget" if cut and len(answer) - items[-1].end <= RUN_ON_CHARACTERS else "partial"


def _may_become(item: Item, wanted: frozenset[str]) -> bool:
    """Whether a wrong item at the very end is short enough to have grown into a wanted one."""
    return item.value not in wanted and len(item.value) <= max(map(len, wanted))


def _classifier(sample: Sample) -> Callable[[str], FailureKind]:
    """What an item is that was not asked for."""
    facts = sample.plan.facts
    example, chains = example_items(sample), folded(facts["distractors"]) if "chains" in facts else frozenset[str]()
    needles = sample.plan.factors.get("haystack") == "needle"

    def classify(value: str) -> FailureKind:
        if value in chains:
            return "other_chain"
        if value in example:
            return "copied_example"
        if _is_asked_about(sample, value):
            return "neighbour" if needles and _is_near(sample, value) else "distractor_value"
        return "common_words" if value in FUNCTION_WORDS else "not_in_context"

    return classify


def _is_asked_about(sample: Sample, value: str) -> bool:
    """Whether a value, case folded, stands in the text that is asked about; the template's own words are no part of it.

    Folding a long text takes longer than all else, so that first the text is looked through as it is: for the value,
    and for its longest run of digits, without which it cannot be there.
    """
    texts = sample.span_texts("haystack", "needle", "distractor")
    if any(_stands_in(text, value) for text in texts):
        return True
    digits = max(_DIGITS.findall(value), key=len, default="")
    if digits == value:  # which folding does not change
        return False
    return any(digits in text and _stands_in(text.casefold(), value) for text in texts)


def _stands_in(text: str, value: str) -> bool:
    """Whether the value stands in the text with no letter or digit directly before or after it."""
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        if not text[at - 1 : at].isalnum() and not text[end : end + 1].isalnum():
            return True
        at = text.find(value, at + 1)
    return False


def _is_near(sample: Sample, value: str) -> bool:
    """Whether a value's line in a haystack of needles is one of those around a target."""
    text = context_of(sample)
    offset = sample.text.index(text)
    at = text.find(value)
    if at < 0:
        at = text.casefold().find(value)
    reach = min(NEIGHBOUR_LINES, max(1, text.count("\n") // NEIGHBOUR_SHARE))
    golds = [span.start - offset for span in sample.spans if span.kind == "needle"]
    return any(text.count("\n", min(at, gold), max(at, gold)) <= reach for gold in golds)


def _copied(sample: Sample, answer: str, context: str, items: Sequence[Item]) -> FailureKind | None:
    """Rules 2 and 3. Where a stretch stands in both, as noise does, it is of the context."""
    example = folded_white_space(example_of(sample))
    line = _ASSIGNMENT.match(answer)
    if line and line[0] in context:
        return "copied_context"
    if line and line[0] in example:
        return "copied_example"
    behind = answer[line.end() :] if line else answer  # a line that stands nowhere copies nothing itself
    of_context, of_example = copied(behind, context), copied(behind, example)
    if of_example is not None and (of_context is None or of_example.characters > of_context.characters):
        return "copied_example"
    if of_context is not None and (line or _is_of_words(sample) or _copies_text(of_context, items)):
        return "copied_context"
    return None


def _copies_text(stretch: Stretch, items: Sequence[Item]) -> bool:
    """Whether a stretch is the text around the first item, rather than an item with what the answer ran on to."""
    if not items or items[0].start >= stretch.end:
        return True
    led_in, led_out = items[0].start - stretch.start, stretch.end - items[0].end
    return led_in >= LED_IN_CHARACTERS and led_out >= LED_OUT_CHARACTERS


def _is_cut_uuid(answer: str, missing: Sequence[tuple[str, ...]]) -> bool:
    """Whether the answer has the first digits of a missing UUID, and not all 32: it ends early, or goes on wrongly."""
    wholes = [form.replace("-", "").casefold() for forms in missing for form in forms if _UUID_RUN.fullmatch(form)]
    wholes = [whole for whole in wholes if len(whole) == 32]
    runs = [run[0].replace("-", "").casefold() for run in _UUID_RUN.finditer(answer)]
    return any(run != whole and run[:UUID_DIGITS] == whole[:UUID_DIGITS] for run in runs for whole in wholes)


def _ends_in_digits(answer: str) -> bool:
    """Whether a UUID at the very end lacks digits."""
    tail = re.search(r"[0-9a-f-]+$", answer, re.IGNORECASE)
    return tail is not None and UUID_DIGITS <= len(tail[0].replace("-", "")) < 32


def _without_items(
    sample: Sample, answer: str, context: str, cut: bool, missing: Sequence[tuple[str, ...]]
) -> FailureKind:
    """Rule 7: nothing in the answer has the shape of a target."""
    folded_answer = answer.casefold()
    numbers = [run[0] for run in re.finditer(r"[\w-]{3,}", folded_answer) if any(map(str.isdigit, run[0]))]
    forms = [form.casefold() for forms in missing for form in forms]
    if any(number in form and 2 * len(number) >= len(form) for number in numbers for form in forms):
        return "partial"
    if cut and not repeats(answer):
        return "cut_by_budget"
    if all(word in FUNCTION_WORDS for word in re.findall(r"\w+", folded_answer)):
        return "common_words"
    if answer.strip(" .,:;") in context or _gives_back(sample, folded_answer):
        return "copied_context"
    return "not_in_context"


def _gives_back(sample: Sample, answer: str) -> bool:
    """Whether an answer is a key that was asked for, with little around it but words of the question."""
    given = folded(sample.plan.facts.get("given", ()))
    if not any(key in answer for key in given):
        return False
    asked = " ".join([*sample.span_texts("question"), sample.answer_prefix, *given])
    known = set(re.findall(r"\w+", asked.casefold()))
    words = re.findall(r"\w+", answer)
    return sum(word in known for word in words) >= GIVEN_BACK_SHARE * len(words)


def _is_of_words(sample: Sample) -> bool:
    """Whether the whole text is made of items, as in the tasks that count words."""
    return not sample.plan.facts.keys() & {"needles", "chains"}

"""Why an answer to a question on documents is wrong. Answers have no shape here: words are what is looked up."""

from __future__ import annotations

import re
from typing import Literal

from leadline.items import Sample
from leadline.scoring.failure_evidence import FUNCTION_WORDS, context_of, copied, folded_white_space, repeats

QuestionFailure = Literal[
    "copied_context",
    "common_words",
    "partial",
    "neighbour",
    "distractor_value",
    "cut_by_budget",
    "not_in_context",
]

QUOTED_CHARACTERS = 80
"""A longer stretch of a document is copied text; a shorter one may be an answer in the document's words."""

STEM_LETTERS = 4
"""Shorter words of a question begin too many others."""

_WORD = re.compile(r"[^\W_]+")
_HEADING = re.compile(r"(?m)^document \d+:$")  # in folded text
_OPENING = re.compile(r"(?i)^(?:the )?answer(?: is)?(?:\s*:\s*|\s+(?!is\b)|$)")
_YES_OR_NO = frozenset({"yes", "no"})


def kind_of_question(sample: Sample, answer: str, cut: bool) -> QuestionFailure:
    """The kind of a wrong answer, by its first line that says something: base models go on to questions of their own.

    In this order: a long stretch of the documents, or the question itself, is `copied_context`; nothing but function
    words `common_words`; part of an accepted form, or such a part with more around it, `partial`; words of a golden
    document `neighbour` (the right place, the wrong words); words of another document `distractor_value`; a phrase
    that stands between the documents, such as a heading, `copied_context` again (one word of it `distractor_value`);
    a first line that the budget ended, but in a loop, `cut_by_budget`; anything else `not_in_context`. A wrong yes or
    no is of no document.
    """
    context = context_of(sample)
    stretch = copied(folded_white_space(answer), folded_white_space(context))
    lines = [line for line in (_OPENING.sub("", line.strip()) for line in answer.splitlines()) if line]
    line = lines[0] if lines else ""
    words, question = _words(line), _words(str(sample.plan.facts["question"]))
    if words == question or (stretch is not None and stretch.characters >= QUOTED_CHARACTERS):
        return "copied_context"
    known = FUNCTION_WORDS | set(question)
    content = [word for word in words if word not in known and not _inflects(word, question)]
    if words and all(word in FUNCTION_WORDS for word in words):
        return "common_words"
    if any(_is_part(content, _words(form)) for forms in sample.plan.answers for form in forms):
        return "partial"
    if words and not set(words) <= _YES_OR_NO and (place := _place(sample, words, set(content), context)) is not None:
        return place
    return "cut_by_budget" if cut and len(lines) == 1 and not repeats(line) else "not_in_context"


def _place(sample: Sample, words: list[str], content: set[str], context: str) -> QuestionFailure | None:
    """Where the words of an answer stand, or at least its content words, those that are not the question's."""
    gold = [text.casefold() for text in sample.span_texts("gold")]
    if any(_holds(document, words, content) for document in gold):
        return "neighbour"
    folded = context.casefold()
    if not all(word in folded for word in content or words):
        return None
    others = (document for run in sample.span_texts("haystack") for document in _HEADING.split(run.casefold()))
    if any(_holds(document, words, content) for document in others):
        return "distractor_value"
    if not _stands_in(words, folded):
        return None
    return "copied_context" if len(words) > 1 else "distractor_value"


def _holds(document: str, words: list[str], content: set[str]) -> bool:
    """Whether the words stand in a document, case folded, or at least all of the content words.

    Most documents lack one of them, which is seen before they are cut into words.
    """
    if not all(word in document for word in content or words):
        return False
    return _stands_in(words, document) or (bool(content) and content <= set(_WORD.findall(document)))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _inflects(word: str, question: list[str]) -> bool:
    """Whether a word is one of the question with an ending more, as an answer in a whole sentence has it."""
    return any(len(asked) >= STEM_LETTERS and word.startswith(asked) for asked in question)


def _is_part(content: list[str], form: list[str]) -> bool:
    """Whether an answer's own words hold at least half of a form's, or are all among them."""
    wanted = {word for word in form if word not in FUNCTION_WORDS}
    given = set(content)
    shared = given & wanted
    return bool(shared) and (shared == given or 2 * len(shared) >= len(wanted)) and not wanted <= _YES_OR_NO


def _stands_in(words: list[str], document: str) -> bool:
    """Whether the words follow one another in a text, case folded, with anything but letters and digits between."""
    first, *others = map(re.escape, words)
    # A pattern that begins with plain letters is searched for ten times as fast.
    in_a_row = r"[\W_]+".join([rf"{first}(?<![^\W_]{first})", *others])
    return re.search(rf"{in_a_row}(?![^\W_])", document) is not None

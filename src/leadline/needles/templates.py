"""The wording around a haystack: leadline's own, one for each variant."""

from __future__ import annotations

SYSTEM_PROMPT = "You are a helpful assistant."

_OPENING = (
    "The following text is a snippet of a book. Read it with care, because a question about it comes afterwards.\n\n"
    "===== start of the snippet =====\n{haystack}\n===== end of the snippet =====\n\n"
)
_SHORT = (
    "Answer the question below as briefly as you can. Use what the snippet states; where it does not say it outright, "
    "use what follows from it beyond reasonable doubt.\n\nQuestion: {question}\n\n"
)
_FINAL = "Reply with the final answer only, without any explanation."

DEFAULT = _OPENING + _SHORT + _FINAL
"""Placeholders: haystack, question."""

CHOICES = _OPENING + _SHORT + "It is one of these four: {choices}.\n\n" + _FINAL
"""Placeholders: haystack, question, choices (four names in a random order, separated by commas)."""

CHAIN_OF_THOUGHT = (
    _OPENING
    + "Answer the question below. The snippet may not say it outright, so some inference may be needed: reason "
    "in at most three sentences, then give the final answer alone on the last line.\n\nQuestion: {question}"
)
"""Placeholders: haystack, question."""

_UNREAD = "There is no text to go by, so guess a name. "

CLOSED_BOOK = "Question: {question}\n\n" + _UNREAD + _FINAL
"""Placeholder: question. What a model says without haystack and needle."""

CLOSED_BOOK_CHOICES = "Question: {question}\n\nIt is one of these four: {choices}.\n\n" + _UNREAD + _FINAL
"""Placeholders: question, choices."""

TEMPLATES: dict[str, str] = {
    "default": DEFAULT,
    "direct": DEFAULT,
    "choices": CHOICES,
    "cot": CHAIN_OF_THOUGHT,
    "distractor": DEFAULT,
}
"""The template of each variant; a set that gives none of its own is asked with these too."""

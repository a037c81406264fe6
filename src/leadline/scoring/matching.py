"""How an answer is compared with what was wanted.

Two rules stand side by side. `recall` is the published one (RULER: share of the reference strings that the answer
contains, case-insensitive; for question answering the maximum over the accepted forms). `strict` matches at word
boundaries and lets wrong extra items count, so that ``91234567890`` is not 1234567, ``catalog`` is not cat, and an
answer that lists everything it saw does not score 100.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable, Sequence

Targets = tuple[tuple[str, ...], ...]
ReasoningMarkers = tuple[tuple[str, str], ...]

THINK: ReasoningMarkers = (("<think>", "</think>"),)
"""Opening and closing marker of a reasoning block, as most open reasoning models write them."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "‛": "'", "“": '"', "”": '"'})
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!\d)")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_LETTER_OR_DIGIT = r"[^\W_]"


def without_reasoning(text: str, reasoning_markers: ReasoningMarkers = THINK) -> str:
    """The text without its reasoning.

    A closed block becomes a line break, so that what stood around it does not grow together. An opening marker that
    is never closed makes all that follows reasoning (the budget ran out inside it); a closing marker that was never
    opened makes all that precedes reasoning (the chat template had opened it).
    """
    for opening, closing in reasoning_markers:
        start = text.find(opening)
        while start >= 0 and (end := text.find(closing, start)) >= 0:
            text = text[:start] + "\n" + text[end + len(closing) :]
            start = text.find(opening, start)
        text = text.rpartition(closing)[2]
        text = text.partition(opening)[0]
    return text


def clean(text: str, reasoning_markers: ReasoningMarkers = THINK) -> str:
    """An answer made ready for matching: no reasoning, control characters as line breaks, ends stripped."""
    return _CONTROL.sub("\n", without_reasoning(text, reasoning_markers)).strip()


def recall(answer: str, targets: Targets, *, case_sensitive: bool = False) -> float:
    """Share of the targets, 0 to 1, of which the answer contains an accepted form; the case counts only if asked for.

    Question answering has one target with many forms, so that this is its maximum rule too. Source: RULER, section 4
    (recall-based accuracy). Case is folded character by character, without looking at the neighbours, so that a form
    is found whatever stands next to it.

    Raises:
        ValueError: there is no target.
    """
    _require(targets)
    if case_sensitive:
        return sum(any(form and form in answer for form in forms) for forms in targets) / len(targets)
    folded = answer.casefold()
    return sum(any(form and form.casefold() in folded for form in forms) for forms in targets) / len(targets)


def strict(
    answer: str,
    targets: Targets,
    distractors: Sequence[str] = (),
    pattern: str | None = None,
    given: Sequence[str] = (),
) -> float:
    r"""The stricter score beside `recall`, 0 to 1.

    Forms match at word boundaries (no letter or digit directly before or after), curly quotes equal straight ones,
    and ``9,984`` equals ``9984``. An *extra* is a distractor that the answer names, or any other item of the answers'
    shape.

    - several targets: F1 = 2 h / (h + e + t), with h targets found, e distinct extras and t targets;
    - one target with a pattern or distractors: 1 where it is found and there is no extra, else 0;
    - one target with neither: 1 where the whole answer equals an accepted form after SQuAD's normalisation (lower
      case, no punctuation, no articles, white space folded), else 0.

    Args:
        answer: the cleaned answer.
        targets: what was wanted, each target with its accepted forms.
        distractors: values that were planted to mislead.
        pattern: regular expression for the shape of an item, for example ``\d{7}``; matched case-sensitively at word
            boundaries. Without it, only distractors can be extras.
        given: items of that shape which the question itself names, so that repeating them is no mistake.

    Raises:
        ValueError: there is no target.
    """
    _require(targets)
    if len(targets) == 1 and pattern is None and not distractors:
        return float(any(_equal(answer, form) for form in targets[0] if form))
    tidy = _tidy(answer)
    folded = tidy.casefold()
    wanted = [{_fold(form) for form in forms if form} for forms in targets]
    found = sum(any(_stands_in(folded, form) for form in forms) for forms in wanted)
    known = set[str]().union(*wanted) | {_fold(item) for item in given}
    extras = len(_extras(tidy, folded, distractors, pattern) - known)
    if len(targets) == 1:
        return float(found == 1 and extras == 0)
    return 2 * found / (found + extras + len(targets))


def _require(targets: Targets) -> None:
    if not targets:
        raise ValueError("an answer cannot be scored without a target")


def _tidy(text: str) -> str:
    """One way to write quotes, composed letters and thousands; case as it was."""
    # ASCII has neither curly quotes nor composed letters; nearly all that is matched is ASCII.
    plain = text if text.isascii() else unicodedata.normalize("NFC", text).translate(_QUOTES)
    return _THOUSANDS.sub(lambda match: match[0].replace(",", ""), plain) if "," in plain else plain


def _fold(text: str) -> str:
    return _tidy(text).casefold()


def _stands_in(text: str, form: str) -> bool:
    """Whether the form occurs in the text with no letter or digit directly before or after it."""
    at = text.find(form) if form else -1
    while at >= 0:
        end = at + len(form)
        if not text[at - 1 : at].isalnum() and not text[end : end + 1].isalnum():
            return True
        at = text.find(form, at + 1)
    return False


def _extras(tidy: str, folded: str, distractors: Iterable[str], pattern: str | None) -> set[str]:
    """Distinct items, case folded, that the answer names: distractors, and whatever has the shape of an item."""
    items = {form for form in map(_fold, distractors) if _stands_in(folded, form)}
    if pattern is not None:
        at_boundaries = re.compile(f"(?<!{_LETTER_OR_DIGIT})(?:{pattern})(?!{_LETTER_OR_DIGIT})")
        items.update(match[0].casefold() for match in at_boundaries.finditer(tidy))
    return items


def _equal(answer: str, form: str) -> bool:
    wanted = normalised(form)
    # A form that is nothing but articles or punctuation would equal an empty answer.
    return normalised(answer) == wanted if wanted else _fold(answer).strip() == _fold(form).strip()


def normalised(text: str) -> str:
    """SQuAD's normalisation (Rajpurkar et al. 2016, section 6.1), extended to punctuation beyond ASCII."""
    kept = "".join(
        character
        for character in _fold(text)
        if character not in string.punctuation and not unicodedata.category(character).startswith("P")
    )
    return " ".join(_ARTICLES.sub(" ", kept).split())

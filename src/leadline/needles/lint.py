"""What a needle set should not do: give itself away by its words, or meet its haystack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

from leadline.needles.overlap import PUBLISHED, Overlap, overlap_of, words
from leadline.needles.sets import NeedleSet, Pair

Severity = Literal["error", "warning"]

FUNCTION_WORDS = (
    "a an the this that these those some any no not nor nothing something someone anyone both each every all one "
    "other i you he she it we they me him her us them my your his its our their who whom whose which what where "
    "when why how am is are was were be been being do does did doing have has had having will would shall should "
    "can could may might must at by for from in into of off on onto out over to up with without about after "
    "before between through under and or but if than then so as because while until there here very too also just "
    "only even ever never"
)
_LEFT_OVER = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"^(?:the|an?)\s+")
_KNOWN = {"char", "character", "haystack", "question", "choices", "0"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        severity: an error makes the set measure something else; a warning wants a look.
        check: which check found it.
        where: pair, name or set.
        message: what and why, in one line.
    """

    severity: Severity
    check: str
    where: str
    message: str


def lint(needle_set: NeedleSet, haystack_text: str | None = None, limits: Overlap = PUBLISHED) -> list[Finding]:
    """All findings on a set, and on the haystack that it is to stand in where its text is given.

    Direct questions repeat the needle on purpose; they are left out of the checks on shared words.
    """
    findings = [*_overlap(needle_set, limits), *_duplicates(needle_set), *_names(needle_set)]
    for pair in needle_set.pairs:
        findings += _texts(pair)
        if pair.hops != "direct":
            findings += _shared_words(pair)
    if haystack_text is not None:
        findings += _in_haystack(needle_set, haystack_text)
    return findings


def _overlap(needle_set: NeedleSet, limits: Overlap) -> Iterator[Finding]:
    if all(pair.hops == "direct" for pair in needle_set.pairs):
        return
    found = overlap_of(needle_set)
    rows = (
        ("ROUGE-1", found.rouge_1, limits.rouge_1),
        ("ROUGE-2", found.rouge_2, limits.rouge_2),
        ("ROUGE-L", found.rouge_l, limits.rouge_l),
    )
    for name, value, limit in rows:
        if round(value, 3) > limit:
            message = f"{name} precision of questions against needles is {value:.3f}, above the published {limit:.3f}"
            yield Finding("error", "overlap", needle_set.name, message)


def _duplicates(needle_set: NeedleSet) -> Iterator[Finding]:
    for left_out, first in needle_set.duplicates:
        message = f"its needle and question are those of {first}: it is not asked a second time"
        yield Finding("warning", "duplicate", left_out, message)


def _names(needle_set: NeedleSet) -> Iterator[Finding]:
    """Names that an answer could hold by accident."""
    for entry in dict.fromkeys(pair.entry for pair in needle_set.pairs):
        names = next(pair.characters for pair in needle_set.pairs if pair.entry == entry)
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield Finding("error", "name twice", entry, f"the name {name} stands twice in its character_set")
    for part, whole in permutations(needle_set.characters, 2):
        if part.casefold() in whole.casefold():
            message = f"the name {part} is part of {whole}: an answer with the one would hold the other"
            yield Finding("error", "name in a name", part, message)


def _texts(pair: Pair) -> Iterator[Finding]:
    """Placeholders left over, names in fixed text, and distractors that do not distract."""
    texts = {"needle": pair.needle_template, "question": pair.question_template}
    if pair.distractor_template is not None:
        texts["distractor"] = pair.distractor_template
    for field, text in texts.items():
        for found in _LEFT_OVER.findall(text.replace("{CHAR}", "")):
            severity: Severity = "error" if found.casefold() in _KNOWN else "warning"
            message = f"its {field} has {{{found}}} left over: no value is given for it"
            yield Finding(severity, "placeholder", pair.id, message)
        for name in pair.characters:
            if _occurs(name.lower(), text.lower()):
                message = f"its {field} has the word {name}, which is also a name that may be drawn"
                yield Finding("error", "name in the text", pair.id, message)
    distractor = pair.distractor_template
    if distractor is None:
        return
    for keyword in pair.question_keywords:
        if keyword not in distractor:
            yield Finding("warning", "distractor", pair.id, f"its distractor does not mention {keyword}")
    if "{CHAR}" in distractor or any(keyword in distractor for keyword in pair.needle_keywords):
        yield Finding("error", "distractor", pair.id, "its distractor holds the name or the needle's keyword")


def _shared_words(pair: Pair) -> Iterator[Finding]:
    function_words = set(words(FUNCTION_WORDS))
    shared = (set(words(_fixed(pair.question_template))) & set(words(_fixed(pair.needle_template)))) - function_words
    if shared:
        message = f"needle and question share {', '.join(sorted(shared))} (stemmed)"
        yield Finding("error", "shared word", pair.id, message)


def _fixed(template: str) -> str:
    return template.replace("{CHAR}", "")


def _in_haystack(needle_set: NeedleSet, text: str) -> Iterator[Finding]:
    plain = " ".join(text.split())
    folded = plain.lower()
    for name in needle_set.characters:
        if _occurs(name, plain):
            message = f"the name {name} occurs in the haystack: clean the haystack, or take another name"
            yield Finding("error", "name in the haystack", name, message)
    keywords = {keyword: "needle" for pair in needle_set.pairs for keyword in pair.needle_keywords}
    keywords |= {keyword: "question" for pair in needle_set.pairs for keyword in pair.question_keywords}
    for keyword, side in keywords.items():
        phrase = " ".join(_ARTICLE.sub("", keyword).split())
        # A capital tells the chemical symbol Na from the Scots for no.
        if _occurs(phrase, folded if phrase == phrase.lower() else plain):
            message = f"the {side}'s keyword {keyword!r} occurs in the haystack: remove the sentences that hold it"
            yield Finding("error", "keyword in the haystack", keyword, message)


def _occurs(phrase: str, text: str) -> bool:
    """Whether a phrase stands in a text as whole words."""
    # Few phrases are there at all, and looking for plain text is some hundred times as fast as looking for words.
    return phrase != "" and phrase in text and bool(re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text))

"""Making books out of prose: sentences that would answer a question are removed, the rest is cut, drawn and shuffled.

NoLiMa (arXiv 2502.05167, section 3.2) does so to keep a haystack from telling a story that a model knows, and from
answering a question by accident. Sizes are in words, so that a book is the same whatever tokenizer counts it later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from leadline.errors import UsageError
from leadline.haystacks.sentences import sentence_starts
from leadline.seeds import Draws, rng_for

LEAST_PIECE_WORDS, MOST_PIECE_WORDS = 30, 140
"""A piece has about so many words: well below 250 tokens by every vocabulary in use."""

BOOK_WORDS = 115_000
"""Words of a book: more than 130,000 tokens, so that 128K of them fit with a line to spare."""

_SPEAKS = re.compile(r"\b(?:said|cried|asked|replied|answered|exclaimed|murmured|whispered)\s+([A-Z][a-z]{2,})\b")
_NOT_NAMES = frozenset(
    {"The", "This", "That", "Captain", "Mrs", "Miss", "Sir", "Lord", "Lady", "Uncle", "Aunt", "Father"}
)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Prose without the sentences that a removal list names.

    Attributes:
        paragraphs: each its sentences, in order.
        removed: the sentences that were taken out, in order.
    """

    paragraphs: tuple[tuple[str, ...], ...]
    removed: tuple[str, ...]


def removal_pattern(expressions: Sequence[str]) -> re.Pattern[str] | None:
    """One pattern for a list of regular expressions, matched at the beginning of words and without regard to case.

    Raises:
        UsageError: one is no regular expression.
    """
    for expression in expressions:
        try:
            re.compile(expression)
        except re.error as error:
            raise UsageError(
                f"removal {expression!r} is no regular expression ({error}): mend or leave it out"
            ) from error
    return re.compile(rf"\b(?:{'|'.join(expressions)})", re.IGNORECASE) if expressions else None


def cleaned(texts: Iterable[str], removal: re.Pattern[str] | None) -> Cleaned:
    """The sentences of texts, paragraph by paragraph: headings, and what the pattern finds, are left out.

    A paragraph ends at an empty line; line breaks within it are spaces.
    """
    paragraphs: list[tuple[str, ...]] = []
    removed: list[str] = []
    for text in texts:
        for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
            paragraph = " ".join(block.split())
            if not re.search(r"[a-z]{2,}.*[.!?;:”\"'’]$", paragraph) or re.match(r"(?:CHAPTER|BOOK) ", paragraph):
                continue
            starts = sentence_starts(paragraph)
            sentences = [paragraph[start : end - 1] for start, end in pairwise(starts)]
            found = [sentence for sentence in sentences if removal is not None and removal.search(sentence)]
            removed += found
            if kept := tuple(sentence for sentence in sentences if sentence not in found):
                paragraphs.append(kept)
    return Cleaned(tuple(paragraphs), tuple(removed))


def pieces(paragraphs: Iterable[Sequence[str]], draws: Draws) -> list[str]:
    """Pieces of random length, each some sentences in a row; a sentence longer than a piece may be is left out."""
    made: list[str] = []
    words: list[str] = []
    wanted = _length(draws)
    for sentences in paragraphs:
        for sentence in sentences:
            length = len(sentence.split())
            if length > MOST_PIECE_WORDS:
                continue
            if words and (len(words) + length > MOST_PIECE_WORDS or len(words) >= wanted):
                made.append(" ".join(words))
                words, wanted = [], _length(draws)
            words += sentence.split()
    return [*made, " ".join(words)] if words else made


def make_book(made: Sequence[str], number: int, words: int, seed: int) -> str:
    """A book: pieces drawn at random, with replacement, one on each line, until it has so many words.

    Raises:
        UsageError: there are no pieces.
    """
    if not made:
        raise UsageError("nothing is left of the texts once they are cleaned: give more, or a shorter removal list")
    draws = rng_for(seed, "book", number)
    lines: list[str] = []
    count = 0
    while count < words:
        line = made[draws.below(len(made))]
        lines.append(line)
        count += line.count(" ") + 1
    return "\n".join(lines) + "\n"


def speaking_names(text: str, least: int = 3) -> tuple[str, ...]:
    """Names that occur beside a verb of speech at least so often, the commonest first."""
    counts: dict[str, int] = {}
    for name in _SPEAKS.findall(text):
        if name not in _NOT_NAMES:
            counts[name] = counts.get(name, 0) + 1
    return tuple(
        name for name, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])) if count >= least
    )


def _length(draws: Draws) -> int:
    return LEAST_PIECE_WORDS + draws.below(MOST_PIECE_WORDS - LEAST_PIECE_WORDS)

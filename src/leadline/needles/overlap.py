"""How many of a question's words stand in the text that answers it: ROUGE precision (NoLiMa, article table 1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from leadline.errors import UsageError
from leadline.needles.sets import NeedleSet

MEASURES = ("rouge1", "rouge2", "rougeL")


@dataclass(frozen=True, slots=True)
class Overlap:
    """ROUGE-1, ROUGE-2 and ROUGE-L precision, 0 to 1, as means over `count` pairs of texts."""

    rouge_1: float
    rouge_2: float
    rouge_l: float
    count: int


PUBLISHED = Overlap(rouge_1=0.069, rouge_2=0.002, rouge_l=0.067, count=58)
"""NoLiMa's own needle set (article table 1)."""


def overlap(texts: Iterable[tuple[str, str]]) -> Overlap:
    """Mean precision over (question, text that answers it).

    Words are stemmed and stop words count: with these settings the figures of RULER's S-NIAH come out as printed.

    Raises:
        UsageError: there are no texts.
    """
    scorer = _scorer()
    rows = [[scores[name].precision for name in MEASURES] for scores in (scorer.score(t, q) for q, t in texts)]
    if not rows:
        raise UsageError("there is no question to compare with its text: give at least one pair")
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return Overlap(means[0], means[1], means[2], len(rows))


def overlap_of(needle_set: NeedleSet, *, direct: bool = False) -> Overlap:
    """Overlap of a set's questions with their needles.

    Direct questions repeat the needle's keyword on purpose: they are measured alone or not at all.
    """
    return overlap(
        (pair.question(name), pair.needle(name))
        for pair in needle_set.pairs
        if (pair.hops == "direct") == direct
        for name in (pair.characters or ("",))[:1]
    )


def words(text: str) -> list[str]:
    """The words that ROUGE compares: small letters and digits, stemmed where longer than three characters."""
    return _tokenizer().tokenize(text)


@cache
def _tokenizer() -> Any:
    from rouge_score.tokenizers import DefaultTokenizer

    return DefaultTokenizer(use_stemmer=True)


@cache
def _scorer() -> Any:
    from rouge_score import rouge_scorer

    return rouge_scorer.RougeScorer(list(MEASURES), use_stemmer=True)

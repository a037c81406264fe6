"""What matching by substring adds to a score: recall against the strict score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analysis.intervals import CONFIDENCE, wilson
from leadline.scoring.trials import Scored

MATTERS_POINTS = 5.0
"""Inflation from which a cell's score by recall should not be read alone: as much as parts neighbours in a ranking."""


@dataclass(frozen=True, slots=True)
class Inflation:
    """Recall and the strict score of one task at one length.

    Attributes:
        n: trials with both scores.
        recall, strict: their means, in per cent.
        points: `recall` - `strict`. It can be below 0: an answer with one of four wanted items and nothing else has a
            recall of 25 and a strict score (F1) of 40.
        inflated: trials whose recall is above their strict score.
        rate, low, high: share of these with Wilson's interval, in per cent.
    """

    task: str
    length: int
    n: int
    recall: float
    strict: float
    points: float
    inflated: int
    rate: float
    low: float
    high: float

    @property
    def matters(self) -> bool:
        """Whether recall is above the strict score by `MATTERS_POINTS` or more."""
        return self.points >= MATTERS_POINTS - 1e-9

    def as_dict(self) -> dict[str, Any]:
        """The row as it may be written."""
        return {
            "task": self.task,
            "length": self.length,
            "n": self.n,
            "recall": self.recall,
            "strict": self.strict,
            "points": self.points,
            "inflated": self.inflated,
            "rate": self.rate,
            "low": self.low,
            "high": self.high,
            "matters": self.matters,
        }


def inflation(task: str, length: int, scores: Sequence[Scored], confidence: float = CONFIDENCE) -> Inflation:
    """Recall against strict over the scored trials of a cell.

    Raises:
        ValueError: there is none.
    """
    count = len(scores)
    inflated = sum(one.recall > one.strict + 1e-9 for one in scores)
    low, high = wilson(inflated, count, confidence)
    recall = 100 * math.fsum(one.recall for one in scores) / count
    strict = 100 * math.fsum(one.strict for one in scores) / count
    return Inflation(
        task=task,
        length=length,
        n=count,
        recall=recall,
        strict=strict,
        points=recall - strict,
        inflated=inflated,
        rate=100 * inflated / count,
        low=100 * low,
        high=100 * high,
    )

"""On which side of the threshold each length lies, and which effective lengths that leaves possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from leadline.analysis.intervals import CONFIDENCE, Interval, difference_interval
from leadline.analysis.lengths import LengthScore

Standing = Literal["passes", "fails", "undecided"]
"""Where a length's interval lies: above the threshold, below it, or on both sides."""

_DECIDED: Mapping[bool | None, Standing] = {True: "passes", False: "fails", None: "undecided"}

_ROUNDING = 1e-9
"""A score that equals its threshold but for floating-point error reaches it."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A score in per cent to be reached, with its own uncertainty where it is a share of a measured score.

    `simultaneous` is the interval that holds for all lengths together; None stands for that of `low` and `high`.
    `decided` are the lengths of which a stop rule has said whether they reach it, at its `confidence`; None where it
    leaves that open.
    """

    score: float
    low: float | None
    high: float | None
    simultaneous: Interval | None = None
    decided: Mapping[int, bool | None] = field(default_factory=dict[int, bool | None])
    confidence: float | None = None

    def interval(self, simultaneous: bool) -> Interval | None:
        """The threshold's own interval, of one length or of all of them together."""
        if simultaneous and self.simultaneous is not None:
            return self.simultaneous
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, slots=True)
class EffectiveSet:
    """The effective lengths that cannot be excluded.

    Attributes:
        lengths: in tokens, ascending. The greatest tested length stands for itself and all beyond it.
        below: that no tested length passes cannot be excluded either.
        confidence: probability with which the set holds the true effective length.
    """

    lengths: tuple[int, ...]
    below: bool
    confidence: float = CONFIDENCE

    @property
    def size(self) -> int:
        """Number of possibilities."""
        return len(self.lengths) + self.below

    def as_dict(self) -> dict[str, Any]:
        """The set as it stands in the summary."""
        return {"lengths": list(self.lengths), "below": self.below, "confidence": self.confidence}


def passes(score: LengthScore, threshold: float) -> bool | None:
    """Whether a length reaches the threshold (per cent); None where it is incomplete."""
    if score.score is None or not score.complete:
        return None
    return score.score >= threshold - _ROUNDING


def reaches(score: LengthScore, threshold: Threshold) -> bool | None:
    """Whether a length reaches the threshold: by the stop rule where it has decided, else by the score.

    A length that the rule leaves within the margin goes by its score too; its standing is `undecided`.
    """
    decided = threshold.decided.get(score.length)
    return passes(score, threshold.score) if decided is None else decided


def standings_of(
    scores: Sequence[LengthScore], threshold: Threshold, given: int | None, simultaneous: bool = False
) -> tuple[Standing, ...]:
    """Where each length's difference from the threshold lies, for each length alone or for all of them together."""
    return tuple(
        "passes"
        if score.length == given
        else _DECIDED[threshold.decided[score.length]]
        if score.length in threshold.decided
        else _standing(score, threshold, threshold.interval(simultaneous), simultaneous)
        for score in scores
    )


def _standing(score: LengthScore, threshold: Threshold, around: Interval | None, simultaneous: bool) -> Standing:
    own = None if score.low is None or score.high is None else (score.low, score.high)
    if simultaneous and score.simultaneous is not None:
        own = score.simultaneous
    if score.score is None or not score.complete or own is None or around is None:
        return "undecided"
    low, high = difference_interval(score.score, own, threshold.score, around)
    return "passes" if low >= -_ROUNDING else "fails" if high < -_ROUNDING else "undecided"


def greatest_set(scores: Sequence[LengthScore], standings: Sequence[Standing]) -> EffectiveSet | None:
    """Lengths that do not certainly fail and beyond which none certainly passes.

    If L is the greatest length that truly passes, L is left out only where its own interval or that of a longer
    length is wrong at one end. With simultaneous intervals that has at most the probability that the set allows.
    """
    if all(score.low is None for score in scores):
        return None
    last_sure = max((place for place, standing in enumerate(standings) if standing == "passes"), default=-1)
    lengths = tuple(
        score.length
        for place, (score, standing) in enumerate(zip(scores, standings, strict=True))
        if standing != "fails" and place >= last_sure
    )
    return EffectiveSet(lengths, below=last_sure < 0)


def strict_set(scores: Sequence[LengthScore], standings: Sequence[Standing]) -> EffectiveSet | None:
    """Lengths up to which none certainly fails and whose next one does not certainly pass."""
    if all(score.low is None for score in scores):
        return None
    before = next((place for place, standing in enumerate(standings) if standing == "fails"), len(standings))
    lengths = tuple(
        score.length
        for place, score in enumerate(scores[:before])
        if place + 1 == len(scores) or standings[place + 1] != "passes"
    )
    return EffectiveSet(lengths, below=bool(standings) and standings[0] != "passes")

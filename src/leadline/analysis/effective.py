"""The effective length: the greatest tested length whose score still reaches the threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from leadline.analysis.base_score import BaseRule, BaseScore
from leadline.analysis.design import Design
from leadline.analysis.intervals import CONFIDENCE
from leadline.analysis.lengths import LengthScore
from leadline.analysis.standings import (
    EffectiveSet,
    Standing,
    Threshold,
    greatest_set,
    passes,
    reaches,
    standings_of,
    strict_set,
)
from leadline.analysis.stopped import RuleName, StoppedRun

Censored = Literal["below", "above"]
NoClaim = Literal[
    "no_threshold",
    "missing_tasks",
    "zero_at_shortest",
    "one_length",
    "incomplete",
    "no_base",
    "zero_base",
    "not_asked",
]


@dataclass(frozen=True, slots=True)
class EffectiveLength:
    """An effective length by one rule.

    Attributes:
        value: in tokens, or None.
        censored: `below` where every tested length fails, `above` where the greatest tested one passes (it is `value`).
        threshold: score in per cent that is asked for, or None.
        confidence: level at which every interval that decides lies on its side of the threshold; None where one does
            not, or is missing.
        undecided: incomplete lengths, which neither pass nor fail.
        no_claim: why nothing is claimed, where nothing is.
        possible: all effective lengths that cannot be excluded; None where nothing is claimed, or where no length has
            an interval.
        standings: of each length, in order, by its own interval; empty where nothing is claimed.
        decided: lengths of which a stop rule has said whether they pass; None where it leaves that open.
    """

    value: int | None
    censored: Censored | None
    threshold: float | None
    confidence: float | None
    undecided: tuple[int, ...] = ()
    no_claim: NoClaim | None = None
    possible: EffectiveSet | None = None
    standings: tuple[Standing, ...] = ()
    decided: Mapping[int, bool | None] = field(default_factory=dict[int, bool | None])

    def passed(self, score: LengthScore) -> bool | None:
        """Whether a length passes; None where that is open, or no threshold is known."""
        if self.threshold is None:
            return None
        return self.decided[score.length] if score.length in self.decided else passes(score, self.threshold)

    def as_dict(self) -> dict[str, Any]:
        """The four values as they stand in the summary."""
        return {
            "value": self.value,
            "censored": self.censored,
            "threshold": self.threshold,
            "confidence": self.confidence,
        }


@dataclass(frozen=True, slots=True)
class EffectiveLengths:
    """The effective lengths of a run: by the suite's threshold, by the model's own score, and the strict variant.

    `strict` follows the absolute rule where that is claimed, else the relative one.
    """

    absolute: EffectiveLength
    relative: EffectiveLength
    strict: EffectiveLength


def effective_lengths(
    scores: Sequence[LengthScore], design: Design, present: Sequence[str], base: BaseScore | None = None
) -> EffectiveLengths:
    """All three, from the lengths' scores and the names of the tasks that these scores are over.

    Where the design has a base rule, the relative one is a share of the base score.
    """
    absolute, absolute_strict = _absolute(scores, design, set(present))
    if design.base is not None:
        relative, relative_strict = _by_base(scores, design, design.base, base)
    else:
        relative, relative_strict = _relative(scores, design)
    strict = absolute_strict if absolute.no_claim is None else relative_strict
    if design.stopped is None or not design.stopped_lengths:
        return EffectiveLengths(absolute, relative, strict)
    return _as_stopped(EffectiveLengths(absolute, relative, strict), design.stopped, scores)


def _as_stopped(lengths: EffectiveLengths, stopped: StoppedRun, scores: Sequence[LengthScore]) -> EffectiveLengths:
    """What a stop rule leaves of them: means that stopped by one threshold say little of another."""
    named = {"absolute": lengths.absolute, "relative": lengths.relative}
    for rule, length in named.items():
        if rule != stopped.rule and length.no_claim is None:
            named[rule] = _nothing("not_asked", scores, length.threshold)
    strict = lengths.strict
    if stopped.effective is not None:
        # The lengths below one that passes were not asked.
        strict = _nothing("not_asked", scores, strict.threshold)
        possible = EffectiveSet(stopped.effective.possible, stopped.effective.below, stopped.confidence)
        if named[stopped.rule].no_claim is None:
            named[stopped.rule] = replace(named[stopped.rule], possible=possible)
    return EffectiveLengths(named["absolute"], named["relative"], strict)


def category_effective_lengths(
    scores: Mapping[str, Sequence[LengthScore]], design: Design, present: Sequence[str]
) -> dict[str, EffectiveLength]:
    """By greatest passing, for each category that has a threshold.

    Nothing is claimed for a category that lacks one of the tasks its threshold speaks of.
    """
    lengths: dict[str, EffectiveLength] = {}
    for category, score in design.category_thresholds.items():
        asked = scores.get(category, ())
        if design.stopped_lengths:
            # The rule was certain of the mean over all tasks, and of no category's.
            lengths[category] = _nothing("not_asked", asked, score)
        elif set(design.category_tasks.get(category, ())) <= set(present):
            lengths[category] = greatest_passing(asked, Threshold(score, score, score))
        else:
            lengths[category] = _nothing("missing_tasks", asked, score)
    return lengths


def _absolute(
    scores: Sequence[LengthScore], design: Design, present: set[str]
) -> tuple[EffectiveLength, EffectiveLength]:
    if design.threshold_absolute is None:
        return _twice(_nothing("no_threshold", scores))
    score = design.threshold_absolute
    threshold = Threshold(score, score, score, decided=_decided(design, "absolute"), confidence=_level(design))
    if not set(design.claims_tasks) <= present:
        return _twice(_nothing("missing_tasks", scores, threshold.score))
    return greatest_passing(scores, threshold), all_shorter_pass(scores, threshold)


def _relative(scores: Sequence[LengthScore], design: Design) -> tuple[EffectiveLength, EffectiveLength]:
    share = design.threshold_relative
    if share is None or not scores:
        return _twice(_nothing("no_threshold", scores))
    shortest = scores[0]
    if shortest.score is None or not shortest.complete:
        return _twice(_nothing("incomplete", scores))
    threshold = Threshold(
        share * shortest.score,
        None if shortest.low is None else share * shortest.low,
        None if shortest.high is None else share * shortest.high,
        None if shortest.simultaneous is None else (share * shortest.simultaneous[0], share * shortest.simultaneous[1]),
        _decided(design, "relative"),
        _level(design),
    )
    if shortest.score == 0:
        return _twice(_nothing("zero_at_shortest", scores, threshold.score))
    if len(scores) == 1:
        return _twice(_nothing("one_length", scores, threshold.score))
    # The shortest length keeps all of its own score by definition, so its interval decides nothing.
    return (
        greatest_passing(scores, threshold, given=shortest.length),
        all_shorter_pass(scores, threshold, given=shortest.length),
    )


def _by_base(
    scores: Sequence[LengthScore], design: Design, rule: BaseRule, base: BaseScore | None
) -> tuple[EffectiveLength, EffectiveLength]:
    """By a share of the base score; lengths below the shortest that can be effective are left out."""
    if base is None or base.score is None or base.low is None or base.high is None:
        return _twice(_nothing("no_base", scores))
    tested = [score for score in scores if score.length >= rule.shortest]
    if not tested:
        return _twice(_nothing("no_threshold", scores))
    threshold = Threshold(
        rule.times * base.score,
        rule.times * base.low,
        rule.times * base.high,
        decided=_decided(design, "relative"),
        confidence=_level(design),
    )
    if base.score == 0:
        return _twice(_nothing("zero_base", tested, 0.0))
    return greatest_passing(tested, threshold), all_shorter_pass(tested, threshold)


def greatest_passing(scores: Sequence[LengthScore], threshold: Threshold, given: int | None = None) -> EffectiveLength:
    """The paper's rule: the greatest tested length that passes, whatever shorter ones do.

    Args:
        scores: ascending by length.
        threshold: what a length must reach.
        given: a length that passes by definition.
    """
    standings = standings_of(scores, threshold, given)
    found = EffectiveLength(
        value=None,
        censored="below",
        threshold=threshold.score,
        confidence=None,
        undecided=_undecided(scores, threshold),
        possible=_possible(greatest_set(scores, standings_of(scores, threshold, given, simultaneous=True)), threshold),
        standings=standings,
        decided=threshold.decided,
    )
    passing = [score for score in scores if reaches(score, threshold)]
    if not passing:
        if found.undecided or not scores:
            return _nothing("incomplete", scores, threshold.score, threshold)
        return replace(found, confidence=_confidence(scores, threshold, given))
    best = passing[-1]
    return replace(
        found,
        value=best.length,
        censored="above" if best is scores[-1] else None,
        confidence=_confidence([score for score in scores if score.length >= best.length], threshold, given),
    )


def all_shorter_pass(scores: Sequence[LengthScore], threshold: Threshold, given: int | None = None) -> EffectiveLength:
    """The strict rule: the greatest tested length up to which every length passes."""
    count = next((index for index, score in enumerate(scores) if not reaches(score, threshold)), len(scores))
    found = EffectiveLength(
        value=None,
        censored="below",
        threshold=threshold.score,
        confidence=_confidence(scores[: count + 1], threshold, given),
        undecided=_undecided(scores, threshold),
        possible=_possible(strict_set(scores, standings_of(scores, threshold, given, simultaneous=True)), threshold),
        standings=standings_of(scores, threshold, given),
        decided=threshold.decided,
    )
    if count == 0:
        if not scores or scores[0].length in found.undecided:
            return _nothing("incomplete", scores, threshold.score, threshold)
        return found
    censored = "above" if count == len(scores) else None
    return replace(found, value=scores[count - 1].length, censored=censored)


def _decided(design: Design, rule: RuleName) -> Mapping[int, bool | None]:
    return {} if design.stopped is None else design.stopped.passes(rule)


def _level(design: Design) -> float | None:
    return None if design.stopped is None else design.stopped.confidence


def _possible(found: EffectiveSet | None, threshold: Threshold) -> EffectiveSet | None:
    """Nothing where a stop rule decided: its verdicts hold for each length, and not for all of them together."""
    return None if threshold.decided else found


def _undecided(scores: Sequence[LengthScore], threshold: Threshold | None = None) -> tuple[int, ...]:
    decided = {} if threshold is None else threshold.decided
    return tuple(
        score.length for score in scores if score.length not in decided and (score.score is None or not score.complete)
    )


def _confidence(deciding: Sequence[LengthScore], threshold: Threshold, given: int | None) -> float | None:
    """The level at which each deciding length lies clear of the threshold: by intervals, ends of both compared.

    Where a stop rule has decided it is that rule's.
    """
    levels: list[float] = []
    for score in deciding:
        if score.length == given:
            continue
        if score.length in threshold.decided:
            if threshold.decided[score.length] is None or threshold.confidence is None:
                return None
            levels.append(threshold.confidence)
            continue
        if score.low is None or score.high is None or threshold.low is None or threshold.high is None:
            return None
        verdict = passes(score, threshold.score)
        clear = score.low >= threshold.high if verdict else score.high < threshold.low
        if verdict is None or not clear:
            return None
        levels.append(CONFIDENCE)
    return min(levels, default=CONFIDENCE)


def _nothing(
    reason: NoClaim, scores: Sequence[LengthScore], score: float | None = None, threshold: Threshold | None = None
) -> EffectiveLength:
    return EffectiveLength(None, None, score, None, _undecided(scores, threshold), reason)


def _twice(length: EffectiveLength) -> tuple[EffectiveLength, EffectiveLength]:
    return length, length

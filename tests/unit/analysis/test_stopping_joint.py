"""The effective length as one claim, from the lengths' decisions."""

from __future__ import annotations

import pytest

from leadline.analysis.stopping import Decision, Verdict
from leadline.analysis.stopping_joint import EffectiveRule

LENGTHS = (1024, 2048, 4096, 8192)
PASSES: dict[Verdict, bool | None] = {"above": True, "below": False, "within": None, "open": None}


def decided(**verdicts: Verdict) -> dict[int, Decision]:
    """Decisions by length, named k1, k2, k4, k8."""
    return {
        1024 * int(name[1:]): Decision(verdict, PASSES[verdict], 5, 500, (0.8, 0.8))
        for name, verdict in verdicts.items()
    }


def test_the_greatest_length_is_asked_first_and_shorter_ones_only_where_it_fails() -> None:
    rule = EffectiveRule(LENGTHS)
    assert rule.settle({}).ask == (8192,)
    assert rule.settle(decided(k8="open")).ask == (8192,)
    assert rule.settle(decided(k8="below")).ask == (4096,)
    claim = rule.settle(decided(k8="below", k4="above"))
    assert (claim.possible, claim.below, claim.settled) == ((4096,), False, True)


def test_a_shorter_length_that_was_decided_already_waits_for_the_greater_ones() -> None:
    claim = EffectiveRule(LENGTHS).settle(decided(k4="above"))
    assert claim.possible == (4096, 8192)
    assert claim.ask == (8192,)


def test_a_length_within_the_margin_leaves_two_possibilities() -> None:
    claim = EffectiveRule(LENGTHS).settle(decided(k8="below", k4="within", k2="above"))
    assert (claim.possible, claim.settled) == ((2048, 4096), True)


def test_no_length_may_pass() -> None:
    claim = EffectiveRule(LENGTHS).settle(decided(k8="below", k4="below", k2="below", k1="below"))
    assert (claim.possible, claim.below, claim.settled) == ((), True, True)


def test_a_length_that_passes_by_definition_is_never_asked() -> None:
    claim = EffectiveRule(LENGTHS, given=1024).settle(decided(k8="below", k4="below", k2="below"))
    assert (claim.possible, claim.below, claim.settled) == ((1024,), False, True)


def test_an_exhausted_length_with_missing_trials_may_pass_or_fail() -> None:
    decisions = decided(k4="above") | {8192: Decision("exhausted", None, 500, 500, (0.7, 0.9))}
    assert EffectiveRule(LENGTHS).settle(decisions).possible == (4096, 8192)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_whatever_the_truth_is_the_errors_add_up_to_no_more_than_is_allowed(confidence: float) -> None:
    rule = EffectiveRule(LENGTHS, confidence)
    errors = [rule.errors(length) for length in reversed(LENGTHS)]
    for place, (_, below) in enumerate(errors):
        assert below + sum(above for above, _ in errors[:place]) <= 1 - confidence + 1e-12
        assert below > 0
    assert sum(above for above, _ in errors) <= 1 - confidence
    assert errors[0][1] == pytest.approx(1 - confidence)


def test_lengths_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="ascend"):
        EffectiveRule((2048, 1024))
    with pytest.raises(ValueError, match="between 0 and 1"):
        EffectiveRule(LENGTHS, 95)
    with pytest.raises(ValueError, match="none of the lengths"):
        EffectiveRule(LENGTHS).errors(3000)

"""Stopping against a share of another score."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.analysis.base_score import BaseRule, Observation, base_score
from leadline.analysis.stopping import UNKNOWN, Round
from leadline.analysis.stopping_relative import base_ends, paired, relative_rule

ITEMS = 300


def pairs(test: float, reference: float, seed: int = 1) -> list[Round]:
    """Rounds of one task whose scores have these means."""
    draws = np.random.default_rng(seed).random((2, ITEMS))
    return [
        paired({"a": (float(ours), float(ours))}, {"a": (float(theirs), float(theirs))}, 0.85)
        for ours, theirs in zip(draws[0] < test, draws[1] < reference, strict=True)
    ]


@pytest.mark.parametrize(("test", "reference", "passes"), [(0.9, 0.7, True), (0.5, 0.9, False), (0.1, 0.9, False)])
def test_a_length_far_from_its_share_is_decided_early(test: float, reference: float, passes: bool) -> None:
    decision = relative_rule({"a": ITEMS}, 0.85).decide(pairs(test, reference))
    assert decision.passes is passes
    assert decision.rounds < ITEMS / 2


def test_an_exhausted_length_compares_with_the_share_exactly() -> None:
    reference: Round = {"a": (1.0, 1.0)}
    for right, passes in ((17, True), (16, False)):
        rounds = [paired({"a": (1.0, 1.0) if number < right else (0.0, 0.0)}, reference, 0.85) for number in range(20)]
        assert relative_rule({"a": 20}, 0.85, error_above=1e-9, error_below=1e-9).decide(rounds).passes is passes


def test_a_missing_reference_stands_for_both_its_ends() -> None:
    low, high = paired({"a": (1.0, 1.0)}, {"a": UNKNOWN}, 0.85)["a"]
    assert low == pytest.approx(1 / 1.85)
    assert high == 1.0
    assert paired({"a": (0.0, 0.0), "b": UNKNOWN}, {"a": (1.0, 1.0)}, 0.85) == {"a": (0.0, 0.0)}


RULE = BaseRule(0.85, (250, 500, 1000))


def trial(pair: str, length: int, score: float, depth: float = 0.0) -> Observation:
    return Observation(pair, depth, length, f"{pair}{depth}", score)


def test_a_base_without_unknown_trials_is_a_number() -> None:
    known = [trial(pair, length, float(length == 500)) for pair in "ab" for length in RULE.lengths]
    score = base_score(known, RULE).score
    assert score is not None
    assert base_ends(known, [], RULE) == (score / 100, score / 100)
    assert base_ends(known[:-1], [], RULE) is None


def test_trials_without_an_answer_leave_a_base_between_two_ends() -> None:
    known = [trial("a", length, 1.0) for length in RULE.lengths] + [trial("b", 250, 0.0), trial("b", 500, 0.0)]
    low, high = base_ends(known, [trial("b", 1000, 0.5)], RULE) or (None, None)
    filled = [base_score([*known, trial("b", 1000, score)], RULE).score for score in (0.0, 1.0)]
    assert (low, high) == tuple(sorted((score or 0.0) / 100 for score in filled))
    many = [trial("b", 1000, 0.5, depth) for depth in range(9)]
    assert base_ends(known, many, RULE) == (0.0, 1.0)


def test_the_published_design_keeps_its_ends_however_many_trials_failed() -> None:
    known = [trial("a", length, float(depth % 2), depth) for length in RULE.lengths for depth in range(130)]
    low, high = base_ends(known[:-10], [one._replace(score=0.5) for one in known[-10:]], RULE) or (None, None)
    assert low == pytest.approx(0.5) and high == pytest.approx((60 + 10) / 130)


def test_a_share_of_a_pair_holds_the_margin_in_the_tests_own_score() -> None:
    rule = relative_rule({"a": 10}, 0.85, margin=0.01)
    assert rule.threshold == pytest.approx(0.85 / 1.85)
    assert rule.margin == pytest.approx(0.01 / 1.85)

"""Stopping against a share of another score."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.analysis.stopping import UNKNOWN, Round
from leadline.analysis.stopping_relative import base_bounds, paired, relative_rule

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


def test_a_base_lies_between_the_mean_and_the_greatest_of_its_lengths() -> None:
    assert base_bounds([(1.0, 1.0), (0.0, 0.0), (1.0, 1.0)]) == (pytest.approx(2 / 3), 1.0)
    assert base_bounds([UNKNOWN, (0.0, 0.0)]) == (0.0, 1.0)
    with pytest.raises(ValueError, match="base"):
        base_bounds([])


def test_a_share_of_a_pair_holds_the_margin_in_the_tests_own_score() -> None:
    rule = relative_rule({"a": 10}, 0.85, margin=0.01)
    assert rule.threshold == pytest.approx(0.85 / 1.85)
    assert rule.margin == pytest.approx(0.01 / 1.85)

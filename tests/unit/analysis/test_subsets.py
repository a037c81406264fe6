"""Thresholds and effective lengths of subsets of pairs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from leadline.analysis.base_score import BaseRule, Observation
from leadline.analysis.subsets import Subset, subsets

RULE = BaseRule(times=0.85, lengths=(250, 500, 1000))
LABELS = {
    "a": {"hops": "onehop", "order": "default", "group": "1"},
    "b": {"hops": "onehop", "order": "inverted", "group": "1"},
    "c": {"hops": "twohop", "order": "default", "group": "1"},
}
TRIALS = 130


def observed(rates: Mapping[str, Mapping[int, float]]) -> list[Observation]:
    """Trials of which just the given share is right, in each half of the depths alike."""
    return [
        Observation(pair, float(number % 26), length, (pair, number), float(number < round(rate * TRIALS)))
        for pair, by_length in rates.items()
        for length, rate in by_length.items()
        for number in range(TRIALS)
    ]


def whole(rates: Mapping[int, float], rule: BaseRule = RULE) -> Subset:
    return subsets("t", observed({"a": rates}), LABELS, rule)[0]


BASE = {250: 0.8, 500: 1.0, 1000: 0.9}


@pytest.mark.parametrize(
    ("longer", "effective", "censored"),
    [
        ({2000: 0.9, 4000: 0.86, 8000: 0.5}, 4000, None),
        ({2000: 0.9, 4000: 0.86}, 4000, "above"),
        ({2000: 0.2, 4000: 0.9, 8000: 0.1}, 4000, None),
        ({2000: 0.5}, 1000, None),
        ({}, 1000, "above"),
    ],
)
def test_the_effective_length_is_the_greatest_that_keeps_85_per_cent(
    longer: dict[int, float], effective: int, censored: str | None
) -> None:
    found = whole({**BASE, **longer})
    assert found.base.score == 100
    assert found.threshold == 85
    assert (found.effective, found.censored) == (effective, censored)


def test_below_1k_nothing_is_claimed_but_that_it_is_below() -> None:
    found = whole({250: 1.0, 500: 1.0, 1000: 0.5, 2000: 0.4})
    assert (found.effective, found.censored) == (None, "below")
    assert found.as_dict()["effective_length"] == {"value": None, "censored": "below"}


def test_a_length_exactly_at_the_threshold_passes() -> None:
    rule = BaseRule(times=0.5, lengths=(250, 500, 1000))
    assert whole({**BASE, 2000: 0.5}, rule).effective == 2000


@pytest.mark.parametrize("rates", [{250: 1.0, 500: 1.0, 2000: 1.0}, {2000: 1.0}, {250: 0.0, 500: 0.0, 1000: 0.0}])
def test_without_a_base_there_are_scores_and_no_claim(rates: dict[int, float]) -> None:
    found = whole(rates)
    assert (found.effective, found.censored) == (None, None)
    assert [length.score for length in found.lengths] == [100 * rate for _, rate in sorted(rates.items())]
    assert all(length.normalised is None for length in found.lengths)


def test_lengths_are_normalised_by_the_base_and_marked_below_half() -> None:
    found = whole({250: 0.8, 500: 0.8, 1000: 0.8, 2000: 0.6, 4000: 0.3})
    assert [round(length.normalised or 0, 1) for length in found.lengths] == [100, 100, 100, 75, 37.5]
    assert [length.below_half for length in found.lengths] == [False] * 4 + [True]
    assert {length.n for length in found.lengths} == {TRIALS}


def test_pairs_weigh_the_same_whatever_their_number_of_trials() -> None:
    made = observed({"a": {**BASE, 2000: 1.0}, "c": {**BASE, 2000: 0.0}})
    fewer = [trial for trial in made if (trial.pair, trial.length) != ("c", 2000) or trial.depth == 3]
    length = subsets("t", fewer, LABELS, RULE)[0].lengths[-1]
    assert (length.length, length.score) == (2000, 50)
    assert length.n == TRIALS + 5
    assert length.low is not None and length.high is not None
    assert length.low < 50 < length.high


def test_each_factor_that_has_several_values_makes_subsets_with_bases_of_their_own() -> None:
    made = observed({"a": {**BASE, 2000: 0.9}, "b": {**BASE, 2000: 0.5}, "c": {250: 0.4, 500: 0.2, 1000: 0.1, 2000: 0}})
    found = {(subset.factor, subset.value): subset for subset in subsets("t", made, LABELS, RULE)}
    assert list(found) == [
        ("all", ""),
        ("hops", "onehop"),
        ("hops", "twohop"),
        ("order", "default"),
        ("order", "inverted"),
    ]
    assert [subset.pairs for subset in found.values()] == [3, 2, 1, 2, 1]
    assert found["all", ""].base.score == pytest.approx(80)
    assert found["hops", "onehop"].base.score == 100
    assert found["hops", "twohop"].base.score == pytest.approx(40)
    assert found["hops", "onehop"].effective == 1000
    assert found["hops", "twohop"].censored == "below"

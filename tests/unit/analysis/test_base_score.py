"""NoLiMa's base score: the maximum of three means where there are trials enough, cross-fitted where there are not."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from statistics import mean

import pytest

from leadline.analysis.base_score import FULL_TRIALS, BaseRule, Observation, base_score

LENGTHS = (250, 500, 1000)
RULE = BaseRule(times=0.85, lengths=LENGTHS)
DEPTHS = tuple(4.0 * step for step in range(26))

Chance = Callable[[str, int, float], float]


def trials(score: Chance, pairs: int, books: int, depths: tuple[float, ...] = DEPTHS) -> list[Observation]:
    """One trial of each pair at each depth of each book and at each base length."""
    return [
        Observation(f"p{pair}", depth, length, (pair, depth, book), score(f"p{pair}", length, depth))
        for pair, length, depth, book in product(range(pairs), LENGTHS, depths, range(books))
    ]


def coins(seed: int, chance: float) -> Chance:
    draws = random.Random(seed)
    return lambda pair, length, depth: float(draws.random() < chance)


def greatest(observations: list[Observation]) -> float:
    """The published rule, in per cent."""
    pairs = {trial.pair for trial in observations}
    return 100 * mean(
        max(
            mean(trial.score for trial in observations if (trial.pair, trial.length) == (pair, length))
            for length in LENGTHS
        )
        for pair in pairs
    )


def test_the_whole_design_takes_the_greatest_mean_of_each_pair() -> None:
    made = trials(coins(1, 0.6), pairs=4, books=5)
    base = base_score(made, RULE)
    assert base.trials_per_pair == FULL_TRIALS == 130
    assert not base.cross_fitted
    assert base.score == pytest.approx(greatest(made))
    assert base.low is not None and base.high is not None
    assert base.low < 100 * 0.6 < base.high


def test_each_pair_takes_its_own_length() -> None:
    best = {"p0": 250, "p1": 1000}
    base = base_score(trials(lambda pair, length, depth: float(length == best[pair]), pairs=2, books=5), RULE)
    assert base.score == 100
    assert base.pairs == 2


def test_other_lengths_do_not_count() -> None:
    made = trials(coins(2, 0.3), pairs=3, books=5)
    longer = [trial._replace(length=2000, score=1.0) for trial in made]
    assert base_score([*made, *longer], RULE) == base_score(made, RULE)


@pytest.mark.parametrize("books", [1, 2])
def test_few_trials_make_the_greatest_too_high_and_cross_fitting_does_not(books: int) -> None:
    chance, crossed, biased = 0.6, list[float](), list[float]()
    for seed in range(30):
        made = trials(coins(seed, chance), pairs=12, books=books)
        base = base_score(made, RULE)
        assert base.cross_fitted
        assert base.score is not None
        crossed.append(base.score)
        biased.append(greatest(made))
    # 30 means over 12 pairs of 26 or 52 trials each: a standard error of about half a point.
    assert mean(crossed) == pytest.approx(100 * chance, abs=1.5)
    assert mean(biased) > 100 * chance + 4 / books


def test_cross_fitting_finds_a_length_that_is_better() -> None:
    draws = random.Random(5)
    made = trials(lambda pair, length, depth: float(draws.random() < (0.95 if length == 500 else 0.4)), 20, 1)
    base = base_score(made, RULE)
    assert base.cross_fitted
    assert base.score == pytest.approx(95, abs=3)


def test_one_trial_of_a_pair_takes_the_length_that_is_best_for_the_others() -> None:
    made = [
        Observation(f"p{pair}", DEPTHS[pair % 26], length, pair, float(length == 250))
        for pair in range(40)
        for length in LENGTHS
    ]
    base = base_score(made, RULE)
    assert (base.score, base.trials_per_pair, base.cross_fitted) == (100, 1, True)
    odd = [trial._replace(score=1.0 - trial.score) if trial.pair == "p7" else trial for trial in made]
    # The one pair that is different has the length of the others, and scores 0 there.
    assert base_score(odd, RULE).score == pytest.approx(100 * 39 / 40)


def test_without_a_base_length_there_is_no_base_score() -> None:
    made = trials(coins(3, 0.5), pairs=3, books=1)
    without = base_score([trial for trial in made if trial.length != 500], RULE)
    assert (without.score, without.low, without.high, without.incomplete) == (None, None, None, (500,))
    partly = base_score([trial for trial in made if (trial.pair, trial.length) != ("p1", 1000)], RULE)
    assert (partly.score, partly.incomplete) == (None, (1000,))
    nothing = base_score([], RULE)
    assert (nothing.score, nothing.pairs, nothing.incomplete) == (None, 0, ())
    assert partly.as_dict()["incomplete"] == [1000]


def test_a_pair_that_is_short_of_trials_makes_all_cross_fitted() -> None:
    made = trials(coins(4, 0.5), pairs=2, books=5)
    base = base_score(made[:-1], RULE)
    assert (base.trials_per_pair, base.cross_fitted) == (129, True)


def test_the_order_of_trials_does_not_matter() -> None:
    made = trials(coins(6, 0.5), pairs=4, books=1)
    shuffled = random.Random(1).sample(made, len(made))
    assert base_score(shuffled, RULE) == base_score(made, RULE)

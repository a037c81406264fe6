"""Intervals of means over tasks and lengths."""

from __future__ import annotations

import numpy
import pytest
from scipy.stats import binomtest

from leadline.analysis.strata import Stratum, make_stratum, stratified_interval


def scores_of(values: list[float]) -> list[tuple[object, float]]:
    return list(enumerate(values))


def test_one_length_is_the_mean_and_its_variance() -> None:
    values = [1.0, 0.0, 0.5, 1.0]
    stratum = make_stratum([(1.0, scores_of(values))])
    assert (stratum.mean, stratum.items) == (0.625, 4)
    assert stratum.variance == pytest.approx(numpy.var(values, ddof=1) / 4)


def test_over_lengths_an_item_is_one_unit() -> None:
    random = numpy.random.default_rng(3)
    lengths = [list(map(float, random.integers(0, 2, 30))) for _ in range(3)]
    weights = [0.5, 0.3, 0.2]
    stratum = make_stratum([(w, scores_of(values)) for w, values in zip(weights, lengths, strict=True)])
    together = numpy.average(numpy.array(lengths), axis=0, weights=weights)
    assert stratum.mean == pytest.approx(together.mean())
    assert stratum.variance == pytest.approx(together.var(ddof=1) / 30)
    assert stratum.items == 30


def test_lengths_may_have_different_items() -> None:
    some, more = scores_of([1.0, 0.0, 1.0]), scores_of([1.0, 0.0, 1.0, 0.0, 0.0])
    stratum = make_stratum([(0.5, some), (0.5, more)])
    assert (stratum.mean, stratum.items) == (pytest.approx((2 / 3 + 0.4) / 2), 3)


def test_one_item_cannot_tell_its_variance() -> None:
    assert make_stratum([(1.0, scores_of([1.0]))]).variance is None
    low, high = stratified_interval([Stratum(1.0, 1, None), Stratum(0.0, 1, None)])
    assert low < 0.1 and high > 0.9


@pytest.mark.parametrize("items", [1, 5, 25, 500])
def test_all_right_is_the_exact_binomial_interval_of_all_trials(items: int) -> None:
    strata = [Stratum(1.0, items, None if items == 1 else 0.0)] * 13
    low, high = stratified_interval(strata)
    exact = binomtest(13 * items, 13 * items).proportion_ci(method="exact")
    assert high == 1
    # Student's t in place of z widens it where there are few items.
    assert exact.low - 0.03 <= low <= exact.low + 1e-9
    if items in (1, 500):
        assert low == pytest.approx(exact.low, abs=1e-6)


def test_all_wrong_mirrors_all_right() -> None:
    right, wrong = (stratified_interval([Stratum(mean, 20, 0.0)] * 4) for mean in (1.0, 0.0))
    assert wrong == pytest.approx((1 - right[1], 1 - right[0]))


def test_strata_that_differ_have_a_narrower_mean_than_one_plain_sample() -> None:
    parted = [Stratum(0.999, 500, 0.001 / 500), Stratum(0.5, 500, 0.25 / 500)]
    alike = [Stratum(0.7495, 500, 0.1877 / 500)] * 2
    widths = [high - low for low, high in map(stratified_interval, (parted, alike))]
    assert widths[0] < widths[1]


def test_a_few_small_deviations_do_not_prove_that_no_trial_fails() -> None:
    values = [1.0] * 49 + [0.8]
    low, _ = stratified_interval([make_stratum([(1.0, scores_of(values))])] * 2)
    assert low < 0.98


def test_nothing_has_no_mean() -> None:
    with pytest.raises(ValueError, match="at least one stratum"):
        stratified_interval([])
    with pytest.raises(ValueError, match="a score at each"):
        make_stratum([(1.0, [])])

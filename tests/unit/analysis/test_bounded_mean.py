"""The betting interval of a bounded mean."""

from __future__ import annotations

import math
import time

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.analysis.bounded_mean import LARGEST_BET, betting_interval


@pytest.mark.parametrize("count", [1, 2, 5, 25, 500])
def test_all_right_does_not_collapse(count: int) -> None:
    low, high = betting_interval([1.0] * count)
    # Nearly every bet is as large as it may be: the capital is (1 + c (1 / m - 1))^n, and 2 / 0.05 of it excludes m.
    expected = 1 / (1 + (40 ** (1 / count) - 1) / LARGEST_BET)
    assert high == 1
    assert expected - 1e-3 <= low <= expected + 1e-9 or (count <= 2 and low == 0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_it_holds_the_mean_and_mirrors(values: list[float]) -> None:
    low, high = betting_interval(values)
    assert -1e-9 <= low <= math.fsum(values) / len(values) + 1e-9
    assert math.fsum(values) / len(values) - 1e-9 <= high <= 1 + 1e-9
    assert betting_interval([1 - value for value in values]) == pytest.approx((1 - high, 1 - low), abs=1e-6)


def test_equal_values_away_from_the_ends_keep_a_width() -> None:
    low, high = betting_interval([0.5] * 100)
    assert 0.4 < low < 0.5 < high < 0.6


def test_more_confidence_is_wider() -> None:
    values = [0.25, 0.5, 1.0, 0.75] * 20
    narrow, wide = betting_interval(values, 0.9), betting_interval(values, 0.99)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_it_covers() -> None:
    random = numpy.random.default_rng(7)
    missed = 0
    for _ in range(300):
        low, high = betting_interval(list(random.binomial(4, 0.95, 50) / 4))
        missed += not low <= 0.95 <= high
    assert missed <= 15


def test_it_is_fast() -> None:
    values = list(numpy.random.default_rng(1).binomial(4, 0.9, 500) / 4)
    started = time.perf_counter()
    for _ in range(20):
        betting_interval(values)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("values", [[], [1.5], [-0.1], [math.nan]])
def test_values_must_be_from_0_to_1(values: list[float]) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        betting_interval(values)

"""Draws: known values, which must never change, and what the samples rest on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.seeds import Permutation, key_for, rng_for


def test_draws_are_pinned() -> None:
    draws = rng_for(42, "niah", 3, "places")
    assert draws.words(3).tolist() == [527760789793491185, 3979769562096630263, 2679936419498638624]
    assert draws.below(1000) == 307
    assert draws.fractions(2).tolist() == [0.06715311542383107, 0.7084985737246053]
    assert draws.order(8).tolist() == [2, 1, 4, 6, 0, 5, 7, 3]


def test_permutations_are_pinned() -> None:
    assert rng_for(7, "small").permutation(10).take(0, 10).tolist() == [1, 9, 3, 2, 8, 7, 4, 5, 6, 0]
    large = rng_for(7, "pool").permutation(10_000_019)
    assert large.take(0, 6).tolist() == [4113443, 6838727, 3620901, 6611615, 2501113, 9348421]


def test_keys_are_pinned_and_tell_kinds_apart() -> None:
    assert key_for(42, "a", 1) == 0x2DC3F76B9582420206912CB043A20AAB
    assert len({key_for(42, "a", 1), key_for(42, "a", "1"), key_for(42, "a1"), key_for(43, "a", 1)}) == 4


@given(st.integers(1, 3000), st.integers(0, 2**32))
def test_a_permutation_is_a_bijection(size: int, seed: int) -> None:
    permutation = rng_for(seed).permutation(size)
    assert sorted(permutation.take(0, size).tolist()) == list(range(size))


@given(st.integers(1, 10**9), st.integers(0, 2**32), st.data())
def test_elements_of_a_permutation_do_not_depend_on_how_many_are_taken(
    size: int, seed: int, data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, min(size, 50)))
    first = data.draw(st.integers(0, count - 1))
    permutation = rng_for(seed).permutation(size)
    taken = permutation.take(0, count)
    assert permutation.take(first, count - first).tolist() == taken[first:].tolist()
    assert len(set(taken.tolist())) == count
    assert taken.min() >= 0
    assert taken.max() < size


def test_a_pool_that_is_too_small_is_an_error() -> None:
    with pytest.raises(IndexError):
        Permutation(5, (1, 2, 3, 4)).take(3, 3)


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 2**32))
def test_a_larger_order_keeps_the_smaller_ones(count: int, more: int, seed: int) -> None:
    smaller = rng_for(seed, "x").order(count).tolist()
    larger = rng_for(seed, "x").order(count + more).tolist()
    assert sorted(smaller) == list(range(count))
    assert [element for element in larger if element < count] == smaller


@given(st.integers(0, 100), st.integers(0, 100))
def test_a_longer_draw_begins_with_the_shorter_one(count: int, more: int) -> None:
    assert rng_for(1, "w").words(count + more)[:count].tolist() == rng_for(1, "w").words(count).tolist()


@given(st.integers(1, 2**63), st.integers(0, 2**32))
def test_numbers_stay_below_their_limit(limit: int, seed: int) -> None:
    assert 0 <= rng_for(seed).below(limit) < limit


def test_fractions_are_uniform() -> None:
    fractions = rng_for(3, "uniform").fractions(20_000)
    assert fractions.min() >= 0
    assert fractions.max() < 1
    counts = np.histogram(fractions, 20, (0, 1))[0]
    assert float(((counts - 1000) ** 2 / 1000).sum()) < 43.8  # chi-square, 19 degrees of freedom, p = 0.001

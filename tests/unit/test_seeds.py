"""Draws: known values, which must never change, and what the samples rest on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.seeds import Permutation, key_for, rng_for


def test_draws_are_pinned() -> None:
    draws = rng_for(42, "niah", 3, "places")
    assert draws.words(3).tolist() == [1673627153431476320, 8639346989097101050, 11801014392052839237]
    assert draws.below(1000) == 935
    assert draws.fractions(2).tolist() == [0.22462267532210978, 0.9613550698165771]
    assert draws.order(8).tolist() == [4, 0, 7, 3, 5, 6, 2, 1]


def test_permutations_are_pinned() -> None:
    assert rng_for(7, "small").permutation(10).take(0, 10).tolist() == [3, 1, 4, 7, 9, 8, 5, 6, 2, 0]
    large = rng_for(7, "pool").permutation(10_000_019)
    assert large.take(0, 6).tolist() == [1225366, 7907143, 7905630, 7698323, 8910024, 1212173]


def test_keys_are_pinned_and_tell_kinds_apart() -> None:
    assert key_for(42, "a", 1) == 0xF9DD1A64E8A5CBDC
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


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 2**64 - 1))
def test_few_words_and_many_are_the_same_stream(few: int, more: int, seed: int) -> None:
    drawn = rng_for(seed, "stream")
    parts = [*drawn.words(few).tolist(), *drawn.words(more).tolist()]
    assert parts == rng_for(seed, "stream").words(few + more).tolist()


def test_fractions_fill_the_unit_interval_evenly() -> None:
    counts, _ = np.histogram(rng_for(1, "even").fractions(100_000), bins=100, range=(0, 1))
    # Chi-square over 99 degrees of freedom: 149 has a probability of one in a thousand.
    assert ((counts - 1000) ** 2 / 1000).sum() < 149


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

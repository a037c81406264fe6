"""What stopping will cost, from known models."""

from __future__ import annotations

import pytest

from leadline.analysis.stopping_forecast import expected_shares, printed_means
from leadline.reference.tables import read_table


def test_the_categories_means_give_the_printed_scores() -> None:
    models = printed_means()
    rows = read_table("ruler").rows
    assert list(models) == [row.model for row in rows]
    for row in rows:
        for length, means in models[row.model].items():
            assert 100 * sum(means.values()) / len(means) == pytest.approx(row.scores[length], abs=0.1)
    assert sum(map(len, models.values())) == 95


def test_the_published_models_take_about_a_tenth() -> None:
    shares = expected_shares((4096, 65536), items=200, threshold=0.856, runs=1)
    assert 0.01 < shares[4096] < shares[65536] < 0.5


def test_shorter_lengths_are_not_asked_for_the_effective_length_where_a_greater_one_passes() -> None:
    known = {"sure": {4096: {"a": 0.99, "b": 0.99}, 8192: {"a": 0.99, "b": 0.99}}}
    shares = expected_shares((4096, 8192), 100, 0.8, claim="effective", models=known)
    assert shares[4096] == 0
    assert 0 < shares[8192] < 0.5


def test_a_length_that_was_not_measured_counts_as_the_nearest() -> None:
    known = {"falling": {4096: {"a": 1.0}, 131072: {"a": 0.79}}}
    shares = expected_shares((2048, 100_000), 100, 0.8, models=known)
    assert shares[2048] < 0.3 < shares[100_000]

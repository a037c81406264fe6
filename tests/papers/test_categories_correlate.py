"""RULER's claim (appendix C) that its four categories do not stand for one another, on tables 13 to 16."""

from __future__ import annotations

import pytest

from leadline.analysis.correlation import published_category_scores, task_correlation

CATEGORIES = {"retrieval", "tracing", "aggregation", "qa"}


def test_no_category_stands_for_another_within_the_claimed_lengths() -> None:
    correlation = task_correlation(published_category_scores())
    assert len(correlation.scores.points) == 126
    assert len(correlation.clusters(0.8)) == 4
    assert correlation.redundant(0.8).dropped == ()
    assert correlation.between("tracing", "aggregation") == pytest.approx(0.771, abs=0.001)
    assert set(correlation.order) == CATEGORIES


def test_lengths_beyond_the_claimed_one_make_the_categories_alike() -> None:
    within = task_correlation(published_category_scores())
    everywhere = task_correlation(published_category_scores(within_claimed=False))
    assert len(everywhere.scores.points) == 24 * 6
    assert len(everywhere.clusters(0.8)) == 1
    for first in CATEGORIES:
        for second in CATEGORIES - {first}:
            inside, outside = within.between(first, second), everywhere.between(first, second)
            assert inside is not None and outside is not None and outside > inside

"""Rates of failure kinds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leadline.analysis.failures import failure_rates, shown
from leadline.analysis.intervals import wilson

from .conftest import MakeRecord


def test_rates_are_shares_of_the_wrong_answers_with_wilson_intervals(make_record: MakeRecord) -> None:
    records = [make_record("niah", 1024, index) for index in range(5)]
    records += [replace(make_record("niah", 1024, 5 + index, "no"), failure="partial") for index in range(3)]
    records += [replace(make_record("niah", 1024, 8, ""), failure="empty")]
    records += [replace(make_record("niah", 2048, 8, ""), failure="empty")]
    found = failure_rates(records)
    rows = [(row.task, row.length, row.kind, row.count, row.of_wrong, row.rate) for row in found.rates]
    assert rows == [
        ("niah", 1024, "empty", 1, 4, 25.0),
        ("niah", 1024, "partial", 3, 4, 75.0),
        ("niah", 2048, "empty", 1, 1, 100.0),
    ]
    low, high = wilson(3, 4)
    assert (found.rates[1].low, found.rates[1].high) == (pytest.approx(100 * low), pytest.approx(100 * high))
    assert found.rates[2].low > 0
    assert found.rates[2].low < 100


def test_outcomes_that_are_no_answer_and_right_answers_are_not_counted(make_record: MakeRecord) -> None:
    records = [make_record("vt", 1024, 0), make_record("vt", 1024, 1, "I cannot assist", "refused")]
    found = failure_rates([*records, make_record("vt", 1024, 2, "no")])
    assert found.rates == ()
    assert found.unjudged == 1


def test_the_newest_record_of_a_key_counts(make_record: MakeRecord) -> None:
    old = replace(make_record("vt", 1024, 0, ""), failure="empty")
    assert failure_rates([old, make_record("vt", 1024, 0)]).rates == ()


def test_excerpts_are_few_and_short_and_of_different_tasks_first(make_record: MakeRecord) -> None:
    records = [
        replace(make_record(task, 1024, index, "n" * 500), failure="partial")
        for task in ("vt", "cwe")
        for index in range(5)
    ]
    shown = failure_rates(records).excerpts["partial"]
    assert [excerpt.task for excerpt in shown] == ["cwe", "vt", "cwe"]
    assert all(len(excerpt.text) == 200 for excerpt in shown)
    assert shown[0].wanted == ("yes",)


def test_rates_over_all_tasks_of_a_length(make_record: MakeRecord) -> None:
    records = [replace(make_record("vt", 1024, index, "no"), failure="partial") for index in range(3)]
    records += [replace(make_record("niah", 1024, 0, ""), failure="empty")]
    found = failure_rates(records)
    rows = [(row.task, row.length, row.kind, row.count, row.of_wrong) for row in found.by_length]
    assert rows == [(None, 1024, "empty", 1, 4), (None, 1024, "partial", 3, 4)]
    assert set(found.as_dict()) == {"rates", "by_length", "unjudged"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\tb\n\n c", "a b c"),
        ("a\u202eb\u202c", "a[U+202E]b[U+202C]"),
        ("\x1b[31mred\x00", "[U+001B][31mred[U+0000]"),
        ("zero\u200bwidth", "zero[U+200B]width"),
        ("half \ud800", "half [U+D800]"),
        ("z\u0301\u0302\u0303\u0304", "z\u0301\u0302"),
        ("naïve — ‘quoted’ 日本語", "naïve — ‘quoted’ 日本語"),
    ],
)
def test_what_others_wrote_is_fit_to_be_shown(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize("text", ["n" * 500, "\u202e" * 500, "n" * 199 + "\x00", " " * 3000 + "n", "a " * 300])
def test_what_is_shown_is_short(text: str) -> None:
    assert len(shown(text)) <= 200

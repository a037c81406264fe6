"""Every printed figure of NoLiMa's tables that can be derived, derived again from the printed scores."""

from __future__ import annotations

import csv
from importlib.resources import files

import pytest

from leadline.analysis.leaderboard import standings
from leadline.analysis.verdict import format_effective
from leadline.reference.tables import TABLES, read_table


def printed(table: str) -> dict[str, dict[str, str]]:
    text = (files("leadline.reference") / TABLES[table].file).read_text(encoding="utf-8")
    return {line["model"]: line for line in csv.DictReader(text.splitlines())}


def test_all_thresholds_and_effective_lengths_of_the_main_table() -> None:
    lines = printed("nolima")
    rows = standings(read_table("nolima"))
    assert len(rows) == len(lines) == 18
    for row in rows:
        line = lines[row.model]
        assert row.effective.threshold == pytest.approx(float(line["threshold"]), abs=0.1)
        assert format_effective(row.effective, 1000, 1000) == line["effective"]
        assert row.remarks == ()


def test_a_gap_in_the_scores_leaves_no_average_but_an_effective_length() -> None:
    row = next(row for row in standings(read_table("nolima")) if row.model == "Llama 4 Maverick")
    assert (row.figures.average, row.rank_dec) == (None, None)
    assert (row.effective.value, row.effective.undecided) == (2000, (8000, 16000, 32000))


def test_rows_stand_in_the_order_of_their_base_scores() -> None:
    for table in ("nolima", "nolima-hard"):
        bases = [row.base for row in standings(read_table(table)) if row.base is not None]
        assert bases == sorted(bases, reverse=True)


def test_the_hardest_pairs_are_asked_from_4k_up() -> None:
    effective = {row.model: format_effective(row.effective, 4000, 1000) for row in standings(read_table("nolima-hard"))}
    assert effective["GPT-o1"] == "4K"
    assert effective["GPT-o3 Mini"] == "<4K"


def test_without_base_scores_no_effective_length_is_claimed() -> None:
    assert all(row.effective.value is None for row in standings(read_table("nolima-long")))


def test_k_is_1000_in_nolima_and_1024_in_ruler() -> None:
    assert read_table("nolima").lengths[-1] == 32000
    assert read_table("ruler").lengths[3] == 32768
    claimed = {row.model: row.claimed_tokens for row in standings(read_table("nolima"))}
    assert claimed["Gemini 1.5 Pro"] == 2_000_000

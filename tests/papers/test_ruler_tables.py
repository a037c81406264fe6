"""Every printed figure of RULER's tables that can be derived, derived again from the printed scores."""

from __future__ import annotations

import csv
import math
from importlib.resources import files

import pytest

from leadline.analysis.leaderboard import Standing, standings
from leadline.analysis.verdict import format_effective
from leadline.reference.models import models_named, published_models
from leadline.reference.sources import SOURCES
from leadline.reference.tables import TABLES, THIRTEEN, read_table
from leadline.tasks.registry import RULER_TASKS, make_task

PAPER = ("ruler", "ruler-base", "niah", "vt", "aggregation", "qa", "passkey", "vanilla-niah")
WITH_RANKS = ("ruler", "ruler-base", "niah", "vt", "aggregation", "qa")

PRINTED_WITHOUT_MARK = {
    ("vt", "GPT-4"),
    ("vt", "Command-R-plus (104B)"),
    ("vt", "Jamba-base (52B)"),
    ("vt", "LWM-base (7B)"),
    ("qa", "GPT-4"),
    ("qa", "Llama3.1 (8B)"),
}
"""Rows whose effective length is printed as 128K and is the greatest tested length."""

LATER_EFFECTIVE = {
    "Qwen3-14B (14B)": "64K",
    "Qwen2.5-7B-Instruct-1M (7B)": "64K",
    "Qwen3-8B (8B)": "32K",
    "Qwen3-4B (4B)": "32K",
    "EXAONE-4.0-1.2B (1.2B)": "16K",
}
"""Rows of the later leaderboard whose printed effective length contradicts their scores, and what these say."""


def printed(table: str) -> dict[str, dict[str, str]]:
    """The file as it stands, read without the package's own reader."""
    text = (files("leadline.reference") / TABLES[table].file).read_text(encoding="utf-8")
    return {line["model"]: line for line in csv.DictReader(text.splitlines())}


def rows(table: str) -> dict[str, Standing]:
    return {row.model: row for row in standings(read_table(table))}


def effective(row: Standing, table: str) -> str:
    return format_effective(row.effective, read_table(table).lengths[0], TABLES[table].k)


@pytest.mark.parametrize("table", PAPER)
def test_every_average_of_the_paper_follows_from_its_scores(table: str) -> None:
    lines = printed(table)
    for model, row in rows(table).items():
        assert row.figures.average == pytest.approx(float(lines[model]["avg"]), abs=0.1)


@pytest.mark.parametrize("table", WITH_RANKS)
def test_every_weighted_average_and_rank_of_the_paper_follows_from_its_scores(table: str) -> None:
    lines = printed(table)
    for model, row in rows(table).items():
        assert row.figures.wavg_inc == pytest.approx(float(lines[model]["wavg_inc"]), abs=0.1)
        assert row.figures.wavg_dec == pytest.approx(float(lines[model]["wavg_dec"]), abs=0.1)
        assert (row.rank_inc, row.rank_dec) == (int(lines[model]["rank_inc"]), int(lines[model]["rank_dec"]))


@pytest.mark.parametrize("table", WITH_RANKS)
def test_every_effective_length_of_the_paper_is_the_greatest_passing_one(table: str) -> None:
    lines = printed(table)
    for model, row in rows(table).items():
        wanted = ">128K" if (table, model) in PRINTED_WITHOUT_MARK else lines[model]["effective"]
        assert effective(row, table) == wanted, model
        if (table, model) in PRINTED_WITHOUT_MARK:
            assert lines[model]["effective"] == "128K"
            assert "effective length >128K, printed 128K" in row.remarks


def test_the_strict_rule_parts_from_the_paper_s_in_two_rows() -> None:
    parted = {
        (table, row.model): row.strict.value
        for table in WITH_RANKS
        for row in rows(table).values()
        if (row.strict.value, row.strict.censored) != (row.effective.value, row.effective.censored)
    }
    assert parted == {("niah", "Yi (34B)"): 4096, ("vt", "LongLoRA-base (7B)"): 16384}


def test_thresholds_are_the_baselines_of_each_table() -> None:
    thresholds = {table: read_table(table).thresholds for table in WITH_RANKS}
    assert thresholds == {
        "ruler": {"chat": 85.6},
        "ruler-base": {"base": 79.4},
        "niah": {"chat": 96.9, "base": 90.9},
        "vt": {"chat": 89.7, "base": 58.8},
        "aggregation": {"chat": 84.8, "base": 73.1},
        "qa": {"chat": 49.7, "base": 48.6},
    }


def test_the_thirteen_task_scores_are_the_categories_weighted_by_their_tasks() -> None:
    """Tables 13 to 16 add up to tables 3 and 12, to the rounding of both, at every length of every model."""
    parts = {name: rows(name) for name in ("niah", "vt", "aggregation", "qa")}
    for table in ("ruler", "ruler-base"):
        for model, row in rows(table).items():
            name = "Gemini-1.5" if model == "Gemini-1.5-Pro" else model
            for place, score in enumerate(row.scores):
                sums = [
                    len(TABLES[part].tasks) * (found[name].scores[place].score or 0.0) for part, found in parts.items()
                ]
                assert math.fsum(sums) / len(THIRTEEN) == pytest.approx(score.score, abs=0.15), (model, score.length)


def test_the_later_leaderboard_contradicts_its_own_scores_in_seven_places() -> None:
    lines = printed("later")
    contradicted: dict[str, str] = {}
    for model, row in rows("later").items():
        if effective(row, "later") != lines[model]["effective"]:
            contradicted[model] = effective(row, "later")
            assert f"printed {lines[model]['effective']}" in " ".join(row.remarks)
    assert contradicted == LATER_EFFECTIVE
    averages = {
        model
        for model, row in rows("later").items()
        if row.figures.average is None or abs(row.figures.average - float(lines[model]["avg"])) > 0.1 + 1e-9
    }
    # The second has no score at 128K, and the print averages the other five.
    assert averages == {"Qwen2.5-14B-Instruct-1M (14B)", "EXAONE-4.0-1.2B (1.2B)"}
    assert "average 95.2, printed 95.7" in rows("later")["Qwen2.5-14B-Instruct-1M (14B)"].remarks
    assert any("84.2 is over the 5 lengths" in remark for remark in rows("later")["EXAONE-4.0-1.2B (1.2B)"].remarks)


def test_score_tables_and_table_4_tell_two_stories_of_three_models() -> None:
    told = {
        (table, row.model, remark)
        for table in PAPER
        for row in rows(table).values()
        for remark in row.remarks
        if "table 4" in remark
    }
    assert {(model, remark) for _, model, remark in told} == {
        ("Mixtral-8x22B (39B/141B)", "claimed length 64K, in table 4 32K"),
        ("DBRX (36B/132B)", "claimed length 32K, in table 4 1M"),
        ("GLM4 (9B)", "claimed length 128K, in table 4 1M"),
        ("Command-R-plus (35B)", "table 4 has Command-R-plus with 104B"),
    }


def test_table_4_has_37_models() -> None:
    models = published_models()
    assert len(models) == len({model.identifier for model in models}) == 37
    assert [model.size for model in models_named("Llama3.1 (8B)")[0]] == ["70B", "8B"]
    assert not next(model for model in models if model.name == "Jamba-base").aligned


def test_tables_name_the_tasks_of_the_suite_by_category() -> None:
    assert THIRTEEN == RULER_TASKS
    categories = {"niah": "retrieval", "vt": "tracing", "aggregation": "aggregation", "qa": "qa"}
    for table, category in categories.items():
        assert TABLES[table].tasks == tuple(name for name in RULER_TASKS if make_task(name).category == category)


def test_every_file_has_a_source_and_every_source_a_file() -> None:
    there = {entry.name for entry in files("leadline.reference").iterdir() if entry.name.endswith(".csv")}
    assert there == set(SOURCES)
    assert {info.file for info in TABLES.values()} < there

"""Charts as data."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from leadline.analysis.summary import summarise
from leadline.report.charts import SERIES_COLOURS, score_by_length, to_svg

from .conftest import Run, design_of, records_of


def rows_of(chart: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The data of the first layer whose rows have this key."""
    for layer in chart["layer"]:
        values: list[dict[str, Any]] = layer["data"]["values"] if "data" in layer else []
        if values and key in values[0]:
            return values
    return []


def test_one_line_for_the_mean_and_one_for_each_category(plain: Run) -> None:
    chart = score_by_length(plain.summary, plain.design)
    rows = rows_of(chart, "series")
    assert {row["series"] for row in rows} == {"mean", "retrieval", "tracing"}
    assert [row["score"] for row in rows if row["series"] == "mean"] == [100, 100, 50]


def test_only_aggregates_are_in_the_chart(plain: Run) -> None:
    assert len(rows_of(score_by_length(plain.summary, plain.design), "series")) == 3 * 3


def test_series_differ_by_colour_and_dash_and_shape(plain: Run) -> None:
    text = json.dumps(score_by_length(plain.summary, plain.design))
    assert all(f'"{channel}"' in text for channel in ("color", "strokeDash", "shape"))
    assert SERIES_COLOURS[0] in text


def test_thresholds_and_intervals_are_drawn_where_they_are(plain: Run, mixed: Run) -> None:
    chart = score_by_length(plain.summary, plain.design)
    assert rows_of(chart, "label") == [{"score": 85.0, "label": "85 % of 1K"}]
    assert len(rows_of(chart, "low")) == 3
    labels = [row["label"] for row in rows_of(score_by_length(mixed.summary, mixed.design), "label")]
    assert labels == ["85.6 asked for", "85 % of 1K"]


def test_lengths_are_labelled_as_people_write_them(plain: Run) -> None:
    svg = to_svg(score_by_length(plain.summary, plain.design))
    assert all(f">{label}</text>" in svg for label in ("1K", "2K", "4K"))
    assert "currentColor" in svg


def test_a_run_without_records_can_be_drawn(empty: Run) -> None:
    assert to_svg(score_by_length(empty.summary, empty.design)).startswith("<svg")


def test_a_name_that_is_no_xml_is_drawn_with_its_code_points() -> None:
    """A control character in a label would end the drawing, and the program with it."""
    design = design_of((1024, 2048))
    first, *others = design.tasks
    design = replace(design, tasks=(replace(first, category="kept\x1b[31m\u202e"), *others))
    run = summarise(records_of(design, {}, 2048), design)
    svg = to_svg(score_by_length(run, design))
    assert "kept[U+001B][31m[U+202E]" in svg

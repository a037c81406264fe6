"""The charts of a run: which there are, what they hold, and what goes with each."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from leadline.analysis.cells import Cell
from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.summary import Summary, summarise
from leadline.errors import UsageError
from leadline.records import OUTCOMES
from leadline.report.charts import to_svg
from leadline.report.drawing import Chart, as_csv, on_paper, write_charts
from leadline.report.gallery import charts_of
from leadline.report.outcomes import COLOURS
from leadline.report.sweeps import Sweep, sweeps_of

from .conftest import HOSTILE, Run, records_of

KEYS = {"type_haystack": "essay", "type_key": "word", "type_value": "number", "num_keys": 1, "output_tokens": 128}


def swept(**params: dict[str, Any]) -> tuple[Summary, Design, dict[str, Any]]:
    """A run whose tasks have these parameters."""
    design = Design(
        "sweeps",
        "m",
        "published",
        (1024, 2048),
        tuple(TaskDesign(name, "retrieval", binary=True) for name in params),
        samples=4,
    )
    tasks = {name: {"version": 1, "params": known} for name, known in params.items()}
    return summarise(records_of(design, {}, 2048), design), design, {"identity": {"tasks": tasks}}


def panels_of(chart: Chart, width_px: int = 640) -> list[dict[str, Any]]:
    return [panel for group in chart.make(width_px)["vconcat"] for panel in group["concat"]]


def test_only_charts_with_something_to_show(plain: Run, mixed: Run, empty: Run) -> None:
    assert list(charts_of(plain.summary, plain.design, {})) == [
        "claimed_and_effective",
        "score_by_length",
        "score_by_task",
    ]
    assert "outcomes_by_length" in charts_of(mixed.summary, mixed.design, {})
    assert list(charts_of(empty.summary, empty.design, {})) == ["claimed_and_effective", "score_by_length"]


def test_every_chart_has_words_and_its_data_and_is_drawn_wide_and_narrow(mixed: Run) -> None:
    for name, chart in charts_of(mixed.summary, mixed.design, {}).items():
        assert chart.name == name
        assert chart.caption.endswith(".")
        assert chart.text.endswith(".")
        drawing = chart.drawing()
        assert drawing.wide.startswith("<svg")
        assert drawing.narrow.startswith("<svg")
        head, _, data = drawing.table.partition(",")
        assert head == "data:text/csv;charset=utf-8"
        rows = list(csv.DictReader(io.StringIO(unquote(data))))
        assert len(rows) == len(chart.rows())
        assert all(None not in row and None not in row.values() for row in rows)


def test_a_panel_for_every_task_in_the_groups_of_the_table(mixed: Run) -> None:
    chart = charts_of(mixed.summary, mixed.design, {})["score_by_task"]
    groups = chart.make(640)["vconcat"]
    assert [group["title"]["text"] for group in groups] == ["retrieval", "tracing"]
    assert [panel["title"]["text"] for panel in panels_of(chart)] == ["niah_single_1", f"keys {HOSTILE}", "vt"]
    assert "Hollow points are incomplete" in chart.caption
    assert '"threshold": 85.6' in json.dumps(panels_of(chart)[0])
    assert '"length": 1024' not in json.dumps(panels_of(chart)[2]["data"]), "absent there"


def test_a_telephone_gets_fewer_columns(plain: Run) -> None:
    design = replace(plain.design, tasks=tuple(TaskDesign(f"task_{n}", "a", binary=True) for n in range(6)))
    chart = charts_of(summarise(records_of(design, {}, 4096), design), design, {})["score_by_task"]
    wide, narrow = chart.make(640)["vconcat"][0], chart.make(250)["vconcat"][0]
    assert (wide["columns"], narrow["columns"]) == (4, 2)
    assert all(panel["width"] >= 96 for panel in (*wide["concat"], *narrow["concat"]))


def test_the_threshold_of_a_task_is_that_of_its_category(mixed: Run) -> None:
    design = replace(mixed.design, category_thresholds={"retrieval": 96.9})
    chart = charts_of(mixed.summary, design, {})["score_by_task"]
    assert [row["threshold"] for row in chart.rows()[::3]] == [96.9, 96.9, 85.6]
    assert "the threshold of the category" in chart.caption


def test_outcomes_are_shares_of_the_trials_of_a_length(mixed: Run) -> None:
    chart = charts_of(mixed.summary, mixed.design, {})["outcomes_by_length"]
    counts = {(row["length"], row["outcome"]): row["trials"] for row in chart.rows()}
    assert counts[2048, "truncated_output"] == 1
    assert counts[2048, "answered"] == 11
    assert counts[4096, "failed"] == 1
    assert "2K, answered 92, truncated output 8" in chart.text
    assert set(COLOURS) == set(OUTCOMES)


def test_tasks_that_differ_in_one_parameter_are_a_sweep() -> None:
    summary, design, manifest = swept(
        one=KEYS,
        four=KEYS | {"num_keys": 4},
        two=KEYS | {"num_keys": 2, "output_tokens": 999},
        uuid=KEYS | {"type_key": "uuid", "type_value": "uuid"},
        neither=KEYS | {"num_keys": 8, "type_haystack": "repeat"},
        other={"alpha": 2.0, "output_tokens": 50},
    )
    found = {sweep.parameter: sweep.values for sweep in sweeps_of(design, manifest)}
    assert found == {
        "num_keys": (("1", "one"), ("2", "two"), ("4", "four")),
        "types_of_key_and_value": (("word, number", "one"), ("uuid, uuid", "uuid")),
    }
    chart = charts_of(summary, design, manifest)["score_by_difficulty"]
    assert [row["value"] for row in chart.rows()][:6] == ["1", "1", "2", "2", "4", "4"]
    assert len(panels_of(chart)) == 2
    assert ">uuid, uuid</text>" in to_svg(chart.data())


def test_sweeps_of_one_parameter_say_what_else_is_fixed() -> None:
    pair = {"type_key": "uuid", "type_value": "uuid"}
    summary, design, manifest = swept(
        key_1=KEYS, key_2=KEYS | {"num_keys": 2}, key_3=KEYS | pair, key_4=KEYS | pair | {"num_keys": 2}
    )
    titles = [
        panel["title"]["text"] for panel in panels_of(charts_of(summary, design, manifest)["score_by_difficulty"])
    ]
    assert titles == [
        "key: keys",
        "key: keys (uuid, uuid)",
        "key: types",
        "key: types (keys 2)",
    ]


@pytest.mark.parametrize("manifest", [{}, {"identity": {}}, {"identity": {"tasks": {"vt": {"params": None}}}}])
def test_a_run_that_knows_no_parameters_has_no_sweeps(plain: Run, manifest: dict[str, Any]) -> None:
    assert sweeps_of(plain.design, manifest) == list[Sweep]()


def test_on_paper_the_ink_is_dark_and_the_data_are_what_they_were() -> None:
    described = {
        "mark": {"color": "currentColor"},
        "data": {"values": [{"name": "currentColor"}]},
        "layer": ["currentColor"],
    }
    inked = on_paper(described)
    assert inked["mark"]["color"] == inked["layer"][0] == "#1a1a1a"
    assert inked["data"]["values"] == [{"name": "currentColor"}]
    assert inked["background"] == "#ffffff"


def test_charts_become_files(plain: Run, tmp_path: Path) -> None:
    charts = {name: chart.data() for name, chart in charts_of(plain.summary, plain.design, {}).items()}
    folder = tmp_path / "new" / "charts"
    assert [path.name for path in write_charts(charts, folder, "svg")] == [f"{name}.svg" for name in charts]
    write_charts(charts, folder, "png")
    for name in charts:
        svg = (folder / f"{name}.svg").read_text(encoding="utf-8")
        assert "currentColor" not in svg
        assert 'fill="#ffffff"' in svg
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_folder_that_is_none_is_one_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(UsageError, match=r"--svg .*file is a file: name a folder"):
        write_charts({}, file, "svg")
    with pytest.raises(UsageError, match=r"--png: .* cannot be written \(Not a directory\): name another folder"):
        write_charts({}, file / "below", "png")
    (tmp_path / "taken.svg").mkdir()
    with pytest.raises(UsageError, match=r"taken\.svg cannot be written \(Is a directory\)"):
        write_charts({"taken": {"mark": "point", "data": {"values": []}}}, tmp_path, "svg")


def test_rows_are_written_as_csv() -> None:
    assert as_csv([{"a": 1, "b": None}, {"a": "x,y", "b": "\ud800"}]) == 'a,b\n1,\n"x,y",?\n'
    assert as_csv([]) == "\n"


def test_a_page_of_many_tasks_stays_small(plain: Run) -> None:
    """The drawings grow with cells, never with trials."""
    tasks = tuple(TaskDesign(f"task_{n}", "a", binary=True) for n in range(13))
    cells = tuple(
        Cell(task.name, length, 500, {"answered": 500}, 90.0, 88.0, 92.0, 90.0, complete=True, absent=False)
        for task in tasks
        for length in plain.design.lengths
    )
    summary = replace(plain.summary, cells=cells)
    chart = charts_of(summary, replace(plain.design, tasks=tasks), {})["score_by_task"]
    drawing = chart.drawing()
    assert len(drawing.wide) + len(drawing.narrow) + len(drawing.table) < 300_000

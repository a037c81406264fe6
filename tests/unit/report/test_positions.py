"""Positions and failure kinds on the page and on the console."""

from __future__ import annotations

import html
import io
import itertools
import json
import random
import re
from dataclasses import replace
from typing import Any

import pytest

from leadline.analysis.design import Design
from leadline.analysis.findings import Findings, findings
from leadline.analysis.summary import summarise
from leadline.analysis.verdict import verdict
from leadline.records import Record
from leadline.report.charts import to_svg
from leadline.report.console import show
from leadline.report.failures import COLOURS, kinds_by_length
from leadline.report.page import render_page
from leadline.report.positions import SCALE, depth_by_length, positions_section, score_by_depth
from leadline.requests import Response
from leadline.scoring.failures import KINDS

from .conftest import HOSTILE, Run, design_of, records_of

LENGTHS = (1024, 2048, 4096)
ANSWER = f"no {HOSTILE} \u202ereversed\x07 " + "n" * 300


def failing(design: Design, samples: int = 30) -> list[Record]:
    """Records of a reader that forgets the middle at the greatest length, in several ways."""
    draws = random.Random(1)
    made: list[Record] = []
    for plain in records_of(replace(design, samples=samples), {}, 1 << 40):
        depth = (plain.key.item.index * 61.8) % 100
        factors = {"depth": depth, "spread": 50.0} if plain.key.item.task == "vt" else {"depth": depth}
        record = replace(plain, factors=factors)
        if record.key.length == design.lengths[-1] and 33 < depth < 67 and draws.random() < 0.8:
            kind = draws.choice(["partial", "empty", "a_new_kind"])
            made.append(replace(record, response=Response("" if kind == "empty" else ANSWER), failure=kind))
        else:
            made.append(record)
    return made


@pytest.fixture(scope="module")
def run() -> Run:
    design = replace(design_of(LENGTHS), samples=30)
    summary = summarise(failing(design), design)
    return Run(summary, design, verdict(summary, design))


@pytest.fixture(scope="module")
def found(run: Run) -> Findings:
    return findings(failing(run.design), run.design)


@pytest.fixture(scope="module")
def page(run: Run, found: Findings) -> str:
    return render_page(run.summary, run.design, {}, run.verdict, found)


def data_of(chart: dict[str, Any]) -> list[list[dict[str, Any]]]:
    sets = [layer["data"]["values"] for layer in chart["layer"] if "data" in layer]
    return [*sets, *([chart["data"]["values"]] if "data" in chart else [])]


def lightness(colour: str) -> float:
    channels = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_lightness_rises_from_red_to_green() -> None:
    steps = [lightness(colour) for _, colour, _ in SCALE]
    assert steps == sorted(steps)
    assert all(second > 1.05 * first for first, second in itertools.pairwise(steps))


@pytest.mark.parametrize("pair", [(colour, text) for _, colour, text in SCALE] + list(COLOURS.values()))
def test_figures_can_be_read_on_their_colour(pair: tuple[str, str]) -> None:
    dark, light = sorted(lightness(colour) for colour in pair)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_every_kind_has_a_colour() -> None:
    assert set(COLOURS) == set(KINDS)
    assert len({colour for colour, _ in COLOURS.values()}) == len(KINDS)


def test_charts_hold_aggregates(run: Run, found: Findings) -> None:
    curve = found.positions.curve()
    assert curve is not None
    heat, line, kinds = (
        depth_by_length(found.positions, run.design),
        score_by_depth(curve),
        kinds_by_length(found.failures, run.design),
    )
    assert max(map(len, data_of(heat))) == 10 * len(LENGTHS)
    assert max(map(len, data_of(line))) == 10
    assert max(map(len, data_of(kinds))) == 3
    assert HOSTILE not in json.dumps([heat, line, kinds])


def test_figures_stand_in_cells_where_they_fit(run: Run, found: Findings, wide: Run) -> None:
    assert ">100</text>" in to_svg(depth_by_length(found.positions, run.design))
    crowded = findings(failing(wide.design, samples=5), wide.design).positions
    assert '"centre"' in json.dumps(depth_by_length(crowded, wide.design, 640)["layer"])
    assert '"text"' not in json.dumps(depth_by_length(crowded, wide.design, 250)["layer"][0]["mark"])
    assert len(depth_by_length(crowded, wide.design, 250)["layer"]) == 1


def test_the_page_says_where(page: str) -> None:
    assert "<h2>Where it fails</h2>" in page
    assert re.search(r'class="finding">In the middle \d+\.\d points worse \(\d', page)
    assert 'aria-label="Heat map of the score in per cent by length and depth. 1K: 0 to 10 % 100' in page
    assert 'aria-label="Line chart of the score in per cent by depth' in page
    assert "vt: score by how much of the context a chain spans" in page
    for name in ("depth_by_length", "score_by_depth"):
        assert page.count(f'<figure id="{name}">') == page.count(f'download="{name}.csv"') == 1
    assert "url(" not in page


def test_the_page_says_how(page: str) -> None:
    text = html.unescape(page)
    assert "<h2>How it fails</h2>" in page
    assert 'aria-label="Stacked bars of the failure kinds in per cent of the wrong answers, by length. 4K, ' in page
    for kind in ("empty", "partial", "a new kind"):
        assert f'<th scope="row">{kind}</th>' in text
        assert f"<h3>{kind}</h3>" in text


def test_excerpts_are_escaped_and_harmless(page: str) -> None:
    assert page.count('class="excerpt"') == 9
    assert page.count("<script") == 1, "the one that sorts"
    assert not re.search(r"[\u202a-\u202e\u2066-\u2069\x00-\x08]", page)
    assert "[U+202E]reversed[U+0007]" in page
    assert "n" * 200 not in page
    assert "<em>nothing</em>" in page


def test_recall_and_strict_part(run: Run, found: Findings, page: str) -> None:
    section = positions_section(found.positions, run.design)
    assert [task for task, _ in section.inflations] == [task.name for task in run.design.tasks]
    assert section.matters.startswith("niah_single_1 at 1K (+100.0)")
    assert "5 points or more: niah_single_1 at 1K (+100.0)" in page


def test_without_findings_the_sections_are_left_out(plain: Run) -> None:
    page = render_page(plain.summary, plain.design, {}, plain.verdict)
    assert "it fails" not in page


def test_findings_of_nothing_and_of_records_without_places_and_kinds(empty: Run, plain: Run) -> None:
    page = render_page(empty.summary, empty.design, {}, empty.verdict, findings([], empty.design))
    assert "it fails" not in page
    records = records_of(plain.design, {}, 4096)
    page = render_page(plain.summary, plain.design, {}, plain.verdict, findings(records, plain.design))
    assert "Where it fails" not in page
    assert "6 wrong answers without a kind" in page


def piped(run: Run, found: Findings | None) -> str:
    file = io.StringIO()
    show(run.summary, run.design, run.verdict, file, found)
    return file.getvalue()


def test_the_console_says_how_and_where(run: Run, found: Findings) -> None:
    text = piped(run, found)
    lines = text.splitlines()
    head = next(place for place, line in enumerate(lines) if line.startswith("how it fails"))
    assert lines[head].split() == ["how", "it", "fails", "4K"]
    rows = [line.rsplit(maxsplit=1) for line in lines[head + 1 : head + 5]]
    assert [name for name, _ in rows] == ["empty", "partial", "a new kind", "wrong answers, n"]
    assert 99 <= sum(int(rate) for _, rate in rows[:3]) <= 101
    assert re.search(r"^where it fails: in the middle \d+\.\d points worse", text, re.MULTILINE)
    assert all(len(line) <= 80 for line in lines[head : head + 5])
    assert "\x1b" not in text
    assert text.endswith(f"{run.verdict[1:]}.\n")


def test_the_console_has_nothing_to_say_where_nothing_fails(plain: Run) -> None:
    records = records_of(plain.design, {}, 1 << 40)
    assert piped(plain, findings(records, plain.design)) == piped(plain, None)


def test_many_lengths_are_split_at_80_columns(wide: Run) -> None:
    records = [
        replace(record, response=Response("no"), failure="distractor_value")
        for record in records_of(wide.design, {}, 1 << 40)
    ]
    lines = piped(wide, findings(records, wide.design)).splitlines()
    heads = [line for line in lines if line.startswith("how it fails")]
    assert sum(len(head.split()) - 3 for head in heads) == 13
    assert len(heads) > 1
    assert all(len(line) <= 80 for line in lines if line.startswith(("how it fails", "distractor", "wrong answers")))

"""The report page."""

from __future__ import annotations

import html
import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from leadline.analysis.summary import summarise
from leadline.analysis.verdict import verdict
from leadline.report.console import show
from leadline.report.page import render_page, write_page

from .conftest import HOSTILE, Run, records_of

MANIFEST = {"model": HOSTILE, "note": "</pre><img src=x onerror=alert(1)>", "half": "\ud800"}


class Outline(HTMLParser):
    """Elements and attributes of a page, and whether they are closed in order."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def plain_page(plain: Run) -> str:
    return render_page(plain.summary, plain.design, MANIFEST, plain.verdict)


@pytest.fixture(scope="module")
def mixed_page(mixed: Run) -> str:
    return render_page(mixed.summary, mixed.design, MANIFEST, mixed.verdict)


def outline_of(page: str) -> Outline:
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    return outline


def test_the_verdict_comes_first(plain: Run, plain_page: str) -> None:
    assert plain.verdict in html.unescape(plain_page)
    assert "<h1>Effective length 2K</h1>" in plain_page
    assert plain_page.index("<h1>") < plain_page.index("<svg") < plain_page.index("<table")


def test_nothing_is_loaded_from_anywhere(plain_page: str, mixed_page: str) -> None:
    for page in (plain_page, mixed_page):
        assert "http:" not in page
        assert "https:" not in page
        assert not re.search(r"@import|url\(|<link|<script |<img|<iframe", page)
        for tag, attributes in outline_of(page).seen:
            assert not {"src", "xlink:href", "srcset"} & set(attributes), tag
            assert (attributes.get("href") or "data:text/csv").startswith("data:text/csv"), tag


def test_what_others_wrote_is_escaped(mixed_page: str) -> None:
    assert "alert(" in mixed_page
    assert mixed_page.count("<script") == 1, "the one that sorts"
    assert "<img" not in mixed_page
    for _, attributes in outline_of(mixed_page).seen:
        assert not any(name.startswith("on") for name in attributes)


def test_figures_and_passes_of_the_table(plain_page: str) -> None:
    assert plain_page.count('class="yes"') == 2
    assert plain_page.count('class="no"') == 1
    assert "<small>51–100</small>" in plain_page
    assert "n = 4, 95 % interval 51–100" in plain_page


@pytest.mark.parametrize("words", ["1 truncated output", "1 failed", "Before you rely on these figures"])
def test_a_warning_where_a_figure_rests_on_doubtful_trials(plain_page: str, mixed_page: str, words: str) -> None:
    assert words in mixed_page
    assert words not in plain_page


def test_absent_and_incomplete_cells_are_explained(mixed_page: str) -> None:
    assert "33.3*" in mixed_page
    assert "do not fit all lengths: vt" in mixed_page
    assert "<td>open</td>" in mixed_page


def test_the_chart_has_a_text_and_a_caption(plain_page: str) -> None:
    assert (
        'aria-label="Line chart of the score in per cent by length. Mean: 1K 100.0, 2K 100.0, 4K 50.0."' in plain_page
    )
    assert "<figcaption>" in plain_page
    assert "95 % intervals of the mean" in plain_page


def test_every_figure_says_how_it_is_computed(plain_page: str) -> None:
    for words in ("here n = 4", "Wilson", "the mean of the task means", "85 % of the mean at 1K, which is 85.0"):
        assert words in plain_page


def test_light_dark_narrow_and_paper(plain_page: str) -> None:
    for rule in ("prefers-color-scheme: dark", "max-width: 36rem", "@media print", "width=device-width"):
        assert rule in plain_page


def test_write_page(tmp_path: Path, mixed: Run, empty: Run) -> None:
    path = tmp_path / "report.html"
    for run in (mixed, empty):
        write_page(path, run.summary, run.design, MANIFEST, run.verdict)
        assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_verdicts_by_category_and_averages_with_intervals(plain: Run) -> None:
    design = replace(
        plain.design,
        threshold_absolute=85.6,
        threshold_name="chat",
        category_thresholds={"retrieval": 96.9, "tracing": 89.7},
        weights={1024: 3.0, 4096: 1.0},
    )
    summary = summarise(records_of(design, {}, 4096), design)
    page = render_page(summary, design, MANIFEST, verdict(summary, design))
    for words in ("retrieval reaches 96.9", "with your weights", "87.5 (", "possible at 95 %", "chat: Llama2-7B at 4K"):
        assert words in page
    file = io.StringIO()
    show(summary, design, verdict(summary, design), file)
    assert "effective length by category (threshold): retrieval 2K (96.9), tracing 2K (89.7)" in file.getvalue()
    assert "your weights 87.5 (" in file.getvalue()

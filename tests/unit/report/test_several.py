from __future__ import annotations

from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from leadline.analysis.correlation import scores_of_runs, task_correlation
from leadline.errors import RunFolderError
from leadline.report.several import RunOfSeveral, render_page_of_several, write_page_of_several

from .conftest import HOSTILE, Run, run_of

VOID = {"meta", "br", "path", "line", "rect"}


class Balanced(HTMLParser):
    """Checks that every element is closed in its turn, and collects what could run or load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.scripts = 0
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.outside += [value for name, value in attrs if name in ("src", "href") and value and "#" not in value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def one_of(run: Run, folder: str = "runs/one") -> RunOfSeveral:
    return RunOfSeveral(Path(folder), run.summary, run.design, run.verdict)


@pytest.fixture
def runs() -> list[RunOfSeveral]:
    return [one_of(run_of()), one_of(run_of(wrong_from=2048), "runs/two"), one_of(run_of(wrong_from=1024))]


def test_every_run_has_its_verdict_and_table_and_all_of_it_is_escaped(runs: list[RunOfSeveral]) -> None:
    correlation = task_correlation(scores_of_runs([run.summary for run in runs]))
    page = render_page_of_several(runs, correlation, [f"Not the same: {HOSTILE}"])
    parser = Balanced()
    parser.feed(page)
    assert (parser.open, parser.scripts, parser.outside) == ([], 1, [])
    assert page.count("<section id=") == 4
    assert "runs/two" in page
    for run in runs:
        assert escape(run.verdict.partition(": ")[0][1:]) in page
    assert "(2)</a>" in page, "a second run of a model is told apart"
    assert "Redundant tasks by threshold" in page


def test_without_a_correlation_it_says_why(runs: list[RunOfSeveral]) -> None:
    page = render_page_of_several(runs[:2], f"too little {HOSTILE}")
    assert "too little &lt;script&gt;" in page
    assert "Redundant" not in page


def test_a_run_without_records_has_a_place(empty: Run, runs: list[RunOfSeveral]) -> None:
    page = render_page_of_several([one_of(empty), replace(runs[0], folder=Path("x"))], "nothing shared")
    assert page.count("<table data-sorted>") == 2


def test_a_page_that_cannot_be_written_is_said(runs: list[RunOfSeveral], tmp_path: Path) -> None:
    write_page_of_several(tmp_path / "page.html", runs, "nothing shared")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(RunFolderError, match="-o"):
        write_page_of_several(tmp_path, runs, "nothing shared")

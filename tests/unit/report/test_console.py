"""The console table."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest

from leadline.analysis.base_score import BaseRule
from leadline.analysis.findings import findings
from leadline.analysis.summary import summarise
from leadline.analysis.verdict import format_length, verdict
from leadline.report.console import show
from leadline.requests import Response

from .conftest import Run, design_of, records_of


class Terminal(io.StringIO):
    """A terminal of 50 columns."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def piped(run: Run) -> str:
    file = io.StringIO()
    show(run.summary, run.design, run.verdict, file)
    return file.getvalue()


def line_of(text: str, name: str) -> list[str]:
    return next(line for line in text.splitlines() if line.startswith(name)).removeprefix(name).split()


def test_rows_of_the_table(plain: Run) -> None:
    text = piped(plain)
    assert line_of(text, "task") == ["1K", "2K", "4K"]
    assert line_of(text, "niah_single_1") == ["100.0", "100.0", "50.0"]
    assert line_of(text, "retrieval") == ["100.0", "100.0", "50.0"]
    assert line_of(text, "mean") == ["100.0", "100.0", "50.0"]
    assert line_of(text, "keeps 85 %") == ["yes", "yes", "no"]
    assert "4 trials in each cell" in text
    assert text.endswith(f"E{plain.verdict[1:]}.\n")


def test_marks_of_absent_and_incomplete_cells(mixed: Run) -> None:
    text = piped(mixed)
    assert line_of(text, "vt") == ["–", "100.0", "50.0"]
    assert line_of(text, "niah_single_1") == ["100.0", "100.0", "33.3*"]
    assert line_of(text, "mean")[2].endswith("*")
    assert line_of(text, "reaches 85.6") == ["yes", "yes", "–"]
    assert "left out of every mean: vt" in text
    assert "* incomplete" in text


def test_a_pipe_gets_plain_text_and_whole_figures(wide: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = piped(wide)
    assert "\x1b" not in text
    assert "…" not in text
    assert len(line_of(text, "mean")) == 13
    assert line_of(text, "task")[-1] == "4M"


def test_a_narrow_terminal_gets_blocks_of_lengths(wide: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    file = Terminal()
    show(wide.summary, wide.design, wide.verdict, file)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue()).splitlines()
    headers = [line.split()[1:] for line in lines if line.startswith("task")]
    means = [line.split()[1:] for line in lines if line.startswith("mean")]
    assert len(headers) > 1
    assert [len(header) for header in headers] == [len(mean) for mean in means]
    assert sum(len(mean) for mean in means) == 13
    assert all(len(line.rstrip()) <= 60 for line in lines if line.startswith(("task", "mean")))


def test_a_terminal_that_knows_ascii_alone(mixed: Run) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    show(mixed.summary, mixed.design, mixed.verdict, file)
    file.flush()
    assert line_of(raw.getvalue().decode("ascii"), "vt") == ["-", "100.0", "50.0"]


def test_nothing_measured(empty: Run) -> None:
    text = piped(empty)
    assert line_of(text, "niah_single_1") == ["?*", "?*"]
    assert "No effective length yet" in text


@pytest.mark.parametrize("columns", [60, 80])
def test_every_table_fits_a_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores, NoLiMa's subsets under their long head, and failure kinds, at more lengths than have room."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    lengths = tuple(1024 * 2**place for place in range(9))
    design = replace(design_of(lengths), base=BaseRule(0.85, lengths[:2]), samples=8)
    design = replace(design, tasks=design.tasks[:1])
    records = [
        replace(
            record,
            factors={"pair": str(record.key.item.index % 4), "hops": ("one", "two")[record.key.item.index % 2]},
            failure="not_in_context" if (record.response or Response(None)).text == "no" else None,
        )
        for record in records_of(design, {}, 4096)
    ]
    summary = summarise(records, design)
    file = Terminal()
    show(summary, design, verdict(summary, design), file, findings(records, design))
    lines = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue()).splitlines()
    names = (
        "task",
        "niah",
        "mean",
        "keeps",
        "pairs, base",
        "  one",
        "  two",
        "how it fails",
        "not in context",
        "wrong",
    )
    tables = [line.rstrip() for line in lines if line.startswith(names)]
    assert {name for name in names if any(line.startswith(name) for line in tables)} == set(names)
    assert [line for line in tables if len(line) > columns] == []
    assert "…" not in "".join(tables)
    for head in ("task", "pairs, base score, effective length"):
        shown = [line.removeprefix(head).split() for line in tables if line.startswith(head)]
        assert [name for block in shown for name in block] == [format_length(length, 1024) for length in lengths]

"""The console table."""

from __future__ import annotations

import io
import re

import pytest

from leadline.report.console import show

from .conftest import Run


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
    monkeypatch.setenv("TERM", "dumb")
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

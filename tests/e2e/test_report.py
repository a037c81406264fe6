"""The page of one run, its charts as files and as JSON."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import leadline

from .conftest import Shell, invoke_in


@pytest.fixture(scope="module")
def run(shared_shell: Shell) -> leadline.Run:
    return leadline.measure(
        "quick",
        "reader/window?tokens=1024",
        tasks=["niah_single_2", "niah_multikey_1", "vt"],
        lengths="1k,2k",
        samples=2,
        trained_length=8192,
        price="2,10",
        out=shared_shell.folder / "runs",
    )


@pytest.fixture(scope="module")
def page(run: leadline.Run, shared_shell: Shell) -> str:
    told = invoke_in(shared_shell.folder, "report", str(run.folder), "-o", "one.html")
    assert (told.code, told.err, told.out) == (0, "", "report: one.html\n")
    return (shared_shell.folder / "one.html").read_text(encoding="utf-8")


def test_every_chart_is_on_the_page_with_caption_words_and_data(run: leadline.Run, page: str) -> None:
    assert "score_by_difficulty" in run.charts
    for name in run.charts:
        figure = re.search(rf'<figure id="{name}">.*?</figure>', page, flags=re.DOTALL)
        assert figure is not None
        assert figure[0].count("<svg") == figure[0].count('role="img" aria-label="') == 2
        assert re.search(rf'<figcaption>[^<]+<a href="data:text/csv[^"]+" download="{name}.csv">', figure[0])


def test_it_says_what_is_claimed_what_it_cost_and_why_it_is_in_no_table(page: str) -> None:
    for words in ("it claims 8K (as --trained-length says)", "cost, by --price", "this run has 3 of them"):
        assert words in page
    assert page.index("<h1>") < page.index('id="claimed_and_effective"') < page.index('id="score_by_length"')


def test_charts_go_into_files_of_both_kinds(run: leadline.Run, shared_shell: Shell) -> None:
    arguments = ("report", str(run.folder), "--svg", "charts", "--png", "charts/png")
    told = invoke_in(shared_shell.folder, *arguments, "--json")
    assert (told.code, told.err) == (0, "")
    assert set(told.json["figures"]) == set(run.charts)
    wanted = [f"charts/{name}.svg" for name in run.charts] + [f"charts/png/{name}.png" for name in run.charts]
    assert told.json["files"] == wanted
    assert all((shared_shell.folder / name).stat().st_size for name in wanted)
    plain = invoke_in(shared_shell.folder, *arguments)
    count = len(run.charts)
    assert plain.out.splitlines()[1:] == [f"charts: charts ({count} files)", f"charts: charts/png ({count} files)"]


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_folder_that_is_none_is_one_error_before_anything_is_written(
    run: leadline.Run, shared_shell: Shell, kind: str
) -> None:
    (shared_shell.folder / "file").touch()
    page = Path(run.folder / "report.html")
    page.unlink(missing_ok=True)
    for folder, words in (("file", "is a file: name a folder"), ("file/below", "cannot be written (Not a directory)")):
        told = invoke_in(shared_shell.folder, "report", str(run.folder), f"--{kind}", folder)
        assert (told.code, told.out, len(told.err.splitlines())) == (2, "", 1)
        assert words in told.err
    assert not page.exists()

"""Several runs made from Python, correlated, and reported on one page; the page of the documentation."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import leadline

from .conftest import Invoke, Shell, invoke_in

READERS = ("reader/oracle", "reader/limit?tokens=2048", "reader/window?tokens=1024")
TASKS = ["niah_single_2", "niah_multikey_3", "vt", "cwe"]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def runs(shared_shell: Shell) -> list[leadline.Run]:
    return [
        leadline.measure("quick", model, tasks=TASKS, lengths="1k,2k,4k", samples=2, out=shared_shell.folder / "runs")
        for model in READERS
    ]


def test_the_readers_are_told_apart(runs: list[leadline.Run]) -> None:
    effective = [run.summary.effective_length.relative for run in runs]
    assert [(length.value, length.censored) for length in effective] == [(4096, "above"), (2048, None), (1024, None)]


def test_one_page_of_several_runs(runs: list[leadline.Run], shared_shell: Shell) -> None:
    folders = [str(run.folder.relative_to(shared_shell.folder)) for run in runs]
    told = invoke_in(shared_shell.folder, "report", *folders, "--json")
    assert (told.code, told.err) == (0, "")
    assert told.json["page"] == "report.html"
    assert [run["model"] for run in told.json["runs"]] == list(READERS)
    assert [run["folder"] for run in told.json["runs"]] == folders
    for shown, run in zip(told.json["runs"], runs, strict=True):
        assert shown["summary"] == run.summary.as_dict()
        assert set(shown["figures"]) == set(run.charts)
    correlation = told.json["correlation"]
    assert set(correlation["order"]) == set(TASKS)
    assert len(correlation["points"]) == 9
    assert [row["threshold"] for row in correlation["thresholds"]] == [0.8, 0.9, 0.95, 0.99]
    for row in correlation["thresholds"]:
        assert sorted(row["dropped"] + row["kept"]) == sorted(TASKS)
    assert "hconcat" in told.json["figures"]["task_correlation"]
    assert set(told.json["figures"]) == {"models_compared", "model_panels", "task_correlation"}
    (group,) = told.json["groups"]
    assert [run["name"] for run in group["runs"]] == list(READERS), "the greatest effective length first"
    assert told.json["differing_tasks"] == []
    of_python = leadline.correlate(runs)
    assert correlation == of_python.as_dict() | {"thresholds": correlation["thresholds"]}

    page = (shared_shell.folder / "report.html").read_text(encoding="utf-8")
    for words in ("3 runs", *folders, "Effective length &gt;4K", "Which tasks tell the same story", "9 pairs of model"):
        assert words in page
    assert page.count("<script") == 1, "the one that sorts"
    for outside in ('src="http', "@import", '<link rel="stylesheet"'):
        assert outside not in page


def test_runs_that_share_too_little_have_a_page_without_correlation(
    runs: list[leadline.Run], shared_shell: Shell
) -> None:
    invoke = shared_shell.folder
    short = leadline.measure(
        "quick", "reader/empty", tasks="niah_single_2", lengths="1k", samples=1, seed=7, out=invoke / "runs"
    )
    told = invoke_in(invoke, "report", str(runs[0].folder), str(short.folder), "-o", "two.html", "--json")
    assert told.code == 0
    assert told.json["correlation"] is None
    assert set(told.json["figures"]) == {"models_compared", "model_panels"}
    assert "A correlation needs two tasks" in (invoke / "two.html").read_text(encoding="utf-8")


def test_tasks_that_are_not_the_same_are_named(runs: list[leadline.Run], shared_shell: Shell) -> None:
    other = leadline.measure(
        "quick",
        "reader/oracle",
        tasks=TASKS,
        lengths="1k,2k",
        samples=1,
        set={"vt.num_hops": 2},
        out=shared_shell.folder / "runs",
    )
    told = invoke_in(shared_shell.folder, "report", str(runs[1].folder), str(other.folder), "-o", "x.html", "--json")
    assert told.json["differing_tasks"] == ["vt"]
    assert (
        "Not the same task in all runs of quick, published protocol (version or parameters): vt."
        in (shared_shell.folder / "x.html").read_text()
    )


def test_a_family_is_drawn_with_its_trained_lengths(shared_shell: Shell) -> None:
    runs = [
        leadline.measure(
            "quick", f"reader/limit?tokens={tokens}", tasks=TASKS, lengths="1k,2k,4k", samples=2,
            trained_length=trained, label="family", out=shared_shell.folder / "runs",
        )
        for tokens, trained in ((1024, "2k"), (2048, None))
    ]  # fmt: skip
    folders = [str(run.folder) for run in runs]
    for options, name in (((), "reader/limit"), (("--family", f"mine={folders[1]},{folders[0]}"), "mine")):
        told = invoke_in(shared_shell.folder, "report", *folders, *options, "-o", "family.html", "--json")
        (family,) = told.json["families"]
        assert family["name"] == name
        assert [run["trained"] for run in family["runs"]] == [2048, None]
        assert "family_1" in told.json["figures"]


def test_mistakes_with_several_runs_are_one_line(runs: list[leadline.Run], shared_shell: Shell) -> None:
    folder = str(runs[0].folder)
    for arguments, words in (
        ((folder, f"{folder}/"), "is given twice"),
        ((folder, "nowhere"), "nowhere is not a run's folder"),
        ((folder, str(runs[1].folder), "-o", "no/such/page.html"), "does not exist"),
        ((folder, "--family", "f=a,b"), "is for a page of several runs"),
        ((folder, str(runs[1].folder), "--family", "f"), "not of the form NAME=RUN,RUN"),
        ((folder, str(runs[1].folder), "--family", f"f={folder}"), "has one run"),
        ((folder, str(runs[1].folder), "--family", f"f={folder},nowhere"), "nowhere is none of the runs of this page"),
    ):
        refused = invoke_in(shared_shell.folder, "report", *arguments)
        assert (refused.code, len(refused.err.splitlines())) == (2, 1)
        assert words in refused.err


@pytest.mark.local_model
def test_the_real_model_is_measured_from_python(shell: Shell, invoke: Invoke) -> None:
    run = leadline.measure(
        "quick", "local", tasks=["niah_single_1", "niah_single_2"], lengths="512", samples=1, out=shell.folder / "runs"
    )
    assert [row["n"] for row in run.table()] == [1, 1]
    assert {record.outcome for record in run.records.newest()} <= {"answered", "truncated_output", "degenerate"}
    assert invoke("score", str(run.folder), "--json").json == run.summary.as_dict()


@pytest.fixture(scope="module")
def make_docs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_docs", ROOT / "scripts" / "make_docs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_on_python_is_what_its_blocks_print(make_docs: ModuleType) -> None:
    assert (ROOT / "docs" / "python.md").read_text(encoding="utf-8") == make_docs.python_page(), "make docs"

"""``export --to ruler`` and ``import ruler``: a run leaves and comes back, and every verb reads it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Invoke, Shell, invoke_in

LENGTHS = "1k,2k"
TASKS = "niah_single_1,niah_multikey_2,vt,fwe"


@pytest.fixture(scope="module")
def measured(shared_shell: Shell) -> Path:
    """The folder of a run that fails at times."""
    model = ("--model", "reader/fails-distractor-value")
    ended = invoke_in(
        *(shared_shell.folder, "run", "quick", *model, "--tasks", TASKS, "--lengths", LENGTHS, "--samples", "2")
    )
    assert ended.code == 0, ended.err
    (folder,) = shared_shell.run_folders()
    return folder


def scores(summary: Any) -> dict[tuple[str, int], float]:
    return {(cell["task"], cell["length"]): cell["score"] for cell in summary["cells"]}


def test_a_round_trip_keeps_all_scores(measured: Path, invoke: Invoke) -> None:
    exported = invoke("export", str(measured), "--to", "ruler", "-o", "root", "--json")
    assert exported.code == 0, exported.err
    assert exported.json["notices"] == []
    imported = invoke("import", "ruler", "root", "--json")
    assert (imported.code, imported.err) == (0, "")
    before = invoke("score", str(measured), "--json").json
    assert scores(imported.json) == pytest.approx(scores(before))
    assert imported.json["model"] == "reader-fails-distractor-value"


def test_other_verbs_read_an_imported_run(measured: Path, shell: Shell, invoke: Invoke) -> None:
    invoke("export", str(measured), "--to", "ruler", "-o", "root")
    shown = invoke("import", "ruler", "root", "--model", "renamed")
    assert shown.code == 0, shown.err
    assert "renamed" in shown.out
    (folder,) = shell.run_folders()
    scored = invoke("score", str(folder), "--json")
    assert scored.json["model"] == "renamed"
    page = invoke("report", str(folder), "-o", "page.html")
    assert page.code == 0, page.err
    assert "validation.jsonl" in (shell.folder / "page.html").read_text(encoding="utf-8")
    refused = invoke("leaderboard", "--with", str(folder))
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "has not measured 4K" in refused.err


def test_an_imported_run_stands_among_the_published(shell: Shell, invoke: Invoke) -> None:
    row = {"index": 0, "pred": "ABCDE", "outputs": ["ABCDE"], "others": {}, "truncation": -1, "length": -1}
    for length in (4096, 8192, 16384, 32768, 65536, 131072):
        folder = shell.folder / "model" / "synthetic" / str(length) / "pred"
        folder.mkdir(parents=True)
        (folder / "vt.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert invoke("import", "ruler", "model").code == 0
    (folder,) = shell.run_folders()
    rows = invoke("leaderboard", "--table", "vt", "--with", str(folder), "--json").json
    (mine,) = [each for each in rows if each["model"] == "model"]
    assert mine["effective_length"]["value"] == 131072


def test_a_table_of_records(measured: Path, shell: Shell, invoke: Invoke) -> None:
    assert invoke("export", str(measured), "--to", "csv", "-o", "records.csv").out == "records.csv\n"
    with (shell.folder / "records.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 16


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("export", "runs", "--to", "ruler"), "is not a run's folder"),
        (("export", "runs", "--to", "parquet"), "give one of ruler, csv"),
        (("export", "runs"), "--to"),
        (("import", "ruler", "nowhere"), "nowhere is no folder"),
        (("import", "ruler", "."), "holds no predictions"),
        (("import", "nolima", "."), "nolima"),
    ],
)
def test_mistakes_are_one_line(invoke: Invoke, arguments: tuple[str, ...], why: str) -> None:
    ended = invoke(*arguments)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert why in ended.err


def test_both_verbs_have_help_with_an_example(invoke: Invoke) -> None:
    for arguments in (("import", "--help"), ("import", "ruler", "--help"), ("export", "--help")):
        ended = invoke(*arguments)
        assert ended.code == 0
        assert "Example: leadline" in ended.out
    assert "leadline import ruler DIR" in invoke("--help").out

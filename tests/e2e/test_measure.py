"""``run``, ``score`` and ``report`` against readers whose true effective length is known."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from .conftest import Ended, Invoke, Shell, invoke_in

QUICK = ("run", "quick", "--json")
READERS = {
    "oracle": "reader/oracle",
    "window": "reader/window?tokens=2048",
    "limit": "reader/limit?tokens=2048",
    "empty": "reader/empty",
    "echo": "reader/echo",
    "wrong": "reader/wrong",
}
BLIND = ("empty", "echo", "wrong")
FEW = ("--tasks", "niah_single_1,niah_multikey_3,niah_multiquery,vt")
LENGTHS = {name: [1024] if name in BLIND else [1024, 2048, 4096] for name in READERS}


@pytest.fixture(scope="module")
def measured(shared_shell: Shell) -> dict[str, Ended]:
    """The summary of every reader, printed as JSON."""
    commands = {
        name: (
            *(*QUICK, "--model", model, "--lengths", ",".join(map(str, LENGTHS[name]))),
            *(("--samples", "2") if name == "oracle" else (*FEW, "--samples", "4")),
        )
        for name, model in READERS.items()
    }
    processes = {name: shared_shell.start(*commands.pop(name)) for name in ("oracle", "window")}
    here = {name: invoke_in(shared_shell.folder, *arguments) for name, arguments in commands.items()}
    return {name: process.ended() for name, process in processes.items()} | here


def test_all_of_them_end_well_and_print_one_object(measured: dict[str, Ended]) -> None:
    for ended in measured.values():
        assert (ended.code, ended.err) == (0, "")
        assert len(ended.out.splitlines()) == 1
        assert isinstance(ended.json, dict)


def test_the_oracle_is_right_everywhere(measured: dict[str, Ended]) -> None:
    summary = measured["oracle"].json
    there = [cell for cell in summary["cells"] if not cell["absent"]]
    assert {cell["score"] for cell in there} == {100.0}
    assert {cell["strict"] for cell in there} == {100.0}
    absent = {(cell["task"], cell["length"]) for cell in summary["cells"] if cell["absent"]}
    assert all(length == 1024 for _, length in absent), "only the largest items do not fit, and only 1K"
    assert len(there) >= 27
    assert summary["effective_length"]["relative"] == {
        "value": 4096,
        "censored": "above",
        "threshold": 85.0,
        "confidence": None,
    }
    assert summary["average"] == summary["wavg_inc"] == summary["wavg_dec"] == 100.0


@pytest.mark.parametrize("reader", ["window", "limit"])
def test_a_reader_of_2048_tokens_is_found_out(measured: dict[str, Ended], reader: str) -> None:
    summary = measured[reader].json
    scores = {entry["length"]: entry["score"] for entry in summary["by_length"]}
    assert scores[1024] == scores[2048] == 100.0
    assert scores[4096] < 85
    relative = summary["effective_length"]["relative"]
    assert (relative["value"], relative["censored"]) == (2048, None)


@pytest.mark.parametrize("reader", BLIND)
def test_who_knows_nothing_scores_nothing(measured: dict[str, Ended], reader: str) -> None:
    summary = measured[reader].json
    assert {cell["score"] for cell in summary["cells"]} == {0.0}
    assert {cell["strict"] for cell in summary["cells"]} == {0.0}
    outcomes = {outcome for cell in summary["cells"] for outcome in cell["outcomes"]}
    assert outcomes == ({"degenerate"} if reader == "echo" else {"answered"})


def test_the_summary_is_what_the_command_line_promises(measured: dict[str, Ended], shared_shell: Shell) -> None:
    for name, ended in measured.items():
        summary = ended.json
        wanted = {"model", "suite", "lengths", "cells", "by_length", "effective_length", "average"}
        assert wanted | {"wavg_inc", "wavg_dec", "protocol", "tokens"} <= set(summary)
        assert (summary["model"], summary["suite"], summary["protocol"]) == (READERS[name], "quick", "published")
        assert summary["lengths"] == LENGTHS[name]
        for cell in summary["cells"]:
            assert {"task", "length", "n", "outcomes", "score", "low", "high", "strict"} <= set(cell)
            if cell["absent"]:
                assert (cell["outcomes"], cell["score"]) == ({"does_not_fit": 1}, None)
            else:
                assert sum(cell["outcomes"].values()) == cell["n"] == (2 if name == "oracle" else 4)
        for entry in summary["by_length"]:
            assert {"length", "score", "low", "high", "categories"} <= set(entry)
        assert set(summary["effective_length"]) == {"absolute", "relative", "strict"}
        for value in summary["effective_length"].values():
            assert set(value) == {"value", "censored", "threshold", "confidence"}
            assert value["censored"] in (None, "below", "above")
        assert summary["tokens"]["prompt"] > 0
    folders = shared_shell.run_folders()
    assert len(folders) == len(READERS)
    written = [json.loads((folder / "summary.json").read_text()) for folder in folders]
    assert sorted(map(str, written)) == sorted(str(ended.json) for ended in measured.values())


def test_every_line_of_a_records_file_is_a_record(measured: dict[str, Ended], shared_shell: Shell) -> None:
    assert measured
    records: list[dict[str, Any]] = [json.loads(line) for line in shared_shell.lines()]
    cells = [cell for ended in measured.values() for cell in ended.json["cells"]]
    own = [record for record in records if record["key"]["wording"] == "default"]
    assert len(own) == sum(sum(cell["outcomes"].values()) for cell in cells)
    wanted = {"key", "fit", "item_hash", "prompt_hash", "prompt_tokens", "factors", "answers", "response", "outcome"}
    for record in records:
        assert wanted | {"failure"} <= set(record)
        if record["outcome"] != "does_not_fit":
            assert record["prompt_tokens"] < record["key"]["length"]


def test_the_items_are_the_same_for_every_reader(measured: dict[str, Ended], shared_shell: Shell) -> None:
    assert measured
    items: dict[str, set[str]] = {}
    for line in shared_shell.lines():
        record = json.loads(line)
        items.setdefault(json.dumps(record["key"]), set()).add(record["item_hash"])
    assert all(len(hashes) == 1 for hashes in items.values())


def test_a_run_is_scored_and_reported_again_without_a_model(measured: dict[str, Ended], shared_shell: Shell) -> None:
    (folder,) = shared_shell.folder.glob("runs/reader-window*/quick-*")
    copy = shared_shell.folder / "copy"
    shutil.copytree(folder, copy)
    for name in ("summary.json", "report.html"):
        (copy / name).unlink()
    page = shared_shell.folder / "page.html"
    assert invoke_in(shared_shell.folder, "score", "copy", "--json").json == measured["window"].json
    told = invoke_in(shared_shell.folder, "report", "copy", "-o", str(page), "--json")
    assert (told.code, told.err) == (0, "")
    assert told.json["page"] == str(page)
    assert "score_by_length" in told.json["figures"]
    text = page.read_text(encoding="utf-8")
    assert "reader/window?tokens=2048" in text
    assert json.loads((copy / "summary.json").read_text()) == measured["window"].json
    assert (copy / "report.html").exists()


def test_the_table_says_it_in_words_and_a_condition_that_is_not_met_is_1(invoke: Invoke) -> None:
    arguments = ("run", "quick", "--samples", "1", "--lengths", "1k,2k", "--tasks", "vt,niah_single_1")
    limited = (*arguments, "--model", "reader/limit?tokens=1500")
    failed = invoke(*limited, "--fail-under", "2k")
    passed = invoke(*limited, "--fail-under", "1k")
    assert failed.code == 1
    assert failed.err == "leadline: the effective length is below 2048 tokens (--fail-under)\n"
    assert passed.code == 0
    assert passed.out == failed.out
    for words in ("Effective length 1K", "report.html", "niah_single_1", "mean"):
        assert words in passed.out


def test_a_threshold_and_weights_of_ones_own(measured: dict[str, Ended], shared_shell: Shell) -> None:
    assert measured
    (folder,) = shared_shell.folder.glob("runs/reader-limit*/quick-*")
    copy = shared_shell.folder / "copy-of-limit"
    shutil.copytree(folder, copy)
    options = ("--threshold", "60", "--weights", "1k=3,4k=1")
    summary = invoke_in(shared_shell.folder, "score", str(copy), "--json", *options).json
    scores = {entry["length"]: entry["score"] for entry in summary["by_length"]}
    assert summary["wavg_user"] == pytest.approx((3 * scores[1024] + scores[4096]) / 4)
    assert summary["effective_length"]["absolute"]["threshold"] == 60
    assert summary["effective_length"]["absolute"]["value"] == 2048
    low, high = summary["intervals"]["wavg_user"]
    assert low < summary["wavg_user"] <= high
    for arguments in (("--threshold", "chatty"), ("--weights", "8k=1")):
        refused = invoke_in(shared_shell.folder, "score", str(copy), *arguments)
        assert (refused.code, len(refused.err.splitlines())) == (2, 1)

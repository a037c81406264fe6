"""What a run asks beside its lengths: the suite's shortest length, and questions without documents."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from .conftest import Shell

LONGER = ("--lengths", "2k,4k", "--samples", "8", "--tasks", "niah_single_1,qa_1")


def wordings(shell: Shell) -> Counter[str]:
    return Counter(json.loads(line)["key"]["wording"] for line in shell.lines())


def summary_of(shell: Shell) -> Any:
    (folder,) = shell.run_folders()
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def test_a_run_without_the_suites_shortest_length_says_whether_it_is_weak_there(shell: Shell) -> None:
    ended = shell("run", "quick", "--model", "reader/empty", *LONGER)
    assert ended.code == 0, ended.err
    assert wordings(shell) == {"default": 32, "short-control": 10, "no-context": 8}
    assert "it is weak at 1K already (a control of 10 trials)" in ended.out
    assert "it scores 0.0 there, below 70" in ended.out
    summary = summary_of(shell)
    assert summary["lengths"] == [2048, 4096] and summary["control"]["length"] == 1024
    assert {cell["length"] for cell in summary["cells"]} == {2048, 4096}
    (folder,) = shell.run_folders()
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "weak at 1K already" in page and "Control at 1K, which is no length of this run: 0.0 (10 trials)" in page


def test_controls_are_asked_once_and_counted_in_the_plan(shell: Shell) -> None:
    planned = shell("plan", "quick", "--model", "reader/oracle", *LONGER, "--json").json
    assert planned["controls"]["trials"] == 18 and planned["trials"] == 50
    assert shell("plan", "quick", "--model", "reader/oracle", *LONGER, "--no-control", "--json").json["trials"] == 32
    first = shell("run", "quick", "--model", "reader/oracle", *LONGER)
    assert "control at 1K, which is no length of this run: 100.0 (10 trials)" in first.out
    assert "weak" not in first.out
    assert shell("run", "quick", "--model", "reader/oracle", *LONGER).code == 0
    assert len(shell.lines()) == 50


def test_a_run_without_controls_asks_its_lengths_alone(shell: Shell) -> None:
    shell("run", "quick", "--model", "reader/empty", *LONGER, "--no-control")
    assert wordings(shell) == {"default": 32}
    assert "control" not in summary_of(shell)


def test_the_shortest_length_of_the_suite_is_its_own_control(shell: Shell) -> None:
    options = ("--lengths", "1k,2k", "--samples", "8", "--tasks", "niah_single_1")
    ended = shell("run", "quick", "--model", "reader/empty", *options)
    assert "it is weak at 1K already, where length is no difficulty: it scores 0.0 there, below 70" in ended.out
    assert wordings(shell) == {"default": 16}
    assert summary_of(shell)["control"]["own"] is True


def test_what_is_known_without_documents_stands_beside_the_score_with_them(shell: Shell) -> None:
    options = ("--lengths", "1k,2k", "--samples", "30", "--tasks", "qa_1")
    ended = shell("run", "quick", "--model", "reader/tie?at=50", *options)
    assert ended.code == 0, ended.err
    (baseline,) = summary_of(shell)["no_context"]
    assert (baseline["task"], baseline["n"], baseline["right"]) == ("qa_1", 25, 12)
    assert baseline["wrong_with_context"] == 2 * 13
    assert (
        "qa_1 without documents: 48.0" in ended.out and "wrong answers to these questions with documents" in ended.out
    )

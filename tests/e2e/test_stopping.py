"""A run that stops when it is certain: fewer trials, the same verdict, however it was interrupted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from leadline.api import Run
from leadline.api import measure as ask

from .conftest import Ended, Shell

SAMPLES = 40
TASKS = ("niah_single_1", "vt", "niah_multikey_2")
LENGTHS = (1024, 2048, 4096)
TRIALS = SAMPLES * len(TASKS) * len(LENGTHS)
FADING = "reader/logistic?half=2500"


def measure(shell: Shell, model: str, *more: str, parent: str = "runs", stop: str = "certain") -> Ended:
    return shell("run", "quick", *design(model), "--stop", stop, "--out", parent, *more)


def design(model: str) -> tuple[str, ...]:
    lengths = ",".join(map(str, LENGTHS))
    return "--model", model, "--lengths", lengths, "--samples", str(SAMPLES), "--tasks", ",".join(TASKS)


def within(folder: Path, stop: Literal["certain", "never"], model: str = FADING, **more: Any) -> Run:
    """The same in this process."""
    return ask("quick", model, lengths=LENGTHS, samples=SAMPLES, tasks=TASKS, stop=stop, out=folder, **more)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run in one go, one request at a time."""
    run = within(tmp_path_factory.mktemp("one"), "certain", concurrency=1)
    assert sum(1 for _ in run.records) < TRIALS
    return run


def decisions(run: Run) -> list[Any]:
    """What must not depend on how the run went."""
    summary = run.summary.as_dict()
    return [
        [
            (row["length"], row["used"], row["of"], row["decided"], row["decision"], row["score"])
            for row in summary["by_length"]
        ],
        summary["effective_length"],
    ]


def summary_of(folder: Path) -> Any:
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def test_a_clear_verdict_takes_a_fraction_of_the_trials(shell: Shell) -> None:
    ended = measure(shell, "reader/limit?tokens=2048")
    assert ended.code == 0, ended.err
    assert "1K: 9 of 40 samples" in ended.out
    assert "2K: 9 of 40 samples of each task, above" in ended.out
    assert "% saved)" in ended.out
    assert "≈100.0" in ended.out
    assert "Effective length 2K" in ended.out
    assert len(shell.lines()) < TRIALS / 3
    (folder,) = shell.run_folders()
    summary = summary_of(folder)
    assert summary["effective_length"]["relative"]["value"] == 2048
    assert [row["decision"] for row in summary["by_length"]] == ["above", "above", "below"]
    assert all(row["used"] < row["of"] == SAMPLES and row["decided"] for row in summary["by_length"])
    assert not summary["incomplete"]
    assert summary["average"] is None and summary["wavg_inc"] is None
    assert summary["stopping"]["asked_tokens"] < summary["stopping"]["protocol_tokens"] / 3
    assert "≈100.0" in (folder / "report.html").read_text(encoding="utf-8")


def test_a_page_of_several_runs_says_which_means_stopped(shell: Shell) -> None:
    measure(shell, "reader/limit?tokens=2048")
    measure(shell, "reader/oracle")
    ended = shell("report", *map(str, shell.run_folders()), "-o", "two.html")
    assert ended.code == 0, ended.err
    page = (shell.folder / "two.html").read_text(encoding="utf-8")
    assert page.count("≈ stopped when the verdict was certain") == 2
    assert "upright: 95 % intervals" not in page, "a mean that stopped has none"


def test_nothing_is_said_of_categories_and_a_task_keeps_its_name(shell: Shell) -> None:
    lengths = ("--lengths", "4k,8k", "--samples", "20", "--tasks", "niah_single_1,vt,qa_1")
    ended = shell("run", "ruler", "--model", "reader/oracle", "--stop", "certain", *lengths)
    assert "by category" not in ended.out
    (folder,) = shell.run_folders()
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "retrieval reaches" not in page
    assert "qa_1 without documents" in page and "Qa_1" not in page


def test_its_verdict_is_that_of_the_whole_run_which_can_be_had_later(stopped: Run) -> None:
    whole = within(stopped.folder.parents[1], "never")
    assert sum(1 for _ in whole.records) == TRIALS
    assert whole.folder == stopped.folder
    assert "used" not in whole.summary.as_dict()["by_length"][0] and whole.summary.average is not None
    assert stopped.summary.effective_length.relative.value == whole.summary.effective_length.relative.value


def test_neither_a_stop_half_way_nor_the_requests_in_flight_change_a_decision(shell: Shell, stopped: Run) -> None:
    at_once = within(shell.folder / "eight", "certain", concurrency=8)
    assert decisions(at_once) == decisions(stopped)
    limited = within(shell.folder / "halves", "certain", limit_tokens=40_000)
    rows = limited.summary.as_dict()["by_length"]
    assert any(row["decision"] == "open" and not row["decided"] for row in rows)
    assert not all(row["complete"] for row in rows)
    before = len(shell.lines("halves"))
    killed = shell.start("run", "quick", *design(FADING), "--stop", "certain", "--out", "halves")
    shell.wait_for_lines(killed, before + 5, "halves")
    killed.stop()
    assert decisions(within(shell.folder / "halves", "certain")) == decisions(stopped)


def test_an_absolute_threshold_needs_no_shortest_length(tmp_path: Path) -> None:
    summary = within(tmp_path, "certain", "reader/oracle", threshold=85, margin=0, confidence=0.9).summary.as_dict()
    assert summary["effective_length"]["absolute"] == {
        "value": 4096,
        "censored": "above",
        "threshold": 85.0,
        "confidence": 0.9,
    }
    assert summary["stopping"]["rule"] == "absolute" and summary["stopping"]["margin"] is None
    assert len({row["used"] for row in summary["by_length"]}) == 1


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (("--shard", "1/2"), "--shard 1/2"),
        (("--lengths", "1k"), "one length"),
    ],
)
def test_what_cannot_be_certain_is_refused_in_one_line(shell: Shell, more: tuple[str, ...], reason: str) -> None:
    ended = measure(shell, "reader/oracle", *more)
    assert ended.code == 2
    assert reason in ended.err and ended.err.count("\n") == 1
    assert not shell.run_folders()


def test_a_plan_says_what_stopping_will_probably_leave(shell: Shell) -> None:
    planned = shell("plan", "quick", *design("reader/oracle"), "--stop", "certain", "--json").json
    assert 0 < planned["stopping"]["prompt_tokens"] < planned["prompt_tokens"] / 2
    assert set(planned["stopping"]["shares"]) == {str(length) for length in LENGTHS}
    assert planned["stopping"]["source"] == "the models of RULER's tables"
    pilot = str(within(shell.folder / "pilot", "certain", "reader/limit?tokens=2048").folder)
    told = shell("plan", "quick", *design("reader/oracle"), "--stop", "certain", "--from", pilot)
    assert "if it scores as an earlier run of reader/limit?tokens=2048 did" in told.out
    refused = shell("plan", "quick", *design("reader/oracle"), "--from", pilot)
    assert refused.code == 2 and "--stop certain" in refused.err and refused.err.count("\n") == 1


NOLIMA: dict[str, Any] = {"lengths": (250, 500, 1000, 2000, 4000, 8000), "samples": 480}
"""Six places of each of the 40 needles, two questions at each."""


def of_needles(folder: Path, stop: Literal["certain", "never"] = "certain", **more: Any) -> Run:
    return ask("nolima-open", "reader/logistic?half=7000", stop=stop, out=folder, **(NOLIMA | more))


@pytest.fixture(scope="module")
def needles(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A stopped NoLiMa run in one go."""
    return of_needles(tmp_path_factory.mktemp("needles"), concurrency=1)


@pytest.mark.slow
def test_nolima_is_judged_by_its_base_which_is_asked_in_full(needles: Run) -> None:
    rows = {row["length"]: row for row in needles.summary.as_dict()["by_length"]}
    assert all(rows[length]["used"] == rows[length]["of"] == 480 for length in (250, 500, 1000))
    assert rows[8000]["used"] < 480 and rows[8000]["decision"] == "below"
    asked = sum(1 for _ in needles.records)
    whole = of_needles(needles.folder.parents[1], "never")
    assert whole.folder == needles.folder and asked < sum(1 for _ in whole.records) == 480 * 6
    assert whole.summary.base == needles.summary.base
    stopped = needles.summary.effective_length.relative
    assert stopped.value == whole.summary.effective_length.relative.value
    for score in whole.summary.by_length:
        assert rows[score.length]["decided"] is False or stopped.threshold is not None
        passes = needles.design.stopped.lengths[score.length].passes if needles.design.stopped else None
        assert passes is None or passes == ((score.score or 0) >= (stopped.threshold or 0))


@pytest.mark.slow
def test_a_nolima_run_that_was_limited_killed_or_asked_at_once_decides_the_same(shell: Shell, needles: Run) -> None:
    assert decisions(of_needles(shell.folder / "eight", concurrency=8)) == decisions(needles)
    limited = of_needles(shell.folder / "halves", limit_tokens=400_000)
    assert any(row["decision"] == "open" for row in limited.summary.as_dict()["by_length"])
    before = len(shell.lines("halves"))
    options = ("--model", "reader/logistic?half=7000", "--samples", "480", "--stop", "certain", "--out", "halves")
    killed = shell.start("run", "nolima-open", *options, "--lengths", "250,500,1k,2k,4k,8k")
    shell.wait_for_lines(killed, before + 5, "halves")
    killed.stop()
    assert decisions(of_needles(shell.folder / "halves")) == decisions(needles)


def test_the_effective_length_can_be_the_claim(shell: Shell) -> None:
    ended = measure(shell, "reader/limit?tokens=2048", "--claim", "effective", "--threshold", "85")
    assert ended.code == 0, ended.err
    assert "1K: 0 of 40 samples of each task, not needed: a greater length passes" in ended.out
    assert "the effective length is certain at 95 %" in ended.out
    (folder,) = shell.run_folders()
    assert not any(json.loads(line)["key"]["length"] == 1024 for line in shell.lines())
    summary = summary_of(folder)
    assert summary["stopping"]["claim"] == "effective"
    assert summary["effective_length_set"]["absolute"] == {"lengths": [2048], "below": False, "confidence": 0.95}
    assert json.loads((folder / "run.json").read_text(encoding="utf-8"))["spec"]["claim"] == "effective"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "the effective length is certain at 95 %" in page and "not needed: a greater length passes" in page
    shorter = within(folder.parents[1], "certain", "reader/limit?tokens=2048", threshold=85)
    assert [row["decision"] for row in shorter.summary.as_dict()["by_length"]] == ["above", "above", "below"]

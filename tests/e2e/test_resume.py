"""Runs that are killed, interrupted, extended and divided."""

from __future__ import annotations

import json
import random
import signal
from pathlib import Path
from typing import Any

import pytest

from .conftest import Invoke, Shell

SLOW = ("run", "quick", "--model", "reader/window?tokens=2048", "--tasks", "niah_single_1,vt", "--lengths", "1k,64k")
SMALL = ("run", "quick", "--model", "reader/oracle", "--tasks", "niah_single_1", "--lengths", "1k", "--samples", "2")


def final_keys(lines: list[str]) -> list[str]:
    return [json.dumps(json.loads(line)["key"], sort_keys=True) for line in lines]


def figures(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


def without_timing(line: str) -> dict[str, Any]:
    record = json.loads(line)
    record["response"].pop("latency_s")
    return record


def test_a_run_that_is_killed_at_any_instant_loses_nothing_and_asks_nothing_twice(shell: Shell) -> None:
    """Killed twice, it ends with the records and the summary of a run that was left alone."""
    arguments = (*SLOW, "--samples", "26")
    alone = shell.start(*arguments, "--out", "alone")
    assert alone.ended().code == 0
    draw = random.Random(20)
    durable: list[str] = []
    for _ in range(2):
        command = shell.start(*arguments, "--out", "killed")
        shell.wait_for_lines(command, len(durable) + draw.randint(1, 25), "killed")
        command.send(signal.SIGKILL)
        command.stop()
        before, durable = durable, shell.lines("killed")
        assert set(before) <= set(durable)
    assert 0 < len(durable) < 104, "the run was killed before its end"
    finished = shell(*arguments, "--out", "killed")
    assert finished.code == 0, finished.err
    assert "going on with the run of" in finished.err
    assert "--label" in finished.err

    lines = shell.lines("killed")
    assert len(lines) == 104 == len(set(final_keys(lines))), "one record for each trial"
    (killed,), (whole,) = shell.run_folders("killed"), shell.run_folders("alone")
    assert figures(killed) == figures(whole)
    expected = sorted(map(without_timing, shell.lines("alone")), key=str)
    assert sorted(map(without_timing, lines), key=str) == expected


def test_an_interrupted_run_says_how_to_go_on(shell: Shell) -> None:
    command = shell.start(*SLOW, "--samples", "12")
    shell.wait_for_lines(command, 3)
    command.send(signal.SIGINT)
    ended = command.ended()
    assert (ended.code, ended.out) == (130, "")
    assert ended.err == "interrupted: every answer so far is kept; start the same command again to go on\n"
    durable = shell.lines()
    assert 3 <= len(durable) < 48
    again = shell(*SLOW, "--samples", "12", "--json")
    assert again.code == 0
    assert "going on with the run of" in again.err
    assert {cell["n"] for cell in again.json["cells"]} == {12}
    assert len(shell.lines()) == 48


def test_more_of_the_same_extends_a_run(shell: Shell, invoke: Invoke) -> None:
    assert invoke(*SMALL).code == 0
    (folder,) = shell.run_folders()
    created = manifest(folder)["created"]
    same = [
        ("--samples", "4"),
        ("--lengths", "2k"),
        ("--concurrency", "1"),
        ("--order", "given"),
        ("--shard", "1/2"),
        ("--tasks", "niah_single_2"),
    ]
    for change in same:
        ended = invoke(*SMALL, *change)
        assert ended.code == 0
        assert f"going on with the run of {created[:10]}" in ended.err
        assert shell.run_folders() == [folder]
    assert manifest(folder)["created"] == created
    keys = [json.loads(line)["key"] for line in shell.lines()]
    cells = sorted((key["task"], key["length"], key["index"]) for key in keys)
    assert cells == [
        *(("niah_single_1", 1024, index) for index in range(4)),
        *(("niah_single_1", 2048, index) for index in range(2)),
        *(("niah_single_2", 1024, index) for index in range(2)),
    ]
    asked = {(cell["task"], cell["length"]): cell["n"] for cell in figures(folder)["cells"]}
    assert asked["niah_single_1", 1024] == 4
    assert asked["niah_single_1", 2048] == asked["niah_single_2", 1024] == 2


@pytest.mark.parametrize(
    "change",
    [("--seed", "43"), ("--set", "niah.num_keys=2"), ("--template", "llama2"), ("--label", "x"), ("--max-tokens", "20")],
)
def test_another_set_up_makes_another_run(shell: Shell, invoke: Invoke, change: tuple[str, str]) -> None:
    assert invoke(*SMALL).code == 0
    ended = invoke(*SMALL, *change)
    assert (ended.code, ended.err) == (0, "")
    assert len(shell.run_folders()) == 2


def test_two_writers_of_a_shard_are_refused_and_two_shards_are_not(shell: Shell) -> None:
    arguments = (*SLOW, "--samples", "60", "--shard")
    first = shell.start(*arguments, "1/2")
    shell.wait_for_lines(first, 1)
    first.send(signal.SIGSTOP)
    refused = shell(*arguments, "1/2")
    assert (refused.code, refused.out) == (2, "")
    assert len(refused.err.splitlines()) == 1
    assert "another process is writing" in refused.err
    assert shell(*arguments[:-3], "--samples", "4", "--shard", "2/2").code == 0
    first.send(signal.SIGKILL)
    assert len(set(final_keys(shell.lines()))) == len(shell.lines())
    assert {int(json.loads(line)["key"]["index"]) % 2 for line in shell.lines()} == {0, 1}


def test_failed_trials_are_asked_again_and_the_newest_record_counts(
    shell: Shell, invoke: Invoke
) -> None:
    assert invoke(*SMALL, "--samples", "3").code == 0
    (folder,) = shell.run_folders()
    (path,) = folder.glob("records-*.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record, outcome in zip(records, ("failed", "truncated_prompt"), strict=False):
        record["outcome"] = outcome
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    score = invoke("score", str(folder), "--json")
    assert score.code == 0
    assert score.json["cells"][0]["outcomes"] == {"failed": 1, "truncated_prompt": 1, "answered": 1}
    again = invoke(*SMALL, "--samples", "3", "--json")
    assert again.code == 0
    assert again.json["cells"][0]["outcomes"] == {"answered": 3}
    assert len(shell.lines()) == 5


def test_a_limit_stops_before_a_round_and_a_higher_one_goes_on(shell: Shell, invoke: Invoke) -> None:
    arguments = (*SMALL, "--samples", "60", "--json")
    stopped = invoke(*arguments, "--limit-tokens", "30000")
    assert stopped.code == 0
    assert "stopped before round 2" in stopped.err
    assert len(shell.lines()) == 25
    assert stopped.json["incomplete"] == [{"task": "niah_single_1", "length": 1024}]
    finished = invoke(*arguments)
    assert len(shell.lines()) == 60
    assert finished.json["incomplete"] == []


@pytest.mark.local_model
def test_the_model_in_the_box_finds_a_needle(shell: Shell) -> None:
    pytest.importorskip("openvino_genai", reason="openvino_genai is not installed: the model in the box was not asked")
    ended = shell("run", "quick", "--tasks", "niah_single_2", "--lengths", "1k", "--samples", "1", "--json")
    if "could not be fetched" in ended.err:
        pytest.skip(f"the model in the box was not asked: {ended.err}")
    assert ended.code == 0, ended.err
    assert ended.json["model"] == "local"
    assert ended.json["cells"][0]["score"] == 100.0
    (record,) = [json.loads(line) for line in shell.lines()]
    assert record["response"]["prompt_tokens"] == record["prompt_tokens"] <= 1024 - 128

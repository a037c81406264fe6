"""Runs that are killed, interrupted, extended and divided."""

from __future__ import annotations

import json
import random
import signal
import sys
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


def test_a_run_that_is_stopped_at_any_instant_loses_nothing_and_asks_nothing_twice(
    shell: Shell, invoke: Invoke
) -> None:
    """Interrupted once and killed twice, it ends with the records and figures of a run that was left alone."""
    arguments = (*SLOW, "--samples", "26")
    assert invoke(*arguments, "--out", "alone").code == 0
    draw = random.Random()
    durable: list[str] = []
    for number in (signal.SIGINT, signal.SIGKILL, signal.SIGKILL):
        command = shell.start(*arguments, "--out", "stopped")
        shell.wait_for_lines(command, len(durable) + draw.randint(1, 25), "stopped")
        command.send(number)
        ended = command.ended()
        before, durable = durable, shell.lines("stopped")
        assert set(before) < set(durable)
        if number == signal.SIGINT:
            assert (ended.code, ended.out) == (130, "")
            assert ended.err == "interrupted: every answer so far is kept; start the same command again to go on\n"
        else:
            assert ended.code == -signal.SIGKILL
            assert ended.err.startswith("going on with the run of ")
    assert len(durable) < 104, "the run was stopped before its end"
    finished = invoke(*arguments, "--out", "stopped")
    assert finished.code == 0
    assert "going on with the run of" in finished.err
    assert "--label" in finished.err

    lines = shell.lines("stopped")
    assert len(lines) == 104 == len(set(final_keys(lines))), "one record for each trial"
    (stopped,), (alone,) = shell.run_folders("stopped"), shell.run_folders("alone")
    assert figures(stopped) == figures(alone)
    expected = sorted(map(without_timing, shell.lines("alone")), key=str)
    assert sorted(map(without_timing, lines), key=str) == expected


def test_an_interruption_while_a_verb_is_loaded_is_no_traceback(
    shell: Shell, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Loading:
        @property
        def app(self) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "leadline.cli.run", Loading())
    ended = invoke(*SMALL)
    assert (ended.code, ended.out) == (130, "")
    assert ended.err == "leadline: interrupted before anything was asked\n"
    assert shell.run_folders() == []


def test_more_of_the_same_extends_a_run(shell: Shell, invoke: Invoke) -> None:
    assert invoke(*SMALL).code == 0
    (folder,) = shell.run_folders()
    created = manifest(folder)["created"]
    same = [
        ("--samples", "4"),
        ("--lengths", "2k", "--concurrency", "1", "--order", "given"),
        ("--tasks", "niah_single_2", "--skip-damaged", "--limit-tokens", "100000"),
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


def test_another_set_up_makes_another_run(shell: Shell, invoke: Invoke) -> None:
    for change in ((), ("--seed", "43"), ("--label", "again")):
        ended = invoke(*SMALL, *change)
        assert (ended.code, ended.err) == (0, "")
    assert len(shell.run_folders()) == 3


def test_two_writers_of_a_shard_are_refused_and_two_shards_are_not(shell: Shell, invoke: Invoke) -> None:
    arguments = (*SLOW, "--samples", "60", "--shard")
    first = shell.start(*arguments, "1/2")
    shell.wait_for_lines(first, 1)
    first.send(signal.SIGSTOP)
    refused = invoke(*arguments, "1/2")
    assert (refused.code, refused.out) == (2, "")
    assert len(refused.err.splitlines()) == 1
    assert "another process is writing" in refused.err
    assert invoke(*SLOW, "--samples", "4", "--shard", "2/2").code == 0
    first.send(signal.SIGKILL)
    assert len(set(final_keys(shell.lines()))) == len(shell.lines())
    assert {int(json.loads(line)["key"]["index"]) % 2 for line in shell.lines()} == {0, 1}


def test_failed_trials_are_asked_again_and_the_newest_record_counts(shell: Shell, invoke: Invoke) -> None:
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

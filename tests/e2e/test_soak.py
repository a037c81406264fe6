"""A long run against a server that fails one call in five, whose client is killed again and again."""

from __future__ import annotations

import json
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from leadline.data.loading import load_tokenizer
from leadline.items import digest
from tests.servers.faulty import PASSING, Asked, Fault, FaultyServer, Kind

from .conftest import Shell, invoke_in

FAULTS: tuple[Kind, ...] = (*PASSING, "hang")
STATUSES = (500, 502, 503, 529)


def one_in_five(seed: int) -> Any:
    """Fails a random fifth of all calls, in random ways."""
    draw = random.Random(seed)

    def behaviour(body: Any, number: int) -> Fault | None:
        if draw.random() >= 0.2:
            return None
        kind = draw.choice(FAULTS)
        after = draw.choice([None, "0", "0.05"]) if kind == "rate_limit" else None
        return Fault(kind, status=draw.choice(STATUSES), retry_after=after, seconds=0.1)

    return behaviour


def prompts(calls: list[Asked]) -> list[str]:
    """Hashes of what was asked; a look round the server's routes asks nothing."""
    return [digest(call.body["prompt"]) for call in calls if call.body]


def hashes(lines: list[str]) -> set[str]:
    return {json.loads(line)["prompt_hash"] for line in lines}


def figures(folder: Path) -> dict[str, Any]:
    return {
        name: value for name, value in json.loads((folder / "summary.json").read_text()).items() if name != "tokens"
    }


def soak(shell: Shell, samples: int, kills: int, seed: int) -> None:
    count = load_tokenizer("tiktoken/cl100k_base").count
    asked = (
        *("run", "quick", "--tasks", "niah_single_1,niah_multikey_1", "--lengths", "1k,2k"),
        *("--model", "openai/m", "--endpoint", "completions", "--tokenizer", "tiktoken/cl100k_base"),
        *("--samples", str(samples), "--concurrency", "8"),
    )
    trials = 4 * samples
    draw = random.Random(seed)
    with FaultyServer(count=count) as perfect:
        assert invoke_in(shell.folder, *asked, "--base-url", perfect.base_url, "--out", "alone").code == 0
    with FaultyServer(one_in_five(seed), count=count) as server:
        asked = (*asked, "--base-url", server.base_url, "--out", "soaked")
        durable: list[str] = []
        seen = 0
        for left in range(kills, 0, -1):
            step = (trials - len(durable)) // (left + 1)
            command = shell.start(*asked)
            shell.wait_for_lines(command, len(durable) + draw.randint(1, max(1, 2 * step - 1)), "soaked")
            command.send(signal.SIGKILL)
            ended = command.ended()
            assert ended.code == -signal.SIGKILL, ended.err
            time.sleep(0.3)  # what the killed client had sent has arrived
            before, durable = durable, shell.lines("soaked")
            assert set(before) <= set(durable), "what was durable stays"
            assert hashes(before).isdisjoint(prompts(server.requests[seen:]))
            seen = len(server.requests)
        ended = invoke_in(shell.folder, *asked)
        assert ended.code == 0, ended.err
        assert hashes(durable).isdisjoint(prompts(server.requests[seen:]))
        calls = Counter(prompts(server.requests))
    records = [json.loads(line) for line in shell.lines("soaked")]
    assert len(records) == trials == len({json.dumps(record["key"]) for record in records}), "one record for each trial"
    assert {record["outcome"] for record in records} == {"answered"}
    assert set(calls) == {record["prompt_hash"] for record in records}
    assert sum(calls.values()) > trials, "some calls failed"
    (soaked,), (alone,) = shell.run_folders("soaked"), shell.run_folders("alone")
    assert figures(soaked) == figures(alone)


def test_a_small_soak(shell: Shell) -> None:
    soak(shell, samples=50, kills=2, seed=1)


@pytest.mark.slow
def test_a_soak(shell: Shell) -> None:
    soak(shell, samples=500, kills=10, seed=2)

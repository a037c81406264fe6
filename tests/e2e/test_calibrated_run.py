"""Runs whose tokenizer is a stand-in: lengths are in the model's tokens, as far as four short texts tell."""

from __future__ import annotations

import json
from typing import Any

import pytest

from leadline.data.loading import load_tokenizer
from tests.servers.window import WindowServer

from .conftest import Ended, Invoke, Shell

OTHER = load_tokenizer("tiktoken/cl100k_base")


def count(text: str) -> int:
    """A tokenizer that nobody has: more tokens than any of ours, and one more for each second digit."""
    return int(1.15 * OTHER.count(text)) + sum(character.isdigit() for character in text) // 2


@pytest.fixture
def measured(invoke: Invoke, shell: Shell) -> Any:
    def run(server: WindowServer, tasks: str, *arguments: str) -> tuple[Ended, list[dict[str, Any]]]:
        ended = invoke(
            *("run", "quick", "--tasks", tasks, "--lengths", "1k,2k", "--samples", "2", "--json"),
            *("--model", "openai/m", "--base-url", server.base_url, *arguments),
        )
        return ended, [json.loads(line) for line in shell.lines()]

    return run


def test_no_request_is_longer_than_its_length_and_none_is_refused(measured: Any, shell: Shell) -> None:
    with WindowServer(2048, "refuse", count=count, claims=2048, owner="me") as server:
        ended, records = measured(server, "niah_single_1,niah_single_3,vt")
    assert ended.code == 0
    assert "the sum of its parts" not in ended.err
    assert {record["outcome"] for record in records} <= {"answered", "truncated_output"}
    for record in records:
        told = record["response"]["prompt_tokens"]
        assert told <= record["prompt_tokens"], "never more than was planned"
        assert record["prompt_tokens"] < record["key"]["length"]
        assert told > 0.6 * record["key"]["length"]
    (folder,) = shell.run_folders()
    manifest = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert 0 < manifest["model"]["tokenizer_error"] < 0.4
    assert manifest["identity"]["tokenizer"].startswith("stand-in/tiktoken/o200k_base*1.")


def test_the_same_command_goes_on_with_the_same_run(measured: Any, shell: Shell) -> None:
    with WindowServer(4096, "refuse", count=count, claims=4096, owner="me") as server:
        measured(server, "niah_single_1")
        before = shell.lines()
        ended, _ = measured(server, "niah_single_1")
    assert ended.code == 0
    assert len(shell.run_folders()) == 1
    assert shell.lines() == before

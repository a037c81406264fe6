"""``sample``, ``tasks``, ``data`` and help."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from leadline.cli import VERBS

from .conftest import Invoke, Shell

KEYS = {
    *("task", "task_version", "length", "index", "seed", "messages", "answer_prefix", "prompt", "answers", "spans"),
    *("tokens", "prompt_sha256"),
}
KINDS = {"haystack", "needle", "distractor", "gold", "example", "question"}


def check_sample(sample: dict[str, Any]) -> None:
    assert set(sample) == KEYS
    assert [set(message) for message in sample["messages"]] == [{"role", "content"}]
    message = sample["messages"][-1]["content"]
    assert sample["messages"][-1]["role"] == "user"
    assert sample["prompt"] == message + sample["answer_prefix"]
    assert sample["prompt_sha256"] == hashlib.sha256(sample["prompt"].encode()).hexdigest()
    assert set(sample["tokens"]) == {"prompt", "output", "budget"}
    assert sample["tokens"]["prompt"] + sample["tokens"]["output"] <= sample["tokens"]["budget"] == sample["length"]
    position = 0
    for span in sample["spans"]:
        assert set(span) == {"kind", "start", "end"}
        assert span["kind"] in KINDS
        assert position <= span["start"] < span["end"] <= len(message)
        position = span["end"]
    needles = [message[span["start"] : span["end"]] for span in sample["spans"] if span["kind"] == "needle"]
    for forms in sample["answers"]:
        assert sum(forms[0] in needle for needle in needles) >= 1
    (question,) = [message[span["start"] : span["end"]] for span in sample["spans"] if span["kind"] == "question"]
    assert message.endswith(question)


def test_a_sample_is_what_the_command_line_promises_and_stays_the_same(shell: Shell, invoke: Invoke) -> None:
    arguments = ("sample", "niah_multikey_1", "--length", "4k", "--index", "3", "--json")
    one = shell(*arguments)
    assert (one.code, one.err) == (0, "")
    assert len(one.out.splitlines()) == 1
    sample = one.json
    check_sample(sample)
    assert (sample["task"], sample["length"], sample["index"], sample["seed"]) == ("niah_multikey_1", 4096, 3, 42)
    assert invoke(*arguments).json == sample
    # A pinned value: a changed prompt must raise the task's version.
    assert (sample["task_version"], sample["prompt_sha256"]) == (1, PINNED)

    many = invoke("sample", "vt", "--length", "1K", "--count", "4", "--seed", "7")
    lines = [json.loads(line) for line in many.out.splitlines()]
    assert [(line["index"], line["seed"], line["length"]) for line in lines] == [(i, 7, 1024) for i in range(4)]
    for line in lines:
        check_sample(line)
    assert len({line["prompt_sha256"] for line in lines}) == 4

    text = invoke("sample", "niah_multikey_1", "--length", "1k", "--index", "3")
    assert text.code == 0
    assert sample["answers"][0][0] in text.out
    assert "answers: " in text.out


PINNED = "0b32e6cde24bdcd9e96bdd91ffe772a1786aadc51407559cc631e02d0abe6fdc"


def test_what_there_is_to_ask(invoke: Invoke) -> None:
    listed = invoke("tasks", "--json")
    assert (listed.code, listed.err) == (0, "")
    assert {"quick", "ruler"} <= {suite["suite"] for suite in listed.json["suites"]}
    tasks = {task["task"]: task for task in listed.json["tasks"]}
    assert {f"niah_single_{number}" for number in (1, 2, 3)} | {"vt"} <= set(tasks)
    assert {"source", "category", "version", "output_tokens"} <= set(tasks["vt"])
    told = invoke("tasks", "niah_multikey_1", "--json").json
    assert {row["name"]: row["default"] for row in told["parameters"]}["num_keys"] == 4

    held = invoke("data", "list", "--json")
    assert (held.code, held.err) == (0, "")
    entries = {entry["name"]: entry for entry in held.json}
    assert {"smollm2-135m-instruct", "essays", "cl100k_base"} <= set(entries)
    for entry in entries.values():
        assert {"licence", "source", "sha256", "size_bytes", "state", "path"} <= set(entry)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(invoke: Invoke, verb: str) -> None:
    told = invoke(verb, "--help")
    assert (told.code, told.err) == (0, "")
    assert f"Example: leadline {verb}" in " ".join(told.out.split())

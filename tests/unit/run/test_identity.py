"""What makes two runs the same run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from leadline.prompt import named_frame
from leadline.requests import ModelFacts
from leadline.run.identity import folder_name, identity, identity_hash
from leadline.spec import resolve

from .conftest import WordTokenizer

FACTS = ModelFacts("local", {"sha256": "ab", "quantisation": "Q4_1"})


def hash_of(options: dict[str, Any], facts: ModelFacts = FACTS, frame: str = "base", **others: Any) -> str:
    spec = resolve(str(options.pop("suite", "quick")), options)
    values: dict[str, Any] = {"tokenizer_id": "words", "data_hashes": {"essays": "12"}, **others}
    return identity_hash(identity(spec, facts, frame=named_frame(frame, WordTokenizer()), **values))


@pytest.mark.parametrize(
    "options",
    [
        {"lengths": "8k"},
        {"samples": 99},
        {"tasks": "vt"},
        {"order": "given"},
        {"concurrency": 2},
        {"shard": "1/2"},
        {"limit_tokens": 5},
        {"out": "elsewhere"},
        {"offline": True},
        {"skip_damaged": True},
        {"base_url": "http://elsewhere:1/v1"},
        {"api_key_env": "OTHER_KEY"},
        {"timeout_s": 5},
        {"endpoint": "chat", "reasoning_tokens": 0},
    ],
    ids=str,
)
def test_what_changes_no_item_and_no_answer_is_the_same_run(options: dict[str, Any]) -> None:
    assert hash_of(options) == hash_of({})


def test_what_changes_an_item_or_an_answer_is_another_run() -> None:
    hashes = [
        hash_of({}),
        hash_of({"seed": 43}),
        hash_of({"set": {"niah.num_keys": 2}}),
        hash_of({"max_tokens": 20}),
        hash_of({"label": "x"}),
        hash_of({"endpoint": "completions"}),
        hash_of({"reasoning_tokens": 100}),
        hash_of({"suite": "ruler"}),
        hash_of({}, frame="llama2"),
        hash_of({}, facts=ModelFacts("other", FACTS.details)),
        hash_of({}, facts=replace(FACTS, details={"sha256": "cd", "quantisation": "Q4_1"})),
        hash_of({}, tokenizer_id="others"),
    ]
    assert len(set(hashes)) == len(hashes)


def test_a_folders_name_is_plain() -> None:
    spec = resolve("quick", {})
    name = folder_name(spec, ModelFacts("openai/../a b?c=1"), {"a": 1})
    model, run = name.split("/")
    assert model == "openai-..-a-b-c=1"
    assert run.startswith("quick-")


def test_a_server_with_more_context_or_a_new_version_goes_on_with_its_run() -> None:
    served = replace(FACTS, details={**FACTS.details, "served_context_tokens": 2048, "server_version": "1"})
    raised = replace(FACTS, details={**FACTS.details, "served_context_tokens": 8192, "server_version": "2"})
    assert hash_of({}, facts=served) == hash_of({}, facts=raised) == hash_of({})

"""Dialects: every claim has a source, every server is recognised, every error means what it should."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from leadline.models.dialects import PLAIN, dialects, lead
from leadline.models.http import Server, error_parts, retry_after_s
from leadline.models.survey import Survey, survey
from tests.servers.faulty import FaultyServer


def test_every_claim_has_a_source_and_says_how_far_it_was_tried() -> None:
    for dialect in dialects().values():
        assert dialect.source, dialect.name
        assert all(source.startswith("https://") for source in dialect.source)
        assert dialect.verified == "from documentation" or dialect.verified.startswith("on ")
        assert set(dialect.facts) <= {
            "served_context_tokens",
            "server_version",
            "quantisation",
            "parameters",
            "trained_context_tokens",
            "model_path",
            "model_id",
            "weights",
        }


SERVERS: dict[str, dict[str, Any]] = {
    "vllm": {
        "model": {"owned_by": "vllm", "max_model_len": 8192},
        "routes": {"/version": {"version": "0.11.0"}},
    },
    "sglang": {
        "model": {"owned_by": "sglang", "max_model_len": 8192},
        "routes": {"/get_model_info": {"model_path": "some/model"}},
    },
    "llamacpp": {
        "model": {"owned_by": "llamacpp", "meta": {"ftype": "Q4_1", "n_ctx_train": 8192}},
        "routes": {
            "/props": {
                "default_generation_settings": {"n_ctx": 8192},
                "total_slots": 3,
                "chat_template": "{{ messages[0].content }}",
                "bos_token": "<s>",
            }
        },
    },
    "lmstudio": {
        "routes": {
            "/api/v0/models": {
                "data": [{"id": "other"}, {"id": "m", "loaded_context_length": 8192, "quantization": "Q8_0"}]
            }
        }
    },
    "tgi": {"routes": {"/info": {"model_id": "some/model", "max_total_tokens": 8192, "version": "3.3.0"}}},
    "ollama": {"model": {"owned_by": "library"}, "routes": {"/api/version": {"version": "0.12.0"}}},
    "plain": {"model": {"max_model_len": 8192}},
}


def look_at(server: FaultyServer) -> Survey:
    with closing(Server(server.base_url, None, None, 5)) as asked:
        return survey(asked, "openai", "m")


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_is_recognised_by_what_it_says(name: str) -> None:
    with FaultyServer(**SERVERS[name]) as server:
        found = look_at(server)
    assert found.dialect.name == name
    assert found.facts.name == "openai/m"
    if name != "ollama":
        assert found.context_tokens == found.facts.details["served_context_tokens"] == 8192
    assert found.slots == (3 if name == "llamacpp" else None)
    if name == "llamacpp":
        assert found.facts.chat_template == "{{ messages[0].content }}"
        assert found.facts.special_tokens == {"bos_token": "<s>"}
        assert found.facts.details["quantisation"] == "Q4_1"
    assert not server.requests


def test_a_server_is_recognised_by_its_headers_and_its_host() -> None:
    with FaultyServer(headers={"Server": "llama.cpp"}) as server:
        assert look_at(server).dialect.name == "llamacpp"
    assert dialects()["openrouter"].recognise.by_answer("openrouter.ai", {}, None)
    assert not dialects()["openrouter"].recognise.by_answer("notopenrouter.ai", {}, None)


ERRORS: list[tuple[str, int, str, str | None, int | None]] = [
    (
        "openai",
        400,
        '{"error": {"message": "This model\'s maximum context length is 128000 tokens. However, ...", '
        '"type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}',
        "over_length",
        None,
    ),
    ("openai", 401, '{"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}', "invalid_key", None),
    ("openai", 404, '{"error": {"message": "no", "code": "model_not_found"}}', "unknown_model", None),
    ("openai", 429, '{"error": {"message": "no", "code": "insufficient_quota"}}', "no_credit", None),
    ("openai", 429, '{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}', None, None),
    (
        "vllm",
        400,
        '{"object": "error", "message": "This model\'s maximum context length is 2048 tokens. However, you requested '
        '3000 tokens", "type": "BadRequestError", "code": 400}',
        "over_length",
        2048,
    ),
    (
        "vllm",
        404,
        '{"object":"error","message":"The model `x` does not exist.","type":"NotFoundError","code":404}',
        "unknown_model",
        None,
    ),
    (
        "sglang",
        400,
        '{"message": "The input (9000 tokens) is longer than the model\'s context length (8192 tokens)."}',
        "over_length",
        8192,
    ),
    (
        "llamacpp",
        400,
        '{"error":{"code":400,"message":"request (6031 tokens) exceeds the available context size (4096 tokens), '
        'try increasing it","type":"exceed_context_size_error","n_prompt_tokens":6031,"n_ctx":4096}}',
        "over_length",
        4096,
    ),
    (
        "lmstudio",
        400,
        '{"error": "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded '
        'with context length of only 4096 tokens"}',
        "over_length",
        4096,
    ),
    (
        "tgi",
        422,
        '{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 3000 `inputs` '
        'tokens and 20 `max_new_tokens`","error_type":"validation"}',
        "over_length",
        2048,
    ),
    ("tgi", 422, '{"error":"Input validation error: `temperature` must be strictly positive"}', None, None),
    ("ollama", 404, '{"error":{"message":"model \\"x\\" not found","type":"api_error"}}', "unknown_model", None),
    ("openrouter", 402, '{"error": {"code": 402, "message": "Insufficient credits"}}', "no_credit", None),
    ("openrouter", 403, '{"error": {"code": 403, "message": "flagged"}}', "filtered", None),
    ("plain", 404, "<html>nothing here</html>", "no_route", None),
    ("plain", 400, '{"error": {"message": "prompt is too long: 9000 tokens"}}', "over_length", None),
    ("plain", 400, '{"error": {"message": "bad request"}}', None, None),
    ("plain", 500, '{"error": {"message": "internal"}}', None, None),
]


@pytest.mark.parametrize(("name", "status", "body", "kind", "limit"), ERRORS)
def test_an_error_means_what_it_should(name: str, status: int, body: str, kind: str | None, limit: int | None) -> None:
    message, codes = error_parts(body)
    found, told = dialects()[name].meaning(status, codes, message)
    assert found == kind
    if limit is not None:
        assert told == limit


def test_retry_after_is_seconds_or_a_date() -> None:
    assert retry_after_s({"Retry-After": "7"}) == 7
    assert retry_after_s({"retry-after": "0.5"}) == 0.5
    assert retry_after_s({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert 3.0e9 > (retry_after_s({"retry-after": "Fri, 21 Oct 2095 07:28:00 GMT"}) or 0) > 1.0e9
    assert retry_after_s({"retry-after": "soon"}) is None
    assert retry_after_s({}) is None


def test_a_path_leads_into_json_or_nowhere() -> None:
    data = {"data": [{"id": "a", "n": 1}, {"id": "b", "n": 2}], "x": {"y": 0}}
    assert lead(data, "data.MODEL.n", "b") == 2
    assert lead(data, "data.MODEL.n", "c") is None
    assert lead(data, "x.y") == 0
    assert lead(data, "x.z.y") is None
    assert lead(None, "x") is None
    assert dialects()[PLAIN].prefill == "none"


def test_the_documentation_has_every_dialect() -> None:
    page = (Path(__file__).parents[3] / "docs" / "servers.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    for dialect in dialects().values():
        row = next(line for line in rows if line.startswith(f"| {dialect.title} |"))
        assert row.endswith(f"| {dialect.verified} |")
        assert all(f"`{name}`" in row for name in dialect.reasoning[:1])
        assert ("| no |" in row) is (dialect.prefill == "none")

"""The client of OpenAI-compatible servers, against real HTTP servers that answer right and wrong."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from leadline.data.loading import load_tokenizer
from leadline.data.sources import Sources
from leadline.errors import ModelError, UsageError
from leadline.items import Sample
from leadline.models.dialects import by_host
from leadline.models.openai import OpenAI, open_openai
from leadline.models.registry import ModelOptions
from leadline.prompt import DIRECTLY, request_for
from leadline.requests import PermanentError, Request, Response, TransientError
from leadline.run.framing import open_sampler, resolve_frame
from leadline.sampler import Sampler
from leadline.scoring.outcomes import judge
from leadline.spec import RunSpec, resolve
from leadline.tasks.registry import make_task
from leadline.testing import check_backend
from tests.servers.faulty import Behaviour, Fault, FaultyServer, Kind

KEY = "sk-planted-0123456789"
COUNTED = load_tokenizer("cl100k_base")
VLLM: dict[str, Any] = {"model": {"owned_by": "vllm", "max_model_len": 8192}, "prefills": True}
LLAMACPP: dict[str, Any] = {"model": {"owned_by": "llamacpp"}}
ASK = Request(max_tokens=16, messages=({"role": "user", "content": "What is it?"},))


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def spec_for(server: FaultyServer, **options: Any) -> RunSpec:
    given = {"model": "openai/m", "base_url": server.base_url, "tokenizer": "cl100k_base", "lengths": "1k", **options}
    return resolve("quick", given)


@asynccontextmanager
async def opened(server: FaultyServer, **options: Any) -> AsyncGenerator[tuple[OpenAI, Sampler]]:
    spec = spec_for(server, **options)
    backend = open_openai("m", ModelOptions.of(spec))
    try:
        yield backend, open_sampler(spec, backend, Sources(offline=True))
    finally:
        await backend.aclose()


def sample_of(sampler: Sampler, length: int = 1024, **params: Any) -> Sample:
    task = make_task("niah_single_1", params)
    plan = sampler.plan(task, 0)
    fit = sampler.fit(task, plan, length)
    assert fit is not None
    return sampler.sample(task, plan, fit, length)


def failing(kind: Kind, **details: Any) -> Behaviour:
    """Every request fails but those of the opening, which are short."""

    def behaviour(body: Any, number: int) -> Fault | None:
        return Fault(kind, **details) if body.get("max_tokens") != 1 and len(str(body)) > 2000 else None

    return behaviour


async def asked(server: FaultyServer, **options: Any) -> tuple[Sample, Response]:
    async with opened(server, **options) as (backend, sampler):
        sample = sample_of(sampler)
        return sample, await backend.answer(request_for(sample, sampler.frame))


@pytest.mark.parametrize(
    ("server", "mode"),
    [
        (VLLM, "prefill"),
        (LLAMACPP, "prefill"),
        ({}, "in_user_turn"),
        ({"model": {"owned_by": "library"}}, "in_user_turn"),
    ],
    ids=["fields", "trailing turn that is echoed", "plain", "ollama"],
)
async def test_the_answer_prefix_goes_where_the_server_takes_it(server: dict[str, Any], mode: str) -> None:
    with FaultyServer(count=COUNTED.count, **server) as here:
        async with opened(here) as (backend, sampler):
            assert sampler.frame.mode == sampler.frame.identity["mode"] == mode
            sample = sample_of(sampler)
            response = await backend.answer(request_for(sample, sampler.frame))
    messages = here.requests[-1].body["messages"]
    assert sample.answer_prefix
    if mode == "prefill":
        assert messages[-1] == {"role": "assistant", "content": sample.answer_prefix}
        assert messages[-2]["content"] == sample.text
    else:
        assert messages == [{"role": "user", "content": sample.text + DIRECTLY + sample.answer_prefix}]
    assert here.requests[-1].body.get("continue_final_message") is (True if server is VLLM else None)
    assert here.requests[-1].body.get("add_generation_prompt") is (False if server is VLLM else None)
    wanted = sample.plan.answers[0][0]
    assert response.text == f" {wanted}"
    # A server's count and ours agree to the token once the template's has been measured.
    assert response.prompt_tokens == sample.fit.prompt_tokens
    assert sampler.counter.whole(sample.text, sample.answer_prefix) == sample.fit.prompt_tokens


async def test_turns_are_messages_and_are_counted() -> None:
    with FaultyServer(count=COUNTED.count, **VLLM) as here:
        async with opened(here, protocol="sound") as (backend, sampler):
            task = next(task for task in spec_for(here, tasks="vt", protocol="sound").make_tasks())
            plan = sampler.plan(task, 0)
            fit = sampler.fit(task, plan, 1024)
            assert fit is not None
            sample = sampler.sample(task, plan, fit, 1024)
            response = await backend.answer(request_for(sample, sampler.frame))
    roles = [message["role"] for message in here.requests[-1].body["messages"]]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert sample.turns
    assert response.prompt_tokens == fit.prompt_tokens


async def test_completions_are_sent_rendered_text() -> None:
    template = "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}<assistant>"
    props = {"chat_template": template, "bos_token": "^", "default_generation_settings": {"n_ctx": 4096}}
    with FaultyServer(count=COUNTED.count, routes={"/props": props}, **LLAMACPP) as here:
        sample, response = await asked(here, endpoint="completions")
        async with opened(here, endpoint="completions") as (_, sampler):
            assert sampler.frame.template == "local"
            assert sampler.frame.mode == "prefill"
    body = here.requests[-1].body
    assert here.requests[-1].path == "/v1/completions"
    assert body["prompt"] == f"^<user>{sample.text}</><assistant>{sample.answer_prefix}"
    assert body["max_tokens"] == sample.max_tokens
    assert response.text == f" {sample.plan.answers[0][0]}"
    assert response.prompt_tokens == sample.fit.prompt_tokens


async def test_a_server_that_renders_refuses_a_template_of_ours() -> None:
    with FaultyServer(**VLLM) as here:
        backend = open_openai("m", ModelOptions.of(spec_for(here)))
        with pytest.raises(UsageError, match="--endpoint completions"):
            resolve_frame(spec_for(here, template="llama3"), backend, COUNTED)
        await backend.aclose()


async def test_the_request_is_greedy_and_has_room_for_reasoning() -> None:
    with FaultyServer(**VLLM) as here:
        async with opened(here) as (backend, _):
            await backend.answer(Request(max_tokens=16, messages=ASK.messages, reasoning_tokens=100))
    body = here.requests[-1].body
    assert (body["temperature"], body["max_tokens"], body["model"]) == (0, 116, "m")


@pytest.mark.parametrize(
    ("kind", "details", "outcome"),
    [
        ("lie", {}, "truncated_prompt"),
        ("drop_middle", {}, "truncated_prompt"),
        ("filter", {}, "filtered"),
        ("echo", {}, "degenerate"),
        ("loop", {}, "degenerate"),
        ("reasoning", {}, "answered"),
        ("silent", {}, "failed"),
        ("cut", {}, "truncated_output"),
        ("refuse", {}, "refused"),
    ],
)
async def test_what_came_back_is_reported_so_that_it_can_be_judged(
    kind: Kind, details: Mapping[str, Any], outcome: str
) -> None:
    with FaultyServer(failing(kind, **details), count=COUNTED.count, **VLLM) as here:
        sample, response = await asked(here)
    judged = judge(
        response,
        expected_prompt_tokens=sample.fit.prompt_tokens,
        exact_tokenizer=True,
        prompt_text=sample.text,
        answers=sample.plan.answers,
    )
    assert judged.outcome == outcome
    assert bool(response.reasoning) is (kind == "reasoning")


@pytest.mark.parametrize(
    ("kind", "details", "cause", "retry_after_s"),
    [
        ("rate_limit", {"retry_after": "3"}, "overloaded", 3.0),
        ("rate_limit", {}, "overloaded", None),
        ("error", {"status": 500}, "other", None),
        ("error", {"status": 503, "retry_after": "1"}, "overloaded", 1.0),
        ("reset", {}, "unreachable", None),
        ("cut_body", {}, "unreachable", None),
        ("cut_json", {}, "other", None),
    ],
)
async def test_what_may_pass_is_transient(
    kind: Kind, details: Mapping[str, Any], cause: str, retry_after_s: float | None
) -> None:
    with FaultyServer(failing(kind, **details), **VLLM) as here:
        with pytest.raises(TransientError) as error:
            await asked(here)
        assert (error.value.cause, error.value.retry_after_s) == (cause, retry_after_s)
        calls = [call for call in here.requests if len(str(call.body)) > 2000]
        assert len(calls) == 1, "the package's own retries are off"


async def test_a_server_that_hangs_is_left_after_the_timeout() -> None:
    limit = pytest.raises(TransientError, match=r"1 s \(--timeout-s\)")
    with FaultyServer(failing("hang"), **VLLM) as here, limit:
        await asked(here, timeout_s=1)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": {"message": "maximum context length is 2048 tokens", "code": 400}}, "over_length"),
        (400, {"error": {"message": "no", "code": "content_filter"}}, "filtered"),
        (422, {"error": {"message": "no such field"}}, "failed"),
    ],
)
async def test_what_stays_wrong_is_permanent(status: int, body: Mapping[str, Any], kind: str) -> None:
    server = FaultyServer(failing("error", status=status, body=body), **VLLM)
    with server as here, pytest.raises(PermanentError) as error:
        await asked(here)
    assert error.value.kind == kind
    assert error.value.limit_tokens == (2048 if kind == "over_length" else None)


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, {"error": {"message": f"wrong key {KEY}, sent as Bearer {KEY}"}}, ["SOME_KEY", "--api-key-env"]),
        (404, {"error": {"message": f"The model `m` does not exist for {KEY}"}}, ["'m'", "/models"]),
        (404, {"error": {"message": "nothing here"}}, ["--base-url", "--endpoint"]),
        (402, {"error": {"message": "pay"}}, ["add credit"]),
    ],
)
async def test_what_no_request_survives_stops_the_run_in_one_line(
    status: int, body: Mapping[str, Any], words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)

    def always(asked: Any, number: int) -> Fault:
        return Fault("error", status, body)

    for behaviour in (failing("error", status=status, body=body), always):
        with FaultyServer(behaviour, **LLAMACPP) as here, pytest.raises(ModelError) as error:
            await asked(here, api_key_env="SOME_KEY")
        assert all(word in str(error.value) for word in words)
        assert "\n" not in str(error.value)
        assert KEY not in str(error.value)


@pytest.mark.parametrize("status", [400, 429, 500])
async def test_a_key_stands_in_no_message(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    body = {"error": {"message": f"odd header Authorization: Bearer {KEY}"}}
    with FaultyServer(failing("error", status=status, body=body), **VLLM) as here:
        with pytest.raises((TransientError, PermanentError)) as error:
            await asked(here, api_key_env="SOME_KEY")
        assert all(call.headers["authorization"] == f"Bearer {KEY}" for call in here.requests + here.lookups)
    chain: BaseException | None = error.value
    while chain is not None:
        assert KEY not in f"{chain!s}{chain!r}"
        assert chain.__suppress_context__ or chain.__context__ is None
        chain = chain.__cause__
    assert "odd header" in str(error.value)


async def test_a_server_that_is_not_there_is_named() -> None:
    with FaultyServer() as here:
        gone = spec_for(here)
    with pytest.raises(ModelError, match=r"no server answers at http://127\.0\.0\.1:\d+/v1 .*--base-url"):
        open_openai("m", ModelOptions.of(gone))
    # What a run would take can be told all the same.
    planned = open_openai("m", ModelOptions.of(gone, asking=False))
    assert open_sampler(gone, planned, Sources(offline=True)).frame.cost is not None
    await planned.aclose()


@pytest.mark.parametrize(("key", "works"), [(f" {KEY}\n", True), (f"{KEY}\u200b", False), (f"{KEY}\nx", False)])
async def test_a_key_that_no_header_holds_is_refused_unseen(
    key: str, works: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with FaultyServer(**VLLM) as here:
        if works:
            await asked(here)
            assert here.requests[-1].headers["authorization"] == f"Bearer {KEY}"
        else:
            with pytest.raises(UsageError, match="OPENAI_API_KEY") as error:
                await asked(here)
            assert KEY not in str(error.value)


def test_a_providers_host_gives_it_away() -> None:
    assert by_host("openrouter.ai").key_variable == "OPENROUTER_API_KEY"
    assert by_host("api.openai.com").max_tokens == "max_completion_tokens"
    assert by_host("localhost").name == "plain"


async def test_planning_asks_the_model_nothing() -> None:
    with FaultyServer(**LLAMACPP) as here:
        backend = open_openai("m", ModelOptions.of(spec_for(here), asking=False))
        open_sampler(spec_for(here), backend, Sources(offline=True))
        await backend.aclose()
        assert not here.requests


async def test_opening_waits_for_a_server_that_is_busy() -> None:
    def busy(body: Any, number: int) -> Fault | None:
        return Fault("rate_limit", retry_after="0.01") if number % 2 else None

    with FaultyServer(busy, count=COUNTED.count) as here:
        async with opened(here) as (_, sampler):
            assert sampler.frame.cost is not None
            assert (sampler.frame.cost.overhead_tokens, sampler.frame.cost.turn_tokens) == (4, 8)
            assert sampler.frame.cost.system_tokens == 4


async def test_parameters_that_a_model_refuses_are_left_out() -> None:
    def strict(body: Any, number: int) -> Fault | None:
        if "temperature" in body:
            return Fault("error", 400, {"error": {"message": "Unsupported value: 'temperature' does not support 0"}})
        if "max_tokens" in body:
            message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return Fault("error", 400, {"error": {"message": message}})
        return None

    with FaultyServer(strict) as here:
        async with opened(here) as (backend, _):
            await backend.answer(ASK)
            assert backend.facts().details["temperature"] == "the model's own"
    assert here.requests[-1].body["max_completion_tokens"] == 16


async def test_an_error_with_status_200_is_an_error() -> None:
    def wrapped(body: Any, number: int) -> Fault | None:
        return Fault("error", 200, {"error": {"code": 502, "message": "provider down"}}) if number > 4 else None

    with FaultyServer(wrapped) as here:
        async with opened(here) as (backend, _):
            with pytest.raises(TransientError, match="502: provider down"):
                await backend.answer(ASK)


def words(body: Any) -> dict[str, Any]:
    """llama.cpp's /tokenize with a token for every word and every white space."""
    text = body["content"]
    bos = [1] if body["add_special"] else []
    return {"tokens": bos + [hash(piece) for piece in re.findall(r"\w+|\s|[^\w\s]", text)]}


async def test_the_servers_own_tokenizer_counts_unless_another_is_named() -> None:
    def rendered(body: Any) -> dict[str, Any]:
        return {"prompt": "".join(f"< {message['content']} >" for message in body["messages"])}

    routes: dict[str, Any] = {"/tokenize": words, "/apply-template": rendered}
    with FaultyServer(routes=routes, **LLAMACPP) as here:
        async with opened(here, tokenizer=None) as (backend, sampler):
            tokenizer = sampler.counter.counter.tokenizer
            assert (tokenizer.id, tokenizer.exact, tokenizer.bos_tokens) == ("served/llamacpp/m", True, 1)
            assert sampler.frame.cost is not None
            assert sampler.frame.cost.known == "counted"
            assert sampler.frame.cost.overhead_tokens == 9
            sample = sample_of(sampler)
            assert sampler.counter.whole(sample.text, sample.answer_prefix) == sample.fit.prompt_tokens
            assert await backend.answer(request_for(sample, sampler.frame))
        assert len(here.requests) == 1, "nothing was asked while it was opened"
        assert len(here.lookups) < 60
        async with opened(here) as (_, sampler):
            assert sampler.counter.counter.tokenizer.id == "tiktoken/cl100k_base"


@pytest.mark.parametrize("owner", ["vllm", "llamacpp"])
@pytest.mark.parametrize(("template", "own"), [("{{ bos_token }}", 1), ("", 0)])
async def test_a_rendered_prompt_begins_with_one_bos(owner: str, template: str, own: int) -> None:
    def tokenize(body: Any) -> dict[str, Any]:
        text = body.get("content", body.get("prompt"))
        bos = [1] if body.get("add_special", body.get("add_special_tokens")) else []
        return {"tokens": bos + [1 if piece == "^" else hash(piece) for piece in re.findall(r"\w+|\s|[^\w\s]", text)]}

    props = {
        "chat_template": template + "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}",
        "bos_token": "^",
        "default_generation_settings": {},
    }
    routes: dict[str, Any] = {"/tokenize": tokenize, "/props": props}
    with FaultyServer(routes=routes, model={"owned_by": owner}) as here:
        options = ModelOptions.of(spec_for(here, endpoint="completions", tokenizer=None))
        backend = open_openai("m", options)
        response = await backend.answer(Request(max_tokens=5, text="^" * own + "What is it?"))
        await backend.aclose()
    body = here.requests[-1].body
    assert response.bos_tokens == 1
    if owner == "vllm":
        assert body["prompt"] == "^" * own + "What is it?"
        assert body.get("add_special_tokens") is (False if own else None)
    else:
        assert body["prompt"] == "What is it?"


async def test_two_bos_in_the_servers_template_are_told() -> None:
    def rendered(body: Any) -> dict[str, Any]:
        return {"prompt": "".join(message["content"] for message in body["messages"])}

    def doubled(body: Any) -> dict[str, Any]:
        return {"tokens": [1, 1, *words(body)["tokens"][1:]] if body["add_special"] else words(body)["tokens"]}

    with FaultyServer(routes={"/tokenize": doubled, "/apply-template": rendered}, **LLAMACPP) as here:
        async with opened(here) as (backend, _):
            assert (await backend.answer(ASK)).bos_tokens == 2


async def test_a_stand_in_counts_where_nothing_is_known() -> None:
    with FaultyServer() as here:
        async with opened(here, tokenizer=None) as (_, sampler):
            assert not sampler.counter.counter.tokenizer.exact
            assert sampler.counter.counter.tokenizer.id.startswith("stand-in/tiktoken/o200k_base*1.")


async def test_it_keeps_the_contract_of_a_backend() -> None:
    with FaultyServer(count=COUNTED.count, **VLLM) as here:
        spec = spec_for(here)
        backend = open_openai("m", ModelOptions.of(spec))
        frame = resolve_frame(spec, backend, COUNTED)
        sampler = open_sampler(spec, backend, Sources(offline=True))
        response = await check_backend(backend, request_for(sample_of(sampler), frame))
        assert response.latency_s > 0

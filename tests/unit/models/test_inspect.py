"""The backend for inspect-ai's providers, through its mock provider: no network."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import pytest

from leadline.data.loading import load_tokenizer
from leadline.errors import MissingExtraError, ModelError, UsageError
from leadline.models.inspect import Inspect, open_inspect
from leadline.models.registry import ModelOptions, open_model
from leadline.requests import PermanentError, Request, TransientError
from leadline.testing import check_backend
from leadline.tokenizers.stand_in import STAND_IN, StandIn, calibrate

HAS_INSPECT = importlib.util.find_spec("inspect_ai") is not None
needs_inspect = pytest.mark.skipif(not HAS_INSPECT, reason="inspect-ai is not installed (extra: inspect)")
# inspect-ai calls the package tenacity with a parameter that its newest version calls by another name.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")

ASK = Request(max_tokens=16, messages=({"role": "system", "content": "Be short."}, {"role": "user", "content": "Hi"}))
COUNTED = ModelOptions(tokenizer="tiktoken/o200k_base")


def library(part: str) -> Any:
    return importlib.import_module(f"inspect_ai.{part}")


def usage(**counts: int) -> Any:
    return library("model").ModelUsage(**{"input_tokens": 10, "output_tokens": 2, "total_tokens": 12, **counts})


def said(content: Any = "forty-two", stop_reason: Any = "stop", error: str | None = None, **counts: int) -> Any:
    output = library("model").ModelOutput.from_content("mockllm/model", content, stop_reason=stop_reason, error=error)
    output.usage = usage(**counts)
    return output


def mocked(act: Callable[..., Any], options: ModelOptions = COUNTED, name: str = "mockllm/model") -> Inspect:
    return Inspect(name, options, library("model").get_model("mockllm/model", custom_outputs=act))


def failing(error: Exception) -> Inspect:
    def act(*_: Any) -> Any:
        raise error

    return mocked(act)


class ProviderError(Exception):
    """As the providers' packages raise them: with a status, and a response that has headers."""

    def __init__(self, message: str, status_code: int, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.response = type("Answer", (), {"headers": headers or {}, "status_code": status_code})()


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai", None)
    with pytest.raises(MissingExtraError, match=r"leadline\[inspect\]"):
        open_model("inspect/mockllm/model", ModelOptions())


@needs_inspect
@pytest.mark.parametrize(
    ("name", "why"), [("anthropic", "PROVIDER/NAME"), ("nobody/x", "not recognized"), ("groq/x", "pip install groq")]
)
def test_a_model_that_cannot_be_opened_is_one_line(name: str, why: str) -> None:
    if name == "groq/x" and importlib.util.find_spec("groq") is not None:
        pytest.skip("the provider's own package is installed")
    with pytest.raises(UsageError, match=why) as caught:
        open_inspect(name, ModelOptions())
    assert "\n" not in str(caught.value)
    assert "[bold]" not in str(caught.value)


@needs_inspect
def test_no_provider_is_needed_where_no_model_is_asked() -> None:
    backend = open_inspect("anthropic/claude-sonnet-4-6", ModelOptions(asking=False))
    assert backend.facts().name == "inspect/anthropic/claude-sonnet-4-6"


@needs_inspect
@pytest.mark.parametrize(
    ("name", "prefills"),
    [
        ("anthropic/claude-3-5-haiku-latest", True),
        ("anthropic/claude-sonnet-4-5-20250929", True),
        ("anthropic/claude-opus-4-20250514", True),
        ("anthropic/bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", True),
        ("anthropic/claude-opus-4-6", False),
        ("anthropic/claude-sonnet-5", False),
        ("google/gemini-2.5-flash", False),
    ],
)
def test_only_models_of_which_it_is_documented_go_on_from_a_prefix(name: str, prefills: bool) -> None:
    abilities = Inspect(name, ModelOptions(concurrency=3)).abilities()
    assert (abilities.prefill, abilities.template, abilities.max_concurrency) == (prefills, "server", 3)


@needs_inspect
def test_counts_are_exact_only_where_the_tokenizer_is_known() -> None:
    assert Inspect("openai/gpt-4o", ModelOptions()).tokenizer().exact
    assert Inspect("google/gemini-2.5-flash", COUNTED).tokenizer().exact
    stand_in = Inspect("google/gemini-2.5-flash", ModelOptions(asking=False)).tokenizer()
    assert not stand_in.exact
    assert stand_in.id == "stand-in/tiktoken/o200k_base"


@needs_inspect
def test_a_stand_in_is_calibrated_by_what_the_provider_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    other = load_tokenizer("tiktoken/cl100k_base")

    def act(messages: Any, *_: Any) -> Any:
        return said(input_tokens=5 + other.count(messages[-1].text))

    def model(*_: Any, **__: Any) -> Any:
        return library("model").get_model("mockllm/model", custom_outputs=act)

    monkeypatch.setattr("leadline.models.inspect._get_model", model)
    backend = Inspect("google/gemini-2.5-flash", ModelOptions())
    tokenizer = backend.tokenizer()
    assert isinstance(tokenizer, StandIn)
    assert tokenizer.calibration is not None
    assert tokenizer.calibration.ratios == calibrate(load_tokenizer(STAND_IN), other.count).ratios
    assert backend.facts().details["tokenizer_ratio"] == tokenizer.calibration.ratio


@needs_inspect
def test_a_provider_that_tells_no_counts_leaves_the_stand_in_as_it_is() -> None:
    def act(*_: Any) -> Any:
        output = said()
        output.usage = None
        return output

    tokenizer = mocked(act, ModelOptions()).tokenizer()
    assert isinstance(tokenizer, StandIn)
    assert tokenizer.calibration is None


@needs_inspect
async def test_the_contract_is_kept() -> None:
    response = await check_backend(mocked(lambda *_: said(input_tokens_cache_read=5, input_tokens_cache_write=3)), ASK)
    assert (response.text, response.finish_reason, response.output_tokens) == ("forty-two", "stop", 2)
    assert (response.prompt_tokens, response.cached_tokens) == (18, 5)


@needs_inspect
async def test_a_request_is_sent_as_it_is_meant() -> None:
    seen: list[Any] = []

    def act(messages: Any, tools: Any, choice: Any, config: Any) -> Any:
        seen.append((messages, config))
        return said("The number is 7.")

    backend = mocked(act, ModelOptions(tokenizer="o200k_base", timeout_s=2.5, concurrency=4))
    request = Request(max_tokens=16, messages=ASK.messages, prefill="The number is", reasoning_tokens=100)
    response = await backend.answer(request)
    messages, config = seen[0]
    assert [(message.role, message.text) for message in messages] == [
        ("system", "Be short."),
        ("user", "Hi"),
        ("assistant", "The number is"),
    ]
    assert (config.temperature, config.max_tokens, config.reasoning_tokens) == (0, 116, 100)
    assert (config.max_retries, config.attempt_timeout, config.max_connections) == (0, 3, 4)
    assert response.text == " 7.", "a prefix that is said again is not part of the answer"


@needs_inspect
async def test_reasoning_stands_apart() -> None:
    parts = [library("model").ContentReasoning(reasoning="Let me see."), library("model").ContentText(text="42")]
    response = await mocked(lambda *_: said(parts, "max_tokens")).answer(ASK)
    assert (response.text, response.reasoning, response.finish_reason) == ("42", "Let me see.", "length")
    silent = await mocked(lambda *_: said("", "content_filter", "blocked")).answer(ASK)
    assert (silent.text, silent.finish_reason) == (None, "filter")


@needs_inspect
async def test_errors_that_come_as_answers_are_errors() -> None:
    too_long = mocked(lambda *_: said("prompt is too long: 250000 tokens", "model_length", output_tokens=0))
    with pytest.raises(PermanentError, match="250000") as caught:
        await too_long.answer(ASK)
    assert caught.value.kind == "over_length"
    with pytest.raises(PermanentError, match="odd") as caught:
        await mocked(lambda *_: said("", "unknown", "odd")).answer(ASK)
    assert caught.value.kind == "failed"


@needs_inspect
@pytest.mark.parametrize(
    ("error", "cause", "retry_after_s"),
    [
        (ProviderError("slow down", 429, {"Retry-After": "7"}), "overloaded", 7.0),
        (ProviderError("overloaded", 529), "overloaded", None),
        (ProviderError("oops", 500), "other", None),
        (TimeoutError("no answer"), "overloaded", None),
        (ConnectionResetError("reset"), "unreachable", None),
    ],
)
async def test_what_may_pass_is_transient(error: Exception, cause: str, retry_after_s: float | None) -> None:
    with pytest.raises(TransientError) as caught:
        await failing(error).answer(ASK)
    assert (caught.value.cause, caught.value.retry_after_s) == (cause, retry_after_s)


@needs_inspect
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ProviderError("This model's maximum context length is 8192 tokens", 400), "over_length"),
        (ProviderError("bad request", 400), "failed"),
        (ValueError("something else"), "failed"),
    ],
)
async def test_what_will_not_pass_is_permanent(error: Exception, kind: str) -> None:
    with pytest.raises(PermanentError) as caught:
        await failing(error).answer(ASK)
    assert caught.value.kind == kind
    assert caught.value.limit_tokens == (8192 if kind == "over_length" else None)


@needs_inspect
async def test_a_refused_key_stops_the_run_and_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMEONES_API_KEY", "sk-planted-0123456789")
    with pytest.raises(ModelError) as caught:
        await failing(ProviderError("Incorrect key: sk-planted-0123456789", 401)).answer(ASK)
    assert "planted" not in str(caught.value)
    assert caught.value.__cause__ is None


@needs_inspect
async def test_a_provider_that_hangs_is_left_after_the_time_for_a_request() -> None:
    async def act(*_: Any) -> Any:
        await asyncio.sleep(30)

    with pytest.raises(TransientError) as caught:
        await mocked(act, ModelOptions(tokenizer="o200k_base", timeout_s=1)).answer(ASK)
    assert caught.value.cause == "overloaded"


@needs_inspect
async def test_prompts_are_not_kept() -> None:
    backend = mocked(lambda *_: said())
    for _ in range(3):
        await backend.answer(ASK)
    assert len(library("log").transcript().events) == 0
    with pytest.raises(ValueError, match="messages"):
        await backend.answer(Request(max_tokens=1, text="rendered"))

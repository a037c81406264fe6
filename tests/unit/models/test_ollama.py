"""The client of Ollama's native interface, against a server that speaks it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from leadline.data.loading import load_tokenizer
from leadline.data.sources import Sources
from leadline.errors import ModelError
from leadline.items import Sample
from leadline.models.ollama import CONTEXT_STEP, Ollama, open_ollama
from leadline.models.registry import ModelOptions
from leadline.prompt import DIRECTLY, request_for
from leadline.requests import PermanentError, Request
from leadline.run.framing import open_sampler
from leadline.sampler import Sampler
from leadline.spec import RunSpec, resolve
from leadline.tasks.registry import make_task
from leadline.tokenizers.stand_in import STAND_IN, StandIn, calibrate
from tests.servers.faulty import TURN_TOKENS, FaultyServer, oracle

COUNTED = load_tokenizer("cl100k_base")
SILENT_CONTEXT = 2048


class OllamaServer(FaultyServer):
    """Like the real one, it reads only the end of a prompt that is longer than `num_ctx`, and does not say so."""

    def __init__(self, shown: dict[str, Any] | None = None) -> None:
        told: dict[str, Any] = shown or {
            "details": {"family": "llama", "quantization_level": "Q4_K_M"},
            "model_info": {"general.architecture": "llama", "llama.context_length": 8192},
            "template": "{{ .Prompt }}",
        }
        tags: dict[str, Any] = {"models": [{"name": "m:latest", "digest": "0123456789abcdef"}]}
        super().__init__(routes={"/api/show": told, "/api/tags": tags, "/api/chat": self.chat})
        self.chats: list[Any] = []

    def chat(self, body: Any) -> dict[str, Any]:
        self.chats.append(body)
        prompt = "\n".join(message["content"] for message in body["messages"])
        tokens = COUNTED.encode(prompt)
        room = body["options"].get("num_ctx", SILENT_CONTEXT) - TURN_TOKENS * len(body["messages"])
        seen = prompt if len(tokens) <= room else prompt[-3 * room :]
        return {
            "message": {"role": "assistant", "content": oracle(seen), "thinking": "hm"},
            "done_reason": "stop",
            "prompt_eval_count": min(len(tokens), room) + TURN_TOKENS * len(body["messages"]),
            "eval_count": 3,
        }


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as here:
        assert isinstance(here, OllamaServer)
        yield here


def spec_for(server: FaultyServer, **options: Any) -> RunSpec:
    given = {"model": "ollama/m", "base_url": server.root_url, "tokenizer": "cl100k_base", "lengths": "1k", **options}
    return resolve("quick", given)


def opened(server: FaultyServer, **options: Any) -> tuple[Ollama, Sampler]:
    spec = spec_for(server, **options)
    backend = open_ollama("m", ModelOptions.of(spec))
    return backend, open_sampler(spec, backend, Sources(offline=True))


def sample_of(sampler: Sampler, length: int) -> Sample:
    task = make_task("niah_single_1")
    plan = sampler.plan(task, 0)
    fit = sampler.fit(task, plan, length)
    assert fit is not None
    return sampler.sample(task, plan, fit, length)


async def test_the_context_is_as_long_as_the_request(server: OllamaServer) -> None:
    backend, sampler = opened(server)
    server.chats.clear()
    for length in (1024, 4096, 1024, 8192):
        sample = sample_of(sampler, length)
        response = await backend.answer(request_for(sample, sampler.frame))
        assert response.text == f" {sample.plan.answers[0][0]}"
        assert response.prompt_tokens == pytest.approx(sample.fit.prompt_tokens, abs=2)
        assert (response.reasoning, response.finish_reason, response.output_tokens) == ("hm", "stop", 3)
    settings = [body["options"] for body in server.chats]
    contexts = [setting["num_ctx"] for setting in settings]
    assert contexts == sorted(contexts), "a smaller context would load the model anew"
    assert all(context % CONTEXT_STEP == 0 for context in contexts)
    assert contexts[1] == contexts[2]
    assert contexts[3] == 8192
    assert all(setting["temperature"] == 0 for setting in settings)
    assert server.chats[0]["messages"][-1]["content"].endswith(DIRECTLY + sample_of(sampler, 1024).answer_prefix)
    await backend.aclose()


async def test_more_than_the_model_reads_is_over_length(server: OllamaServer) -> None:
    backend, _ = opened(server)
    request = Request(max_tokens=10, messages=({"role": "user", "content": "word " * 9000},))
    with pytest.raises(PermanentError) as error:
        await backend.answer(request)
    assert (error.value.kind, error.value.limit_tokens) == ("over_length", 8192)
    await backend.aclose()


async def test_it_says_what_the_server_says(server: OllamaServer) -> None:
    backend, sampler = opened(server)
    facts = backend.facts()
    assert facts.name == "ollama/m"
    assert facts.details["quantization_level"] == "Q4_K_M"
    assert facts.details["digest"] == "0123456789ab"
    assert facts.details["served_context_tokens"] == backend.abilities().context_tokens == 8192
    assert sampler.frame.mode == "in_user_turn"
    assert sampler.frame.cost is not None
    assert sampler.frame.cost.known == "asked"
    await backend.aclose()


def test_a_model_that_is_not_there_is_named_with_those_that_are() -> None:
    tags = {"models": [{"name": "other:1b"}]}
    with FaultyServer(routes={"/api/tags": tags}) as here, pytest.raises(ModelError, match="'m': it has other:1b"):
        open_ollama("m", ModelOptions.of(spec_for(here)))
    with FaultyServer() as here, pytest.raises(ModelError, match="ollama pull m"):
        open_ollama("m", ModelOptions.of(spec_for(here)))
    gone = ModelOptions.of(spec_for(here))
    with pytest.raises(ModelError, match="no server answers at"):
        open_ollama("m", gone)


async def test_a_stand_in_is_calibrated_and_gets_room_for_its_error(server: OllamaServer) -> None:
    backend, sampler = opened(server, tokenizer=None)
    tokenizer = sampler.counter.counter.tokenizer
    assert isinstance(tokenizer, StandIn)
    assert tokenizer.calibration is not None
    assert tokenizer.calibration.ratios == calibrate(load_tokenizer(STAND_IN), COUNTED.count).ratios
    assert backend.facts().details["tokenizer_ratio"] == tokenizer.calibration.ratio
    server.chats.clear()
    sample = sample_of(sampler, 4096)
    response = await backend.answer(request_for(sample, sampler.frame))
    assert server.chats[0]["options"]["num_ctx"] > 1.25 * sample.fit.prompt_tokens
    assert response.prompt_tokens is not None
    assert (1 - tokenizer.calibration.error) * 4096 - 128 <= response.prompt_tokens + 128 <= 4096
    await backend.aclose()

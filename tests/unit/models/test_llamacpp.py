"""The backend for llama.cpp: what needs no model, and the model in the box through its own server."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from leadline.data.loading import load_local_model_path
from leadline.errors import DataError, MissingExtraError, ModelError, UsageError
from leadline.models.in_process import calm_threads, with_bos
from leadline.models.llamacpp import LlamaCpp
from leadline.models.registry import ModelOptions, open_model
from leadline.requests import ModelFacts, PermanentError, Request, TransientError
from leadline.testing import TEXTS, check_backend
from leadline.tokenizers.hugging_face import HuggingFaceTokenizer, tokenizer_from_json

HAS_ENGINE = importlib.util.find_spec("xllamacpp") is not None
needs_engine = pytest.mark.skipif(not HAS_ENGINE, reason="xllamacpp is not installed (extra: llamacpp)")

QUESTION = (
    "<|im_start|>user\nThe special magic number for grey-goose is: 4173744. What is the special magic number for "
    "grey-goose?<|im_end|>\n<|im_start|>assistant\n The special magic number for grey-goose is"
)
WORDS = (
    '{"added_tokens": [{"id": 1, "content": "<s>", "special": true, "single_word": false, "lstrip": false, "rstrip": '
    'false, "normalized": false}], "model": {"type": "WordLevel", "vocab": {"?": 0, "<s>": 1, "a": 2, "b": 3}, '
    '"unk_token": "?"}, "pre_tokenizer": {"type": "Whitespace"}}'
)


def words(bos_tokens: int) -> HuggingFaceTokenizer:
    return HuggingFaceTokenizer(tokenizer_from_json(WORDS, Path("words.json")), "words", bos_tokens=bos_tokens)


def test_bos_stands_before_a_prompt_once_whoever_writes_it() -> None:
    assert with_bos(words(1), "<s>", "a b") == ([1, 2, 3], 1)
    assert with_bos(words(1), "<s>", "<s>a b") == ([1, 2, 3], 1)
    assert with_bos(words(0), "<s>", "a b") == ([2, 3], 0)
    assert with_bos(words(0), "<s>", "<s><s>a") == ([1, 1, 2], 2), "what a template doubles is told"
    assert with_bos(words(0), None, "a") == ([2], 0)


def test_threads_sleep_while_they_wait_unless_the_user_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    calm_threads()
    assert os.environ["OMP_WAIT_POLICY"] == "passive"
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    calm_threads()
    assert os.environ["OMP_WAIT_POLICY"] == "active"


def test_a_missing_engine_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "xllamacpp", None)
    with pytest.raises(MissingExtraError, match=r"leadline\[llamacpp\]"):
        open_model(f"llamacpp/{tmp_path}/model.gguf", ModelOptions(offline=True))


@needs_engine
def test_a_file_that_is_no_model_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    with pytest.raises(UsageError, match="cannot be read"):
        open_model(f"llamacpp/{file}", ModelOptions(offline=True))
    file.write_bytes(b"not a model")
    with pytest.raises(UsageError, match="GGUF"):
        open_model(f"llamacpp/{file}", ModelOptions(offline=True))


@needs_engine
async def test_a_model_that_does_not_load_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF\x03\x00\x00\x00")
    tokenizer = words(0)
    backend = LlamaCpp(file, ModelFacts("llamacpp/model.gguf"), tokenizer, tokenizer, 512)
    with pytest.raises(ModelError, match=r"model\.gguf") as caught:
        await backend.answer(Request(max_tokens=1, text="a"))
    assert "\n" not in str(caught.value)
    await backend.aclose()


@pytest_asyncio.fixture
async def server() -> AsyncGenerator[LlamaCpp]:
    if not HAS_ENGINE:
        pytest.skip("xllamacpp is not installed (extra: llamacpp): the model in the box was not asked")
    try:
        load_local_model_path()
    except DataError as error:
        pytest.skip(f"the model in the box was not asked: {error}")
    backend = open_model("llamacpp/local?context_tokens=512", ModelOptions(concurrency=2))
    assert isinstance(backend, LlamaCpp)
    yield backend
    await backend.aclose()


@pytest.mark.local_model
async def test_the_model_in_the_box_through_llama_cpp(server: LlamaCpp) -> None:
    assert server.facts().name == "llamacpp/local"
    assert server.facts().details["served_context_tokens"] == 512
    assert (server.abilities().context_tokens, server.abilities().max_concurrency) == (512, 2)
    for text in (QUESTION, *TEXTS, "<|im_start|>user\n\n 1\n\n2 <|im_end|>\n"):
        assert await server.prompt_ids(text) == server.tokenizer().encode(text)
    first, other = await asyncio.gather(
        server.answer(Request(max_tokens=12, text=QUESTION)),
        server.answer(Request(max_tokens=2, text=QUESTION)),
    )
    assert (first.text, first.finish_reason) == (" 4173744.", "stop")
    assert (other.finish_reason, other.output_tokens) == ("length", 2)
    assert first.prompt_tokens == server.tokenizer().count(QUESTION)
    assert first.bos_tokens == 1, "the model's BOS is the mark that begins a turn, and the template writes it"
    again = await server.answer(Request(max_tokens=12, text=QUESTION))
    assert again.prompt_tokens == first.prompt_tokens
    assert again.cached_tokens == (first.prompt_tokens or 0) - 1, "all but the token that the answer follows"

    with pytest.raises(PermanentError, match="512") as caught:
        await server.answer(Request(max_tokens=500, text=QUESTION))
    assert (caught.value.kind, caught.value.limit_tokens) == ("over_length", 512)

    running = asyncio.create_task(server.answer(Request(max_tokens=400, text="one two three")))
    await asyncio.sleep(0.5)
    await server.aclose()
    with pytest.raises(TransientError):
        await running
    with pytest.raises(TransientError, match="closed"):
        await server.answer(Request(max_tokens=1, text="a"))


@pytest.mark.local_model
async def test_the_model_in_the_box_keeps_the_contract_through_llama_cpp(server: LlamaCpp) -> None:
    response = await check_backend(server, Request(max_tokens=12, text=QUESTION))
    assert response.output_tokens == 10

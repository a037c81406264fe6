"""The backend for transformers: what needs no model, a small model made here, and the model in the box."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from leadline.data.loading import load_local_model_path
from leadline.errors import DataError, MissingExtraError, ModelError, UsageError
from leadline.models.checkpoint import described
from leadline.models.llamacpp import LlamaCpp
from leadline.models.openvino import OpenVino
from leadline.models.registry import ModelOptions, open_model
from leadline.models.transformers import PACKAGES, Transformers
from leadline.requests import PermanentError, Request, Response, TransientError
from leadline.testing import check_backend

HAS_ENGINE = all(importlib.util.find_spec(package) is not None for package in PACKAGES)
needs_engine = pytest.mark.skipif(
    not HAS_ENGINE, reason="torch, transformers or accelerate is not installed (extra: hf)"
)

CHAT = "{% for m in messages %}<s>{{ m['content'] }}{% endfor %}"
CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    "bos_token_id": 0,
    "eos_token_id": 1,
    "tie_word_embeddings": True,
}


def write_tokenizer(folder: Path, chat_template: str | None = None) -> int:
    """A tokenizer of bytes with BOS and EOS, as files; gives the number of its tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate(["<s>", "</s>", *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<s>", "</s>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>"}
    if chat_template is not None:
        config["chat_template"] = chat_template
    (folder / "tokenizer_config.json").write_text(json.dumps({**config, "add_bos_token": True}))
    return len(vocabulary)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that looks like a model from outside; nobody has trained it."""
    tokens = write_tokenizer(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({**CONFIG, "vocab_size": tokens}))
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    return tmp_path


@pytest.fixture
def small_model(folder: Path) -> Path:
    """A small model of random weights, the same ones every time."""
    if not HAS_ENGINE:
        pytest.skip("torch, transformers or accelerate is not installed (extra: hf)")
    transformers: Any = importlib.import_module("transformers")
    importlib.import_module("torch").manual_seed(7)
    # Settings of its own that a greedy answer must not follow.
    model = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.from_pretrained(folder))
    model.generation_config.do_sample = True
    model.generation_config.temperature = 1.5
    model.save_pretrained(folder)
    return folder


def opened(folder: Path, concurrency: int = 1) -> Transformers:
    backend = open_model(f"hf/{folder}", ModelOptions(offline=True, concurrency=concurrency))
    assert isinstance(backend, Transformers)
    return backend


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"leadline\[hf\]"):
        open_model("hf/local", ModelOptions(offline=True))


def test_a_folder_says_what_changes_answers(folder: Path) -> None:
    source, facts, tokenizer, context_tokens = described(str(folder), offline=True)
    assert source.name == str(folder)
    assert (facts.name, facts.chat_template, context_tokens) == (f"hf/{folder.name}", None, 256)
    assert facts.details["architecture"] == "llama"
    assert facts.details["rope_rope_theta"] == 10000.0
    assert (tokenizer.bos_tokens, facts.special_tokens["bos_token"]) == (1, "<s>")
    (folder / "model.safetensors").write_bytes(b"other weights")
    assert described(str(folder), offline=True)[1].details != facts.details
    write_tokenizer(folder, CHAT)
    assert described(str(folder), offline=True)[1].chat_template == CHAT


def test_a_model_for_more_than_text_says_its_context_one_level_down(folder: Path) -> None:
    inner = {"max_position_embeddings": 4096, "model_type": "inner"}
    (folder / "config.json").write_text(json.dumps({"model_type": "outer", "text_config": inner}))
    assert described(str(folder), offline=True)[3] == 4096


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("model.safetensors", None, "no weights"),
        ("config.json", None, r"config\.json"),
        ("config.json", "[]", "configuration"),
        ("tokenizer.json", None, "tokenizer"),
    ],
)
def test_a_folder_that_is_no_model_is_one_line(folder: Path, file: str, content: str | None, why: str) -> None:
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_text(content)
    with pytest.raises(UsageError, match=why) as caught:
        described(str(folder), offline=True)
    assert "\n" not in str(caught.value)


def test_a_path_that_is_not_there_is_not_looked_for_on_the_hub(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither a folder nor a GGUF file"):
        described(str(tmp_path / "nothing"), offline=True)
    with pytest.raises(DataError, match="fetching is off"):
        described("nobody/has-this-model", offline=True)


@needs_engine
async def test_a_model_that_does_not_load_is_one_line(folder: Path) -> None:
    backend = opened(folder)
    with pytest.raises(ModelError, match="cannot load hf/") as caught:
        await backend.answer(Request(max_tokens=1, text="a"))
    assert "\n" not in str(caught.value)
    await backend.aclose()


@needs_engine
async def test_a_base_model_keeps_the_contract(small_model: Path) -> None:
    backend = opened(small_model)
    response = await check_backend(backend, Request(max_tokens=8, text="The grass is green."))
    assert (response.finish_reason, response.output_tokens) == ("length", 8)
    assert (response.prompt_tokens, response.bos_tokens) == (20, 1)


@needs_engine
async def test_our_token_ids_are_those_of_transformers(small_model: Path) -> None:
    backend = opened(small_model)
    for text in ("The grass is green.", "<s>a<s>b</s>", "naïve café\n\n 12 🙂"):
        assert await backend.prompt_ids(text) == backend.tokenizer().encode(text)
    written = await backend.answer(Request(max_tokens=1, text="<s>abc"))
    assert (written.prompt_tokens, written.bos_tokens) == (4, 1)
    await backend.aclose()


@needs_engine
async def test_prompts_of_one_length_are_read_together_and_answered_as_alone(
    small_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["one two", "six ten", "a longer one", "two one"]
    alone = opened(small_model)
    expected = [(await alone.answer(Request(max_tokens=6, text=text))).text for text in texts]
    await alone.aclose()

    batches: list[int] = []
    generate = Transformers._generate  # pyright: ignore[reportPrivateUsage]

    def watched(self: Transformers, jobs: Any) -> list[Response]:
        batches.append(len(jobs))
        return generate(self, jobs)

    monkeypatch.setattr(Transformers, "_generate", watched)
    together = opened(small_model, concurrency=4)
    assert together.abilities().max_concurrency == 4
    responses = await asyncio.gather(*(together.answer(Request(max_tokens=6, text=text)) for text in texts))
    assert [response.text for response in responses] == expected
    assert sorted(batches) == [1, 3]
    await together.aclose()


@needs_engine
async def test_a_batch_that_does_not_fit_into_the_memory_is_asked_one_by_one(
    small_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate = Transformers._generate  # pyright: ignore[reportPrivateUsage]

    def short(self: Transformers, jobs: Any) -> list[Response]:
        if len(jobs) > 1 or jobs[0].max_tokens == 3:
            raise RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes.")
        return generate(self, jobs)

    monkeypatch.setattr(Transformers, "_generate", short)
    backend = opened(small_model, concurrency=2)
    responses = await asyncio.gather(*(backend.answer(Request(max_tokens=2, text=text)) for text in ("ab", "cd")))
    assert [response.output_tokens for response in responses] == [2, 2]
    with pytest.raises(PermanentError, match="out of memory") as caught:
        await backend.answer(Request(max_tokens=3, text="ab"))
    assert caught.value.kind == "failed"
    with pytest.raises(PermanentError) as caught:
        await backend.answer(Request(max_tokens=250, text="abcdefgh"))
    assert (caught.value.kind, caught.value.limit_tokens) == ("over_length", 256)
    await backend.aclose()


@needs_engine
async def test_closing_leaves_nobody_waiting(small_model: Path) -> None:
    backend = opened(small_model)
    asked = [asyncio.create_task(backend.answer(Request(max_tokens=200, text=text))) for text in ("a", "bc", "def")]
    await asyncio.sleep(0.2)
    await backend.aclose()
    ended = await asyncio.gather(*asked, return_exceptions=True)
    assert isinstance(ended[-1], TransientError)
    assert all(isinstance(end, Response | TransientError) for end in ended)
    with pytest.raises(TransientError, match="closed"):
        await backend.answer(Request(max_tokens=1, text="a"))


QUESTION = (
    "<|im_start|>user\nThe special magic number for grey-goose is: 4173744. What is the special magic number for "
    "grey-goose?<|im_end|>\n<|im_start|>assistant\n The special magic number for grey-goose is"
)


@pytest.mark.local_model
@pytest.mark.slow
@needs_engine
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_three_engines_read_and_answer_the_model_in_the_box_alike() -> None:
    for package, extra in (("openvino_genai", "local"), ("xllamacpp", "llamacpp")):
        pytest.importorskip(package, reason=f"the extra `{extra}` is not installed")
    try:
        load_local_model_path()
    except DataError as error:
        pytest.skip(f"the model in the box was not asked: {error}")
    texts = [QUESTION.replace("4173744", number) for number in ("4173744", "9018823")]
    answers: list[list[str | None]] = []
    for name in ("local", "llamacpp/local?context_tokens=512", "hf/local"):
        backend = open_model(name, ModelOptions())
        assert isinstance(backend, OpenVino | LlamaCpp | Transformers)
        answers.append([])
        for text in texts:
            assert await backend.prompt_ids(text) == backend.tokenizer().encode(text)
            response = await backend.answer(Request(max_tokens=12, text=text))
            assert response.prompt_tokens == backend.tokenizer().count(text)
            answers[-1].append(response.text)
        await backend.aclose()
    assert answers[0] == [" 4173744.", " 9018823."]
    assert answers[0] == answers[1] == answers[2]

"""The backend for OpenVINO: what needs no model, and the model in the box itself."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncGenerator
from itertools import pairwise
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from leadline.data.loading import load_local_model_path
from leadline.data.sources import Sources
from leadline.errors import DataError, MissingExtraError, UsageError
from leadline.models.base import Backend
from leadline.models.openvino import PIECE_CHARACTERS, OpenVino, pieces
from leadline.models.registry import ModelOptions, open_model
from leadline.prompt import FrameCounter, chat_frame, request_for
from leadline.requests import Request
from leadline.sampler import Sampler
from leadline.tasks.registry import make_task
from leadline.tokenizers.counting import Counter

HAS_OPENVINO = importlib.util.find_spec("openvino_genai") is not None
needs_openvino = pytest.mark.skipif(not HAS_OPENVINO, reason="openvino_genai is not installed (extra: local)")


@given(st.text(st.sampled_from("ab .\n"), max_size=200), st.integers(1, 40))
def test_pieces_join_to_the_text_and_are_cut_before_single_spaces(text: str, limit: int) -> None:
    parts = pieces(text, limit)
    assert "".join(parts) == text
    for before, after in pairwise(parts):
        assert after.startswith(" ")
        assert not after[1].isspace()
        assert not before[-1].isspace()


@given(st.lists(st.integers(1, 20), min_size=1, max_size=60))
def test_pieces_are_no_longer_than_their_limit_where_there_are_spaces(words: list[int]) -> None:
    assert all(len(part) <= 40 for part in pieces(" ".join("x" * size for size in words), 40))


@needs_openvino
@pytest.mark.parametrize(
    ("content", "named"),
    [(None, "cannot be read"), (b"not a model", "GGUF"), (b"", "GGUF"), (b"GGUF\x03\x00\x00\x00", "GGUF")],
)
def test_a_file_that_is_no_model_is_one_line(
    content: bytes | None, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "model.gguf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        open_model(f"openvino/{file}", ModelOptions(offline=True))
    assert str(file) in str(caught.value)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


@needs_openvino
def test_a_folder_without_a_model_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no openvino_model\.xml"):
        open_model(f"openvino/{tmp_path}", ModelOptions(offline=True))


def test_a_missing_engine_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openvino_genai", None)
    with pytest.raises(MissingExtraError, match=r"leadline\[local\]"):
        open_model(f"openvino/{tmp_path}", ModelOptions(offline=True))


def chat_template_of(backend: Backend) -> str:
    template = backend.facts().chat_template
    assert template is not None
    return template


@pytest_asyncio.fixture
async def local() -> AsyncGenerator[Backend]:
    if not HAS_OPENVINO:
        pytest.skip("openvino_genai is not installed (extra: local): the model in the box was not asked")
    try:
        load_local_model_path()
    except DataError as error:
        pytest.skip(f"the model in the box was not asked: {error}")
    backend = open_model("local", ModelOptions())
    yield backend
    await backend.aclose()
    await backend.aclose()


@pytest.mark.local_model
async def test_the_model_in_the_box_answers_greedily_and_reads_what_was_counted(local: Backend) -> None:
    assert isinstance(local, OpenVino)
    assert local.facts().name == "local"
    assert local.abilities().context_tokens == 8192
    text = (
        "<|im_start|>user\nThe special magic number for grey-goose is: 4173744. What is the special magic number for "
        "grey-goose?<|im_end|>\n<|im_start|>assistant\n The special magic number for grey-goose is"
    )
    first = await local.answer(Request(max_tokens=12, text=text))
    again = await local.answer(Request(max_tokens=12, text=text))
    assert first.text is not None
    assert "4173744" in first.text
    assert first.text == again.text
    assert first.prompt_tokens == local.tokenizer().count(text)
    assert first.output_tokens is not None
    assert first.output_tokens <= 12

    frame = chat_frame("local", chat_template_of(local), local.facts().special_tokens, local.tokenizer(), prefill=True)
    sampler = Sampler(frame, FrameCounter(Counter(local.tokenizer()), frame), Sources(), 42)
    task = make_task("niah_single_2")
    plan = sampler.plan(task, 0)
    fit = sampler.fit(task, plan, 1024)
    assert fit is not None
    found = await local.answer(request_for(sampler.sample(task, plan, fit, 1024), frame))
    assert found.text is not None
    assert plan.answers[0][0] in found.text
    assert found.prompt_tokens == fit.prompt_tokens <= 1024 - 128

    long = "The grass is green. The sky is blue. " * 1200 + "\n\nIs  it?\n<|im_end|>" + "x" * (PIECE_CHARACTERS + 50)
    ids = await local.prompt_ids(long)
    assert len(ids) > 8192
    assert ids == local.tokenizer().encode(long)

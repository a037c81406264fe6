from __future__ import annotations

import logging
from pathlib import Path

import pytest
from tokenizers import Tokenizer as RustTokenizer
from tokenizers import models, pre_tokenizers

from leadline.data.hub import tokenizer_folder
from leadline.data.loading import load_local_model_path, load_tokenizer
from leadline.errors import DataError, UsageError


def save_tokenizer(folder: Path) -> Path:
    folder.mkdir(parents=True)
    tokenizer = RustTokenizer(models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_a_bare_name_is_the_same_tokenizer() -> None:
    assert load_tokenizer("cl100k_base").id == load_tokenizer("tiktoken/cl100k_base").id == "tiktoken/cl100k_base"


@pytest.mark.parametrize("name", ["", "gpt-4", "tiktoken/p50k_base", "tiktoken", "hf", "hf/", "gguf/", "cl100k_base/x"])
def test_another_name_is_refused_with_the_choices(name: str) -> None:
    with pytest.raises(UsageError, match=r"tiktoken/cl100k_base, tiktoken/o200k_base, hf/NAME-or-PATH, gguf/FILE"):
        load_tokenizer(name)


def test_a_path_after_hf_is_read(tmp_path: Path) -> None:
    folder = save_tokenizer(tmp_path / "words")
    assert load_tokenizer(f"hf/{folder}").encode("a b c") == [0, 1, 2]
    assert load_tokenizer(f"hf/{folder}/tokenizer.json").id == load_tokenizer(f"hf/{folder}").id


def test_a_path_after_gguf_is_read(tmp_path: Path) -> None:
    file = tmp_path / "notes.gguf"
    file.write_text("no model", encoding="utf-8")
    with pytest.raises(UsageError, match=r"notes\.gguf is not a GGUF file"):
        load_tokenizer(f"gguf/{file}")


def test_offline_the_hub_is_not_asked() -> None:
    with pytest.raises(DataError) as caught:
        load_tokenizer("hf/nobody/has-this-model", offline=True)
    message = str(caught.value)
    assert "fetching is off" in message
    assert "hf/PATH" in message
    assert "\n" not in message


def test_what_cannot_be_a_name_on_the_hub_is_refused() -> None:
    with pytest.raises(UsageError, match="neither a file"):
        load_tokenizer("hf/models/of/mine")


def test_what_the_hub_gave_before_is_found_offline(tmp_path: Path) -> None:
    revision = "0123456789abcdef0123456789abcdef01234567"
    model = tmp_path / "models--owner--model"
    folder = save_tokenizer(model / "snapshots" / revision)
    (folder / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(revision, encoding="utf-8")
    level = logging.getLogger("huggingface_hub").level
    assert tokenizer_folder("owner/model", offline=True, cache=tmp_path).resolve() == folder.resolve()
    assert logging.getLogger("huggingface_hub").level == level


@pytest.mark.usefixtures("cache")
def test_ranks_and_the_model_in_the_box_are_not_fetched_offline() -> None:
    with pytest.raises(DataError, match="leadline data get cl100k_base"):
        load_tokenizer("cl100k_base", offline=True)
    with pytest.raises(DataError, match="leadline data get smollm2-135m-instruct"):
        load_local_model_path(offline=True)


def test_the_model_in_the_box_is_a_gguf_file() -> None:
    with load_local_model_path().open("rb") as file:
        assert file.read(4) == b"GGUF"

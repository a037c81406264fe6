from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as RustTokenizer
from tokenizers import models, pre_tokenizers, processors, trainers

from leadline.errors import UsageError
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.hugging_face import HuggingFaceTokenizer

LINES = ["the grass is green", "the sky is blue", "the sun is yellow", "here we go", "there and back again"]


def byte_level(special: list[str] | None = None) -> RustTokenizer:
    tokenizer = RustTokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # pyright: ignore[reportAttributeAccessIssue]
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=special or [],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(LINES, trainer)
    return tokenizer


def saved(folder: Path, tokenizer: RustTokenizer, config: dict[str, Any] | None = None) -> Path:
    tokenizer.save(str(folder / "tokenizer.json"))
    if config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def test_a_folder_and_its_file_are_the_same_tokenizer(tmp_path: Path) -> None:
    folder = tmp_path / "small-model"
    folder.mkdir()
    saved(folder, byte_level())
    one, other = HuggingFaceTokenizer.from_path(folder), HuggingFaceTokenizer.from_path(folder / "tokenizer.json")
    assert isinstance(one, Tokenizer)
    assert one.id == other.id
    assert one.id.startswith("hf/small-model@")
    assert HuggingFaceTokenizer.from_path(folder, "owner/model").id.startswith("hf/owner/model@")
    assert one.count("the sky is green") == len(one.encode("the sky is green"))


def test_another_vocabulary_has_another_id(tmp_path: Path) -> None:
    first = HuggingFaceTokenizer.from_path(saved(tmp_path, byte_level()))
    second = HuggingFaceTokenizer.from_path(saved(tmp_path, byte_level(["<s>"])))
    assert first.id != second.id


def test_special_tokens_count_as_one_and_bos_is_never_added(tmp_path: Path) -> None:
    raw = byte_level(["<s>", "</s>"])
    raw.post_processor = processors.TemplateProcessing(  # pyright: ignore[reportAttributeAccessIssue]
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    tokenizer = HuggingFaceTokenizer.from_path(saved(tmp_path, raw))
    assert tokenizer.bos_tokens == 1
    assert tokenizer.encode("<s>") == [0]
    assert tokenizer.count("<s>the sky</s>") == tokenizer.count("the sky") + 2


def test_no_bos_where_the_post_processor_adds_none(tmp_path: Path) -> None:
    raw = byte_level(["</s>"])
    raw.post_processor = processors.TemplateProcessing(  # pyright: ignore[reportAttributeAccessIssue]
        single="$A </s>", special_tokens=[("</s>", 0)]
    )
    assert HuggingFaceTokenizer.from_path(saved(tmp_path, raw)).bos_tokens == 0


@pytest.mark.parametrize(("add", "expected"), [(True, 1), (False, 0)])
def test_the_configuration_decides_on_bos_where_it_says(tmp_path: Path, add: bool, expected: int) -> None:
    raw = byte_level(["<s>"])
    if not add:
        raw.post_processor = processors.TemplateProcessing(  # pyright: ignore[reportAttributeAccessIssue]
            single="<s> $A", special_tokens=[("<s>", 0)]
        )
    config = {"add_bos_token": add, "bos_token": "<s>"}
    assert HuggingFaceTokenizer.from_path(saved(tmp_path, raw, config)).bos_tokens == expected


def test_truncation_and_padding_in_the_file_are_ignored(tmp_path: Path) -> None:
    raw = byte_level(["<pad>"])
    raw.enable_truncation(4)
    raw.enable_padding(length=4)
    tokenizer = HuggingFaceTokenizer.from_path(saved(tmp_path, raw))
    assert tokenizer.count("x" * 50) == 50
    assert tokenizer.count_in_place(["x" * 50, ""], "a", " a").tolist() == [50, 0]


def test_count_in_place_is_a_difference_of_counts(tmp_path: Path) -> None:
    tokenizer = HuggingFaceTokenizer.from_path(saved(tmp_path, byte_level()))
    texts = ["the", " the", " sky.\n", "漢", ""]
    counts = tokenizer.count_in_place(texts, "a\n", "a")
    assert counts.dtype == "int32"
    assert counts.tolist() == [tokenizer.count(f"a\n{text}a") - tokenizer.count("a\na") for text in texts]
    assert tokenizer.count_in_place([], "a", " a").tolist() == []


@pytest.mark.parametrize("trim_offsets", [True, False])
def test_offsets_are_the_first_characters_of_the_tokens(tmp_path: Path, trim_offsets: bool) -> None:
    raw = byte_level()
    raw.post_processor = processors.ByteLevel(trim_offsets=trim_offsets)  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer = HuggingFaceTokenizer.from_path(saved(tmp_path, raw))
    assert tokenizer.offsets("the sky is").tolist() == [0, 3, 7]
    assert tokenizer.offsets("a漢b").tolist() == [0, 1, 1, 1, 2]
    assert tokenizer.offsets("").tolist() == []


def test_the_chat_template_and_special_tokens_stand_beside_the_tokenizer(tmp_path: Path) -> None:
    config = {"bos_token": {"content": "<s>"}, "eos_token": "</s>", "pad_token": None, "chat_template": "{{ old }}"}
    tokenizer = HuggingFaceTokenizer.from_path(saved(tmp_path, byte_level(), config))
    assert tokenizer.chat_template == "{{ old }}"
    assert tokenizer.special_tokens == {"bos_token": "<s>", "eos_token": "</s>"}
    (tmp_path / "chat_template.jinja").write_text("{{ new }}", encoding="utf-8")
    assert HuggingFaceTokenizer.from_path(tmp_path).chat_template == "{{ new }}"


def test_of_several_chat_templates_the_default_is_taken(tmp_path: Path) -> None:
    templates = [{"name": "tool_use", "template": "tools"}, {"name": "default", "template": "chat"}]
    tokenizer = HuggingFaceTokenizer.from_path(saved(tmp_path, byte_level(), {"chat_template": templates}))
    assert tokenizer.chat_template == "chat"


def test_a_base_model_has_no_chat_template(tmp_path: Path) -> None:
    tokenizer = HuggingFaceTokenizer.from_path(saved(tmp_path, byte_level()))
    assert (tokenizer.chat_template, tokenizer.special_tokens) == (None, {})


def test_mistakes_are_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no tokenizer at .*name a tokenizer\.json"):
        HuggingFaceTokenizer.from_path(tmp_path)
    file = tmp_path / "tokenizer.json"
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match=r"tokenizer\.json is not a tokenizer") as caught:
        HuggingFaceTokenizer.from_path(file)
    assert "\n" not in str(caught.value)
    saved(tmp_path, byte_level())
    (tmp_path / "tokenizer_config.json").write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match=r"tokenizer_config\.json is not JSON"):
        HuggingFaceTokenizer.from_path(file)

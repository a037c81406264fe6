from __future__ import annotations

from pathlib import Path

import pytest
from gguf import GGUFWriter
from tokenizers.pre_tokenizers import ByteLevel

import leadline.data.gguf_cache as module
from leadline.data.gguf_cache import gguf_facts, gguf_tokenizer
from leadline.errors import UsageError


def write_gguf(path: Path, pre: str = "gpt-2", model: str = "gpt2") -> Path:
    writer = GGUFWriter(path, "llama")
    writer.add_name("Tiny")
    writer.add_tokenizer_model(model)
    writer.add_tokenizer_pre(pre)
    writer.add_token_list([*sorted(ByteLevel.alphabet()), "ab", "<s>"])
    writer.add_token_types([1] * 257 + [3])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(257)
    writer.add_add_bos_token(True)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def test_the_tokenizer_has_what_the_file_says(cache: Path, tmp_path: Path) -> None:
    del cache
    tokenizer = gguf_tokenizer(write_gguf(tmp_path / "tiny.gguf"))
    assert tokenizer.id.startswith("gguf/Tiny@")
    assert tokenizer.encode("ab<s>") == [256, 257]
    assert (tokenizer.bos_tokens, tokenizer.special_tokens) == (1, {"bos_token": "<s>"})
    assert tokenizer.chat_template is None


def test_a_file_is_read_once(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del cache
    file = write_gguf(tmp_path / "tiny.gguf")
    first = gguf_tokenizer(file)

    def unread(path: Path) -> None:
        raise AssertionError(f"{path} is read again")

    monkeypatch.setattr(module, "read_gguf", unread)
    again = gguf_tokenizer(file)
    assert (again.id, again.encode("ab")) == (first.id, first.encode("ab"))
    assert gguf_facts(file).name == "Tiny"


def test_what_is_kept_and_damaged_is_made_again(cache: Path, tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "tiny.gguf")
    gguf_tokenizer(file)
    for kept in (cache / "gguf").rglob("*.json"):
        kept.write_text("{", encoding="utf-8")
    assert gguf_tokenizer(file).encode("ab") == [256]


def test_a_changed_file_is_read_again(cache: Path, tmp_path: Path) -> None:
    del cache
    file = write_gguf(tmp_path / "tiny.gguf")
    before = gguf_tokenizer(file).id
    write_gguf(file, pre="starcoder")
    assert gguf_tokenizer(file).id != before


def test_the_facts_of_a_file_with_an_unknown_tokenizer_can_be_had(cache: Path, tmp_path: Path) -> None:
    del cache
    file = write_gguf(tmp_path / "odd.gguf", model="rwkv")
    assert gguf_facts(file).tokenizer == "rwkv/gpt-2"
    with pytest.raises(UsageError, match=r"odd\.gguf: .*'rwkv'.*--tokenizer"):
        gguf_tokenizer(file)


def test_a_missing_file_is_named(cache: Path, tmp_path: Path) -> None:
    del cache
    with pytest.raises(UsageError, match=r"absent\.gguf cannot be read"):
        gguf_tokenizer(tmp_path / "absent.gguf")

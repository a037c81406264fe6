from __future__ import annotations

from pathlib import Path

import pytest
from gguf import GGUFWriter
from tokenizers.pre_tokenizers import ByteLevel

from leadline.errors import UsageError
from leadline.tokenizers.gguf_file import read_gguf


def write_gguf(
    path: Path, *, pre: str = "smollm", name: str | None = "Tiny Model", add_bos: bool | None = True
) -> Path:
    tokens = [*sorted(ByteLevel.alphabet()), "ab", "<s>", "</s>"]
    writer = GGUFWriter(path, "llama")
    if name is not None:
        writer.add_name(name)
    writer.add_context_length(2048)
    writer.add_file_type(3)
    writer.add_rope_freq_base(10000.0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([1] * 257 + [3, 3])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(257)
    writer.add_eos_token_id(258)
    if add_bos is not None:
        writer.add_add_bos_token(add_bos)
    writer.add_chat_template("{{ messages }}")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def test_facts_are_what_the_file_says(tmp_path: Path) -> None:
    facts, vocabulary = read_gguf(write_gguf(tmp_path / "tiny.gguf"))
    assert (facts.name, facts.architecture, facts.context_tokens) == ("Tiny Model", "llama", 2048)
    assert (facts.quantisation, facts.chat_template) == ("Q4_1", "{{ messages }}")
    assert facts.special_tokens == {"bos_token": "<s>", "eos_token": "</s>"}
    assert facts.special_ids == {"bos_token": 257, "eos_token": 258}
    assert (facts.add_bos, facts.bos_tokens) == (True, 1)
    assert facts.rope == {"freq_base": 10000.0}
    assert facts.tokenizer == "gpt2/smollm"
    assert facts.identity.startswith("gguf/Tiny-Model@")
    assert vocabulary.merges == ("a b",)
    assert vocabulary.tokens[256:] == ("ab", "<s>", "</s>")


def test_what_the_file_does_not_say_is_the_loaders_default(tmp_path: Path) -> None:
    facts, _ = read_gguf(write_gguf(tmp_path / "tiny.gguf", name=None, add_bos=None))
    assert facts.name == "tiny"
    assert not facts.add_bos
    facts, _ = read_gguf(write_gguf(tmp_path / "other.gguf", pre="llama-bpe", add_bos=None))
    assert facts.add_bos


def test_the_identity_follows_the_vocabulary_not_the_file(tmp_path: Path) -> None:
    one, _ = read_gguf(write_gguf(tmp_path / "one.gguf"))
    copy, _ = read_gguf(write_gguf(tmp_path / "copy.gguf"))
    other, _ = read_gguf(write_gguf(tmp_path / "other.gguf", pre="qwen2"))
    assert one.identity == copy.identity
    assert one.identity != other.identity


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.gguf cannot be read"):
        read_gguf(tmp_path / "absent.gguf")
    text = tmp_path / "notes.txt"
    text.write_text("hello", encoding="utf-8")
    with pytest.raises(UsageError, match=r"notes\.txt is not a GGUF file"):
        read_gguf(text)
    whole = write_gguf(tmp_path / "whole.gguf").read_bytes()
    for size in (6, 30, 400, len(whole) - 40):
        cut = tmp_path / "cut.gguf"
        cut.write_bytes(whole[:size])
        with pytest.raises(UsageError, match=r"cut\.gguf") as caught:
            read_gguf(cut)
        assert "\n" not in str(caught.value)


def test_a_file_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    writer = GGUFWriter(tmp_path / "bare.gguf", "llama")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(UsageError, match=r"has no tokenizer\.ggml"):
        read_gguf(tmp_path / "bare.gguf")

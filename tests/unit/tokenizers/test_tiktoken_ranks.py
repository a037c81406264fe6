from __future__ import annotations

from pathlib import Path

import pytest
import tiktoken_ext.openai_public as published

from leadline import data
from leadline.data.loading import load_tokenizer
from leadline.errors import DataError, UsageError
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.tiktoken_ranks import ENCODINGS, TiktokenTokenizer, read_ranks


@pytest.fixture(scope="module", params=["cl100k_base", "o200k_base"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return load_tokenizer(request.param)


@pytest.mark.parametrize("name", ENCODINGS)
def test_patterns_and_special_tokens_are_those_of_the_tiktoken_package(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_ranks(*_: str, **__: str) -> dict[bytes, int]:
        return {}

    monkeypatch.setattr(published, "load_tiktoken_bpe", no_ranks)
    constructors = published.ENCODING_CONSTRUCTORS
    theirs = constructors[name]()
    assert ENCODINGS[name].pattern == theirs["pat_str"]
    assert ENCODINGS[name].special_tokens == theirs["special_tokens"]


def test_ids_are_the_published_ones() -> None:
    # From the cookbook's table "How to count tokens with tiktoken".
    cl100k = load_tokenizer("tiktoken/cl100k_base")
    assert cl100k.encode("antidisestablishmentarianism") == [519, 85342, 34500, 479, 8997, 2191]
    assert cl100k.encode("2 + 2 = 4") == [17, 489, 220, 17, 284, 220, 19]
    assert load_tokenizer("o200k_base").count("お誕生日おめでとう") == 8


def test_it_is_a_tokenizer_with_a_name_and_no_bos(tokenizer: Tokenizer) -> None:
    assert isinstance(tokenizer, Tokenizer)
    assert tokenizer.id in {"tiktoken/cl100k_base", "tiktoken/o200k_base"}
    assert (tokenizer.exact, tokenizer.bos_tokens) == (True, 0)


def test_special_tokens_count_as_their_characters(tokenizer: Tokenizer) -> None:
    assert tokenizer.count("<|endoftext|>") > 1


def test_count_in_place_is_a_difference_of_counts(tokenizer: Tokenizer) -> None:
    texts = ["word", " word", "word.\n\n", "", "漢"]
    counts = tokenizer.count_in_place(texts, "a\n", "a")
    assert counts.dtype == "int32"
    assert counts.tolist() == [tokenizer.count(f"a\n{text}a") - tokenizer.count("a\na") for text in texts]
    assert tokenizer.count_in_place([], "a", " a").tolist() == []


def test_offsets_are_the_first_characters_of_the_tokens(tokenizer: Tokenizer) -> None:
    assert tokenizer.offsets("The sky is blue.").tolist() == [0, 3, 7, 10, 15]
    assert tokenizer.offsets("").tolist() == []


def test_tokens_inside_a_character_begin_at_it(tokenizer: Tokenizer) -> None:
    text = "a𓀀𓀀b"
    offsets = tokenizer.offsets(text)
    assert len(offsets) == tokenizer.count(text)
    assert set(offsets.tolist()) == {0, 1, 2, 3}
    assert offsets.tolist() == sorted(offsets.tolist())


def test_ranks_are_read_and_damage_is_named(tmp_path: Path) -> None:
    file = tmp_path / "x.tiktoken"
    file.write_bytes(b"YQ== 0\nYg== 1\n")
    assert read_ranks(file) == {b"a": 0, b"b": 1}
    file.write_bytes(b"YQ== 0\nwhat\n")
    with pytest.raises(DataError, match="line 2"):
        read_ranks(file)
    assert len(read_ranks(data.get("cl100k_base"))) == 100256


def test_another_encoding_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'p50k_base'.*cl100k_base"):
        TiktokenTokenizer("p50k_base", {})

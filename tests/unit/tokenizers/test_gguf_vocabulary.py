from __future__ import annotations

from dataclasses import replace

import pytest
from tokenizers.pre_tokenizers import ByteLevel

from leadline.errors import UsageError
from leadline.tokenizers.gguf_vocabulary import Vocabulary, adds_bos, build_tokenizer

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6


def letters(*merges: tuple[str, str], pre: str = "gpt-2", added: tuple[str, ...] = ()) -> Vocabulary:
    """Byte-level BPE of all bytes, these merges and these control tokens."""
    tokens = [*sorted(ByteLevel.alphabet()), *(left + right for left, right in merges), *added]
    return Vocabulary(
        model="gpt2",
        pre=pre,
        tokens=tuple(tokens),
        types=(NORMAL,) * (len(tokens) - len(added)) + (CONTROL,) * len(added),
        merges=tuple(f"{left} {right}" for left, right in merges),
        scores=(),
        unknown_id=None,
        add_space_prefix=False,
    )


def pieces(vocabulary: Vocabulary, text: str) -> list[str]:
    tokenizer = build_tokenizer(vocabulary)
    return tokenizer.encode(text, add_special_tokens=False).tokens


def cuts(pre: str, text: str) -> list[str]:
    """The text as the pattern of this name cuts it."""
    tokenizer = build_tokenizer(letters(pre=pre))
    assert tokenizer.pre_tokenizer is not None
    return [text[start:end] for _, (start, end) in tokenizer.pre_tokenizer.pre_tokenize_str(text)]


def scored(words: dict[str, float], *, add_space_prefix: bool = True) -> Vocabulary:
    """SentencePiece BPE of these words, all bytes, and the control token <s>."""
    byte_tokens = [f"<0x{value:02X}>" for value in range(256)]
    tokens = ["<unk>", "<s>", *byte_tokens, *words]
    return Vocabulary(
        model="llama",
        pre=None,
        tokens=tuple(tokens),
        types=(UNKNOWN, CONTROL, *[BYTE] * 256, *[NORMAL] * len(words)),
        merges=(),
        scores=(0.0, 0.0, *[0.0] * 256, *words.values()),
        unknown_id=0,
        add_space_prefix=add_space_prefix,
    )


def test_merges_are_made_in_their_order() -> None:
    assert pieces(letters(("a", "b"), ("b", "c"), ("ab", "c")), "abc bc") == ["abc", "Ġ", "bc"]
    assert pieces(letters(("b", "c"), ("a", "b")), "abc") == ["a", "bc"]


def test_control_tokens_are_found_as_they_are_written() -> None:
    vocabulary = letters(added=("<|im_start|>", "<|im_end|>"))
    assert pieces(vocabulary, "a<|im_end|><|im_start|>b") == ["a", "<|im_end|>", "<|im_start|>", "b"]


def test_merges_of_unknown_tokens_are_passed_over() -> None:
    vocabulary = replace(letters(("a", "b")), merges=("a b", "a zz"))
    assert pieces(vocabulary, "ab") == ["ab"]


@pytest.mark.parametrize(
    ("pre", "expected"),
    [
        ("gpt-2", ["It", "'s", " 12345", " Abc", " (", "x", ").", "\n", "\n", "y"]),
        ("smollm", ["It", "'s", " ", "1", "2", "3", "4", "5", " Abc", " (", "x", ").", "\n", "\n", "y"]),
        ("llama-bpe", ["It", "'s", " ", "123", "45", " Abc", " (", "x", ").\n\n", "y"]),
        ("qwen2", ["It", "'s", " ", "1", "2", "3", "4", "5", " Abc", " (", "x", ").\n\n", "y"]),
        ("tekken", ["It", "'s", " ", "1", "2", "3", "4", "5", " Abc", " (", "x", ").\n\n", "y"]),
        ("gpt-4o", ["It's", " ", "123", "45", " Abc", " (", "x", ").\n\n", "y"]),
        ("deepseek-v3", ["It", "'s", " ", "123", "45", " Abc", " (", "x", ").\n\n", "y"]),
        ("deepseek-coder", ["It", "'", "s", " ", "1", "2", "3", "4", "5", " Abc", " (", "x", ").", "\n", "\n", "y"]),
    ],
)
def test_patterns_cut_as_their_models_do(pre: str, expected: list[str]) -> None:
    assert cuts(pre, "It's 12345 Abc (x).\n\ny") == expected


def test_capitals_part_words_where_the_pattern_says_so() -> None:
    assert cuts("tekken", "helloWorld") == ["hello", "World"]
    assert cuts("gpt-4o", "helloWorld") == ["hello", "World"]
    assert cuts("llama-bpe", "helloWorld") == ["helloWorld"]


def test_a_slash_after_newlines_joins_them_where_the_pattern_says_so() -> None:
    assert cuts("gpt-4o", "a.\n/b") == ["a", ".\n/", "b"]
    assert cuts("llama-bpe", "a.\n/b") == ["a", ".\n", "/b"]


def test_whole_words_are_not_merged_where_the_model_says_so() -> None:
    words = replace(letters(("b", "c")), tokens=(*letters(("b", "c")).tokens, "abc"), types=(NORMAL,) * 258)
    assert pieces(replace(words, pre="llama-bpe"), "abc") == ["abc"]
    assert pieces(replace(words, pre="qwen2"), "abc") == ["a", "bc"]


def test_sentencepiece_merges_the_best_scored_first() -> None:
    words = {"a": -9.0, "b": -9.0, "c": -9.0, "▁": -9.0, "bc": -1.0, "ab": -2.0, "▁a": -3.0}
    assert pieces(scored(words), "abc") == ["▁a", "bc"]
    assert pieces(scored(words, add_space_prefix=False), "abc") == ["a", "bc"]
    assert pieces(scored({**words, "ab": -0.5}, add_space_prefix=False), "abc") == ["ab", "c"]


def test_sentencepiece_spells_unknown_characters_in_bytes() -> None:
    assert pieces(scored({"a": -1.0, "▁": -2.0}), "aé\n") == ["▁", "a", "<0xC3>", "<0xA9>", "<0x0A>"]


def test_sentencepiece_gives_a_space_to_what_follows_a_special_token() -> None:
    assert pieces(scored({"a": -1.0, "▁": -2.0, "▁a": -1.5}), "a<s>a a") == ["▁a", "<s>", "▁a", "▁a"]


def test_bos_defaults_are_those_of_the_loaders() -> None:
    assert adds_bos(scored({"a": 0.0}))
    assert adds_bos(letters(pre="llama-bpe"))
    assert not adds_bos(letters(pre="qwen2"))
    assert not adds_bos(letters(pre="never-heard-of"))


def test_unknown_kinds_and_patterns_are_named() -> None:
    with pytest.raises(UsageError, match=r"'never-heard-of'.*--tokenizer"):
        build_tokenizer(letters(pre="never-heard-of"))
    with pytest.raises(UsageError, match=r"'rwkv'.*--tokenizer"):
        build_tokenizer(replace(letters(), model="rwkv"))
    with pytest.raises(UsageError, match=r"score.*--tokenizer"):
        build_tokenizer(replace(letters(), model="llama"))

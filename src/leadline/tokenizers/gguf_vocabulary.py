"""A tokenizer from the vocabulary in a GGUF file.

A GGUF file names the kind of its tokenizer (``tokenizer.ggml.model``) and, for byte-level BPE, the pattern that cuts a
text before merging (``tokenizer.ggml.pre``), but holds no pattern. The table below has the patterns of the names for
which the models' own tokenizer files and llama.cpp's ``src/llama-vocab.cpp`` agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from leadline.errors import UsageError

if TYPE_CHECKING:
    from tokenizers import Tokenizer as RustTokenizer
    from tokenizers.pre_tokenizers import PreTokenizer

_NORMAL, _CONTROL, _USER_DEFINED = 1, 3, 4
"""Values of ``tokenizer.ggml.token_type``; 2 is unknown, 5 unused, 6 a byte."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a GGUF file says of its tokenizer.

    Attributes:
        model: ``gpt2`` (byte-level BPE), ``llama`` (SentencePiece BPE), or another kind.
        pre: name of the pattern that cuts a text, or None.
        tokens: text of each token, shape (tokens,).
        types: type of each token, shape (tokens,).
        merges: pairs in the order of their rank, each as two tokens with a space between.
        scores: score of each token, shape (tokens,), or empty.
        unknown_id: id of the unknown token, or None.
        add_space_prefix: whether a text is given a leading space (``llama`` only).
    """

    model: str
    pre: str | None
    tokens: tuple[str, ...]
    types: tuple[int, ...]
    merges: tuple[str, ...]
    scores: tuple[float, ...]
    unknown_id: int | None
    add_space_prefix: bool


@dataclass(frozen=True, slots=True)
class _Pattern:
    """How a text is cut before merging.

    Attributes:
        splits: regular expressions, applied one after another; empty means GPT-2's pattern.
        digits: digits are cut one by one before GPT-2's pattern.
        whole_words: a piece that is a token as it stands is not merged.
        bos: llama.cpp adds a BOS token where the file does not say.
    """

    splits: tuple[str, ...] = ()
    digits: bool = False
    whole_words: bool = False
    bos: bool = False


_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_REST_WITH_SLASH = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_START = r"[^\r\n\p{L}\p{N}]?"

_LLAMA3 = rf"{_CONTRACTIONS}|{_START}\p{{L}}+|\p{{N}}{{1,3}}{_REST}"
_QWEN2 = rf"{_CONTRACTIONS}|{_START}\p{{L}}+|\p{{N}}{_REST}"
_TEKKEN = rf"{_START}{_UPPER}*{_LOWER}+|{_START}{_UPPER}+{_LOWER}*|\p{{N}}{_REST_WITH_SLASH}"
_GPT4O = (
    rf"{_START}{_UPPER}*{_LOWER}+{_CONTRACTIONS}?|{_START}{_UPPER}+{_LOWER}*{_CONTRACTIONS}?|\p{{N}}{{1,3}}"
    rf"{_REST_WITH_SLASH}"
)
_DEEPSEEK_V3 = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
)
_DEEPSEEK_CODER = (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", r"\p{N}")

_PATTERNS: Mapping[str, _Pattern] = {
    "gpt-2": _Pattern(),
    "phi-2": _Pattern(),
    "mpt": _Pattern(),
    "olmo": _Pattern(),
    "jais": _Pattern(),
    "smollm": _Pattern(digits=True),
    "starcoder": _Pattern(digits=True),
    "refact": _Pattern(digits=True),
    "codeshell": _Pattern(digits=True),
    "command-r": _Pattern(digits=True),
    "llama-bpe": _Pattern((_LLAMA3,), whole_words=True, bos=True),
    "llama-v3": _Pattern((_LLAMA3,), whole_words=True, bos=True),
    "llama3": _Pattern((_LLAMA3,), whole_words=True, bos=True),
    "dbrx": _Pattern((_LLAMA3,)),
    "smaug-bpe": _Pattern((_LLAMA3,)),
    "chatglm-bpe": _Pattern((_LLAMA3,)),
    "glm4": _Pattern((_LLAMA3,)),
    "qwen2": _Pattern((_QWEN2,)),
    "deepseek-r1-qwen": _Pattern((_QWEN2,)),
    "megrez": _Pattern((_QWEN2,)),
    "stablelm2": _Pattern((_QWEN2,)),
    "tekken": _Pattern((_TEKKEN,), whole_words=True, bos=True),
    "gpt-4o": _Pattern((_GPT4O,)),
    "llama4": _Pattern((_GPT4O,)),
    "deepseek-v3": _Pattern(_DEEPSEEK_V3),
    "deepseek-coder": _Pattern(_DEEPSEEK_CODER),
}


def adds_bos(vocabulary: Vocabulary) -> bool:
    """Whether a loader adds a BOS token where the file itself does not say (llama.cpp's defaults)."""
    pattern = _PATTERNS.get(vocabulary.pre or "")
    return vocabulary.model == "llama" or (pattern is not None and pattern.bos)


def build_tokenizer(vocabulary: Vocabulary) -> RustTokenizer:
    """The tokenizer of this vocabulary.

    Raises:
        UsageError: its kind or its pattern is not known.
    """
    builders: Mapping[str, Callable[[Vocabulary], RustTokenizer]] = {"gpt2": _byte_level, "llama": _sentence_piece}
    build = builders.get(vocabulary.model)
    if build is None:
        raise UsageError(
            f"the file's tokenizer is of the kind {vocabulary.model!r}, not one of {', '.join(builders)}: "
            "name the model's tokenizer with --tokenizer hf/NAME-or-PATH"
        )
    tokenizer = build(vocabulary)
    tokenizer.add_special_tokens(list(_added_tokens(vocabulary)))
    return tokenizer


def _added_tokens(vocabulary: Vocabulary) -> Iterator[object]:
    from tokenizers import AddedToken

    for token, kind in zip(vocabulary.tokens, vocabulary.types, strict=True):
        if kind in (_CONTROL, _USER_DEFINED):
            yield AddedToken(token, normalized=False, special=True)


def _byte_level(vocabulary: Vocabulary) -> RustTokenizer:
    """Byte-level BPE (GPT-2): merges in the order in which the file lists them."""
    from tokenizers import Tokenizer as RustTokenizer
    from tokenizers import models

    pattern = _PATTERNS.get(vocabulary.pre or "")
    if pattern is None:
        raise UsageError(
            f"the pattern of the file's tokenizer (tokenizer.ggml.pre = {vocabulary.pre!r}) is not known: "
            "name the model's tokenizer with --tokenizer hf/NAME-or-PATH"
        )
    ids = {token: index for index, token in enumerate(vocabulary.tokens)}
    merges: list[tuple[str, str]] = []
    for merge in vocabulary.merges:
        middle = merge.find(" ", 1)  # a token may itself begin with a space
        left, right = merge[:middle], merge[middle + 1 :]
        if left in ids and right in ids and left + right in ids:
            merges.append((left, right))
    tokenizer = RustTokenizer(models.BPE(ids, merges, ignore_merges=pattern.whole_words))
    tokenizer.pre_tokenizer = _pre_tokenizer(pattern)  # pyright: ignore[reportAttributeAccessIssue]
    return tokenizer


def _pre_tokenizer(pattern: _Pattern) -> PreTokenizer:
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence, Split

    steps: list[PreTokenizer] = [Split(Regex(split), "isolated") for split in pattern.splits]
    if pattern.digits:
        steps.append(Digits(individual_digits=True))
    steps.append(ByteLevel(add_prefix_space=False, use_regex=not pattern.splits))
    return cast("PreTokenizer", Sequence(steps))


def _sentence_piece(vocabulary: Vocabulary) -> RustTokenizer:
    """SentencePiece BPE: of all neighbours the pair whose union has the highest score is merged first.

    The file has no merges; they follow from the scores: every way to make a token out of two others, the best-scored
    token first. Characters outside the vocabulary become their bytes. The leading space is given to the text and to
    what follows a special token, as llama.cpp does.
    """
    from tokenizers import Tokenizer as RustTokenizer
    from tokenizers import models, normalizers

    if len(vocabulary.scores) != len(vocabulary.tokens):
        raise UsageError(
            "the file's tokenizer has no score for each token, which its kind ('llama') needs: "
            "name the model's tokenizer with --tokenizer hf/NAME-or-PATH"
        )
    ids = {token: index for index, token in enumerate(vocabulary.tokens)}
    unknown = None if vocabulary.unknown_id is None else vocabulary.tokens[vocabulary.unknown_id]
    tokenizer = RustTokenizer(
        models.BPE(ids, _merges_by_score(vocabulary, ids), unk_token=unknown, fuse_unk=True, byte_fallback=True)
    )
    steps: list[normalizers.Normalizer] = [normalizers.Prepend("\u2581")] if vocabulary.add_space_prefix else []
    steps.append(normalizers.Replace(" ", "\u2581"))
    tokenizer.normalizer = normalizers.Sequence(steps)  # pyright: ignore[reportAttributeAccessIssue]
    return tokenizer


def _merges_by_score(vocabulary: Vocabulary, ids: Mapping[str, int]) -> list[tuple[str, str]]:
    usable = {
        token
        for token, kind in zip(vocabulary.tokens, vocabulary.types, strict=True)
        if kind in (_NORMAL, _USER_DEFINED)
    }
    ranked: list[tuple[float, int, int]] = []
    for token in usable:
        for middle in range(1, len(token)):
            left, right = token[:middle], token[middle:]
            if left in usable and right in usable:
                ranked.append((-vocabulary.scores[ids[token]], ids[left], ids[right]))
    ranked.sort()
    return [(vocabulary.tokens[left], vocabulary.tokens[right]) for _, left, right in ranked]

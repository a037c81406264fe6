"""OpenAI's tokenizers from a file of ranks, without the tiktoken package's own download."""

from __future__ import annotations

import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from leadline.errors import DataError, UsageError


@dataclass(frozen=True, slots=True)
class EncodingFacts:
    """What defines an encoding besides its ranks: the pattern that cuts a text, and the special tokens' ids.

    Source: ``tiktoken_ext.openai_public`` of the tiktoken package, which gives them out only together with a download.
    """

    pattern: str
    special_tokens: Mapping[str, int]


_O200K_START = r"[^\r\n\p{L}\p{N}]?"
_O200K_UPPER, _O200K_LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_O200K_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

ENCODINGS: Mapping[str, EncodingFacts] = {
    "cl100k_base": EncodingFacts(
        pattern=(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
            r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        ),
        special_tokens={
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
    "o200k_base": EncodingFacts(
        pattern="|".join(
            [
                f"{_O200K_START}{_O200K_UPPER}*{_O200K_LOWER}+{_O200K_SUFFIX}",
                f"{_O200K_START}{_O200K_UPPER}+{_O200K_LOWER}*{_O200K_SUFFIX}",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            ]
        ),
        special_tokens={"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
    ),
}


def read_ranks(path: Path) -> dict[bytes, int]:
    """The ranks in a ``.tiktoken`` file: one line per token, its bytes in base64, then its rank.

    Raises:
        DataError: a line is something else.
    """
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            token, rank = line.split()
            ranks[binascii.a2b_base64(token, strict_mode=True)] = int(rank)
        except (ValueError, binascii.Error) as error:
            raise DataError(f"{path}, line {number} is not a token and its rank: fetch the file again") from error
    return ranks


class TiktokenTokenizer:
    """An OpenAI encoding. Special tokens in a text count as the ordinary characters that they are written with.

    Args:
        name: ``cl100k_base`` or ``o200k_base``.
        ranks: the rank of each token, by its bytes.

    Raises:
        UsageError: no such encoding.
    """

    exact = True
    bos_tokens = 0

    def __init__(self, name: str, ranks: Mapping[bytes, int]) -> None:
        import tiktoken

        facts = ENCODINGS.get(name)
        if facts is None:
            raise UsageError(f"no encoding {name!r} in tiktoken/...: choose one of {', '.join(ENCODINGS)}")
        self.id = f"tiktoken/{name}"
        self._encoding = tiktoken.Encoding(
            name,
            pat_str=facts.pattern,
            mergeable_ranks=dict(ranks),
            special_tokens=dict(facts.special_tokens),
        )

    @classmethod
    def from_file(cls, name: str, path: Path) -> TiktokenTokenizer:
        """The encoding of this name with the ranks in `path`."""
        return cls(name, read_ranks(path))

    def encode(self, text: str) -> list[int]:
        """Token ids of the text."""
        return self._encoding.encode_ordinary(text)

    def count(self, text: str) -> int:
        """Number of tokens of the text."""
        return len(self._encoding.encode_ordinary(text))

    def count_in_place(self, texts: Sequence[str], before: str, after: str) -> npt.NDArray[np.int32]:
        """Tokens that each text takes between `before` and `after`, shape (len(texts),)."""
        encode = self._encoding.encode_ordinary
        base = len(encode(before + after))
        counts = (len(encode(before + text + after)) - base for text in texts)
        return np.fromiter(counts, dtype=np.int32, count=len(texts))

    def offsets(self, text: str) -> npt.NDArray[np.int64]:
        """Character at which each token begins; a token inside a character's bytes begins at that character."""
        tokens = self._encoding.decode_tokens_bytes(self.encode(text))
        sizes = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
        data = np.frombuffer(b"".join(tokens), dtype=np.uint8)
        character = np.cumsum((data & 0xC0) != 0x80, dtype=np.int64) - 1
        return character[np.cumsum(sizes) - sizes]

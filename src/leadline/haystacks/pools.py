"""Pools of things to plant: words, numbers, identifiers, each the same for ever under its index.

No element of a pool is a part of another, so an answer found in a reply is that answer and no other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from leadline.seeds import rng_for
from leadline.tokenizers.counting import Counter, split_chunks

Indices = npt.NDArray[np.int64]

POOL_SIZE = 1 << 18
"""Elements of a pool that is drawn from a larger set: more than a sample of four million tokens takes."""

_SEED = 0
"""Pools do not depend on a run's seed: the seed decides which of their elements are taken."""


class Pool(ABC):
    """A fixed sequence of distinct strings, of which none is a part of another."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], npt.NDArray[np.int16]] = {}

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of elements."""

    @abstractmethod
    def take(self, indices: Indices) -> list[str]:
        """The elements of these indices, each in [0, size), in order."""

    def counts(self, counter: Counter, indices: Indices, shape: str = " {}") -> npt.NDArray[np.int32]:
        r"""Tokens of the chunk that each element makes, shape (len(indices),); each is counted once and kept.

        Args:
            counter: whose tokenizer counts.
            indices: which elements.
            shape: the chunk, with ``{}`` for the element: `` {}`` between spaces, `` {}.\n`` at the end of a line.

        Raises:
            ValueError: the shape is more than one chunk.
        """
        if len(split_chunks(shape.format("a"))) != 1:
            raise ValueError(f"{shape!r} is not one chunk: give the part of the text between two cuts")
        known = self._counts.get((counter.tokenizer.id, shape))
        if known is None:
            known = np.zeros(self.size, dtype=np.int16)  # 0 is unknown: a chunk has at least one token
            self._counts[counter.tokenizer.id, shape] = known
        missing = np.unique(indices[known[indices] == 0])
        if missing.size:
            known[missing] = counter.fresh_counts([shape.format(element) for element in self.take(missing)])
        return known[indices].astype(np.int32)


class KeptPool(Pool):
    """A pool that makes each of its elements when it is first taken, and keeps it."""

    @cached_property
    def _elements(self) -> npt.NDArray[np.object_]:
        return np.full(self.size, None, dtype=object)

    @cached_property
    def _is_made(self) -> npt.NDArray[np.bool_]:
        return np.zeros(self.size, dtype=np.bool_)

    def take(self, indices: Indices) -> list[str]:
        """The elements of these indices, each in [0, size), in order."""
        missing = indices[~self._is_made[indices]]
        if missing.size:
            self._elements[missing] = self._make(missing)
            self._is_made[missing] = True
        return self._elements[indices].tolist()

    @abstractmethod
    def _make(self, indices: Indices) -> list[str]:
        """The elements of these indices, made anew."""


class WordPool(KeptPool):
    """Words of the form adjective-noun.

    An element could be a part of another only with its adjective at the end of the other's and its noun at the
    beginning of the other's. So adjectives that end another adjective and nouns that begin another noun are left out.

    Args:
        adjectives: words without hyphens.
        nouns: words without hyphens.
    """

    def __init__(self, adjectives: Sequence[str], nouns: Sequence[str]) -> None:
        super().__init__()
        reversed_adjectives = _without_beginnings(word[::-1] for word in adjectives)
        self._adjectives = [word[::-1] for word in reversed_adjectives]
        self._nouns = _without_beginnings(nouns)

    @property
    def size(self) -> int:
        """Number of elements: 2^18, or all pairs where there are fewer."""
        return min(POOL_SIZE, len(self._adjectives) * len(self._nouns))

    @cached_property
    def _pairs(self) -> Indices:
        pairs = len(self._adjectives) * len(self._nouns)
        return rng_for(_SEED, "word pool").permutation(pairs).take(0, self.size)

    def _make(self, indices: Indices) -> list[str]:
        adjectives, nouns = np.divmod(self._pairs[indices], len(self._nouns))
        pairs = zip(adjectives.tolist(), nouns.tolist(), strict=True)
        return [f"{self._adjectives[adjective]}-{self._nouns[noun]}" for adjective, noun in pairs]


class NumberPool(KeptPool):
    """2^18 random numbers of seven digits."""

    @property
    def size(self) -> int:
        """Number of elements."""
        return POOL_SIZE

    @cached_property
    def _numbers(self) -> Indices:
        return rng_for(_SEED, "number pool").permutation(9_000_000).take(0, POOL_SIZE) + 1_000_000

    def _make(self, indices: Indices) -> list[str]:
        return [str(number) for number in self._numbers[indices].tolist()]


class UuidPool(KeptPool):
    """2^18 random UUIDs of version 4 (RFC 9562, section 5.4)."""

    @property
    def size(self) -> int:
        """Number of elements."""
        return POOL_SIZE

    @cached_property
    def _bytes(self) -> npt.NDArray[np.uint8]:
        words = rng_for(_SEED, "uuid pool").words(2 * POOL_SIZE).astype(">u8")
        octets = words.view(np.uint8).reshape(POOL_SIZE, 16)
        octets[:, 6] = octets[:, 6] & 0x0F | 0x40
        octets[:, 8] = octets[:, 8] & 0x3F | 0x80
        return octets

    def _make(self, indices: Indices) -> list[str]:
        digits = self._bytes[indices].tobytes().hex()
        rows = (digits[start : start + 32] for start in range(0, len(digits), 32))
        return [f"{row[:8]}-{row[8:12]}-{row[12:16]}-{row[16:20]}-{row[20:]}" for row in rows]


def _without_beginnings(words: Iterable[str]) -> list[str]:
    """The distinct words that do not begin another, sorted: in order, what begins with a word follows right on it."""
    ordered = sorted(set(words))
    return [word for word, following in zip(ordered, [*ordered[1:], ""], strict=True) if not following.startswith(word)]

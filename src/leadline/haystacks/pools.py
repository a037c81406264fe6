"""Pools of strings to draw from, each the same for ever under its index, and the planted ones: words, numbers, UUIDs.

No element of a planted pool is a part of another, so an answer found in a reply is that answer and no other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from leadline.seeds import Draws, rng_for
from leadline.tokenizers.counting import Counter, split_chunks

Indices = npt.NDArray[np.int64]

POOL_SIZE = 1 << 18
"""Elements of a pool that is drawn from a larger set: more than a sample of four million tokens takes."""

_SEED = 0
"""Pools do not depend on a run's seed: the seed decides which of their elements are taken."""


class Pool(ABC):
    """A fixed sequence of distinct strings. In pools of things to plant, none is a part of another."""

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
        counts = known[indices]
        if not counts.all():
            missing = np.unique(indices[counts == 0])
            known[missing] = counter.fresh_counts([shape.format(element) for element in self.take(missing)])
            counts = known[indices]
        return counts.astype(np.int32)


class Selection:
    """The elements of a pool in a random order of an item's own; what was asked for is kept.

    Args:
        draws: the draw that the order comes from.
        size: elements of the pool.
    """

    def __init__(self, draws: Draws, size: int) -> None:
        self._permutation = draws.permutation(size)
        self._kept = np.zeros(0, dtype=np.int64)

    def take(self, first: int, count: int) -> Indices:
        """Elements first, first + 1, ... first + count - 1 of the order, shape (count,).

        Raises:
            IndexError: the pool has fewer elements.
        """
        missing = first + count - len(self._kept)
        if missing > 0:
            self._kept = np.concatenate([self._kept, self._permutation.take(len(self._kept), missing)])
        return self._kept[first : first + count]


class DisplayOrder:
    """Where the occurrences of an item stand: the order of the first n of them, for any n.

    An order of more occurrences holds the order of fewer, so the longest that was asked for is kept.

    Args:
        draws: makes the draw that the order comes from, anew each time.
    """

    def __init__(self, draws: Callable[[], Draws]) -> None:
        self._draws = draws
        self._kept = np.zeros(0, dtype=np.int64)

    def first(self, count: int) -> Indices:
        """The first `count` occurrences in their order, shape (count,)."""
        kept = self._kept
        if count > len(kept):
            self._kept = kept = self._draws().order(count)
        return kept if count == len(kept) else kept[kept < count]


def changes_of_the_last(order: Indices) -> Indices:
    """The occurrences that stand last at some size, in ascending order.

    Of the first n occurrences, the greatest of these below n is the one that stands last.
    """
    least = np.minimum.accumulate(order[::-1])
    return least[np.append(True, least[1:] != least[:-1])][::-1]


class PairPool(Pool):
    """Elements made of a first and a second part. The parts are few: joining them beats keeping all elements in memory.

    Args:
        name: of the draw that says which pairs are in the pool.
        firsts: the first parts.
        seconds: the second parts.
    """

    def __init__(self, name: str, firsts: list[str], seconds: list[str]) -> None:
        super().__init__()
        self._name = name
        self._firsts = firsts
        self._seconds = seconds

    @property
    def size(self) -> int:
        """Number of elements: 2^18, or all pairs where there are fewer."""
        return min(POOL_SIZE, len(self._firsts) * len(self._seconds))

    @cached_property
    def _pairs(self) -> Indices:
        return rng_for(_SEED, self._name).permutation(len(self._firsts) * len(self._seconds)).take(0, self.size)

    def take(self, indices: Indices) -> list[str]:
        """The elements of these indices, each in [0, size), in order."""
        firsts, seconds = np.divmod(self._pairs[indices], len(self._seconds))
        return [
            self._firsts[first] + self._seconds[second]
            for first, second in zip(firsts.tolist(), seconds.tolist(), strict=True)
        ]


class WordPool(PairPool):
    """Words of the form adjective-noun.

    An element could be a part of another only with its adjective at the end of the other's and its noun at the
    beginning of the other's. So adjectives that end another adjective and nouns that begin another noun are left out.

    Args:
        adjectives: words without hyphens.
        nouns: words without hyphens.
    """

    def __init__(self, adjectives: Sequence[str], nouns: Sequence[str]) -> None:
        backwards = _without_beginnings(word[::-1] for word in adjectives)
        super().__init__("word pool", [f"{word[::-1]}-" for word in backwards], _without_beginnings(nouns))


class NumberPool(PairPool):
    """2^18 random numbers of seven digits: four and three."""

    def __init__(self) -> None:
        super().__init__("number pool", [str(n) for n in range(1000, 10_000)], [f"{n:03}" for n in range(1000)])


class UuidPool(Pool):
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

    @cached_property
    def _elements(self) -> npt.NDArray[np.object_]:
        return np.full(POOL_SIZE, None, dtype=object)

    @cached_property
    def _is_made(self) -> npt.NDArray[np.bool_]:
        return np.zeros(POOL_SIZE, dtype=np.bool_)

    def take(self, indices: Indices) -> list[str]:
        """The elements of these indices, each in [0, size), in order; each is made when it is first taken, and kept."""
        missing = indices[~self._is_made[indices]]
        if missing.size:
            self._elements[missing] = self._make(missing)
            self._is_made[missing] = True
        return self._elements[indices].tolist()

    def _make(self, indices: Indices) -> list[str]:
        digits = self._bytes[indices].tobytes().hex()
        rows = (digits[start : start + 32] for start in range(0, len(digits), 32))
        return [f"{row[:8]}-{row[8:12]}-{row[12:16]}-{row[16:20]}-{row[20:]}" for row in rows]


def _without_beginnings(words: Iterable[str]) -> list[str]:
    """The distinct words that do not begin another, sorted: in order, what begins with a word follows right on it."""
    ordered = sorted(set(words))
    return [word for word, following in zip(ordered, [*ordered[1:], ""], strict=True) if not following.startswith(word)]

"""Every random draw, named: the same name gives the same draw on every machine, in every order, for ever.

There is no global random state. A draw is a SplitMix64 stream (Steele, Lea and Flood, "Fast splittable pseudorandom
number generators", 2014) whose seed is a hash of the run's seed and the draw's names: word n is a mix of seed + n x
gamma, so it needs no state, costs little to begin, and is the same in plain integers and in numpy.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_WORD = 1 << 64
_MASK = _WORD - 1
_GAMMA = 0x9E3779B97F4A7C15
_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_FEW = 12
"""Up to so many words, plain integers are faster than arrays."""


class Draws:
    """A stream of random numbers of one name."""

    def __init__(self, key: int) -> None:
        self._position = key & _MASK

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """The next `count` random 64-bit words, shape (count,). A longer draw begins with the shorter one."""
        if count <= _FEW:
            return np.array([self._next() for _ in range(count)], dtype=np.uint64)
        steps = np.arange(1, count + 1, dtype=np.uint64)
        steps *= np.uint64(_GAMMA)
        steps += np.uint64(self._position)
        self._position = (self._position + count * _GAMMA) & _MASK
        for shift, factor in zip((30, 27), _MIX, strict=True):
            steps ^= steps >> np.uint64(shift)
            steps *= np.uint64(factor)
        steps ^= steps >> np.uint64(31)
        return steps

    def below(self, limit: int) -> int:
        """A whole number in [0, limit). Its bias is below limit / 2^64."""
        return (self._next() * limit) >> 64

    def fractions(self, count: int) -> npt.NDArray[np.float64]:
        """`count` numbers in [0, 1), shape (count,), with 53 random bits each."""
        return (self.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def _next(self) -> int:
        word = self._position = (self._position + _GAMMA) & _MASK
        word = ((word ^ (word >> 30)) * _MIX[0]) & _MASK
        word = ((word ^ (word >> 27)) * _MIX[1]) & _MASK
        return word ^ (word >> 31)

    def order(self, count: int) -> npt.NDArray[np.int64]:
        """A random order of range(count), shape (count,); see `KeyedOrder`."""
        return KeyedOrder(self, count).first(count)

    def permutation(self, size: int) -> Permutation:
        """A random permutation of range(size) that is computed element by element."""
        return Permutation(size, tuple(self._next() | 1 for _ in range(4)))


class KeyedOrder:
    """A random order of range(size) that is sorted only as far as it is asked for.

    Each element has a random 32-bit key with its index packed below it, so equal keys break the same way, and the
    order of the first n elements is the same whatever `size` is.

    Args:
        draws: where the keys come from; `size` words are drawn at once.
        size: number of elements.
    """

    def __init__(self, draws: Draws, size: int) -> None:
        self._keys = (draws.words(size) >> np.uint64(32) << np.uint64(32)) | np.arange(size, dtype=np.uint64)
        self._sorted = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._keys)

    def first(self, count: int) -> npt.NDArray[np.int64]:
        """The first `count` elements of the order, shape (count,), or all where there are fewer."""
        wanted = min(count, len(self._keys))
        if wanted > len(self._sorted):
            keys = self._keys if wanted == len(self._keys) else np.partition(self._keys, wanted - 1)[:wanted]
            self._sorted = (np.sort(keys) & np.uint64(0xFFFFFFFF)).astype(np.int64)
        return self._sorted[:wanted]


@dataclass(frozen=True, slots=True)
class Permutation:
    """A keyed permutation of range(size): k elements cost O(k), however large the pool is.

    A four-round Feistel network over the next even number of bits, walked until it lands inside the range
    (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
    """

    size: int
    keys: tuple[int, ...]

    def take(self, first: int, count: int) -> npt.NDArray[np.int64]:
        """Elements first, first + 1, ... first + count - 1 of the permuted range, shape (count,).

        Raises:
            IndexError: the range has fewer elements.
        """
        if first + count > self.size:
            raise IndexError(f"elements {first} to {first + count} of a pool of {self.size}")
        half_bits = max(1, ((self.size - 1).bit_length() + 1) // 2)
        if count <= _FEW:
            return np.array([self._element(index, half_bits) for index in range(first, first + count)], dtype=np.int64)
        half = np.uint64(half_bits)
        values = self._rounds(np.arange(first, first + count, dtype=np.uint64), half)
        outside = np.flatnonzero(values >= self.size)
        while outside.size:
            values[outside] = self._rounds(values[outside], half)
            outside = outside[values[outside] >= self.size]
        return values.astype(np.int64)

    def _element(self, index: int, half: int) -> int:
        mask = (1 << half) - 1
        while True:
            left, right = index >> half, index & mask
            for key in self.keys:
                mixed = ((right + 1) * key) & _MASK
                mixed = ((mixed ^ (mixed >> 29)) * _GAMMA) & _MASK
                left, right = right, left ^ ((mixed >> 40) & mask)
            index = (left << half) | right
            if index < self.size:
                return index

    def _rounds(self, values: npt.NDArray[np.uint64], half: np.uint64) -> npt.NDArray[np.uint64]:
        mask = (np.uint64(1) << half) - np.uint64(1)
        left, right = values >> half, values & mask
        for key in self.keys:
            mixed = (right + np.uint64(1)) * np.uint64(key)
            mixed ^= mixed >> np.uint64(29)
            mixed *= np.uint64(_GAMMA)
            mixed >>= np.uint64(40)
            mixed &= mask
            mixed ^= left
            left, right = right, mixed
        return (left << half) | right


def key_for(seed: int, *names: object) -> int:
    """The 64-bit key of the draw that `names` name under `seed`."""
    text = "\x1f".join([str(seed), *(f"{type(name).__name__}:{name}" for name in names)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def rng_for(seed: int, *names: object) -> Draws:
    """The draw of this name under this seed.

    A draw that several items share (a name per group, book and depth; the start of a haystack) is named after what is
    shared, not after the items.
    """
    return Draws(key_for(seed, *names))

"""Coded words, their order by rank in an item, and when each comes in a text whose frequencies follow Zeta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from leadline.haystacks.pools import POOL_SIZE, Indices, Pool, Selection
from leadline.seeds import Draws, rng_for

_SEED = 0
"""Pools do not depend on a run's seed: the seed decides which of their elements are taken."""

_LETTERS = 26

# A coded word that stands inside a word of the prompt would be found in every echo of the prompt.
_WORDS_OF_THE_PROMPT = (
    "read the following coded text and track frequency of each word find most frequently appeared words "
    "question do not provide any explanation please ignore dots what are in above answer according to "
    "directly give me one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
)


class CodedWordPool(Pool):
    """Random words of so many lower-case letters, none of which stands inside a word of the prompt.

    Args:
        length: letters of a word, 3 to 12.
    """

    def __init__(self, length: int = 6) -> None:
        super().__init__()
        self.length = length

    @property
    def size(self) -> int:
        """Number of elements: 2^18, or all words of this length where there are fewer."""
        return len(self._letters)

    def take(self, indices: Indices) -> list[str]:
        """The words of these indices."""
        return self._letters[indices].view(f"S{self.length}").ravel().astype(str).tolist()

    @cached_property
    def _letters(self) -> npt.NDArray[np.uint8]:
        """ASCII codes, shape (size, length). A word is a number in base 26, so no two words are equal."""
        everything = _LETTERS**self.length
        avoided = _numbers_inside(_WORDS_OF_THE_PROMPT.split(), self.length)
        draws = rng_for(_SEED, "coded words", self.length)
        numbers = draws.permutation(everything).take(0, min(everything, POOL_SIZE + len(avoided)))
        rest = numbers[~np.isin(numbers, avoided)][:POOL_SIZE]
        letters = np.empty((len(rest), self.length), dtype=np.uint8)
        for place in reversed(range(self.length)):
            rest, letter = np.divmod(rest, _LETTERS)
            letters[:, place] = letter + ord("a")
        return letters


class RankedWords:
    """The coded words of an item by rank, from rank 2 on; what was asked for is kept.

    Args:
        draws: the draw that their order comes from.
        pool: the words.
    """

    def __init__(self, draws: Draws, pool: CodedWordPool) -> None:
        self._pool = pool
        self._selection = Selection(draws, pool.size)
        self._words: list[str] = []

    def indices(self, highest: int) -> Indices:
        """The places in the pool of the words of ranks 2 to `highest`, shape (highest - 1,)."""
        return self._selection.take(0, highest - 1)

    def words(self, highest: int) -> list[str]:
        """The words of ranks 2 to `highest`."""
        have, count = len(self._words), highest - 1
        if count > have:
            self._words += self._pool.take(self._selection.take(have, count - have))
        return self._words[:count]


@dataclass(frozen=True, slots=True)
class Events:
    """The occurrences of a text in the order in which a growing text takes them up.

    Attributes:
        ranks: rank of each occurrence, shape (events,).
        times: when it comes, in units of zeta(alpha) words, shape (events,).
        ends: events of the text of size 0, 1, 2, ...; shape (sizes + 1,).
    """

    ranks: npt.NDArray[np.int32]
    times: npt.NDArray[np.float64]
    ends: npt.NDArray[np.int64]


@lru_cache(maxsize=64)
def events_until(alpha: float, top_k: int, highest_rank: int, doublings: int) -> Events:
    """The events up to time 2^doublings. They are the same for every item, so they are kept.

    Times are rounded to a millionth, so that what comes at the same time in theory does so in floating point.
    """
    horizon = 2.0**doublings
    highest = min(highest_rank, int(horizon ** (1 / alpha)) + 1)
    steps = np.arange(1, highest + 1, dtype=np.float64) ** alpha
    often = np.floor((horizon + 5e-7) / steps).astype(np.int64)
    by_rank = np.repeat(np.arange(1, highest + 1, dtype=np.int32), often)
    number = np.arange(1, len(by_rank) + 1) - np.repeat(np.cumsum(often) - often, often)
    unordered = np.round(number * steps[by_rank - 1], 6)
    order = np.argsort(unordered, kind="stable")
    ranks, times = by_rank[order], unordered[order]
    closed = np.append(times[1:] != times[:-1], np.True_)
    lead = np.cumsum((ranks == top_k + 1).astype(np.int64) - (ranks == top_k + 2))
    ends = np.append(0, np.flatnonzero(closed & (lead > 0)) + 1)
    return Events(ranks, times, ends)


def _numbers_inside(words: Sequence[str], length: int) -> list[int]:
    """Every run of `length` letters inside these words, as a number in base 26."""
    runs = {word[start : start + length] for word in words for start in range(len(word) - length + 1)}
    numbers: list[int] = []
    for run in sorted(runs):
        number = 0
        for letter in run:
            number = number * _LETTERS + ord(letter) - ord("a")
        numbers.append(number)
    return numbers

"""The words of the aggregation tasks: English words with the labels of a numbered list, and coded words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from leadline.haystacks.pools import POOL_SIZE, Indices, Pool
from leadline.seeds import Draws, rng_for
from leadline.tokenizers.counting import Counter

LABELS = 1 << 21
"""Entries that a numbered list can have: more than four million tokens hold."""

_SHORTEST_RARE_WORD = 3
"""Letters: large lists hold every letter and many syllables as words."""

_SEED = 0
"""Pools do not depend on a run's seed: the seed decides which of their elements are taken."""

_LETTERS = 26

# A coded word that stands inside a word of the prompt would be found in every echo of the prompt.
_WORDS_OF_THE_PROMPT = [
    "read",
    "the",
    "following",
    "coded",
    "text",
    "and",
    "track",
    "frequency",
    "of",
    "each",
    "word",
    "find",
    "most",
    "frequently",
    "appeared",
    "words",
    "question",
    "do",
    "not",
    "provide",
    "any",
    "explanation",
    "please",
    "ignore",
    "dots",
    "what",
    "are",
    "in",
    "above",
    "answer",
    "according",
    "to",
    "directly",
    "give",
    "me",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]


class Vocabulary(Pool):
    """Familiar words, then those of a larger list; unlike in other pools, a word may be a part of another.

    Args:
        familiar: words in the order of their source; of equal ones the first counts.
        larger: words in any order. Those shorter than three letters and those among the familiar are left out.
    """

    def __init__(self, familiar: Iterable[str], larger: Iterable[str]) -> None:
        super().__init__()
        first = dict.fromkeys(familiar)
        rare = sorted(word for word in set(larger) if len(word) >= _SHORTEST_RARE_WORD and word not in first)
        self._words = np.array([*first, *rare], dtype=object)
        self.lengths = np.fromiter(map(len, self._words), dtype=np.int64, count=len(self._words))
        self.familiar = len(first)
        self.labels = ListLabels()

    @property
    def size(self) -> int:
        """Number of words of both lists; the familiar ones have the indices below `familiar`."""
        return len(self._words)

    def take(self, indices: Indices) -> list[str]:
        """The words of these indices."""
        return self._words[indices].tolist()


class ListLabels(Pool):
    """The labels of a numbered list: ``1.``, ``2.``, and so on."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: list[str] = []

    @property
    def size(self) -> int:
        """Number of labels."""
        return LABELS

    def take(self, indices: Indices) -> list[str]:
        """The labels of these indices; index 0 is the label of the first entry."""
        return [f"{index + 1}." for index in indices.tolist()]

    def first(self, count: int) -> list[str]:
        """The first `count` labels, made once and kept."""
        if count > len(self._texts):
            self._texts += self.take(np.arange(len(self._texts), max(count, 2 * len(self._texts))))
        return self._texts[:count]

    def running(self, counter: Counter, upto: int) -> npt.NDArray[np.int64]:
        """Tokens of the labels of a list of 0, 1, ... `upto` entries that begins on a line, shape (upto + 1,)."""
        sums = np.zeros(upto + 1, dtype=np.int64)
        if upto:
            sums[1:] = self.counts(counter, np.arange(upto))
            sums[1] = counter.chunk_counts(self.first(1))[0]  # no space stands before the first
        return np.cumsum(sums, out=sums)


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
        avoided = _numbers_inside(_WORDS_OF_THE_PROMPT, self.length)
        draws = rng_for(_SEED, "coded words", self.length)
        numbers = draws.permutation(everything).take(0, min(everything, POOL_SIZE + len(avoided)))
        rest = numbers[~np.isin(numbers, avoided)][:POOL_SIZE]
        letters = np.empty((len(rest), self.length), dtype=np.uint8)
        for place in reversed(range(self.length)):
            rest, letter = np.divmod(rest, _LETTERS)
            letters[:, place] = letter + ord("a")
        return letters


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

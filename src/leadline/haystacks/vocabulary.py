"""The words of numbered lists: a vocabulary, an item's order of it, the list's labels, and where its words stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from leadline.haystacks.pools import DisplayOrder, Indices, Pool, Selection, changes_of_the_last
from leadline.seeds import Draws, KeyedOrder
from leadline.tokenizers.counting import Counter

LABELS = 1 << 21
"""Entries that a numbered list can have: more than four million tokens hold."""

_SHORTEST_RARE_WORD = 3
"""Letters: large lists hold every letter and many syllables as words."""

_FAMILIAR_BLOCK = 256
"""Words: a list of 4,096 tokens takes fewer."""

Words = npt.NDArray[np.object_]  # of str


class Vocabulary(Pool):
    """Familiar words, then those of a larger list; unlike in other pools, a word may be a part of another.

    Args:
        familiar: words in the order of their source; of equal ones the first counts.
        larger: words in any order. Those shorter than three letters and those among the familiar are left out.
    """

    def __init__(self, familiar: Iterable[str], larger: Iterable[str]) -> None:
        super().__init__()
        first = dict.fromkeys(familiar)
        # Sorting what is sorted already, as the list's file is, costs next to nothing; a set would lose its order.
        rare = sorted(word for word in dict.fromkeys(larger) if len(word) >= _SHORTEST_RARE_WORD and word not in first)
        self.words: Words = np.array([*first, *rare], dtype=object)
        self.lengths = np.fromiter(map(len, self.words), dtype=np.int64, count=len(self.words))
        self.familiar = len(first)
        self.labels = ListLabels()

    @property
    def size(self) -> int:
        """Number of words of both lists; the familiar ones have the indices below `familiar`."""
        return len(self.words)

    def take(self, indices: Indices) -> list[str]:
        """The words of these indices."""
        return self.words[indices].tolist()


class ListLabels(Pool):
    """The labels of a numbered list: ``1.``, ``2.``, and so on."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: list[str] = []
        self._running: dict[str, npt.NDArray[np.int64]] = {}

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
        """Tokens of the labels of a list of 0, 1, ... `upto` entries that begins on a line, shape (upto + 1,).

        Counted as far as they are needed, and once per tokenizer.
        """
        known = self._running.get(counter.tokenizer.id, np.zeros(1, dtype=np.int64))
        if len(known) <= upto:
            more = np.arange(len(known) - 1, min(LABELS, max(upto, 2 * len(known))))
            counts = self.counts(counter, more).astype(np.int64)
            if more[0] == 0:
                counts[0] = counter.chunk_counts(self.first(1))[0]  # no space stands before the first
            known = np.concatenate([known, known[-1] + np.cumsum(counts)])
            self._running[counter.tokenizer.id] = known
        return known[: upto + 1]

    def numbered(self, words: Sequence[str]) -> str:
        """The list of these words: ``1. word 2. word ...``."""
        parts = [""] * (2 * len(words))
        parts[0::2] = self.first(len(words))
        parts[1::2] = words
        return " ".join(parts)


class WordOrder:
    """An item's order of a vocabulary: the familiar words, then the others; what was asked for is kept.

    Args:
        vocabulary: the words.
        familiar: the draw of the order of the familiar words.
        rare: the draw of the order of the others.
    """

    def __init__(self, vocabulary: Vocabulary, familiar: Draws, rare: Draws) -> None:
        self._vocabulary = vocabulary
        self._familiar = KeyedOrder(familiar, vocabulary.familiar)
        self._rare = Selection(rare, vocabulary.size - vocabulary.familiar)

    def familiar_words(self) -> Iterator[str]:
        """The familiar words, looked up as they are needed."""
        for first in range(0, len(self._familiar), _FAMILIAR_BLOCK):
            yield from self._vocabulary.take(self._familiar.first(first + _FAMILIAR_BLOCK)[first:])

    def take(self, first: int, count: int) -> Indices:
        """Places first, first + 1, ... first + count - 1 of the order, as indices in the vocabulary, shape (count,)."""
        familiar = self._familiar.first(first + count)[first:]
        if len(familiar) == count:
            return familiar
        rare = self._rare.take(max(0, first - len(self._familiar)), count - len(familiar))
        return np.concatenate([familiar, rare + self._vocabulary.familiar])


class Candidates:
    """The words that may follow the common ones in the list of an item, in its order; what was asked for is kept.

    Args:
        vocabulary: the words.
        order: the item's order of them.
        start: the place in this order at which the candidates begin.
        answers: the common words.
    """

    def __init__(self, vocabulary: Vocabulary, order: WordOrder, start: int, answers: Sequence[str]) -> None:
        self.vocabulary = vocabulary
        self._order = order
        self._start = start
        self._answers = answers
        self._kept: tuple[Indices, Words, npt.NDArray[np.bool_]] | None = None

    @property
    def size(self) -> int:
        """Number of candidates."""
        return self.vocabulary.size - self._start

    def first(self, count: int) -> tuple[Indices, Words, npt.NDArray[np.bool_]]:
        """The first `count`: their indices in the vocabulary, the words, and whether each may stand in the list.

        A word that holds an answer or is part of one may not.
        """
        if self._kept is None or count > len(self._kept[0]):
            self._kept = self._make(count)
        indices, words, listed = self._kept
        return indices[:count], words[:count], listed[:count]

    def _make(self, count: int) -> tuple[Indices, Words, npt.NDArray[np.bool_]]:
        indices = self._order.take(self._start, count)
        words = self.vocabulary.words[indices]
        in_a_row: list[str] = words.tolist()
        together = "\n".join(self._answers)
        listed = np.fromiter((word not in together for word in in_a_row), dtype=np.bool_, count=count)
        # All words are searched as one text, in which a newline stands between them.
        text = "\n".join(in_a_row)
        ends = np.cumsum(self.vocabulary.lengths[indices] + 1)
        for answer in self._answers:
            at = text.find(answer)
            while at >= 0:
                holder = int(np.searchsorted(ends, at, side="right"))
                listed[holder] = False
                at = text.find(answer, int(ends[holder]))
        return indices, words, listed


class NumberedList:
    """The list of an item: its common words and any number of candidates, each so often.

    Args:
        common: the common words.
        often: how often each of them occurs.
        candidates: the words that may follow them.
        seldom: how often each of these occurs.
        display: where the occurrences stand, the common words' being the first.
    """

    def __init__(
        self, common: Sequence[str], often: int, candidates: Candidates, seldom: int, display: DisplayOrder
    ) -> None:
        self._common, self._often = common, often
        self._candidates, self._seldom = candidates, seldom
        self._display = display

    def candidates(self, distinct: int | None) -> int:
        """The most candidates that a list can have, with no more than so many distinct words."""
        most = min(self._candidates.size, (LABELS - len(self._common) * self._often) // self._seldom)
        if distinct is None:
            return most
        wanted = distinct - len(self._common)
        asked = min(wanted, most)
        while True:
            listed = np.flatnonzero(self._candidates.first(asked)[2])
            if len(listed) >= wanted:
                return int(listed[wanted - 1]) + 1
            if asked == most:
                return most
            asked = min(most, asked + wanted)

    def words(self, size: int) -> list[str]:
        """The words of the list with the first `size` candidates, in order."""
        _, candidates, listed = self._candidates.first(size)
        owners = owners_of(len(self._common), self._often, size, self._seldom)
        shown = owners[self._display.first(len(owners))]
        shown = shown[self._with_common(listed)[shown]]
        return self._words(candidates)[shown].tolist()

    def running(self, counter: Counter, upto: int) -> npt.NDArray[np.int64]:
        """Tokens of the list with 0, 1, ... `upto` candidates, its newline included, shape (upto + 1,)."""
        vocabulary, common = self._candidates.vocabulary, self._common
        indices, candidates, listed = self._candidates.first(upto)
        first = len(common) * self._often
        others = np.append(0, self._seldom * np.cumsum(listed))
        words = np.append(0, self._seldom * np.cumsum(np.where(listed, vocabulary.counts(counter, indices), 0)))
        running = words + vocabulary.labels.running(counter, first + int(others[-1]))[first + others]
        running += self._often * int(counter.chunk_counts([f" {word}" for word in common]).sum())
        # The newline behind the word that stands last.
        owners = owners_of(len(common), self._often, upto, self._seldom)
        order = self._display.first(len(owners))
        lasts = changes_of_the_last(order[self._with_common(listed)[owners][order]])
        last_words = [f" {word}" for word in self._words(candidates)[owners[lasts]].tolist()]
        newlines = counter.chunk_counts([word + "\n" for word in last_words]) - counter.chunk_counts(last_words)
        return running + newlines[np.searchsorted(lasts, first + self._seldom * np.arange(upto + 1)) - 1]

    def _words(self, candidates: Words) -> Words:
        return np.concatenate([np.array(self._common, dtype=object), candidates])

    def _with_common(self, listed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Whether each word may stand in the list, the common ones, which may, before the candidates."""
        return np.concatenate([np.ones(len(self._common), dtype=np.bool_), listed])


def owners_of(common: int, often: int, others: int, seldom: int) -> Indices:
    """The word of each occurrence, the common words' before the others'; shape (occurrences,)."""
    return np.repeat(np.arange(common + others), np.repeat([often, seldom], [common, others]))

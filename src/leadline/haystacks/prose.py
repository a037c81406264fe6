"""Running prose as units: one text, split into sentences, without an end."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError
from leadline.haystacks.sentences import sentence_starts
from leadline.items import digest
from leadline.tokenizers.counting import Counter

_BLOCK = 1024
"""Sentences counted at a time: a short sample never pays for the whole text."""


@dataclass(frozen=True, slots=True, eq=False)
class Prose:
    """A text in sentences. It is circular: after the last sentence comes the first.

    Attributes:
        text: the sentences with one space between; every run of white space inside them is one space.
        starts: character at which each sentence begins, and a sentinel: sentence i is
            ``text[starts[i] : starts[i + 1] - 1]``, shape (sentences + 1,).
    """

    text: str
    starts: npt.NDArray[np.int64]
    _running: dict[tuple[str, int], npt.NDArray[np.int64]] = field(
        default_factory=dict[tuple[str, int], npt.NDArray[np.int64]], init=False, repr=False
    )

    @classmethod
    def from_text(cls, raw: str) -> Prose:
        """The prose of any text: white space is made uniform, then the sentences are found.

        Raises:
            UsageError: the text has no word.
        """
        text = " ".join(raw.split())
        if not text:
            raise UsageError("the text for a haystack is empty: give one that has sentences")
        return cls(text, sentence_starts(text))

    def __len__(self) -> int:
        """Number of sentences."""
        return len(self.starts) - 1

    @property
    def sha256(self) -> str:
        """Hash of the text and its split, for the run's identity (32 hexadecimal digits)."""
        return digest(self.text, self.starts.astype("<i8").tobytes().hex())

    def sentence(self, index: int) -> str:
        """The sentence of this index, counted on past the end from the beginning again."""
        place = index % len(self)
        return self.text[int(self.starts[place]) : int(self.starts[place + 1]) - 1]

    def slice(self, first: int, count: int) -> str:
        """`count` sentences from sentence `first` on, with one space between, past the end from the beginning again."""
        if count <= 0:
            return ""
        size = len(self)
        parts: list[str] = []
        place = first % size
        while count > 0:
            taken = min(count, size - place)
            parts.append(self.text[int(self.starts[place]) : int(self.starts[place + taken]) - 1])
            count -= taken
            place = 0
        return " ".join(parts)

    def running(self, counter: Counter, upto: int, first: int = 0) -> npt.NDArray[np.int64]:
        """Tokens of 0, 1, ... `upto` sentences from `first` on, each with the space before it, shape (upto + 1,).

        Past the end the text begins again. Sentences are counted as far as they are needed, and once per tokenizer and
        beginning.
        """
        size = len(self)
        lap = self._count(counter, min(upto, size), first % size)
        if upto < len(lap):
            return lap[: upto + 1]
        laps, places = np.divmod(np.arange(upto + 1, dtype=np.int64), size)
        return laps * lap[size] + lap[places]

    def _count(self, counter: Counter, upto: int, first: int) -> npt.NDArray[np.int64]:
        known = self._running.get((counter.tokenizer.id, first), np.zeros(1, dtype=np.int64))
        while len(known) <= upto:
            begin = len(known) - 1
            end = min(begin + max(_BLOCK, begin), len(self))
            counts = counter.texts([" " + self.sentence(first + index) for index in range(begin, end)])
            known = np.concatenate([known, known[-1] + np.cumsum(counts, dtype=np.int64)])
        known.flags.writeable = False
        self._running[counter.tokenizer.id, first] = known
        return known

"""Books as haystacks: a window of an exact number of tokens slides over a text of lines (NoLiMa, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError
from leadline.haystacks.sentences import boundaries
from leadline.items import digest
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.counting import Counter, split_chunks

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a book, in characters of its text: [start, end), with a line end at `place`."""

    start: int
    end: int
    place: int


@dataclass(frozen=True, slots=True, eq=False)
class Book:
    """A text in lines.

    Attributes:
        name: what it is called, for a factor and for hashes.
        text: lines with one newline after each.
        names: given names that occur in it, for the wrong choices of a multiple-choice question.
    """

    name: str
    text: str
    names: tuple[str, ...] = ()
    _offsets: dict[str, Positions] = field(default_factory=dict[str, Positions], init=False, repr=False)
    _line_ends: dict[str, Positions] = field(default_factory=dict[str, Positions], init=False, repr=False)
    _running: dict[str, Positions] = field(default_factory=dict[str, Positions], init=False, repr=False)
    _cuts: list[Positions] = field(default_factory=list[Positions], init=False, repr=False)

    @classmethod
    def from_text(cls, name: str, text: str, names: tuple[str, ...] = ()) -> Book:
        """The book of any text; line ends become single newline characters.

        Raises:
            UsageError: it has fewer than two lines, so that nothing can be planted.
        """
        plain = text.replace("\r\n", "\n").replace("\r", "\n")
        if plain.strip().count("\n") < 1:
            raise UsageError(f"the book {name} has no two lines: a needle is planted at the end of a line")
        return cls(name, plain if plain.endswith("\n") else plain + "\n", names)

    @property
    def sha256(self) -> str:
        """Hash of the text, for the run's identity (32 hexadecimal digits)."""
        return digest(self.text)

    def tokens(self, tokenizer: Tokenizer) -> int:
        """Tokens of the whole text, encoded as one."""
        return len(self._encoded(tokenizer)) - 1

    def window(self, tokenizer: Tokenizer, length: int, depth: float) -> Window | None:
        """The window of `length` tokens in which a line ends at `depth` (0 to 1).

        Token indices are those of the whole encoded text. The place is the first line end at or after token
        depth x (length + 1); the window begins round(length x depth) tokens before it. None where the book is too
        short for that.
        """
        offsets, ends = self._encoded(tokenizer), self._ends(tokenizer)
        found = int(np.searchsorted(ends, depth * (length + 1)))
        if found == len(ends):
            return None
        place = int(ends[found])
        start = place - round(length * depth)
        if start < 0 or start + length >= len(offsets):
            return None
        return Window(int(offsets[start]), int(offsets[start + length]), int(offsets[place]))

    def place_near(
        self, window: Window, tokenizer: Tokenizer, depth: float, apart: float = 0.0, outer: float = 0.0
    ) -> int:
        """Character near this depth (0 to 1) of the window at which another line can be planted, not its own place.

        Where distances are asked for, the nearest line end at least the share `apart` away from the place and outside
        the `outer` share at both ends; where no line ends there, the nearest sentence end that is; else the nearest
        line end away from the place; else any. Where none are asked for, the nearest line or sentence end. The place
        itself where nothing else ends in the window.
        """
        offsets, ends = self._encoded(tokenizer), self._ends(tokenizer)
        first, place, last = np.searchsorted(offsets, [window.start, window.place, window.end])
        lines = offsets[ends[(ends > first) & (ends < last)]]

        def nearest(candidates: Positions, apart: float, outer: float) -> int | None:
            others = candidates[candidates != window.place]
            tokens = np.searchsorted(offsets, others)
            depths = (tokens - first) / (last - first)
            allowed = np.abs(tokens - place) >= apart * (last - first)
            allowed &= (depths >= outer) & (depths <= 1 - outer)
            if not allowed.any():
                return None
            return int(others[allowed][np.argmin(np.abs(depths[allowed] - depth))])

        found = nearest(lines, apart, outer) if apart or outer else None
        if found is None:  # to look for sentences in a long window takes long
            all_ends = np.union1d(lines, self._sentence_starts(window.start, window.end))
            tries = ((all_ends, apart, outer), (lines, apart, 0.0), (all_ends, 0.0, 0.0))
            found = next((near for one in tries if (near := nearest(*one)) is not None), None)
        return window.place if found is None else found

    def _sentence_starts(self, start: int, end: int) -> Positions:
        """Characters within a stretch at which a sentence begins behind another one, ascending."""
        found: list[int] = []
        position = start
        for line in self.text[start:end].splitlines(keepends=True):
            found += [position + behind for behind in boundaries(line)]
            position += len(line)
        return np.array(found, dtype=np.int64)

    def has_cut(self, position: int) -> bool:
        """Whether every tokenizer cuts the text at this character."""
        cuts = self._chunk_cuts()
        return int(cuts[min(int(np.searchsorted(cuts, position)), len(cuts) - 1)]) == position

    def cuts_within(self, start: int, end: int) -> tuple[int, int] | None:
        """First cut after `start` and last before `end`; None where there are none."""
        cuts = self._chunk_cuts()
        first = int(np.searchsorted(cuts, start, side="right"))
        last = int(np.searchsorted(cuts, end, side="left")) - 1
        return (int(cuts[first]), int(cuts[last])) if first <= last else None

    def count(self, counter: Counter, start: int, end: int) -> int:
        """Tokens of the text from one cut to another, where it stands."""
        cuts, running = self._chunk_cuts(), self._sums(counter)
        first, last = np.searchsorted(cuts, [start, end])
        return int(running[last] - running[first])

    def _encoded(self, tokenizer: Tokenizer) -> Positions:
        """Character at which each token begins, and the text's length, shape (tokens + 1,)."""
        offsets = self._offsets.get(tokenizer.id)
        if offsets is None:
            offsets = self._offsets[tokenizer.id] = np.append(tokenizer.offsets(self.text), len(self.text))
        return offsets

    def _ends(self, tokenizer: Tokenizer) -> Positions:
        """Tokens that begin right after a newline, ascending."""
        ends = self._line_ends.get(tokenizer.id)
        if ends is None:
            offsets = self._encoded(tokenizer)
            characters = np.frombuffer(self.text.encode("utf-32-le"), dtype="<u4")
            after = np.flatnonzero(characters == ord("\n")) + 1
            tokens = np.searchsorted(offsets, after)
            ends = self._line_ends[tokenizer.id] = tokens[offsets[tokens] == after].astype(np.int64)
        return ends

    def _chunk_cuts(self) -> Positions:
        """Characters at which every tokenizer cuts the text, its two ends included, ascending."""
        if not self._cuts:
            lengths = np.fromiter(map(len, split_chunks(self.text)), dtype=np.int64)
            self._cuts.append(np.append(0, np.cumsum(lengths)))
        return self._cuts[0]

    def _sums(self, counter: Counter) -> Positions:
        """Tokens before each cut, shape (cuts,)."""
        running = self._running.get(counter.tokenizer.id)
        if running is None:
            counts = counter.chunk_counts(split_chunks(self.text))
            running = self._running[counter.tokenizer.id] = np.append(0, np.cumsum(counts, dtype=np.int64))
        return running

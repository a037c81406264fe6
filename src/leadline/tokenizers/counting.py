r"""Counting a prompt by the sum of its chunks.

A text is cut only where every tokenizer in use cuts it: between a character that is not white space and a space, and
between a newline and a character that is not white space. The tokens of a whole text are then the sum of its chunks'
tokens, each chunk counted where it stands. A chunk recurs (a word, a line), so it is counted once and remembered.

There is no cut between white space and white space (``\s+(?!\S)`` in the GPT-2 family of patterns depends on what
follows) and none before a slash (the o200k and Tekken patterns take slashes into the token of newlines before them).
After several white-space characters there is a cut only before a letter: a tokenizer that sets digits or special tokens
apart first (SmolLM, StarCoder) reads a blank line before them as one token, and before a letter as two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from leadline.tokenizers.base import Tokenizer

Counts = npt.NDArray[np.int32]

_CUT = re.compile(r"(?<=\S)(?= )|(?<=\S\n)(?=[^\s/])|(?<=\s\n)(?=[A-Za-z])")


def split_chunks(text: str) -> list[str]:
    """The text in chunks, in order; joined they give the text again."""
    return _CUT.split(text) if text else []


class Counter:
    """Counts texts with one tokenizer, each distinct chunk once.

    Sums are exact for a text that begins and ends at a cut: what stands before it ends in a newline if the text begins
    with anything but a space, and in no white space if it begins with a space; what follows it begins with a space if
    the text ends in no white space, with anything but white space and a slash if it ends in one newline, and with a
    letter if it ends in more white space than that.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._known: dict[str, int] = {}
        self._letter_after_newline: int | None = None

    def text(self, text: str) -> int:
        """Tokens of a text that begins and ends at a cut."""
        return int(self.chunk_counts(split_chunks(text)).sum())

    def texts(self, texts: Sequence[str]) -> Counts:
        """Tokens of each text, every one of which begins and ends at a cut, shape (len(texts),)."""
        chunks: list[str] = []
        ends = np.zeros(len(texts) + 1, dtype=np.int64)
        for number, text in enumerate(texts, start=1):
            chunks += split_chunks(text)
            ends[number] = len(chunks)
        running = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.chunk_counts(chunks), dtype=np.int64)])
        return (running[ends[1:]] - running[ends[:-1]]).astype(np.int32)

    def whole(self, text: str) -> int:
        """Tokens of the text by the tokenizer itself, without any sum: what the sums are checked against."""
        return self.tokenizer.count(text)

    def chunk_counts(self, chunks: Sequence[str]) -> Counts:
        """Tokens of each chunk where it stands, shape (len(chunks),); new chunks are counted in one batch and kept."""
        known = self._known
        missing = [chunk for chunk in dict.fromkeys(chunks) if chunk not in known]
        if missing:
            known.update(zip(missing, self.fresh_counts(missing).tolist(), strict=True))
        return np.fromiter(map(known.__getitem__, chunks), dtype=np.int32, count=len(chunks))

    def fresh_counts(self, chunks: Sequence[str]) -> Counts:
        """Like `chunk_counts`, but nothing is remembered: for pools that keep their own counts."""
        counts = np.zeros(len(chunks), dtype=np.int32)
        groups: dict[tuple[bool, bool], list[int]] = {}
        for index, chunk in enumerate(chunks):
            if chunk:
                groups.setdefault((chunk[0] == " ", chunk[-1].isspace()), []).append(index)
        for (spaced, open_ended), indices in groups.items():
            texts = [chunks[index] for index in indices]
            counts[indices] = self._measure(spaced, open_ended)(texts)
        return counts

    def _measure(self, spaced: bool, open_ended: bool) -> Callable[[list[str]], Counts]:
        """How to count chunks that begin with a space or not, and end in white space or not.

        The neighbours are one letter each. Where a chunk has a space before it and a newline behind it, the letters
        would touch in count(before + after), so the following letter is counted with the chunk and then taken off.
        """
        in_place = self.tokenizer.count_in_place
        if spaced and open_ended:
            return lambda texts: in_place([text + "a" for text in texts], "a", " a") - np.int32(self._letter())
        before, after = "a" if spaced else "a\n", "a" if open_ended else " a"
        return lambda texts: in_place(texts, before, after)

    def _letter(self) -> int:
        if self._letter_after_newline is None:
            self._letter_after_newline = int(self.tokenizer.count_in_place(["a"], "a\n", " a")[0])
        return self._letter_after_newline

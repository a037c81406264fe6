r"""Counting with a server's own tokenizer, over HTTP.

What it costs: a call for each batch of about 40,000 characters, a millisecond or a few of each on the same machine.
Texts of one batch are sent as one text, each on lines of its own with a line between them that no text holds; tokens
are cut at that line's ids. Between a newline and a letter every tokenizer in use cuts (see `counting`), so the counts
are those of single calls; the first batch is checked against them, and without that agreement every text is sent alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from leadline.tokenizers.counting import split_chunks

BATCH_CHARACTERS = 40_000
CHECKED_TEXTS = 6
REMEMBERED = 20_000
SEPARATOR = "\nQzxj\n"


class ServedTokenizer:
    """A tokenizer behind a function that gives a text's token ids.

    Args:
        identity: its name, with the model's.
        tokenize: token ids of a text, without BOS; special tokens in it count as themselves.
        bos_tokens: how many tokens the server puts before a text.
    """

    exact = True

    def __init__(
        self,
        identity: str,
        tokenize: Callable[[str], list[int]],
        bos_tokens: int,
    ) -> None:
        self.id = identity
        self.bos_tokens = bos_tokens
        self._tokenize = tokenize
        self._counts: dict[str, int] = {}
        self._mark: list[int] | None = None
        self._joins: bool | None = None

    def encode(self, text: str) -> list[int]:
        """Token ids of the text."""
        return self._tokenize(text) if text else []

    def count(self, text: str) -> int:
        """Number of tokens of the text; remembered."""
        if text not in self._counts:
            if len(self._counts) >= REMEMBERED:
                self._counts.clear()
            self._counts[text] = len(self.encode(text))
        return self._counts[text]

    def count_in_place(self, texts: Sequence[str], before: str, after: str) -> npt.NDArray[np.int32]:
        """Tokens that each text takes between `before` and `after`, shape (len(texts),)."""
        whole = [before + text + after for text in texts]
        return np.array(self._counts_of(whole), dtype=np.int32) - np.int32(self.count(before + after))

    def offsets(self, text: str) -> npt.NDArray[np.int64]:
        """Character at which each token begins: right at the beginning of a word, evenly spread inside it.

        The server gives ids and no places; a word has one to four tokens.
        """
        tokens = self.count(text)
        chunks = split_chunks(text)
        places: list[int] = []
        start = 0
        for chunk, count in zip(chunks, self._chunk_counts(chunks), strict=True):
            places += [start + len(chunk) * number // count for number in range(count)] if count > 0 else []
            start += len(chunk)
        if len(places) == tokens:
            return np.array(places, dtype=np.int64)
        return (np.arange(tokens, dtype=np.int64) * len(text)) // max(1, tokens)

    def _chunk_counts(self, chunks: list[str]) -> list[int]:
        counts: dict[str, int] = {}
        for spaced in (True, False):
            texts = [chunk for chunk in dict.fromkeys(chunks) if chunk.startswith(" ") is spaced]
            before, after = "a" if spaced else "a\n", "\na"
            counts.update(zip(texts, self.count_in_place(texts, before, after).tolist(), strict=True))
        return [counts[chunk] for chunk in chunks]

    def _counts_of(self, texts: list[str]) -> list[int]:
        """Tokens of each text, as few calls as possible."""
        if self._joins is False or not all(text[:1].isalpha() and text[-1:].isalpha() for text in texts):
            return [self.count(text) for text in texts]
        if self._joins is None:
            tried = texts[:CHECKED_TEXTS]
            self._joins = self._joined(tried) == [self.count(text) for text in tried]
        counts: list[int] = []
        for batch in _batches(texts):
            counts += self._joined(batch) or [self.count(text) for text in batch]
        return counts

    def _joined(self, texts: list[str]) -> list[int] | None:
        """Tokens of each text from one call, or None where the line between them is not found as often as it is."""
        if self._mark is None:
            ids = self.encode(f"a{SEPARATOR}a")
            self._mark = ids[1:-1]
        mark = self._mark
        ids = self.encode(SEPARATOR.join(texts))
        parts: list[int] = []
        start = place = 0
        while mark and place <= len(ids) - len(mark):
            if ids[place] == mark[0] and ids[place : place + len(mark)] == mark:
                parts.append(place - start)
                place += len(mark)
                start = place
            else:
                place += 1
        parts.append(len(ids) - start)
        return parts if len(parts) == len(texts) else None


def _batches(texts: list[str]) -> list[list[str]]:
    batches: list[list[str]] = [[]]
    characters = 0
    for text in texts:
        if batches[-1] and characters + len(text) > BATCH_CHARACTERS:
            batches.append([])
            characters = 0
        batches[-1].append(text)
        characters += len(text) + len(SEPARATOR)
    return batches

"""Haystacks of planted-looking lines: a fixed deck of key-value lines in blocks, of which an item takes some.

Making a line means two look-ups and a join, and a sample of 128K tokens holds thousands. So a line is made once and
kept, in blocks that an item takes in an order of its own: its text is then a few dozen blocks put together.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from leadline.haystacks.pools import Indices, Pool
from leadline.seeds import Draws
from leadline.tokenizers.counting import Counter

BLOCK_LINES = 64
"""Lines of a block: small enough that two items seldom share neighbours, large enough to make joining cheap."""


class LineDeck:
    """All lines that two pools make, each element in one line only, cut into blocks.

    Args:
        keys: where the lines' keys come from.
        values: where their values come from; if it is the pool of the keys, even elements are keys and odd ones values.
        opening: text of a line before its key.
        middle: text between key and value.
    """

    def __init__(self, keys: Pool, values: Pool, opening: str, middle: str) -> None:
        self._keys, self._values = keys, values
        self._opening, self._middle = opening, middle
        self._step = 2 if keys is values else 1
        self.blocks = min(keys.size, values.size) // (self._step * BLOCK_LINES)
        self._texts: dict[int, str] = {}
        self._running: dict[str, npt.NDArray[np.int32]] = {}

    def blocks_with(self, keys: Indices, values: Indices) -> frozenset[int]:
        """The blocks that hold any of these elements, named by their places in the pools."""
        elements = np.concatenate([keys, values])
        return frozenset((elements // (self._step * BLOCK_LINES)).tolist())

    def running(self, counter: Counter, order: Indices, count: int) -> npt.NDArray[np.int64]:
        """Tokens of the first 0, 1, ... `count` lines of the blocks in `order`, shape (count + 1,)."""
        blocks = order[: -(-count // BLOCK_LINES)]
        within = self._counted(counter, blocks)[blocks]
        sums = np.zeros(len(blocks) * BLOCK_LINES + 1, dtype=np.int64)
        before = np.cumsum(within[:, -1]) - within[:, -1]
        sums[1:] = (within + before[:, np.newaxis]).ravel()
        return sums[: count + 1]

    def text(self, order: Indices, start: int, end: int) -> str:
        """Lines `start` to `end` (exclusive) of the blocks in `order`, without the last line's newline."""
        first, skipped = divmod(start, BLOCK_LINES)
        last, kept = divmod(end, BLOCK_LINES)
        if first == last:
            return "".join(self._lines(int(order[first]))[skipped:kept])[:-1]
        parts = [*self._lines(int(order[first]))[skipped:]] if skipped else [self._text(int(order[first]))]
        parts += [self._text(block) for block in order[first + 1 : last].tolist()]
        if kept:
            parts += self._lines(int(order[last]))[:kept]
        return "".join(parts)[:-1]

    def _places(self, blocks: Indices) -> tuple[Indices, Indices]:
        """Places in the pools of the keys and values of these blocks, each of shape (blocks x lines,)."""
        lines = (blocks[:, np.newaxis] * BLOCK_LINES + np.arange(BLOCK_LINES)).ravel() * self._step
        return lines, lines + self._step - 1

    def _counted(self, counter: Counter, blocks: Indices) -> npt.NDArray[np.int32]:
        """Running token counts within each block, shape (blocks, lines); rows of other blocks may still be 0."""
        running = self._running.get(counter.tokenizer.id)
        if running is None:
            running = self._running[counter.tokenizer.id] = np.zeros((self.blocks, BLOCK_LINES), dtype=np.int32)
        missing = blocks[running[blocks, 0] == 0]
        if missing.size:
            keys, values = self._places(missing)
            bare = counter.text(self._opening.rstrip()) + counter.text(self._middle.rstrip())
            lines = self._keys.counts(counter, keys, " {}") + self._values.counts(counter, values, " {}.\n") + bare
            running[missing] = np.cumsum(lines.reshape(-1, BLOCK_LINES), axis=1)
        return running

    def _text(self, block: int) -> str:
        """The text of a block."""
        text = self._texts.get(block)
        if text is None:
            keys, values = self._places(np.array([block]))
            pairs = zip(self._keys.take(keys), self._values.take(values), strict=True)
            text = "".join([f"{self._opening}{key}{self._middle}{value}.\n" for key, value in pairs])
            self._texts[block] = text
        return text

    def _lines(self, block: int) -> list[str]:
        """The lines of a block, each with its newline."""
        return self._text(block).splitlines(keepends=True)


# A deck belongs to its pools and its wording; a run has few of either.
@lru_cache(maxsize=8)
def line_deck(keys: Pool, values: Pool, opening: str, middle: str) -> LineDeck:
    """The deck of these pools and this wording."""
    return LineDeck(keys, values, opening, middle)


def block_order(draws: Draws, deck: LineDeck, taken: Collection[int]) -> Indices:
    """All blocks of a deck but the taken ones in a random order, shape (blocks - taken,)."""
    order = draws.order(deck.blocks)
    if not taken:
        return order
    left = np.ones(deck.blocks, dtype=np.bool_)
    left[list(taken)] = False
    return order[left[order]]

from __future__ import annotations

import numpy as np
import pytest

from leadline.data.loading import load_tokenizer
from leadline.data.sources import PoolKind, Sources
from leadline.haystacks.lines import BLOCK_LINES, LineDeck, block_order
from leadline.seeds import rng_for
from leadline.tokenizers.counting import Counter

KINDS: list[tuple[PoolKind, PoolKind]] = [("word", "number"), ("uuid", "uuid")]


def deck_of(keys: PoolKind, values: PoolKind) -> LineDeck:
    sources = Sources()
    return LineDeck(sources.pool(keys), sources.pool(values), "The code of ", " is: ")


@pytest.mark.parametrize("kinds", KINDS)
def test_no_element_stands_in_two_lines(kinds: tuple[PoolKind, PoolKind]) -> None:
    deck = deck_of(*kinds)
    order = np.arange(40)
    lines = deck.text(order, 0, 40 * BLOCK_LINES).split("\n")
    elements = [part for line in lines for part in line.removeprefix("The code of ").rstrip(".").split(" is: ")]
    assert len(lines) == 40 * BLOCK_LINES
    assert len(set(elements)) == 2 * len(lines)


@pytest.mark.parametrize("kinds", KINDS)
def test_ranges_of_lines_put_together_are_the_whole(kinds: tuple[PoolKind, PoolKind]) -> None:
    deck = deck_of(*kinds)
    order = block_order(rng_for(1, "order"), deck, ())
    size = 5 * BLOCK_LINES + 7
    whole = deck.text(order, 0, size)
    assert whole.count("\n") == size - 1
    for cut in (1, BLOCK_LINES - 1, BLOCK_LINES, BLOCK_LINES + 1, 3 * BLOCK_LINES, 5 * BLOCK_LINES + 6):
        assert f"{deck.text(order, 0, cut)}\n{deck.text(order, cut, size)}" == whole


@pytest.mark.parametrize("kinds", KINDS)
def test_the_sums_of_its_lines_are_the_count_of_the_text(kinds: tuple[PoolKind, PoolKind]) -> None:
    deck = deck_of(*kinds)
    counter = Counter(load_tokenizer("tiktoken/cl100k_base", offline=False))
    order = block_order(rng_for(2, "order"), deck, ())
    running = deck.running(counter, order, 300)
    assert len(running) == 301
    for lines in (1, 63, 64, 65, 300):
        assert running[lines] == counter.whole(deck.text(order, 0, lines) + "\n")


def test_blocks_with_an_element_that_is_planted_are_left_out() -> None:
    sources = Sources()
    deck = deck_of("uuid", "uuid")
    planted = np.array([5, 131, 200_001])
    taken = deck.blocks_with(planted, planted)
    order = block_order(rng_for(3, "order"), deck, taken)
    assert len(order) == deck.blocks - 3
    text = deck.text(order, 0, len(order) * BLOCK_LINES)
    assert not any(element in text for element in sources.pool("uuid").take(planted))

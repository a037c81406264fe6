from __future__ import annotations

import uuid
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from leadline.data.sources import Sources
from leadline.haystacks.pools import DisplayOrder, NumberPool, Pool, Selection, UuidPool, WordPool, changes_of_the_last
from leadline.haystacks.words import plain_words
from leadline.seeds import rng_for
from leadline.tokenizers.counting import Counter


@pytest.fixture(scope="module")
def words() -> Pool:
    return Sources().pool("word")


class VowelTokenizer:
    """A token for each vowel and one for the rest; remembers what it counted."""

    id = "vowels"
    exact = True
    bos_tokens = 0

    def __init__(self) -> None:
        self.counted: list[str] = []

    def encode(self, text: str) -> list[int]:
        return [0] * self.count(text)

    def count(self, text: str) -> int:
        return 1 + sum(letter in "aeiou" for letter in text)

    def count_in_place(self, texts: Sequence[str], before: str, after: str) -> npt.NDArray[np.int32]:
        self.counted += texts
        return np.array([self.count(text) for text in texts], dtype=np.int32)

    def offsets(self, text: str) -> npt.NDArray[np.int64]:
        return np.zeros(self.count(text), dtype=np.int64)


def test_a_word_is_an_adjective_and_a_noun_and_none_occurs_twice(words: Pool) -> None:
    everything = words.take(np.arange(words.size))
    assert words.size == len(set(everything)) == 2**18
    assert all(word.count("-") == 1 and word.replace("-", "").islower() and word.isascii() for word in everything)


def test_no_word_is_part_of_another(words: Pool) -> None:
    everything = words.take(np.arange(words.size))
    adjectives = {word.split("-")[0] for word in everything}
    nouns = {word.split("-")[1] for word in everything}
    assert not any(adjective[start:] in adjectives for adjective in adjectives for start in range(1, len(adjective)))
    assert not any(noun[:end] in nouns for noun in nouns for end in range(1, len(noun)))


def test_parts_of_other_words_are_left_out() -> None:
    pool = WordPool(["able", "capable", "red"], ["book", "bookshelf", "sun"])
    everything = pool.take(np.arange(pool.size))
    assert sorted(everything) == ["capable-bookshelf", "capable-sun", "red-bookshelf", "red-sun"]


def test_pools_are_the_same_for_ever(words: Pool) -> None:
    some = np.array([0, 1, 5, 2**18 - 1])
    assert words.take(some) == [
        "phobic-differential",
        "grandiose-sidestream",
        "nostalgic-creditor",
        "omniscient-hovercraft",
    ]
    assert UuidPool().take(some[:2]) == ["31fac867-6b69-4731-83b2-f0f9a49b3c67", "f46c2add-8a42-48bf-9cc6-b2100047fe96"]
    assert NumberPool().take(some) == ["3589146", "6963010", "3456201", "5304773"]


def test_numbers_have_seven_digits_and_none_occurs_twice() -> None:
    pool = NumberPool()
    everything = pool.take(np.arange(pool.size))
    assert pool.size == len(set(everything)) == 2**18
    assert all(len(number) == 7 and number.isdigit() and number[0] != "0" for number in everything)


def test_uuids_are_distinct_and_of_version_4() -> None:
    pool = UuidPool()
    everything = pool.take(np.arange(pool.size))
    assert pool.size == len(set(everything)) == 2**18
    for text in everything[:500]:
        parsed = uuid.UUID(text)
        assert (str(parsed), parsed.version, parsed.variant) == (text, 4, uuid.RFC_4122)
    assert pool.take(np.array([70, 3])) == [everything[70], everything[3]]


def test_counts_are_those_of_the_chunks_and_each_is_counted_once() -> None:
    pool = WordPool(["red", "blue"], ["sun", "ocean"])
    tokenizer = VowelTokenizer()
    counter = Counter(tokenizer)
    indices = np.array([3, 0, 3, 1])
    expected = [tokenizer.count(f" {word}") for word in pool.take(indices)]
    assert pool.counts(counter, indices, " {}").tolist() == expected
    assert len(tokenizer.counted) == 3
    assert pool.counts(counter, indices[:2], " {}").tolist() == expected[:2]
    assert len(tokenizer.counted) == 3


def test_counts_are_kept_apart_by_shape() -> None:
    pool = NumberPool()
    counter = Counter(VowelTokenizer())
    assert pool.counts(counter, np.array([4]), " {}").tolist() == [1]
    assert pool.counts(counter, np.array([4]), " {}eau").tolist() == [4]


def test_a_shape_of_several_chunks_is_refused() -> None:
    with pytest.raises(ValueError, match="not one chunk"):
        NumberPool().counts(Counter(VowelTokenizer()), np.array([0]), " {} and")


def test_plain_words_are_lower_case_letters_once_each_in_order() -> None:
    lines = ["zebra", "ATM", "ice cream", "t-shirt", "apple ", "zebra", "café", "x2", ""]
    assert plain_words(lines) == ("zebra", "apple")


def test_a_selection_is_the_permutation_of_its_draw_however_it_is_asked() -> None:
    whole = rng_for(3, "selection").permutation(5000).take(0, 900)
    selection = Selection(rng_for(3, "selection"), 5000)
    for first, count in ((4, 3), (0, 200), (100, 800), (0, 1)):
        assert selection.take(first, count).tolist() == whole[first : first + count].tolist()
    with pytest.raises(IndexError, match="pool of 5000"):
        selection.take(4000, 1001)


def test_a_longer_display_holds_the_shorter_one() -> None:
    display = DisplayOrder(lambda: rng_for(5, "display"))
    short, long = display.first(40).tolist(), display.first(300).tolist()
    assert sorted(long) == list(range(300))
    assert [place for place in long if place < 40] == short == display.first(40).tolist()


def test_the_last_one_shown_at_every_size_is_told() -> None:
    order = DisplayOrder(lambda: rng_for(6, "display")).first(200)
    lasts = changes_of_the_last(order)
    for size in range(1, 201):
        shown = [place for place in order.tolist() if place < size]
        assert lasts[np.searchsorted(lasts, size) - 1] == shown[-1]

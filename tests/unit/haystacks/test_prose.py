from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline import data
from leadline.data.loading import load_tokenizer
from leadline.data.prose_file import kept_prose
from leadline.errors import UsageError
from leadline.haystacks.prose import Prose
from leadline.tokenizers.counting import Counter

FIVE = ["One is the first number.", "Two is the next one.", "Three comes after that.", "Four is even.", "Five is not."]


class LetterTokenizer:
    """Every character is a token; remembers how many texts it counted."""

    id = "letters"
    exact = True
    bos_tokens = 0

    def __init__(self) -> None:
        self.counted = 0

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def count(self, text: str) -> int:
        return len(text)

    def count_in_place(self, texts: Sequence[str], before: str, after: str) -> npt.NDArray[np.int32]:
        self.counted += len(texts)
        return np.array([len(text) for text in texts], dtype=np.int32)

    def offsets(self, text: str) -> npt.NDArray[np.int64]:
        return np.arange(len(text))


@pytest.fixture(scope="module")
def five() -> Prose:
    return Prose.from_text("\n ".join(FIVE))


def test_white_space_is_one_space_everywhere(five: Prose) -> None:
    assert five.text == " ".join(FIVE)
    assert [five.sentence(index) for index in range(len(five))] == FIVE


@settings(deadline=None)  # the first call reads the splitter's model
@given(first=st.integers(0, 12), count=st.integers(0, 17))
def test_a_slice_goes_round(first: int, count: int) -> None:
    prose = Prose.from_text(" ".join(FIVE))
    assert prose.slice(first, count) == " ".join(FIVE[(first + step) % 5] for step in range(count))


@settings(deadline=None)  # the first call reads the splitter's model
@given(first=st.integers(0, 7), count=st.integers(0, 17))
def test_running_counts_are_those_of_the_slices(first: int, count: int) -> None:
    prose = Prose.from_text(" ".join(FIVE))
    running = prose.running(Counter(LetterTokenizer()), first + count)
    assert running.shape == (first + count + 1,)
    text = prose.slice(first, count)
    assert running[first + count] - running[first] == len(text) + bool(text)


def test_only_as_much_is_counted_as_is_asked_for() -> None:
    prose = Prose.from_text(" ".join(f"This is sentence number {index} of many." for index in range(10000)))
    tokenizer = LetterTokenizer()
    counter = Counter(tokenizer)
    prose.running(counter, 10)
    few = tokenizer.counted
    assert few < 2000
    prose.running(counter, 200)
    assert tokenizer.counted == few
    assert prose.running(counter, 20000)[-1] == 2 * (len(prose.text) + 1)


def test_running_counts_are_kept_apart_by_tokenizer(five: Prose) -> None:
    class Other(LetterTokenizer):
        id = "others"

        def count_in_place(self, texts: Sequence[str], before: str, after: str) -> npt.NDArray[np.int32]:
            return np.ones(len(texts), dtype=np.int32)

    assert five.running(Counter(LetterTokenizer()), 1)[-1] == len(FIVE[0]) + 1
    assert five.running(Counter(Other()), 1)[-1] == 5


def test_the_hash_knows_text_and_split(five: Prose) -> None:
    again = Prose.from_text(" ".join(FIVE))
    assert again.sha256 == five.sha256
    assert Prose.from_text(" ".join(FIVE[:4])).sha256 != five.sha256
    assert Prose(five.text, five.starts[[0, 2, 5]]).sha256 != five.sha256


def test_an_empty_text_is_refused() -> None:
    with pytest.raises(UsageError, match="empty"):
        Prose.from_text(" \n ")


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_running_counts_of_essays_equal_whole_counts(name: str) -> None:
    prose = kept_prose(json.loads(data.get("essays").read_bytes())["text"])
    counter = Counter(load_tokenizer(name))
    running = prose.running(counter, 3000)
    for first, count in [(0, 1), (0, 3000), (17, 60), (1234, 700)]:
        text = " " + prose.slice(first, count)
        assert running[first + count] - running[first] == counter.whole("a" + text + " a") - counter.whole("a a")

"""A tokenizer behind a call: the counts of the one that it stands for, in few calls."""

from __future__ import annotations

import math

import pytest

from leadline.data.loading import load_tokenizer
from leadline.testing import check_tokenizer
from leadline.tokenizers.counting import Counter, split_chunks
from leadline.tokenizers.served import ServedTokenizer
from leadline.tokenizers.stand_in import StandIn, openai_encoding

TEXT = "\n".join(
    f"One of the special magic numbers for wise-{number} is: {number * 7919}.\nIt is kept, isn't it; in box {number}."
    for number in range(400)
)


class Calls:
    """A real tokenizer behind calls that are counted."""

    def __init__(self, name: str) -> None:
        self.tokenizer = load_tokenizer(name)
        self.calls = 0

    def __call__(self, text: str) -> list[int]:
        self.calls += 1
        return self.tokenizer.encode(text)


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_its_counts_are_those_of_the_tokenizer_itself(name: str) -> None:
    calls = Calls(name)
    served = ServedTokenizer("served/m", calls, 0)
    chunks = list(dict.fromkeys(split_chunks(TEXT)))
    counted = Counter(served).chunk_counts(chunks)
    assert counted.tolist() == Counter(calls.tokenizer).chunk_counts(chunks).tolist()
    assert Counter(served).text(TEXT) == calls.tokenizer.count(TEXT)
    assert len(chunks) > 800
    assert calls.calls < 120
    check_tokenizer(served)


def test_a_tokenizer_whose_lines_run_together_is_asked_for_each_text() -> None:
    calls: list[str] = []

    def sevens(text: str) -> list[int]:
        """A token is any seven characters: a line's place in the text changes its tokens."""
        calls.append(text)
        return [hash(text[start : start + 7]) for start in range(0, len(text), 7)]

    texts = [f" {number}{'x' * number}" for number in range(50)]
    counted = ServedTokenizer("served/m", sevens, 0).count_in_place(texts, "a", " a")
    assert counted.tolist() == [math.ceil((len(text) + 3) / 7) - 1 for text in texts]
    assert len(calls) > len(texts)


def test_models_of_openai_have_their_own() -> None:
    assert openai_encoding("gpt-4o-mini") == openai_encoding("openai/gpt-4.1") == "tiktoken/o200k_base"
    assert openai_encoding("gpt-4-turbo") == openai_encoding("gpt-3.5-turbo") == "tiktoken/cl100k_base"
    assert openai_encoding("some-model") is openai_encoding("meta/gpt-4o") is None


def test_a_stand_in_counts_like_another_and_says_that_it_is_none() -> None:
    real = load_tokenizer("o200k_base")
    stand_in = StandIn(real)
    assert not stand_in.exact
    assert stand_in.count(TEXT) == real.count(TEXT)
    check_tokenizer(stand_in)

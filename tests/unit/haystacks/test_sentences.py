from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.haystacks.sentences import LONGEST_CHARACTERS, sentence_starts


def sentences(text: str) -> list[str]:
    starts = sentence_starts(text)
    return [text[start : end - 1] for start, end in itertools.pairwise(starts)]


def test_sentences_end_where_a_reader_would_end_them() -> None:
    text = 'Mr. Smith went to Washington. "Is that so?" she asked. It was 3.5 miles away!'
    assert sentences(text) == ["Mr. Smith went to Washington.", '"Is that so?" she asked.', "It was 3.5 miles away!"]


def test_a_short_sentence_joins_the_next_and_the_last_joins_the_one_before() -> None:
    text = "Yes. That is what he said to me. He was quite sure of it. Really."
    assert sentences(text) == ["Yes. That is what he said to me.", "He was quite sure of it. Really."]


def test_a_long_sentence_is_cut_at_spaces_into_parts_of_about_the_same_length() -> None:
    text = " ".join(["word"] * 250) + "."
    parts = sentences(text)
    assert " ".join(parts) == text
    lengths = [len(part) for part in parts]
    assert max(lengths) <= LONGEST_CHARACTERS
    assert len(parts) == 4
    assert min(lengths) > 250


def test_a_word_longer_than_a_sentence_stays_whole() -> None:
    long = "x" * 1000
    assert sentences(f"Here is {long} in a text of words.") == ["Here is", long, "in a text of words."]
    assert sentences(long) == [long]


def test_no_text_has_no_sentence() -> None:
    assert sentence_starts("").tolist() == [0]


@settings(deadline=None)  # the first call reads the splitter's model
@given(st.lists(st.text("ab.?! ", min_size=1, max_size=600), max_size=5))
def test_sentences_joined_by_a_space_are_the_text(parts: list[str]) -> None:
    text = " ".join("".join(parts).split()) or "a"
    starts = sentence_starts(text)
    assert " ".join(sentences(text)) == text
    assert np.all(np.diff(starts) > 1)
    assert starts[0] == 0

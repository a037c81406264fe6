"""Books made of prose."""

from __future__ import annotations

import pytest

from leadline.errors import UsageError
from leadline.haystacks.building import (
    MOST_PIECE_WORDS,
    cleaned,
    make_book,
    pieces,
    removal_pattern,
    speaking_names,
)
from leadline.seeds import rng_for

TEXT = """CHAPTER 1. Loomings.

The ship left the harbour at dawn. Nobody had seen Dresden before,
and nobody asked. "Where to?" said Elijah.

A heading without an end

It rained hard. The dresser was wet.
"""


def prose(paragraphs: int) -> list[list[str]]:
    return [
        [f"Sentence {number} of part {part} goes on for a while." for number in range(9)] for part in range(paragraphs)
    ]


def test_sentences_that_hold_a_removal_go_and_headings_too() -> None:
    found = cleaned([TEXT], removal_pattern(["dresd", "rain"]))
    assert found.removed == ("Nobody had seen Dresden before, and nobody asked.", "It rained hard.")
    assert found.paragraphs == (
        ("The ship left the harbour at dawn.", '"Where to?" said Elijah.'),
        ("The dresser was wet.",),
    )
    assert cleaned([TEXT], None).removed == ()


def test_removals_match_at_the_beginning_of_a_word_in_any_case() -> None:
    pattern = removal_pattern(["art", "north (sea|pole)"])
    assert pattern is not None
    assert pattern.search("Articles") and pattern.search("the NORTH POLE")
    assert not pattern.search("a party in the north")
    assert removal_pattern([]) is None


def test_what_is_no_regular_expression_is_named_in_one_line() -> None:
    with pytest.raises(UsageError, match=r"removal '\(' is no regular expression") as caught:
        removal_pattern(["fine", "("])
    assert "\n" not in str(caught.value)


def test_pieces_keep_the_sentences_in_order_and_are_short() -> None:
    made = pieces(prose(60), rng_for(1, "pieces"))
    assert " ".join(made) == " ".join(sentence for part in prose(60) for sentence in part)
    sizes = [len(piece.split()) for piece in made]
    assert max(sizes) <= MOST_PIECE_WORDS
    assert len(set(sizes)) > 5
    assert made == pieces(prose(60), rng_for(1, "pieces"))
    assert made != pieces(prose(60), rng_for(2, "pieces"))


def test_a_sentence_longer_than_a_piece_is_left_out() -> None:
    endless = " ".join(["and"] * (MOST_PIECE_WORDS + 1)) + "."
    assert pieces([["One.", endless, "Two."]], rng_for(1, "pieces")) == ["One. Two."]
    assert pieces([[endless]], rng_for(1, "pieces")) == []


def test_a_book_is_pieces_on_lines_until_it_is_long_enough() -> None:
    made = pieces(prose(60), rng_for(1, "pieces"))
    text = make_book(made, 1, 3_000, 0)
    lines = text.splitlines()
    assert set(lines) <= set(made)
    assert 3_000 <= len(text.split()) < 3_000 + MOST_PIECE_WORDS
    assert text == make_book(made, 1, 3_000, 0)
    assert text != make_book(made, 2, 3_000, 0)
    assert make_book(made, 1, 6_000, 0).startswith(text), "a longer book begins with the shorter one"


def test_nothing_makes_no_book() -> None:
    with pytest.raises(UsageError, match="nothing is left"):
        make_book([], 1, 100, 0)


def test_names_are_found_beside_verbs_of_speech() -> None:
    text = 3 * "Yes, said Flask. No, cried Stubb. " + "Aye, said Captain. Perhaps, said Starbuck. Well, said Flask."
    assert speaking_names(text) == ("Flask", "Stubb")
    assert speaking_names(text, least=1) == ("Flask", "Stubb", "Starbuck")

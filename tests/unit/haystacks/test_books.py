"""Windows on books."""

from __future__ import annotations

import pytest

from leadline.errors import UsageError
from leadline.haystacks.books import Book
from leadline.tokenizers.counting import Counter
from tests.unit.run.conftest import WordTokenizer

WORDS = WordTokenizer()


def book_of(lines: int, words: int = 9) -> Book:
    """Lines of so many words and a newline, each of which is a token."""
    return Book.from_text("plain", "".join(f"line{' and' * (words - 1)}\n" for _ in range(lines)))


def test_line_ends_of_any_system_become_newlines() -> None:
    book = Book.from_text("mixed", "one\r\ntwo\rthree")
    assert book.text == "one\ntwo\nthree\n"
    assert book.sha256 == Book.from_text("other name", "one\ntwo\nthree\n").sha256


@pytest.mark.parametrize("text", ["", "one line", "one line\n", "\n\none line\n\n"])
def test_a_book_without_two_lines_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="the book short has no two lines"):
        Book.from_text("short", text)


def test_the_place_is_the_first_line_end_at_or_after_its_token() -> None:
    book = book_of(100)
    assert book.tokens(WORDS) == 1000
    window = book.window(WORDS, 200, 0.5)
    assert window is not None
    # Token 0.5 x 201 = 100.5: the next line begins with token 110, and the window 100 tokens before it.
    assert book.text[: window.place].count("\n") == 11
    assert WORDS.count(book.text[: window.start]) == 10
    assert WORDS.count(book.text[window.start : window.end]) == 200


@pytest.mark.parametrize(("depth", "place"), [(0.0, 1), (1.0, 11)])
def test_a_window_has_text_on_one_side_only_at_its_ends(depth: float, place: int) -> None:
    book = book_of(100)
    window = book.window(WORDS, 100, depth)
    assert window is not None
    assert book.text[: window.place].count("\n") == place
    assert window.place == (window.start if depth == 0 else window.end)


@pytest.mark.parametrize(("length", "fits"), [(980, True), (995, True), (1000, False), (10_000, False)])
def test_a_book_must_be_longer_than_its_window(length: int, fits: bool) -> None:
    # The book's last line end, after its 1,000 tokens, serves for 995 of them and comes too early for 1,000.
    assert (book_of(100).window(WORDS, length, 1.0) is not None) is fits


def test_another_line_stands_away_from_the_needle_and_from_the_ends() -> None:
    book = book_of(100)
    window = book.window(WORDS, 400, 0.5)
    assert window is not None

    def depth_of(wanted: float, apart: float, outer: float) -> float:
        place = book.place_near(window, WORDS, wanted, apart, outer)
        return WORDS.count(book.text[window.start : place]) / 400

    assert depth_of(0.31, 0.0, 0.0) == pytest.approx(0.31, abs=0.02)
    assert depth_of(0.5, 0.2, 0.2) == pytest.approx(0.3) or depth_of(0.5, 0.2, 0.2) == pytest.approx(0.7)
    assert depth_of(1.0, 0.2, 0.2) == pytest.approx(0.8)
    assert depth_of(0.0, 0.2, 0.2) == pytest.approx(0.2)
    assert depth_of(0.9, 0.4, 0.2) == pytest.approx(0.9), "the distance from the needle goes before the ends"
    assert depth_of(0.5, 0.0, 0.0) != 0.5, "not at the needle's own place"


def test_where_no_other_line_ends_the_needles_place_serves() -> None:
    book = book_of(10, words=99)
    window = book.window(WORDS, 90, 0.5)
    assert window is not None
    assert book.place_near(window, WORDS, 0.9, 0.2, 0.2) == window.place


def test_where_no_line_end_keeps_the_distances_a_sentence_end_does() -> None:
    # Lines of 40 words: four sentences of ten. Of the line ends (every 41 tokens) none lies within 0.2 to 0.3 or above.
    line = " ".join(["Here they all went out and came back once more."] * 4)
    book = Book.from_text("prose", f"{line}\n" * 30)
    window = book.window(WORDS, 100, 0.5)
    assert window is not None

    def depth_of(wanted: float, apart: float, outer: float) -> float:
        place = book.place_near(window, WORDS, wanted, apart, outer)
        assert place != window.place
        assert book.text[place - 2 : place] in {". ", ".\n"}
        return WORDS.count(book.text[window.start : place]) / 100

    assert depth_of(0.22, 0.2, 0.2) == pytest.approx(0.3, abs=0.05)
    assert depth_of(0.78, 0.2, 0.2) == pytest.approx(0.75, abs=0.05)
    assert depth_of(0.7, 0.0, 0.0) == pytest.approx(0.7, abs=0.06), "a fixed depth is met by the nearest of all ends"


def test_counts_between_cuts_are_those_of_the_text_in_place() -> None:
    book, counter = book_of(20), Counter(WORDS)
    window = book.window(WORDS, 100, 0.3)
    assert window is not None
    cuts = book.cuts_within(window.start, window.end)
    assert cuts is not None
    assert all(map(book.has_cut, cuts))
    assert book.count(counter, *cuts) == WORDS.count(book.text[: cuts[1]]) - WORDS.count(book.text[: cuts[0]])
    assert book.cuts_within(0, 1) is None

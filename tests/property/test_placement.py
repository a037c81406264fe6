"""Where needles are planted in books, over random texts, depths, lengths and tokenizers."""

from __future__ import annotations

import functools
import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.data.loading import load_local_model_path, load_tokenizer
from leadline.data.sources import Sources
from leadline.haystacks.books import Book
from leadline.prompt import FrameCounter, named_frame
from leadline.sampler import Sampler
from leadline.tasks.nolima import Nolima
from leadline.tasks.registry import make_task
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.counting import Counter

TEMPLATES = {"cl100k_base": "base", "o200k_base": "llama2", "gguf/local": "chatml"}
VARIANTS = ("nolima_open", "nolima_open_direct", "nolima_open_choices", "nolima_open_cot", "nolima_open_distractor")
BOOK_WORDS = 9_000
SYLLABLES = "ba ren tor ment ing li qua st oph er ous un wick hal dor ity sel".split()  # noqa: SIM905
MARKS = (".", "!", "?", ";", "…", "”", ".’")

tokenizers = st.sampled_from(list(TEMPLATES))
depths = st.one_of(st.floats(0, 1), st.integers(0, 25).map(lambda step: step / 25))


def line(draws: random.Random) -> str:
    """A line of words of odd shapes, with marks, quotes, numbers and double spaces in it."""
    words: list[str] = []
    for _ in range(draws.randint(1, 90)):
        word = "".join(draws.choices(SYLLABLES, k=draws.randint(1, 4)))
        shape = draws.random()
        if shape < 0.1:
            word = word.capitalize()
        elif shape < 0.13:
            word = f"“{word}—{draws.randint(0, 9_999)}"
        elif shape < 0.15:
            word = "naïveté"
        words.append(word + (draws.choice(MARKS) if draws.random() < 0.1 else ""))
    return " ".join(words).replace(" qua", "  qua", 1) + draws.choice(MARKS)


def text_of(seed: int, words: int = BOOK_WORDS) -> str:
    draws = random.Random(seed)
    lines: list[str] = []
    while sum(map(len, lines)) < 6 * words:
        lines.append(line(draws))
    return "\n".join(lines) + "\n"


@functools.cache
def shelf() -> tuple[Book, ...]:
    names = ("Bartholomew", "Unwin", "Seraphina", "Dorothea", "Ishmael")
    texts = [text_of(seed) for seed in (1, 2)]
    told = [
        "\n".join(f"{line} Then {names[place % 5]} spoke." for place, line in enumerate(text.splitlines())) + "\n"
        for text in texts
    ]
    return tuple(Book.from_text(f"book_{number}", text, names) for number, text in enumerate(told, start=1))


class Shelf(Sources):
    """Sources whose books are made here."""

    def books(self, name: str) -> tuple[Book, ...]:
        return shelf()


@functools.cache
def tokenizer_of(name: str) -> Tokenizer:
    return load_tokenizer(f"gguf/{load_local_model_path()}" if name == "gguf/local" else name)


@functools.cache
def sampler_of(name: str) -> Sampler:
    tokenizer = tokenizer_of(name)
    frame = named_frame(TEMPLATES[name], tokenizer)
    return Sampler(frame, FrameCounter(Counter(tokenizer), frame), Shelf(), 42)


def first_line_end(book: Book, tokenizer: Tokenizer, depth: float, length: int) -> tuple[list[int], int | None]:
    """Where each token of a book begins, its end after them, and the first line end that the rule allows."""
    offsets: list[int] = [*tokenizer.offsets(book.text).tolist(), len(book.text)]
    for index, offset in enumerate(offsets):
        if (
            index >= depth * (length + 1)
            and book.text[max(0, offset - 1) : offset].endswith("\n")
            and offsets[index - 1] < offset
        ):
            return offsets, index
    return offsets, None


@settings(max_examples=60, deadline=None)
@given(tokenizers, depths, st.integers(50, 16_000), st.integers(0, 1))
def test_a_window_meets_its_length_and_depth_exactly(name: str, depth: float, length: int, number: int) -> None:
    book, tokenizer = shelf()[number], tokenizer_of(name)
    offsets, index = first_line_end(book, tokenizer, depth, length)
    window = book.window(tokenizer, length, depth)
    start = -1 if index is None else index - round(length * depth)
    if index is None or start < 0 or start + length >= len(offsets):
        assert window is None
        return
    assert window is not None
    assert window.place == offsets[index]
    assert window.start == offsets[start]
    assert window.end == offsets[start + length]
    assert window.start <= window.place <= window.end
    assert abs(tokenizer.count(book.text[window.start : window.end]) - length) <= 2


@settings(max_examples=25, deadline=None)
@given(tokenizers, depths, st.integers(0, 10_000))
def test_a_book_that_is_too_short_has_no_window(name: str, depth: float, more: int) -> None:
    book, tokenizer = shelf()[0], tokenizer_of(name)
    assert book.window(tokenizer, book.tokens(tokenizer) + 1 + more, depth) is None


@settings(max_examples=60, deadline=None)
@given(
    tokenizers,
    st.sampled_from(VARIANTS),
    st.sampled_from(["full", "last-2k"]),
    st.integers(80, 8_000),
    st.integers(0, 100_000),
)
def test_a_sample_is_planted_and_counted_as_its_fit_says(
    name: str, variant: str, sweep: str, length: int, number: int
) -> None:
    sampler, task = sampler_of(name), make_task(variant, {"sweep": sweep})
    assert isinstance(task, Nolima)
    tokenizer = sampler.counter.counter.tokenizer
    plan = sampler.plan(task, number % task.items(sampler.sources))
    fit = sampler.fit(task, plan, length)
    assert fit is not None
    assert fit.window is not None
    assert fit.recount is not None
    book, depth = task.book(plan, sampler.sources), task.depths(plan, length)[0]
    offsets, index = first_line_end(book, tokenizer, depth, length)
    start, end = np.searchsorted(offsets, fit.window)
    assert end - start == fit.size == length
    assert index is not None
    assert fit.places[0] == offsets[index]
    assert abs(fit.recount - length) <= 2
    assert fit.recount == tokenizer.count(book.text[slice(*fit.window)])

    sample = sampler.sample(task, plan, fit, length)
    assert fit.prompt_tokens == sampler.counter.whole(sample.text, sample.answer_prefix, sample.turns, sample.system)
    (needle,) = [span for span in sample.spans if span.kind == "needle"]
    haystack = [span for span in sample.spans if span.kind == "haystack"]
    assert "".join(sample.span_texts("haystack")) == book.text[slice(*fit.window)]
    before = sum(span.end - span.start for span in haystack if span.end <= needle.start)
    assert fit.window[0] + before == fit.places[0]
    assert sample.text[needle.start - 1] == sample.text[needle.end] == "\n"

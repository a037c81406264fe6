from __future__ import annotations

import numpy as np
import pytest

from leadline.data.loading import load_tokenizer
from leadline.haystacks.documents import SEPARATOR, Documents, Question, drawn
from leadline.seeds import rng_for
from leadline.tokenizers.counting import Counter

TEXTS = ["A first document.", "/path is what the second begins with", "3 – the third\nin two lines", "Último."]


def documents(texts: list[str], articles: list[int]) -> Documents:
    data = [(text + SEPARATOR).encode() for text in texts]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in data])])
    return Documents(memoryview(b"".join(data)), starts, np.array(articles))


@pytest.fixture(scope="module")
def some() -> Documents:
    return documents(TEXTS, [0, 1, 4])


def test_texts_come_back(some: Documents) -> None:
    assert [some.text(index) for index in range(len(some))] == TEXTS
    assert [some.article_of(index) for index in range(4)] == [(0, 1), (1, 4), (1, 4), (1, 4)]


def test_documents_are_numbered_and_joined_by_blank_lines(some: Documents) -> None:
    shown = some.numbered(np.array([2, 0]), 9)
    assert shown == f"Document 9:\n{TEXTS[2]}\n\nDocument 10:\n{TEXTS[0]}"


def test_a_large_set_is_shown_like_a_small_one() -> None:
    filler = "Ünicode and more words. " * 1000
    large = documents([*TEXTS, *(filler.strip() for _ in range(200))], list(range(205)))
    assert large.numbered(np.array([1, 3]), 1) == f"Document 1:\n{TEXTS[1]}\n\nDocument 2:\n{TEXTS[3]}"


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_counts_add_up_to_the_whole(some: Documents, name: str) -> None:
    counter = Counter(load_tokenizer(name))
    order = np.array([1, 3, 0, 2, 1, 1])
    for first in (1, 95, 998, 1300):
        text = some.numbered(order, first) + SEPARATOR
        labels = some.label_counts(counter, first + len(order) - 1)
        added = int(some.counts(counter, order).sum() + labels[-1] - labels[first - 1])
        assert added == counter.whole(f"Here:\n\n{text}And") - counter.whole("Here:\n\nAnd")


def test_questions_survive_being_written() -> None:
    question = Question("Où ?", ("là", "ici"), (3, 1), (1,))
    assert Question.from_json(question.as_json()) == question


def test_a_longer_draw_begins_with_the_shorter_one() -> None:
    without = np.array([3, 17])
    whole = drawn(rng_for(1, "a"), 100, 98, without)
    assert sorted(whole.tolist()) == [index for index in range(100) if index not in (3, 17)]
    for count in (0, 1, 10, 60):
        assert drawn(rng_for(1, "a"), 100, count, without).tolist() == whole[:count].tolist()
    with pytest.raises(IndexError, match="99 of a pool of 100"):
        drawn(rng_for(1, "a"), 100, 99, without)


def test_every_index_is_drawn_as_often_at_every_place() -> None:
    draws = np.array([drawn(rng_for(2, number), 8, 7, np.array([5])) for number in range(3500)])
    for place in range(7):
        counts = np.bincount(draws[:, place], minlength=8)
        assert counts[5] == 0
        expected = 3500 / 7
        assert ((np.delete(counts, 5) - expected) ** 2 / expected).sum() < 22.5  # chi-square, 6 degrees, p = 0.001

from __future__ import annotations

import re
from collections import Counter as Tally
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.special import zeta
from scipy.stats import chisquare

from leadline.data.gguf_cache import gguf_tokenizer
from leadline.data.loading import load_local_model_path, load_tokenizer
from leadline.data.sources import Sources
from leadline.haystacks.coded_words import CodedWordPool
from leadline.haystacks.vocabulary import Vocabulary
from leadline.items import Draft, Fit, Plan, canonical_json
from leadline.prompt import FrameCounter, named_frame
from leadline.sizing.request import fit_request, smallest_length
from leadline.tasks.base import item_key
from leadline.tasks.frequent_words import TASK, FrequentWords, FrequentWordsParams
from leadline.tokenizers.counting import Counter


class WordSources(Sources):
    def __init__(self) -> None:
        super().__init__(offline=True)
        self._coded: dict[int, CodedWordPool] = {}

    def vocabulary(self) -> Vocabulary:
        return Vocabulary([], [])

    def coded_words(self, length: int) -> CodedWordPool:
        return self._coded.setdefault(length, CodedWordPool(length))


@pytest.fixture(scope="module")
def sources() -> WordSources:
    return WordSources()


@pytest.fixture(scope="module", params=["cl100k", "local model"])
def counter(request: pytest.FixtureRequest) -> FrameCounter:
    tokenizer = (
        load_tokenizer("cl100k_base", offline=True)
        if request.param == "cl100k"
        else gguf_tokenizer(load_local_model_path(offline=True))
    )
    return FrameCounter(Counter(tokenizer), named_frame("chatml", tokenizer))


def made(**params: Any) -> FrequentWords:
    return FrequentWords("fwe", FrequentWordsParams(**params))


def text_of(draft: Draft) -> str:
    return "".join(piece.text for piece in draft.pieces)


def words_of(draft: Draft) -> list[str]:
    return next(piece.text for piece in draft.pieces if piece.kind == "haystack").split(" ")


def fitted(
    task: FrequentWords, sources: WordSources, counter: FrameCounter, length: int, index: int = 0
) -> tuple[Plan, Fit, Draft]:
    plan = task.plan(item_key(task, 7, index), sources)
    fit = fit_request(task, plan, length, counter, sources)
    assert fit is not None
    return plan, fit, task.draft(plan, fit, sources)


def test_the_prompt_is_the_published_one(sources: WordSources) -> None:
    task = made()
    plan = task.plan(item_key(task, 7, 0), sources)
    draft = task.draft(plan, Fit(50, 0), sources)
    head = (
        "Read the following coded text and track the frequency of each coded word. "
        "Find the three most frequently appeared coded words. "
    )
    question = (
        "\nQuestion: Do not provide any explanation. Please ignore the dots '....'. "
        "What are the three most frequently appeared words in the above coded text?"
    )
    assert re.fullmatch(re.escape(head) + r"[a-z. ]+" + re.escape(question), text_of(draft))
    expected = " Answer: According to the coded text above, the three most frequently appeared words are:"
    assert draft.answer_prefix == expected


def test_the_number_of_answers_is_said_in_words(sources: WordSources) -> None:
    task = made(top_k=12)
    plan = task.plan(item_key(task, 7, 0), sources)
    draft = task.draft(plan, Fit(1, 0), sources)
    assert text_of(draft).count("the twelve most frequently") == 2
    assert "the twelve most frequently" in draft.answer_prefix
    assert len(plan.answers) == task.targets == 12


@pytest.mark.parametrize("alpha", [1.5, 2.0, 2.5, 3.5])
@pytest.mark.parametrize("size", [1, 40, 333])
def test_frequencies_follow_the_formula_for_some_number_of_words(sources: WordSources, alpha: float, size: int) -> None:
    task = made(alpha=alpha)
    plan = task.plan(item_key(task, 7, 0), sources)
    tally = Tally(words_of(task.draft(plan, Fit(size, 0), sources)))
    counts = sorted(tally.values(), reverse=True)
    assert tally["..."] == counts[0]
    assert [tally[forms[0]] for forms in plan.answers] == counts[1:4]
    assert counts[3] > ([*counts, 0])[4]
    # The greatest of the times at which an occurrence came is the number of words that the text stands for.
    scale = float(zeta(alpha))
    words = max(times * scale * rank**alpha for rank, times in enumerate(counts, start=1)) * (1 + 1e-9)
    ranks = np.arange(1, len(counts) + 2)
    assert np.floor(words * ranks**-alpha / scale).astype(int).tolist() == [*counts, 0]


@pytest.mark.parametrize("length", [1024, 4096, 16384])
@pytest.mark.parametrize("params", [{}, {"alpha": 1.5}, {"top_k": 5, "word_length": 4}])
def test_counts_are_exact_and_the_next_unit_is_over(
    sources: WordSources, counter: FrameCounter, length: int, params: dict[str, Any]
) -> None:
    task = made(**params)
    for index in range(3):
        plan, fit, draft = fitted(task, sources, counter, length, index)
        assert counter.whole(text_of(draft), draft.answer_prefix) == fit.prompt_tokens <= length - 50
        more = task.draft(plan, Fit(fit.size + 1, 0), sources)
        assert counter.whole(text_of(more), more.answer_prefix) > length - 50


def test_mean_fill(sources: WordSources, counter: FrameCounter) -> None:
    fills = [(fitted(made(), sources, counter, 4096, index)[1].prompt_tokens + 50) / 4096 for index in range(10)]
    assert np.mean(fills) >= 0.98


def test_a_longer_text_holds_the_shorter_one_in_order(sources: WordSources, counter: FrameCounter) -> None:
    short, long = (words_of(fitted(made(), sources, counter, length)[2]) for length in (4096, 8192))
    rest = iter(long)
    assert len(short) < len(long)
    assert all(word in rest for word in short)


def test_the_same_item_is_the_same_in_any_order_of_making(sources: WordSources, counter: FrameCounter) -> None:
    large = fitted(made(), sources, counter, 8192, 3)
    small = fitted(made(), sources, counter, 4096, 3)
    for index in range(20, 40):
        made().plan(item_key(made(), 7, index), sources)
    assert fitted(made(), WordSources(), counter, 4096, 3) == small
    assert fitted(made(), WordSources(), counter, 8192, 3) == large
    assert canonical_json(dict(small[0].facts))


def test_layouts_differ_between_samples_and_are_uniform(sources: WordSources) -> None:
    layouts: set[tuple[int, ...]] = set()
    tenths = np.zeros(10)
    for index in range(60):
        task = made()
        plan = task.plan(item_key(task, 7, index), sources)
        words = words_of(task.draft(plan, Fit(500, 0), sources))
        slots = [slot for slot, word in enumerate(words) if word == plan.answers[0][0]]
        layouts.add(tuple(slots))
        tenths += np.histogram(np.array(slots) / len(words), bins=10, range=(0, 1))[0]
    assert len(layouts) == 60
    assert chisquare(tenths).pvalue > 0.001


def test_sizes_at_which_the_last_answer_ties_are_left_out(sources: WordSources) -> None:
    task = made(top_k=8)
    plan = task.plan(item_key(task, 7, 0), sources)
    for size in range(1, 200):
        counts = sorted(Tally(words_of(task.draft(plan, Fit(size, 0), sources))).values(), reverse=True)
        assert len(counts) == 9 or counts[8] > counts[9]


def test_the_vocabulary_can_be_limited(sources: WordSources, counter: FrameCounter) -> None:
    _, fit, draft = fitted(made(vocabulary_size=6), sources, counter, 4096)
    assert len(set(words_of(draft))) == 6
    assert fit.prompt_tokens > 0.98 * 4096 - 50


def test_a_length_at_which_not_every_answer_occurs_does_not_fit(sources: WordSources, counter: FrameCounter) -> None:
    task = made(alpha=3.5, top_k=6)
    plan = task.plan(item_key(task, 7, 0), sources)
    assert fit_request(task, plan, 512, counter, sources) is None
    least = smallest_length(task, plan, counter, sources)
    assert fit_request(task, plan, least - 1, counter, sources) is None
    fit = fit_request(task, plan, least, counter, sources)
    assert fit is not None
    assert fit.size == 1


@pytest.mark.parametrize("length", [3, 6, 12])
def test_coded_words_are_distinct_and_stand_in_no_prompt(length: int) -> None:
    pool = CodedWordPool(length)
    words = pool.take(np.arange(pool.size))
    assert len(set(words)) == pool.size
    assert all(re.fullmatch(f"[a-z]{{{length}}}", word) for word in words[:1000])
    prompt = "".join(TASK).format(count="three").lower()
    assert not set(words) & {prompt[start : start + length] for start in range(len(prompt))}
    assert pool.take(np.array([5, 2])) == [words[5], words[2]]


def test_a_vocabulary_without_room_for_the_answers_is_refused() -> None:
    with pytest.raises(ValidationError) as caught:
        made(vocabulary_size=3)
    assert caught.value.errors()[0]["loc"] == ("vocabulary_size",)

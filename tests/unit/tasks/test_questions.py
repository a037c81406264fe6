from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

from leadline.data.added import add
from leadline.data.gguf_cache import gguf_tokenizer
from leadline.data.loading import load_local_model_path, load_tokenizer
from leadline.data.sources import Sources
from leadline.items import Fit, Plan, Sample
from leadline.prompt import FrameCounter, named_frame
from leadline.sampler import Sampler
from leadline.tasks.base import item_key
from leadline.tasks.questions import QuestionAnswering, QuestionsParams
from leadline.tokenizers.counting import Counter

SOURCES = Sources()
FIXTURES = Path(__file__).parents[2] / "fixtures"
DOCUMENT = re.compile(r"Document (\d+):\n")


def task(**params: str) -> QuestionAnswering:
    return QuestionAnswering("qa", QuestionsParams.model_validate(params))


@cache
def sampler(tokenizer: str = "cl100k_base", frame: str = "chatml", seed: int = 0) -> Sampler:
    local = gguf_tokenizer(load_local_model_path()) if tokenizer == "local" else load_tokenizer(tokenizer)
    named = named_frame(frame, local)
    return Sampler(named, FrameCounter(Counter(local), named), SOURCES, seed)


def made(asked: QuestionAnswering, index: int, length: int, by: Sampler | None = None) -> Sample:
    by = by or sampler()
    plan = by.plan(asked, index)
    fit = by.fit(asked, plan, length)
    assert fit is not None
    return by.sample(asked, plan, fit, length)


def whole(sample: Sample, by: Sampler | None = None) -> int:
    return (by or sampler()).counter.whole(sample.text, sample.answer_prefix)


def shown(sample: Sample) -> list[str]:
    """The documents of a sample, in order, without their labels."""
    head = "The following are given documents.\n\n"
    text = sample.text[sample.text.index(head) + len(head) : sample.text.rindex("\n\nAnswer the question based")]
    parts = DOCUMENT.split("\n\n" + text)[1:]
    assert [int(number) for number in parts[0::2]] == list(range(1, len(parts) // 2 + 1))
    return [part.removesuffix("\n\n") for part in parts[1::2]]


def test_the_prompt_is_the_published_one() -> None:
    sample = made(task(), 0, 1024)
    documents = shown(sample)
    context = "\n\n".join(f"Document {number}:\n{text}" for number, text in enumerate(documents, start=1))
    instruction = (
        "Answer the question based on the given documents. Only give me the answer and do not output any other words."
    )
    assert sample.text == (
        f"{instruction}\n\nThe following are given documents.\n\n{context}\n\n{instruction}\n\n"
        "Question: In what country is Normandy located?"
    )
    assert sample.answer_prefix == " Answer:"
    assert sample.plan.answers == (("France",),)
    assert sample.span_texts("question") == ["Question: In what country is Normandy located?"]
    assert task().targets == len(sample.plan.answers)


def test_hotpotqa_shows_titles_and_all_its_own_paragraphs() -> None:
    asked = task(dataset="hotpotqa")
    for index in range(20):
        sample = made(asked, index, 8192)
        own = SOURCES.questions("hotpotqa").question(index).own
        texts = [SOURCES.questions("hotpotqa").documents.text(document) for document in own]
        assert set(texts) <= set(shown(sample))
        assert len(sample.span_texts("gold")) == len(sample.plan.facts["golds"]) == 2
        assert sorted(sample.span_texts("gold", "distractor")) == sorted(texts)
        assert sample.plan.factors["depth"] == min(sample.plan.facts["golds"])


@pytest.mark.parametrize("dataset", ["squad", "hotpotqa"])
@pytest.mark.parametrize("distractors", ["same_article_first", "uniform"])
def test_longer_samples_contain_the_shorter_ones_in_their_order(dataset: str, distractors: str) -> None:
    asked = task(dataset=dataset, distractors=distractors)
    for index in (0, 7, 5000):
        plan = sampler().plan(asked, index)
        own = {SOURCES.questions(dataset).documents.text(document) for document in plan.facts["own"]}
        before: list[str] = []
        for length in (4096, 16384, 65536):
            documents = [text for text in shown(made(asked, index, length)) if text not in own]
            assert len(set(documents)) == len(documents) > len(before)
            rest = iter(documents)
            assert all(text in rest for text in before)
            before = documents


def test_the_same_key_makes_the_same_sample_with_any_tokenizer() -> None:
    for dataset in ("squad", "hotpotqa"):
        asked = task(dataset=dataset)
        sample = made(asked, 3, 8192)
        assert made(asked, 3, 8192) == sample
        assert sampler().remake(asked, sample.key, sample.fit, sample.prompt_hash) == sample
        assert sampler("local").plan(asked, 3) == sample.plan
        assert sampler(seed=1).plan(asked, 3) != sample.plan


@pytest.mark.parametrize("tokenizer", ["cl100k_base", "local"])
@pytest.mark.parametrize("dataset", ["squad", "hotpotqa"])
@pytest.mark.parametrize("length", [4096, 16384])
def test_counts_are_exact_and_one_document_more_is_too_many(tokenizer: str, dataset: str, length: int) -> None:
    by = sampler(tokenizer)
    for distractors in ("same_article_first", "uniform"):
        asked = task(dataset=dataset, distractors=distractors, questions="shuffled")
        budget = length - asked.params.output_tokens
        for index in range(8):
            sample = made(asked, index, length, by)
            assert whole(sample, by) == sample.fit.prompt_tokens <= budget
            more = by.sample(asked, sample.plan, Fit(sample.fit.size + 1, 0), length)
            assert whole(more, by) > budget


@pytest.fixture(scope="module")
def five_hundred() -> Iterator[list[Sample]]:
    yield [made(task(), index, 4096) for index in range(500)]


def test_samples_are_filled(five_hundred: list[Sample]) -> None:
    fills = [(sample.fit.prompt_tokens + sample.max_tokens) / 4096 for sample in five_hundred]
    assert np.mean(fills) >= 0.96
    assert max(fills) <= 1


def test_gold_documents_stand_anywhere(five_hundred: list[Sample]) -> None:
    slots: list[float] = []
    for sample in five_hundred:
        documents = shown(sample)
        slots.append(documents.index(sample.span_texts("gold")[0]) / len(documents))
    assert chisquare(np.histogram(slots, bins=10, range=(0, 1))[0]).pvalue > 0.001
    depths = [sample.plan.factors["depth"] for sample in five_hundred]
    assert len(set(depths)) > 480
    assert len({sample.item_hash for sample in five_hundred}) == 500
    assert len({tuple(shown(sample)) for sample in five_hundred}) == 500


def test_a_gold_span_holds_an_answer(five_hundred: list[Sample]) -> None:
    for sample in five_hundred:
        (gold,) = sample.span_texts("gold")
        assert any(form in gold for form in sample.plan.answers[0])


def plans(asked: QuestionAnswering, count: int) -> list[Plan]:
    return [asked.plan(item_key(asked, 0, index), SOURCES) for index in range(count)]


def test_in_file_order_the_first_500_questions_come_from_four_articles() -> None:
    documents = SOURCES.questions("squad").documents
    articles = [documents.article_of(plan.facts["gold"][0]) for plan in plans(task(), 500)]
    assert len(set(articles)) == 4
    shuffled = plans(task(questions="shuffled"), 500)
    assert len({documents.article_of(plan.facts["gold"][0]) for plan in shuffled}) == 35
    assert len({plan.facts["question_index"] for plan in shuffled}) == 500


def test_items_go_round_the_questions() -> None:
    count = len(SOURCES.questions("squad"))
    for order in ("file_order", "shuffled"):
        asked = task(questions=order)
        first, again = (asked.plan(item_key(asked, 0, index), SOURCES) for index in (5, count + 5))
        assert first.facts["question"] == again.facts["question"]
        assert first.factors != again.factors


def test_documents_of_the_same_article_come_first_but_do_not_stand_first() -> None:
    documents = SOURCES.questions("squad").documents
    sample = made(task(), 0, 32768)
    first, end = documents.article_of(sample.plan.facts["gold"][0])
    article = {documents.text(index) for index in range(first, end)}
    places = [place for place, text in enumerate(shown(sample)) if text in article]
    assert len(places) == len(article)
    assert 0.3 < np.mean(places) / len(shown(sample)) < 0.7
    small = shown(made(task(), 0, 4096))
    assert set(small) <= article
    few = [text in article for text in shown(made(task(distractors="uniform"), 0, 32768))]
    assert sum(few) < len(few) / 4


def test_a_set_that_runs_out_is_shown_whole() -> None:
    sample = made(task(), 0, 262144)
    assert sample.fit.size == task().sizes(sample.plan, SOURCES)[1] == 1203
    assert len(set(shown(sample))) == len(SOURCES.questions("squad").documents) == 1204


def test_most_of_hotpotqa_does_not_fit_1k() -> None:
    asked = task(dataset="hotpotqa")
    fits = [sampler().fit(asked, plan, 1024) for plan in plans(asked, 100)]
    assert sum(fit is None for fit in fits) > 80
    assert sampler().smallest_length(asked, 0) > 1024


def test_without_documents_the_question_stands_alone() -> None:
    asked = task(context="none")
    sample = made(asked, 0, 4096)
    assert sample.text == (
        "Answer the question. Only give me the answer and do not output any other words.\n\n"
        "Question: In what country is Normandy located?"
    )
    assert whole(sample) == sample.fit.prompt_tokens
    assert sample.fit.size == 0
    assert made(asked, 0, 131072).item_hash == sample.item_hash
    assert sample.plan.answers == made(task(), 0, 4096).plan.answers


def test_an_added_set_is_asked_like_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    samplers = [sampler("cl100k_base"), sampler("o200k_base")]
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))
    for name in ("squad", "hotpotqa"):
        add(FIXTURES / f"questions_{name}.json", f"my-{name}")
        asked = task(dataset=f"my-{name}")
        sources = Sources(offline=True)
        for known in samplers:
            by = Sampler(known.frame, known.counter, sources, 0)
            for index in range(6):
                sample = made(asked, index, 512, by)
                assert len(shown(sample)) == 4
                assert whole(sample, by) == sample.fit.prompt_tokens

from __future__ import annotations

import re
from collections import Counter as Tally
from itertools import product
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import chisquare

from leadline.data.gguf_cache import gguf_tokenizer
from leadline.data.loading import load_local_model_path, load_tokenizer
from leadline.data.sources import Sources
from leadline.haystacks.coded_words import CodedWordPool
from leadline.haystacks.vocabulary import Vocabulary
from leadline.items import Draft, Fit, Plan, canonical_json
from leadline.prompt import FrameCounter, named_frame
from leadline.sizing.request import fit_request
from leadline.tasks.base import item_key
from leadline.tasks.common_words import CommonWords, CommonWordsParams
from leadline.tokenizers.counting import Counter

FAMILIAR = ["".join(letters) for letters in product("hjqwx", "aei", "hjqwx", "aei")]
RARE = ["".join(letters) for letters in product("bcdfg", "aeiou", "klmnp", "aeiou", "rstvz")]


class WordSources(Sources):
    """Familiar words are the real ones, the larger list is made up."""

    def __init__(self) -> None:
        super().__init__(offline=True)
        lists = self.words()
        self._made_up = Vocabulary([*lists.nouns, *lists.adjectives, *lists.verbs], RARE)

    def vocabulary(self) -> Vocabulary:
        return self._made_up

    def coded_words(self, length: int) -> CodedWordPool:
        return CodedWordPool(length)


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


def made(**params: Any) -> CommonWords:
    return CommonWords("cwe", CommonWordsParams(**params))


def text_of(draft: Draft) -> str:
    return "".join(piece.text for piece in draft.pieces)


def list_of(draft: Draft, kind: str = "haystack") -> list[str]:
    """The words of the list, once its numbering has been checked."""
    text = next(piece.text for piece in draft.pieces if piece.kind == kind)
    if kind == "example":
        text = text.split("\n")[1]
    parts = text.split(" ")
    assert parts[0::2] == [f"{number}." for number in range(1, len(parts) // 2 + 1)]
    return parts[1::2]


def answers_of(plan: Plan) -> list[str]:
    return [forms[0] for forms in plan.answers]


def fitted(
    task: CommonWords, sources: WordSources, counter: FrameCounter, length: int, index: int = 0
) -> tuple[Plan, Fit, Draft]:
    plan = task.plan(item_key(task, 7, index), sources)
    fit = fit_request(task, plan, length, counter, sources)
    assert fit is not None
    return plan, fit, task.draft(plan, fit, sources)


def is_within(shorter: list[str], longer: list[str]) -> bool:
    rest = iter(longer)
    return all(word in rest for word in shorter)


def test_the_prompt_is_the_published_one(sources: WordSources) -> None:
    task = made()
    plan = task.plan(item_key(task, 7, 0), sources)
    draft = task.draft(plan, Fit(20, 0), sources)
    head = (
        "Below is a numbered list of words. In these words, some appear more often than others. "
        "Memorize the ones that appear most often.\n"
    )
    question = "\nQuestion: What are the 10 most common words in the above list?"
    prefix = " Answer: The top 10 words that appear most often in the list are:"
    words = r"1\. [a-z]+(?: \d+\. [a-z]+)*"
    example = re.escape(head) + words + re.escape(question + prefix) + words + "\n"
    assert re.fullmatch(example + re.escape(head) + words + re.escape(question), text_of(draft))
    assert draft.answer_prefix == prefix


def test_the_worked_example_has_forty_words_and_names_its_common_ones(sources: WordSources) -> None:
    task = made()
    plan = task.plan(item_key(task, 7, 0), sources)
    draft = task.draft(plan, Fit(20, 0), sources)
    tally = Tally(list_of(draft, "example"))
    assert sorted(tally.values()) == [3] * 30 + [10] * 10
    example = next(piece.text for piece in draft.pieces if piece.kind == "example")
    named = re.findall(r"\d+\. ([a-z]+)", example.rpartition(":")[2])
    assert sorted(named) == sorted(word for word, times in tally.items() if times == 10)
    assert not set(tally) & set(list_of(draft))


def test_no_example_where_none_is_wanted(sources: WordSources) -> None:
    task = made(examples="none")
    plan = task.plan(item_key(task, 7, 0), sources)
    assert text_of(task.draft(plan, Fit(5, 0), sources)).count("Below is") == 1
    assert plan.answers == made().plan(item_key(made(), 7, 0), sources).answers


def test_the_worked_example_can_be_a_turn_of_its_own(sources: WordSources, counter: FrameCounter) -> None:
    _, fit, draft = fitted(made(examples="turns"), sources, counter, 4096)
    assert text_of(draft).count("Below is") == 1
    ((question, answer),) = draft.turns
    assert question.endswith("Question: What are the 10 most common words in the above list?")
    assert answer.startswith(" Answer: The top 10 words that appear most often in the list are:1. ")
    assert counter.whole(text_of(draft), draft.answer_prefix, draft.turns) == fit.prompt_tokens <= 4096 - 120


@pytest.mark.parametrize("length", [4096, 16384])
def test_frequencies_are_exact_and_no_answer_is_part_of_another_word(
    sources: WordSources, counter: FrameCounter, length: int
) -> None:
    plan, _, draft = fitted(made(), sources, counter, length)
    tally = Tally(list_of(draft))
    answers = answers_of(plan)
    assert len(set(answers)) == 10
    assert {tally.pop(answer) for answer in answers} == {30}
    assert set(tally.values()) == {3}
    others = [*tally, *list_of(draft, "example")]
    assert not any(answer in word or word in answer for answer in answers for word in others)
    assert not any(one in other for one in answers for other in answers if one != other)


@pytest.mark.parametrize("length", [1024, 4096, 16384])
def test_counts_are_exact_and_the_next_unit_is_over(sources: WordSources, counter: FrameCounter, length: int) -> None:
    task = made().at_length(length)
    for index in range(3):
        plan, fit, draft = fitted(task, sources, counter, length, index)
        assert counter.whole(text_of(draft), draft.answer_prefix) == fit.prompt_tokens <= length - 120
        more = task.draft(plan, Fit(fit.size + 1, 0), sources)
        assert counter.whole(text_of(more), more.answer_prefix) > length - 120


def test_mean_fill(sources: WordSources, counter: FrameCounter) -> None:
    fills = [(fitted(made(), sources, counter, 4096, index)[1].prompt_tokens + 120) / 4096 for index in range(10)]
    assert np.mean(fills) >= 0.98


def test_a_longer_list_holds_the_shorter_one_in_order(sources: WordSources, counter: FrameCounter) -> None:
    short = fitted(made(), sources, counter, 4096)[2]
    long = fitted(made(), sources, counter, 8192)[2]
    assert is_within(list_of(short), list_of(long))
    assert list_of(short, "example") == list_of(long, "example")


def test_the_same_item_is_the_same_in_any_order_of_making(sources: WordSources, counter: FrameCounter) -> None:
    large = fitted(made(), sources, counter, 8192, 3)
    small = fitted(made(), sources, counter, 4096, 3)
    for index in range(20, 40):
        made().plan(item_key(made(), 7, index), sources)
    assert fitted(made(), WordSources(), counter, 4096, 3) == small
    assert fitted(made(), WordSources(), counter, 8192, 3) == large
    assert canonical_json(dict(small[0].facts))


def test_slots_differ_between_samples_and_are_uniform(sources: WordSources) -> None:
    layouts: set[tuple[int, ...]] = set()
    thirds = np.zeros(10)
    for index in range(60):
        task = made()
        plan = task.plan(item_key(task, 7, index), sources)
        words = list_of(task.draft(plan, Fit(100, 0), sources))
        slots = [slot for slot, word in enumerate(words) if word == plan.answers[0][0]]
        layouts.add(tuple(slots))
        thirds += np.histogram(np.array(slots) / len(words), bins=10, range=(0, 1))[0]
    assert len(layouts) == 60
    assert chisquare(thirds).pvalue > 0.001


def test_words_of_the_larger_list_come_after_all_familiar_ones(counter: FrameCounter) -> None:
    class FewWords(WordSources):
        def __init__(self) -> None:
            super().__init__()
            self._made_up = Vocabulary(FAMILIAR, RARE)

    few = FewWords()
    task = made()
    plan, fit, draft = fitted(task, few, counter, 131072)
    _, greatest = task.sizes(plan, few)
    assert fit.size == greatest
    words = list(dict.fromkeys(list_of(draft)))
    assert len(set(words)) > 600
    assert set(list_of(task.draft(plan, Fit(150, 0), few))).isdisjoint(RARE)
    assert counter.whole(text_of(draft), draft.answer_prefix) == fit.prompt_tokens


def test_the_vocabulary_can_be_limited(sources: WordSources, counter: FrameCounter) -> None:
    _, fit, draft = fitted(made(vocabulary_size=50), sources, counter, 16384)
    assert len(set(list_of(draft))) == 50
    assert fit.prompt_tokens < 8192


def test_below_4096_it_is_another_task(sources: WordSources, counter: FrameCounter) -> None:
    task = made()
    assert task.at_length(4096) is task
    short = task.at_length(2048)
    assert item_key(short, 7, 0) != item_key(task, 7, 0)
    plan, _, draft = fitted(short, sources, counter, 2048)
    tally = Tally(list_of(draft))
    assert {tally.pop(answer) for answer in answers_of(plan)} == {6}
    assert set(tally.values()) == {1}
    assert sorted(Tally(list_of(draft, "example")).values()) == [1] * 10 + [3] * 10


def test_what_was_set_by_hand_stays_in_the_short_form() -> None:
    short = made(freq_cw=12).at_length(1024).params
    assert (short.freq_cw, short.freq_ucw, short.example) == (12, 3, "short")
    assert made(example="full").at_length(1024).params.example == "full"


@pytest.mark.parametrize(
    ("name", "params"), [("freq_ucw", {"freq_ucw": 30}), ("vocabulary_size", {"vocabulary_size": 10})]
)
def test_settings_without_a_right_answer_are_refused(name: str, params: dict[str, int]) -> None:
    with pytest.raises(ValidationError) as caught:
        made(**params)
    assert caught.value.errors()[0]["loc"] == (name,)

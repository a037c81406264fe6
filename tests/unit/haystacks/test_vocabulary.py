from __future__ import annotations

import numpy as np
import pytest

from leadline.data.gguf_cache import gguf_tokenizer
from leadline.data.loading import load_local_model_path, load_tokenizer
from leadline.haystacks.pools import DisplayOrder
from leadline.haystacks.vocabulary import Candidates, NumberedList, Vocabulary, WordOrder
from leadline.seeds import rng_for
from leadline.tokenizers.counting import Counter

FAMILIAR = ["cat", "house", "river", "stone", "cat", "lamp"]
LARGER = ["catalogue", "ox", "house", "zebra", "iron", "lam", "quilt", "amber"]


def numbered_list(common: list[str]) -> tuple[Vocabulary, NumberedList]:
    vocabulary = Vocabulary(FAMILIAR, LARGER)
    order = WordOrder(vocabulary, rng_for(1, "familiar"), rng_for(1, "rare"))
    candidates = Candidates(vocabulary, order, 0, common)
    return vocabulary, NumberedList(common, 4, candidates, 2, DisplayOrder(lambda: rng_for(1, "list")))


@pytest.fixture(scope="module", params=["cl100k", "local model"])
def counter(request: pytest.FixtureRequest) -> Counter:
    if request.param == "cl100k":
        return Counter(load_tokenizer("cl100k_base", offline=True))
    return Counter(gguf_tokenizer(load_local_model_path(offline=True)))


def test_the_vocabulary_has_the_familiar_words_first_and_no_word_twice() -> None:
    vocabulary = Vocabulary(FAMILIAR, LARGER)
    words = vocabulary.take(np.arange(vocabulary.size))
    assert words[: vocabulary.familiar] == ["cat", "house", "river", "stone", "lamp"]
    assert words[vocabulary.familiar :] == ["amber", "catalogue", "iron", "lam", "quilt", "zebra"]


def test_an_order_has_every_word_once_and_the_familiar_ones_first() -> None:
    vocabulary = Vocabulary(FAMILIAR, LARGER)
    order = WordOrder(vocabulary, rng_for(2, "familiar"), rng_for(2, "rare"))
    whole = order.take(0, vocabulary.size).tolist()
    assert sorted(whole) == list(range(vocabulary.size))
    assert sorted(whole[: vocabulary.familiar]) == list(range(vocabulary.familiar))
    assert order.take(3, 5).tolist() == whole[3:8]
    assert list(order.familiar_words()) == vocabulary.take(np.array(whole[: vocabulary.familiar]))


def test_words_that_hold_an_answer_or_are_part_of_one_stay_out() -> None:
    vocabulary, numbered = numbered_list(["cat", "lamp"])
    words = numbered.words(vocabulary.size)
    assert words.count("cat") == words.count("lamp") == 4
    others = set(words) - {"cat", "lamp"}
    assert others == {"house", "river", "stone", "amber", "iron", "quilt", "zebra"}
    assert all(words.count(word) == 2 for word in others)


def test_the_limit_on_distinct_words_counts_those_that_are_listed() -> None:
    _, numbered = numbered_list(["cat", "lamp"])
    for distinct in range(3, 9):
        assert len(set(numbered.words(numbered.candidates(distinct)))) == distinct


def test_the_running_sum_is_the_count_of_the_finished_list(counter: Counter) -> None:
    vocabulary, numbered = numbered_list(["cat", "lamp"])
    running = numbered.running(counter, vocabulary.size)
    around = counter.whole("Below:\nQuestion")
    for size in range(vocabulary.size + 1):
        text = vocabulary.labels.numbered(numbered.words(size))
        assert running[size] == counter.whole(f"Below:\n{text}\nQuestion") - around


def test_labels_are_counted_as_they_stand_however_many_are_asked_for(counter: Counter) -> None:
    labels = Vocabulary(FAMILIAR, LARGER).labels
    few, many = labels.running(counter, 3), labels.running(counter, 250)
    assert many[:4].tolist() == few.tolist()
    text = labels.numbered(["cat"] * 250)
    assert many[250] == counter.text(text) - 250 * counter.text(" cat")

"""What is read out of prompts: the same as their makers knew."""

from __future__ import annotations

from typing import Any, cast

import pytest

from leadline.interop.ruler_texts import shape, understand
from leadline.interop.understood import Understood
from leadline.tasks.registry import make_task

from .conftest import LLAMA, make_sample

TASKS = ("niah_single_1", "niah_multikey_2", "niah_multikey_3", "vt", "vt_chains_2", "cwe", "fwe")


def read(name: str, index: int = 0) -> Understood:
    sample = make_sample(name, index)
    outputs = [forms[0] for forms in sample.plan.answers]
    understood = understand(make_task(name), LLAMA.before + sample.text + LLAMA.middle + sample.answer_prefix, outputs)
    assert understood is not None
    return understood


def span_texts(understood: Understood, kind: str) -> list[str]:
    return [understood.text[span.start : span.end] for span in understood.spans if span.kind == kind]


@pytest.mark.parametrize("name", TASKS)
def test_the_chat_template_is_left_out(name: str) -> None:
    assert read(name).text == make_sample(name).text


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("kind", ["needle", "question"])
def test_what_is_planted_is_marked(name: str, kind: Any) -> None:
    assert span_texts(read(name), kind) == make_sample(name).span_texts(kind)


@pytest.mark.parametrize("name", TASKS)
def test_facts_are_those_of_the_plan(name: str) -> None:
    facts, known = read(name).facts, make_sample(name).plan.facts
    for fact in ("query", "given", "distractors", "item_pattern", "value"):
        assert facts.get(fact) == known.get(fact), fact
    assert [chain["names"] for chain in facts.get("chains", ())] == [
        chain["names"] for chain in known.get("chains", ())
    ]
    if name.startswith("vt"):
        assert facts["example"][0]["names"] == known["example"][0]["names"]
    if name == "cwe":
        assert facts["example"]["common"] == known["example"]["common"]
        assert set(facts["example"]["uncommon"]) == set(known["example"]["uncommon"])


@pytest.mark.parametrize("name", [name for name in TASKS if name not in ("cwe", "fwe")])
@pytest.mark.parametrize("index", range(3))
def test_depth_is_where_the_needle_was_planted(name: str, index: int) -> None:
    factors = read(name, index).factors
    planted = make_sample(name, index).plan.factors
    assert cast("float", factors["depth"]) == pytest.approx(cast("float", planted["depth"]), abs=5)
    assert factors.get("haystack") == planted.get("haystack")


def test_several_needles_in_prose() -> None:
    text = (
        "Some special magic numbers are hidden within the following text. Make sure to memorize it. I will quiz you "
        "about the numbers afterwards.\nShips sail. One of the special magic numbers for old-boat is: 1111111. Gulls "
        "cry. One of the special magic numbers for new-oar is: 2222222. Tides turn. One of the special magic numbers "
        "for red-sail is: 3333333. Ropes creak.\nWhat are all the special magic numbers for old-boat, and red-sail "
        "mentioned in the provided text? The special magic numbers for old-boat, and red-sail mentioned in the "
        "provided text are"
    )
    understood = understand(make_task("niah_multiquery"), text, ["3333333", "1111111"])
    assert understood is not None
    assert understood.facts["query"] == ["old-boat", "red-sail"]
    assert understood.facts["distractors"] == ["2222222"]
    assert understood.factors["haystack"] == "essay"
    assert cast("float", understood.factors["depth"]) > 50  # of the first reference
    assert span_texts(understood, "distractor") == ["One of the special magic numbers for new-oar is: 2222222."]


DOCUMENTS = (
    "Answer the question based on the given documents. Only give me the answer and do not output any other words.\n\n"
    "The following are given documents.\n\nDocument 1:\nThe pilot boat is green.\n\nIt is old.\n\nDocument 2:\nThe "
    "ferry was built in Harwich by two brothers.\n\nDocument 3:\nThe tug has no name.\n\nAnswer the question based on "
    "the given documents. Only give me the answer and do not output any other words.\n\nQuestion: Where was the ferry "
    "built? Answer:"
)


def test_the_golden_document_is_the_one_with_the_answer() -> None:
    understood = understand(make_task("qa_1"), DOCUMENTS, ["harwich", "in Harwich"])
    assert understood is not None
    assert span_texts(understood, "gold") == ["The ferry was built in Harwich by two brothers."]
    assert span_texts(understood, "haystack") == ["The pilot boat is green.\n\nIt is old.", "The tug has no name."]
    assert understood.factors == {"depth": 50.0}
    assert understood.facts["question"] == "Where was the ferry built?"


@pytest.mark.parametrize("answers", [["the"], ["Rotterdam"]])
def test_no_depth_where_several_documents_or_none_could_be_golden(answers: list[str]) -> None:
    understood = understand(make_task("qa_1"), DOCUMENTS, answers)
    assert understood is not None
    assert understood.factors == {}


@pytest.mark.parametrize("name", [*TASKS, "qa_1"])
def test_another_template_is_not_understood(name: str) -> None:
    assert understand(make_task(name), "Where is the pilot boat, and what colour has it?", ["green"]) is None


def test_answers_have_a_shape_without_a_prompt() -> None:
    assert shape(make_task("vt"), ["ABCDE"]) == {"item_pattern": "[A-Z]{5}"}
    assert shape(make_task("niah_single_1"), ["1234567"]) == {"item_pattern": r"\d{7}"}
    assert shape(make_task("qa_2"), ["Harwich"]) == {}

"""The rules for failure kinds beside labels that were made by reading a real small model's answers."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from leadline.data.loading import load_tokenizer
from leadline.data.sources import Sources
from leadline.items import Sample
from leadline.prompt import FrameCounter, named_frame
from leadline.sampler import Sampler
from leadline.scoring.failures import JUDGED, FailureKind, failure_kind
from leadline.scoring.failures_labelled import Agreement, LabelledAnswer
from leadline.tasks.registry import RULER_TASKS, make_task
from leadline.tokenizers import counting

FILE = Path(__file__).parents[2] / "data" / "labelled_answers.jsonl"
LABELLED = [LabelledAnswer.from_json(line) for line in FILE.read_text(encoding="utf-8").splitlines()]

ANSWERS = 215
LEAST_AGREED = 200
"""203 of 215 agree as the rules stand: 94.4 %. A change of the rules may lose three."""

LABELS: dict[FailureKind, int] = {
    "empty": 2,
    "copied_example": 11,
    "copied_context": 62,
    "cut_uuid": 1,
    "neighbour": 4,
    "distractor_value": 31,
    "duplicated": 27,
    "not_in_context": 67,
    "cut_by_budget": 10,
}
LEAST_FOUND: dict[FailureKind, int] = {
    "empty": 2,
    "copied_example": 10,
    "copied_context": 59,
    "cut_uuid": 1,
    "neighbour": 2,
    "distractor_value": 26,
    "duplicated": 26,
    "not_in_context": 61,
    "cut_by_budget": 9,
}
"""Of each kind's labels, how many the rules must find."""

QUOTED_WORDS = 8
"""So many words in a row of an essay or a document are a quotation, which must not stand in the repository."""


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    """The samples of all labelled answers, made again from their keys."""
    tokenizer = load_tokenizer("cl100k_base")
    frame = named_frame("base", tokenizer)
    sampler = Sampler(frame, FrameCounter(counting.Counter(tokenizer), frame), Sources(), 42)
    made: list[Sample] = []
    for labelled in LABELLED:
        item, length = labelled.key.item, labelled.key.length
        task = make_task(item.task, json.loads(item.params)).at_length(length)
        made.append(sampler.remake(task, labelled.key, labelled.fit, None))
    return made


@pytest.fixture(scope="module")
def kinds(samples: list[Sample]) -> list[FailureKind | None]:
    """What the rules say of each."""
    pairs = zip(samples, LABELLED, strict=True)
    return [failure_kind(sample, labelled.answer, labelled.outcome) for sample, labelled in pairs]


def test_labels_are_of_the_items_that_are_made_now(samples: list[Sample]) -> None:
    changed = [
        f"{labelled.key.item.task} {labelled.key.item.index} at {labelled.key.length}"
        for sample, labelled in zip(samples, LABELLED, strict=True)
        if sample.item_hash != labelled.item_hash
    ]
    assert changed == [], "ask and label these again"


def test_every_kind_that_the_model_shows_is_there() -> None:
    assert len(LABELLED) == ANSWERS == len({labelled.key for labelled in LABELLED})
    assert Counter(labelled.label for labelled in LABELLED) == LABELS
    answered_right = {"niah_single_1"}
    assert {labelled.key.item.task for labelled in LABELLED} >= set(RULER_TASKS) - answered_right
    assert all(labelled.outcome in JUDGED and labelled.reason for labelled in LABELLED)


def test_no_answer_quotes_a_text_under_licence(samples: list[Sample]) -> None:
    for sample, labelled in zip(samples, LABELLED, strict=True):
        quoted: list[str] = []
        if sample.plan.factors.get("haystack") == "essay":
            quoted = sample.span_texts("haystack")
        elif "question" in sample.plan.facts:
            quoted = sample.span_texts("haystack", "gold", "question")
        text = " ".join(" ".join(quoted).split())
        words = labelled.answer.split()
        for at in range(len(words) - QUOTED_WORDS + 1):
            assert " ".join(words[at : at + QUOTED_WORDS]) not in text, labelled.key


def test_the_rules_agree_with_the_labels(kinds: list[FailureKind | None]) -> None:
    agreement = Agreement.of(zip((labelled.label for labelled in LABELLED), kinds, strict=True))
    assert agreement.answers == ANSWERS
    assert agreement.agreed >= LEAST_AGREED
    assert {kind: agreement.both(kind) for kind in LABELS if agreement.both(kind) < LEAST_FOUND[kind]} == {}
    assert agreement.judged(None) == 0


def test_agreement_beyond_chance() -> None:
    agreement = Agreement.of([("empty", "empty"), ("empty", "empty"), ("partial", "partial"), ("partial", "empty")])
    assert (agreement.answers, agreement.agreed) == (4, 3)
    assert (agreement.labelled("empty"), agreement.judged("empty"), agreement.both("empty")) == (2, 3, 2)
    assert agreement.chance() == 0.5
    assert agreement.kappa() == 0.5
    assert Agreement.of([("partial", None), ("empty", "empty")]).judged(None) == 1


@pytest.mark.parametrize("change", [{"label": "tired"}, {"outcome": "bored"}, {"fit": None}, {"key": {}}])
def test_a_line_that_is_no_labelled_answer_is_refused(change: dict[str, object]) -> None:
    line = FILE.read_text(encoding="utf-8").splitlines()[0]
    with pytest.raises(ValueError, match="not a labelled answer"):
        LabelledAnswer.from_json(json.dumps({**json.loads(line), **change}))


def test_reasons_are_sentences() -> None:
    assert all(re.fullmatch(r"[^\s].{4,198}[^\s]", labelled.reason) for labelled in LABELLED)

"""Questions without their documents."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.no_context import NoContext
from leadline.analysis.summary import summarise
from leadline.items import NO_CONTEXT, ItemKey, TrialKey
from leadline.records import Outcome, Record
from leadline.requests import Response

DESIGN = Design(
    "quick", "stub", "published", (1024, 2048),
    (TaskDesign("qa_1", "qa", binary=True), TaskDesign("vt", "tracing", binary=True)), 3,
)  # fmt: skip


def record(index: int, text: str, length: int = 1024, task: str = "qa_1", outcome: Outcome = "answered") -> Record:
    key = TrialKey(ItemKey(task, 1, '{"context":"documents"}', 42, index), length)
    return Record(key, None, None, None, 9, {}, (("Paris",),), {}, Response(text), outcome)


def alone(index: int, text: str, task: str = "qa_1", outcome: Outcome = "answered") -> Record:
    with_documents = record(index, text, task=task, outcome=outcome)
    item = replace(with_documents.key.item, params='{"context":"none"}')
    return replace(with_documents, key=TrialKey(item, 1024, NO_CONTEXT))


def baseline(*records: Record) -> NoContext:
    (found,) = summarise(records, DESIGN).no_context
    return found


def test_the_score_without_documents_stands_beside_the_cells() -> None:
    summary = summarise([record(0, "Paris"), alone(0, "Paris"), alone(1, "Rome")], DESIGN)
    (found,) = summary.no_context
    assert (found.task, found.right, found.n, found.score) == ("qa_1", 1, 2, 50)
    assert found.low < 50 < found.high
    assert summary.cell("qa_1", 1024).n == 1
    assert summary.as_dict()["no_context"] == [found.as_dict()]


def test_a_wrong_answer_that_is_what_it_says_without_documents_is_counted() -> None:
    found = baseline(
        alone(0, "The Rome."), record(0, "rome"), record(0, "Oslo", 2048),  # the same, and another
        alone(1, "Paris"), record(1, "Rome"),  # right without, wrong with
        alone(2, "Rome"), record(2, "Paris"),  # right with documents
        record(3, "Rome"),  # not asked without
    )  # fmt: skip
    assert (found.wrong, found.same) == (3, 1)


def test_the_newest_answer_counts_and_empty_ones_are_not_alike() -> None:
    assert baseline(alone(0, ""), record(0, "")).same == 0
    assert baseline(alone(0, "Rome"), record(0, "Rome"), record(0, "Paris")).wrong == 0
    assert baseline(alone(0, "Rome"), alone(0, "Paris")).right == 1
    assert not summarise([alone(0, "x", outcome="failed")], DESIGN).no_context


@pytest.mark.parametrize("made", [record(0, "Paris"), alone(0, "Paris", task="vt")])
def test_without_such_questions_there_is_no_baseline(made: Record) -> None:
    summary = summarise([made], DESIGN)
    assert not summary.no_context and "no_context" not in summary.as_dict()

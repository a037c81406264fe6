"""Answers against targets: the published rule, and the strict one beside it."""

from __future__ import annotations

import pytest

from leadline.scoring.matching import Targets, clean, recall, strict

NUMBER = r"\d{7}"
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
ONE_UUID = "6c1f5a2e-9f6b-4c53-8d57-0d4f2ab81c11"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("  1234567\n", "1234567"),
        ("<think>is it 7654321?</think> 1234567", "1234567"),
        ("<think>a<think>b</think>c</think> 1234567", "1234567"),
        ("perhaps 7654321</think>1234567", "1234567"),
        ("1234567 <think>or is it 7654321", "1234567"),
        ("12<think>x</think>34", "12\n34"),
        ("a</think>b<think>c", "b"),
        ("one\ttwo\x00three\x85four", "one\ntwo\nthree\nfour"),
        ("", ""),
    ],
)
def test_clean_leaves_the_answer(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_reasoning_markers_are_the_callers() -> None:
    assert clean("[R]7654321[/R] 1234567", (("[R]", "[/R]"),)) == "1234567"
    assert clean("<think>x</think>y", ()) == "<think>x</think>y"


@pytest.mark.parametrize(
    ("answer", "targets", "score"),
    [
        ("1234567", (("1234567",),), 1.0),
        ("91234567890", (("1234567",),), 1.0),  # the published rule does not look at boundaries
        ("The ANSWER is Paris.", (("paris",),), 1.0),
        ("one and three", (("one",), ("two",), ("three",), ("four",)), 0.5),
        ("in 1066", (("1066", "the year 1066", "AD 1066"),), 1.0),
        ("", (("1234567",),), 0.0),
        ("anything", (("",),), 0.0),
    ],
)
def test_recall(answer: str, targets: Targets, score: float) -> None:
    assert recall(answer, targets) == score


@pytest.mark.parametrize(
    ("answer", "targets", "pattern", "score"),
    [
        ("1234567", (("1234567",),), NUMBER, 1.0),
        ("The number is 1234567.", (("1234567",),), NUMBER, 1.0),
        ("91234567890", (("1234567",),), NUMBER, 0.0),
        ("1,234,567", (("1234567",),), NUMBER, 1.0),
        ("1234567 or 7654321", (("1234567",),), NUMBER, 0.0),
        ("1234567, 1234567", (("1234567",),), NUMBER, 1.0),
        ("1234567 and 7654321", (("1234567",), ("7654321",)), NUMBER, 1.0),
        ("1234567", (("1234567",), ("7654321",)), NUMBER, 2 / 3),
        ("1234567 7654321 1111111", (("1234567",), ("7654321",)), NUMBER, 0.8),
        ("1111111 2222222", (("1234567",), ("7654321",)), NUMBER, 0.0),
        ("catalog", (("cat",),), r"[a-z]+", 0.0),
        (ONE_UUID.upper(), ((ONE_UUID,),), UUID, 1.0),
        (ONE_UUID[:-1], ((ONE_UUID,),), UUID, 0.0),
        ("ABCDE, FGHIJ", (("ABCDE",), ("FGHIJ",)), r"[A-Z]{5}", 1.0),
        ("the words ABCDE then FGHIJ", (("ABCDE",), ("FGHIJ",)), r"[A-Z]{5}", 1.0),  # lower-case words are no items
    ],
)
def test_strict_with_a_pattern(answer: str, targets: Targets, pattern: str, score: float) -> None:
    assert strict(answer, targets, pattern=pattern) == pytest.approx(score)


@pytest.mark.parametrize(
    ("answer", "forms", "score"),
    [
        ("The Denver Broncos.", ("Denver Broncos",), 1.0),
        ("denver  broncos", ("Carolina Panthers", "Denver Broncos"), 1.0),
        ("Denver Broncos won", ("Denver Broncos",), 0.0),
        ("I do not know", ("no",), 0.0),
        ("9,984", ("9984",), 1.0),
        ("9984", ("9,984",), 1.0),
        ("King’s College", ("King's College",), 1.0),
        ("", ("The",), 0.0),
        ("the", ("The",), 1.0),
        ("", ("x",), 0.0),
    ],
)
def test_strict_without_a_pattern_compares_the_whole_answer(answer: str, forms: tuple[str, ...], score: float) -> None:
    assert strict(answer, (forms,)) == score


def test_distractors_count_as_extras_without_a_pattern() -> None:
    assert strict("Paris, not Rome", (("Paris",),), distractors=["Rome", "Oslo"]) == 0.0
    assert strict("Paris of course", (("Paris",),), distractors=["Rome"]) == 1.0
    assert strict("Paris Rome Bern", (("Paris",), ("Bern",)), distractors=["Rome"]) == pytest.approx(0.8)


def test_items_that_the_question_names_are_no_extras() -> None:
    answer, targets, pattern = "the word for hot-dog is cold-cat", (("cold-cat",),), "[a-z]+-[a-z]+"
    assert strict(answer, targets, pattern=pattern) == 0.0
    assert strict(answer, targets, pattern=pattern, given=["hot-dog"]) == 1.0


def test_an_answer_cannot_be_scored_without_a_target() -> None:
    with pytest.raises(ValueError, match="without a target"):
        recall("x", ())
    with pytest.raises(ValueError, match="without a target"):
        strict("x", ())

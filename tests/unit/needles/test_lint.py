"""The lint finds what it is there to find."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.needles.lint import lint
from leadline.needles.open_set import load_open_set
from leadline.needles.reading import read_needle_set


def _entry(**changes: Any) -> dict[str, Any]:
    return {
        "id": "0901",
        "reasoning_type": "world_knowledge",
        "system_prompt": "",
        "needle": "Last week, {CHAR} rowed along {1}.",
        "questions": {"onehop": "Which character knows {2}?"},
        "character_set": ["Quentin", "Rosalind"],
        "tests": {"T01": {"input_args": ["the Vltava", "Prague"]}},
    } | changes


def _found(haystack: str | None = None, **changes: Any) -> set[tuple[str, str, str]]:
    findings = lint(read_needle_set([_entry(**changes)], "mine.json"), haystack)
    assert all("\n" not in finding.message for finding in findings)
    return {(finding.severity, finding.check, finding.where) for finding in findings}


def test_a_sound_set_has_no_findings() -> None:
    assert _found() == set()
    assert _found("A haystack without any of it.") == set()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"questions": {"onehop": "Who rows in {2}?"}}, ("error", "shared word", "0901/T01/onehop")),
        ({"questions": {"onehop": "Who was along in {2}?"}}, ("error", "overlap", "mine.json")),
        ({"character_set": ["Rosa", "Rosalind"]}, ("error", "name in a name", "Rosa")),
        ({"character_set": ["Rosalind", "Rosalind"]}, ("error", "name twice", "0901")),
        ({"character_set": ["Prague", "Tobias"]}, ("error", "name in the text", "0901/T01/onehop")),
        ({"needle": "Last week, {CHAR} rowed along {1} {Char}."}, ("error", "placeholder", "0901/T01/onehop")),
        ({"needle": "Last week, {CHAR} rowed along {1} {sic}."}, ("warning", "placeholder", "0901/T01/onehop")),
        ({"distractors": {"onehop": "A map lay open."}}, ("warning", "distractor", "0901/T01/onehop")),
        ({"distractors": {"onehop": "{1} is in {2}."}}, ("error", "distractor", "0901/T01/onehop")),
        ({"distractors": {"onehop": "{CHAR} is in {2}."}}, ("error", "distractor", "0901/T01/onehop")),
    ],
)
def test_what_is_wrong_with_a_set(changes: dict[str, Any], expected: tuple[str, str, str]) -> None:
    assert expected in _found(**changes)


def test_a_pair_that_comes_twice_is_a_warning() -> None:
    tests = {number: {"input_args": ["the Vltava", "Prague"]} for number in ("T01", "T02")}
    assert _found(tests=tests) == {("warning", "duplicate", "0901/T02/onehop")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("said Quentin.", {("error", "name in the haystack", "Quentin")}),
        ("down the\nVltava", {("error", "keyword in the haystack", "the Vltava")}),
        ("down a Vltava", {("error", "keyword in the haystack", "the Vltava")}),
        ("in Prague, of course", {("error", "keyword in the haystack", "Prague")}),
        ("Quentins and Pragues and vltavas", set()),
    ],
)
def test_what_is_wrong_with_a_haystack(text: str, expected: set[tuple[str, str, str]]) -> None:
    assert _found(text) == expected


def test_a_small_letter_keyword_is_found_in_any_case() -> None:
    found = lint(load_open_set(), "Blind faith, na sodium, NEW\tZealand, New\tZealand.")
    assert [finding.where for finding in found] == ["New Zealand", "sodium", "blind"]


def test_direct_questions_may_repeat_their_needle() -> None:
    assert _found(questions={"direct": "Which character rowed along {1}?"}) == set()

"""The scores of a record."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.items import ItemKey, TrialKey
from leadline.records import Outcome, Record
from leadline.requests import Response
from leadline.scoring.trials import Scored, score

KEY = TrialKey(ItemKey("niah_single_1", 1, "{}", 42, 0), 4096)


def record(text: str | None, outcome: Outcome = "answered", facts: dict[str, Any] | None = None) -> Record:
    response = None if text is None else Response(text)
    return Record(KEY, None, None, None, None, {}, (("1234567",),), facts or {}, response, outcome)


@pytest.mark.parametrize(
    ("outcome", "scored"),
    [
        ("answered", Scored(1.0, 1.0)),
        ("truncated_output", Scored(1.0, 1.0)),
        ("refused", Scored(0.0, 0.0)),
        ("filtered", Scored(0.0, 0.0)),
        ("degenerate", Scored(0.0, 0.0)),
        ("over_length", Scored(0.0, 0.0)),
        ("truncated_prompt", None),
        ("failed", None),
        ("does_not_fit", None),
    ],
)
def test_each_outcome_scores_by_the_policy(outcome: Outcome, scored: Scored | None) -> None:
    assert score(record("1234567", outcome)) == scored


def test_facts_steer_the_strict_score() -> None:
    assert score(record("1234567 7654321", facts={"item_pattern": r"\d{7}"})) == Scored(1.0, 0.0)
    assert score(record("1234567 7654321", facts={"item_pattern": r"\d{7}", "given": ["7654321"]})) == Scored(1.0, 1.0)
    assert score(record("1234567 blue", facts={"distractors": ["blue"]})) == Scored(1.0, 0.0)
    assert score(record("1234567 blue", facts={"distractors": [3, "red"]})) == Scored(1.0, 1.0)


def test_the_answer_is_cleaned_first() -> None:
    assert score(record("<think>1234567</think> 7654321")) == Scored(0.0, 0.0)


def test_a_record_scores_the_same_after_its_line_was_read_back() -> None:
    kept = record("1234567 7654321", facts={"item_pattern": r"\d{7}", "distractors": ("7654321",)})
    assert score(Record.from_json(kept.to_json())) == score(kept) == Scored(1.0, 0.0)

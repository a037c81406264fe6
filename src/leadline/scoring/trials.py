"""The scores of one trial, from its record alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leadline.records import Record
from leadline.scoring.matching import THINK, ReasoningMarkers, clean, recall, strict
from leadline.scoring.policy import POLICY


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of a trial, each 0 to 1."""

    recall: float
    strict: float


def score(record: Record, reasoning_markers: ReasoningMarkers = THINK) -> Scored | None:
    """Scores of a record; None where its outcome is not scored.

    Four facts of the plan steer the strict score: ``item_pattern`` (the shape of an item, a regular expression),
    ``distractors`` (values planted to mislead), ``names`` (all that could have been the answer) and ``given`` (items
    that the question itself names). ``case_sensitive`` makes the case count (NoLiMa's rule).

    Raises:
        ValueError: an answered record has no target.
    """
    treatment = POLICY[record.outcome]
    if treatment == "zero":
        return Scored(0.0, 0.0)
    if treatment != "as_it_is" or record.response is None:
        return None
    answer = clean(record.response.text or "", reasoning_markers)
    pattern = record.facts.get("item_pattern")
    return Scored(
        recall=recall(answer, record.answers, case_sensitive=record.facts.get("case_sensitive") is True),
        strict=strict(
            answer,
            record.answers,
            distractors=(*_texts(record.facts, "distractors"), *_texts(record.facts, "names")),
            pattern=None if pattern is None else str(pattern),
            given=_texts(record.facts, "given"),
        ),
    )


def _texts(facts: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A fact that is a list of texts; anything else is none."""
    values = facts.get(name)
    if not isinstance(values, list | tuple):
        return ()
    return tuple(value for value in values if isinstance(value, str))

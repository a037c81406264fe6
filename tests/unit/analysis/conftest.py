"""Records and length scores, made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.lengths import LengthScore
from leadline.items import ItemKey, TrialKey
from leadline.records import Outcome, Record
from leadline.requests import Response

MakeRecord = Callable[..., Record]
MakeScores = Callable[..., tuple[LengthScore, ...]]


@pytest.fixture
def make_record() -> MakeRecord:
    """A record of a task with one target, ``yes``; the share of right answers is up to the caller."""

    def make(
        task: str, length: int, index: int, text: str | None = "yes", outcome: Outcome = "answered", targets: int = 1
    ) -> Record:
        response = None if text is None else Response(text, prompt_tokens=length, output_tokens=2)
        answers = (("yes",), ("aye",), ("oui",), ("ja",))[:targets]
        key = TrialKey(ItemKey(task, 1, "{}", 42, index), length)
        return Record(key, None, None, None, length, {}, answers, {"item_pattern": "[a-z]+"}, response, outcome)

    return make


@pytest.fixture
def design() -> Design:
    """Two categories, three tasks, two lengths, four samples."""
    return Design(
        suite="quick",
        model="a-model",
        protocol="published",
        lengths=(1024, 2048),
        tasks=(
            TaskDesign("niah", "retrieval", binary=True),
            TaskDesign("keys", "retrieval", binary=True),
            TaskDesign("vt", "tracing", binary=False),
        ),
        samples=4,
    )


@pytest.fixture
def make_scores() -> MakeScores:
    """Length scores from 1K up, doubling; None is an incomplete length."""

    def make(scores: Sequence[float | None], half_width: float | None = None) -> tuple[LengthScore, ...]:
        return tuple(
            LengthScore(
                length=1024 * 2**place,
                n=100,
                score=score,
                low=None if half_width is None or score is None else score - half_width,
                high=None if half_width is None or score is None else score + half_width,
                strict=score,
                categories={"retrieval": score},
                incomplete_categories=frozenset(() if score is not None else ("retrieval",)),
                complete=score is not None,
                simultaneous=None
                if half_width is None or score is None
                else (score - half_width - 1, score + half_width + 1),
            )
            for place, score in enumerate(scores)
        )

    return make

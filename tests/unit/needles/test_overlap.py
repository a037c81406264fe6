"""ROUGE precision: the published figures come out of our own texts."""

from __future__ import annotations

from typing import cast

import pytest

from leadline.errors import UsageError
from leadline.items import Fit, ItemKey, Plan
from leadline.needles.open_set import load_open_set
from leadline.needles.overlap import PUBLISHED, overlap, overlap_of
from leadline.tasks.base import Sources
from leadline.tasks.niah import Niah, NiahParams


def _niah_texts() -> tuple[str, str]:
    """Question and needle of RULER's S-NIAH, by its own templates."""
    plan = Plan(
        ItemKey("niah_single_1", 1, "{}", 42, 0),
        factors={},
        answers=(("8231764",),),
        facts={"query": ["ruddy-harbor"], "needles": [{"key": "ruddy-harbor", "value": "8231764", "place": 0.5}]},
    )
    task = Niah("niah_single_1", NiahParams.model_validate({"type_haystack": "repeat"}))
    # Noise sentences stand in the task itself: it asks its sources for nothing.
    draft = task.draft(plan, Fit(1, 100), cast(Sources, None))
    question = next(piece.text for piece in draft.pieces if piece.kind == "question")
    return question, next(piece.text for piece in draft.pieces if piece.kind == "needle")


def test_the_figures_of_single_needles_are_reproduced() -> None:
    found = overlap([_niah_texts()])
    assert found.rouge_1 == pytest.approx(0.571, abs=0.002)
    assert found.rouge_2 == pytest.approx(0.461, abs=0.002)
    assert found.rouge_l == pytest.approx(0.500, abs=0.002)


def test_precision_counts_the_words_of_the_question() -> None:
    found = overlap([("who walked there", "Ravi walks home"), ("a b", "a b c d")])
    assert (found.rouge_1, found.rouge_2, found.count) == (pytest.approx((1 / 3 + 1) / 2), 0.5, 2)


def test_our_set_is_below_the_published_one() -> None:
    found = overlap_of(load_open_set())
    assert found.count == 80
    assert found.rouge_1 <= PUBLISHED.rouge_1
    assert found.rouge_2 <= PUBLISHED.rouge_2
    assert found.rouge_l <= PUBLISHED.rouge_l


def test_direct_questions_are_measured_alone() -> None:
    direct = load_open_set("direct")
    assert overlap_of(direct, direct=True).rouge_1 > 0.5
    with pytest.raises(UsageError):
        overlap_of(direct)

"""A run with something of everything: passes and fails, an absent cell, an incomplete one, cut answers."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.summary import Summary, summarise
from leadline.analysis.verdict import verdict
from leadline.items import ItemKey, TrialKey
from leadline.records import Outcome, Record
from leadline.requests import Response

HOSTILE = '<script>alert("x")</script>'


class Run(NamedTuple):
    summary: Summary
    design: Design
    verdict: str


def design_of(lengths: tuple[int, ...], threshold: float | None = None, model: str = HOSTILE) -> Design:
    return Design(
        suite="quick",
        model=model,
        protocol="published",
        lengths=lengths,
        tasks=(
            TaskDesign("niah_single_1", "retrieval", binary=True),
            TaskDesign(f"keys {HOSTILE}", "retrieval", binary=True),
            TaskDesign("vt", "tracing", binary=True),
        ),
        samples=4,
        threshold_absolute=threshold,
    )


def records_of(design: Design, outcomes: dict[tuple[str, int], Outcome], wrong_from: int) -> list[Record]:
    made: list[Record] = []
    for task in design.tasks:
        for length in design.lengths:
            for index in range(design.samples):
                outcome = outcomes.get((task.name, length), "answered") if index == 0 else "answered"
                text = "no" if length >= wrong_from and index % 2 else "yes, and more"
                response = Response(text, prompt_tokens=length, output_tokens=3)
                key = TrialKey(ItemKey(task.name, 1, "{}", 1, index), length)
                answers = (("yes",),)
                made.append(Record(key, None, None, None, length, {}, answers, {}, response, outcome))
    return made


def run_of(
    lengths: tuple[int, ...] = (1024, 2048, 4096),
    outcomes: dict[tuple[str, int], Outcome] | None = None,
    threshold: float | None = None,
    wrong_from: int = 4096,
) -> Run:
    design = design_of(lengths, threshold)
    summary = summarise(records_of(design, outcomes or {}, wrong_from), design)
    return Run(summary, design, verdict(summary, design))


@pytest.fixture(scope="session")
def plain() -> Run:
    return run_of()


@pytest.fixture(scope="session")
def mixed() -> Run:
    outcomes: dict[tuple[str, int], Outcome] = {
        ("vt", 1024): "does_not_fit",
        ("niah_single_1", 2048): "truncated_output",
        ("niah_single_1", 4096): "failed",
    }
    return run_of(outcomes=outcomes, threshold=85.6)


@pytest.fixture(scope="session")
def wide() -> Run:
    return run_of(lengths=tuple(1024 * 2**place for place in range(13)))


@pytest.fixture(scope="session")
def empty() -> Run:
    design = design_of((1024, 2048))
    summary = summarise([], design)
    return Run(summary, design, verdict(summary, design))

"""Whether a model is weak before length is a difficulty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from leadline.analysis.cells import Trial, make_cell
from leadline.analysis.control import WEAK_BELOW, ShortControl, short_control
from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.effective import effective_lengths
from leadline.analysis.lengths import length_scores
from leadline.analysis.summary import Summary

TASKS = (TaskDesign("niah", "retrieval", binary=True), TaskDesign("qa", "qa", binary=True))
MakeRun = Callable[..., tuple[Summary, Design]]
N = 40


@pytest.fixture
def make_run() -> MakeRun:
    """A run with so many right answers of 40 for each task, shortest length first."""

    def made(niah: tuple[int, ...], qa: tuple[int, ...], threshold: float | None = None) -> tuple[Summary, Design]:
        lengths = tuple(1024 << place for place in range(len(niah)))
        design = Design("s", "m", "published", lengths, TASKS, N, threshold_absolute=threshold)
        cells = tuple(
            make_cell(
                task,
                length,
                [Trial("answered", float(place < right), float(place < right)) for place in range(N)],
                N,
            )
            for task, rights in zip(TASKS, (niah, qa), strict=True)
            for length, right in zip(lengths, rights, strict=True)
        )
        scores = length_scores(cells, design)
        effective = effective_lengths(scores, design, ["niah", "qa"])
        return Summary("m", "s", "published", lengths, cells, scores, effective, None, None, None, ()), design

    return made


def control_of(run: tuple[Summary, Design], bound: float | None = None) -> ShortControl | None:
    summary, design = run
    return short_control(summary.by_length, summary.cells, design, bound=bound)


def test_a_strong_model_needs_no_caveat(make_run: MakeRun) -> None:
    control = control_of(make_run((40, 20), (38, 10)))
    assert control is not None
    assert (control.length, control.bound, control.strength) == (1024, WEAK_BELOW, "strong")
    assert control.caveat("1K") is None


def test_a_model_that_is_weak_at_the_shortest_length_gets_one(make_run: MakeRun) -> None:
    control = control_of(make_run((16, 16), (16, 16)))
    assert control is not None
    assert control.strength == "weak"
    assert "weak at 1K already, where length is no difficulty: it scores 40.0 there, below 70" in (
        control.caveat("1K") or ""
    )


def test_one_weak_task_is_named(make_run: MakeRun) -> None:
    control = control_of(make_run((40, 40), (8, 8)), bound=50.0)
    assert control is not None
    assert control.strength != "weak"
    assert [weak.task for weak in control.weak_tasks] == ["qa"]
    assert control.caveat("1K") == "weak at 1K already, where length is no difficulty: qa (20)"


def test_a_score_that_could_be_either_is_unsure(make_run: MakeRun) -> None:
    control = control_of(make_run((28, 20), (28, 20)))
    assert control is not None
    assert control.strength == "unsure"


def test_the_absolute_threshold_is_the_bound_and_another_may_be_given(make_run: MakeRun) -> None:
    run = make_run((40, 20), (30, 10), threshold=99.0)
    of_design, given = control_of(run), control_of(run, bound=50.0)
    assert of_design is not None
    assert given is not None
    assert (of_design.bound, of_design.strength) == (99.0, "weak")
    assert (given.bound, given.strength) == (50.0, "strong")


def test_nothing_measured_says_nothing() -> None:
    assert short_control((), (), Design("s", "m", "published", (), TASKS, N)) is None


def test_a_run_of_greater_lengths_has_its_control_beside_it(make_run: MakeRun) -> None:
    summary, design = make_run((40, 20), (38, 10))
    longer = replace(design, control_length=512)
    assert short_control(summary.by_length, summary.cells, longer) is None
    beside = {
        task: [Trial("answered", score, score, (index,)) for index in range(5)]
        for task, score in (("niah", 1.0), ("qa", 0.0))
    }
    control = short_control(summary.by_length, summary.cells, longer, beside)
    assert control is not None
    assert (control.length, control.score, control.n, control.own) == (512, 50.0, 10, False)
    assert control.caveat("512") == (
        "weak at 512 already (a control of 10 trials), where length is no difficulty: qa (0)"
    )
    own = replace(design, control_length=1024)
    found = short_control(summary.by_length, summary.cells, own, beside)
    assert found is not None and found.own and found.length == 1024


def test_a_control_that_is_weak_says_what_it_is(make_run: MakeRun) -> None:
    summary, design = make_run((40, 20), (38, 10))
    wrong = [Trial("answered", 0.0, 0.0, (index,)) for index in range(5)]
    longer = replace(design, control_length=512)
    control = short_control(summary.by_length, summary.cells, longer, {"niah": wrong, "qa": wrong})
    assert control is not None and control.strength == "weak"
    assert (control.caveat("512") or "").startswith("it is weak at 512 already (a control of 10 trials)")

"""Cells from trials."""

from __future__ import annotations

import pytest

from leadline.analysis.bounded_mean import betting_interval
from leadline.analysis.cells import Trial, make_cell
from leadline.analysis.design import Design, TaskDesign

ONE = TaskDesign("niah", "retrieval", binary=True)
MANY = TaskDesign("vt", "tracing", binary=False)
RIGHT, WRONG = Trial("answered", 1.0, 1.0), Trial("answered", 0.0, 0.0)
FAILED, REFUSED = Trial("failed", None, None), Trial("refused", 0.0, 0.0)
TOO_LONG, MISFIT = Trial("over_length", 0.0, 0.0), Trial("does_not_fit", None, None)


def test_a_cell_is_the_mean_in_per_cent_with_its_interval() -> None:
    cell = make_cell(ONE, 1024, [RIGHT, RIGHT, RIGHT, WRONG], samples=4)
    assert (cell.score, cell.strict, cell.n, cell.complete, cell.absent) == (75.0, 75.0, 4, True, False)
    assert (cell.low, cell.high) == pytest.approx((30.06, 95.44), abs=0.01)
    assert cell.outcomes == {"answered": 4}


def test_partial_scores_have_a_betting_interval() -> None:
    half = Trial("answered", 0.5, 0.25)
    for task in (ONE, MANY):
        cell = make_cell(task, 1024, [half, RIGHT], samples=2)
        assert (cell.score, cell.strict) == (75.0, 62.5)
        low, high = betting_interval([0.5, 1.0])
        assert (cell.low, cell.high) == pytest.approx((100 * low, 100 * high))


def test_a_task_of_several_targets_that_is_right_everywhere_does_not_collapse() -> None:
    cell = make_cell(MANY, 1024, [RIGHT] * 500, samples=500)
    assert cell.high == 100
    assert cell.low is not None and 98.5 < cell.low < 99.5


def test_the_order_of_the_answers_changes_nothing() -> None:
    trials = [Trial("answered", (index % 5) / 4, 0.0, (1, "{}", 42, index)) for index in range(40)]
    assert make_cell(MANY, 1024, trials, samples=40) == make_cell(MANY, 1024, trials[::-1], samples=40)


def test_two_wordings_of_an_item_are_one_unit() -> None:
    trials = [Trial("answered", 1.0, 1.0, (1, "{}", 42, index)) for index in range(10)]
    once, twice = (make_cell(ONE, 1024, asked, samples=10) for asked in (trials, trials * 2))
    assert (once.low, once.high) == (twice.low, twice.high)


def test_the_metric_chooses_the_score() -> None:
    loose = Trial("answered", 1.0, 0.0)
    assert make_cell(TaskDesign("x", "y", "strict", binary=True), 1024, [loose, RIGHT], samples=2).score == 50.0


def test_failed_trials_are_not_scored_and_leave_the_cell_incomplete() -> None:
    cell = make_cell(ONE, 1024, [RIGHT, WRONG, FAILED, FAILED], samples=4)
    assert (cell.score, cell.n, cell.complete) == (50.0, 2, False)
    assert cell.outcomes == {"answered": 2, "failed": 2}


def test_refused_trials_score_0() -> None:
    cell = make_cell(ONE, 1024, [RIGHT, REFUSED], samples=2)
    assert (cell.score, cell.n, cell.complete) == (50.0, 2, True)


def test_one_item_that_does_not_fit_makes_the_cell_absent() -> None:
    cell = make_cell(ONE, 1024, [RIGHT, RIGHT, MISFIT], samples=4)
    assert (cell.score, cell.low, cell.strict, cell.n, cell.absent, cell.complete) == (None, None, None, 0, True, True)


def test_a_length_that_was_refused_scores_0_with_the_number_asked() -> None:
    cell = make_cell(ONE, 1024, [TOO_LONG], samples=100)
    assert (cell.score, cell.n, cell.complete) == (0.0, 1, True)
    assert cell.high is not None and cell.high < 5


def test_trials_that_were_not_asked_after_a_refusal_count_as_0() -> None:
    assert make_cell(ONE, 1024, [RIGHT, TOO_LONG], samples=4).score == 25.0


@pytest.mark.parametrize(("stopped", "complete"), [(False, False), (True, True)])
def test_fewer_trials_are_a_gap_unless_a_stop_rule_decided(stopped: bool, complete: bool) -> None:
    assert make_cell(ONE, 1024, [RIGHT, RIGHT], samples=4, stopped=stopped).complete is complete


def test_a_cell_that_was_never_asked_is_incomplete() -> None:
    cell = make_cell(ONE, 1024, [], samples=4, stopped=True)
    assert (cell.score, cell.n, cell.complete, cell.absent) == (None, 0, False, False)


@pytest.mark.parametrize("lengths", [(2048, 1024), (1024, 1024)])
def test_lengths_must_ascend(lengths: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="ascend"):
        Design("s", "m", "published", lengths, (ONE,), 1)


def test_names_of_tasks_must_differ() -> None:
    with pytest.raises(ValueError, match="twice"):
        Design("s", "m", "published", (1024,), (ONE, ONE), 1)

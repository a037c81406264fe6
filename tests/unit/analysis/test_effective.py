"""Effective lengths: every way a run can end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from leadline.analysis.design import Design
from leadline.analysis.effective import all_shorter_pass, effective_lengths, greatest_passing
from leadline.analysis.lengths import LengthScore, average, weighted_average
from leadline.analysis.standings import Threshold

MakeScores = Callable[..., tuple[LengthScore, ...]]
AT_85 = Threshold(85.0, 85.0, 85.0)
TASKS = ("niah", "keys", "vt")


@pytest.mark.parametrize(
    ("scores", "greatest", "strict"),
    [
        ([95, 90, 60], (2048, None), (2048, None)),
        ([95, 90, 85], (4096, "above"), (4096, "above")),
        ([80, 70, 60], (None, "below"), (None, "below")),
        ([95, 80, 90, 60], (4096, None), (1024, None)),  # the two rules part
        ([80, 90, 60], (2048, None), (None, "below")),
        ([95, 80, 90], (4096, "above"), (1024, None)),
        ([95, None, 60], (1024, None), (1024, None)),
        ([95, None, 90], (4096, "above"), (1024, None)),
        ([95, 90, None], (2048, None), (2048, None)),
        ([None, 90, 60], (2048, None), (None, None)),
        ([None, 60], (None, None), (None, None)),
        ([60, None], (None, None), (None, "below")),
        ([85 - 1e-12], (1024, "above"), (1024, "above")),
        ([84.999], (None, "below"), (None, "below")),
        ([], (None, None), (None, None)),
    ],
)
def test_both_rules(
    make_scores: MakeScores,
    scores: Sequence[float | None],
    greatest: tuple[int | None, str | None],
    strict: tuple[int | None, str | None],
) -> None:
    found = greatest_passing(make_scores(scores), AT_85)
    assert (found.value, found.censored) == greatest
    found = all_shorter_pass(make_scores(scores), AT_85)
    assert (found.value, found.censored) == strict


@pytest.mark.parametrize(
    ("scores", "half_width", "confidence"),
    [
        ([95, 90, 60], 4, 0.95),
        ([95, 90, 60], 6, None),  # 90 - 6 could fail
        ([95, 90, 82], 4, None),  # 82 + 4 could pass
        ([80, 95, 60], 4, 0.95),  # shorter lengths decide nothing
        ([95, 90, 60], None, None),
        ([70, 60, 50], 4, 0.95),
        ([80, 60, 50], 6, None),
        ([95, 90, 95], 4, 0.95),
        ([95, 90, None], 4, None),
    ],
)
def test_confidence_asks_every_deciding_interval_to_be_clear(
    make_scores: MakeScores, scores: Sequence[float | None], half_width: float | None, confidence: float | None
) -> None:
    assert greatest_passing(make_scores(scores, half_width), AT_85).confidence == confidence


@pytest.mark.parametrize(
    ("scores", "half_width", "greatest", "strict"),
    [
        ([95, 90, 60], 2, ((2048,), False), ((2048,), False)),
        ([95, 95, 95], 2, ((4096,), False), ((4096,), False)),
        ([60, 60], 2, ((), True), ((), True)),
        ([95, 86, 84], 2, ((1024, 2048, 4096), False), ((1024, 2048, 4096), False)),
        ([95, 86, 60], 2, ((1024, 2048), False), ((1024, 2048), False)),
        ([86, 95, 60], 2, ((2048,), False), ((2048,), True)),
        ([95, 60, 86], 2, ((1024, 4096), False), ((1024,), False)),
        ([86, 60], 2, ((1024,), True), ((1024,), True)),
        ([95, None, 60], 2, ((1024, 2048), False), ((1024, 2048), False)),
        ([95, 88, 60], 2.5, ((1024, 2048), False), ((1024, 2048), False)),  # clear alone, not with the others
    ],
)
def test_the_set_holds_what_cannot_be_excluded(
    make_scores: MakeScores,
    scores: Sequence[float | None],
    half_width: float,
    greatest: tuple[tuple[int, ...], bool],
    strict: tuple[tuple[int, ...], bool],
) -> None:
    made = make_scores(scores, half_width)
    for found, wanted in ((greatest_passing(made, AT_85), greatest), (all_shorter_pass(made, AT_85), strict)):
        assert found.possible is not None
        assert (found.possible.lengths, found.possible.below) == wanted


def test_without_intervals_there_is_no_set(make_scores: MakeScores) -> None:
    assert greatest_passing(make_scores([95, 60]), AT_85).possible is None


def test_the_relative_threshold_is_a_share_of_the_shortest_score(make_scores: MakeScores, design: Design) -> None:
    relative = effective_lengths(make_scores([50, 45, 40]), design, TASKS).relative
    assert (relative.value, relative.censored, relative.threshold) == (2048, None, 42.5)


def test_the_relative_threshold_brings_its_own_interval(make_scores: MakeScores, design: Design) -> None:
    scores = make_scores([90, 80, 40], 2)
    assert effective_lengths(scores, design, TASKS).relative.confidence is None  # 78 against 0.85 x 92 = 78.2
    scores = make_scores([90, 81, 40], 2)
    assert effective_lengths(scores, design, TASKS).relative.confidence == 0.95


@pytest.mark.parametrize(
    ("scores", "reason"),
    [([0, 0], "zero_at_shortest"), ([None, 50], "incomplete"), ([90], "one_length"), ([], "no_threshold")],
)
def test_no_relative_claim(
    make_scores: MakeScores, design: Design, scores: Sequence[float | None], reason: str
) -> None:
    relative = effective_lengths(make_scores(scores), design, TASKS).relative
    assert (relative.value, relative.censored, relative.no_claim) == (None, None, reason)


def test_no_absolute_claim_without_all_tasks_it_speaks_of(make_scores: MakeScores, design: Design) -> None:
    asked = replace(design, threshold_absolute=85.6, claims_tasks=(*TASKS, "cwe"))
    absolute = effective_lengths(make_scores([95, 90]), asked, TASKS).absolute
    assert absolute.as_dict() == {"value": None, "censored": None, "threshold": 85.6, "confidence": None}
    assert absolute.no_claim == "missing_tasks"
    absolute = effective_lengths(make_scores([95, 90]), asked, (*TASKS, "cwe")).absolute
    assert absolute.as_dict() == {"value": 2048, "censored": "above", "threshold": 85.6, "confidence": None}


def test_the_strict_variant_follows_the_absolute_rule_where_it_is_claimed(
    make_scores: MakeScores, design: Design
) -> None:
    scores = make_scores([95, 84, 90])
    assert effective_lengths(scores, design, TASKS).strict.value == 4096
    asked = replace(design, threshold_absolute=85.6, claims_tasks=TASKS)
    assert effective_lengths(scores, asked, TASKS).strict.value == 1024


def test_averages(make_scores: MakeScores) -> None:
    scores = make_scores([90, 60, 30])
    assert average(scores) == 60
    assert weighted_average(scores, [1, 2, 3]) == pytest.approx(50)
    assert weighted_average(scores, [3, 2, 1]) == pytest.approx(70)
    assert average(make_scores([90, None])) is None
    assert weighted_average(make_scores([90, None]), [1, 0]) == 90
    assert average(()) is None


def test_averages_of_a_published_row(make_scores: MakeScores) -> None:
    # RULER, table 3, Llama3.1 (70B): 96.5 95.8 95.4 94.8 88.4 66.6, printed avg 89.6, wAvg (inc) 85.5, wAvg (dec) 93.7.
    scores = make_scores([96.5, 95.8, 95.4, 94.8, 88.4, 66.6])
    assert average(scores) == pytest.approx(89.6, abs=0.06)
    assert weighted_average(scores, [1, 2, 3, 4, 5, 6]) == pytest.approx(85.5, abs=0.06)
    assert weighted_average(scores, [6, 5, 4, 3, 2, 1]) == pytest.approx(93.7, abs=0.06)

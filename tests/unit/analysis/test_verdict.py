"""The verdict's sentence, case by case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from leadline.analysis.design import Design
from leadline.analysis.effective import effective_lengths
from leadline.analysis.lengths import LengthScore
from leadline.analysis.summary import Summary
from leadline.analysis.verdict import format_figure, format_length, verdict

MakeScores = Callable[..., tuple[LengthScore, ...]]
TASKS = ("niah", "keys", "vt")


def summary_of(scores: tuple[LengthScore, ...], design: Design, left_out: tuple[str, ...] = ()) -> Summary:
    present = [task for task in TASKS if task not in left_out]
    lengths = effective_lengths(scores, design, present)
    return Summary("m", "s", "published", design.lengths, (), scores, lengths, None, None, None, left_out)


@pytest.mark.parametrize(
    ("scores", "absolute", "sentence"),
    [
        (
            [90, 82.8, 54.9],
            None,
            "effective length 2K: at 2K it keeps 92 % of its score at 1K (85 % is asked for), at 4K 61 %",
        ),
        ([90, 54.9], None, "effective length 1K: at 2K it keeps 61 % of its score at 1K (85 % is asked for)"),
        ([90, 89, 88.2], None, "effective length >4K: at 4K it keeps 98 % of its score at 1K (85 % is asked for)"),
        ([100, 84.97], None, "effective length 1K: at 2K it keeps 84.97 % of its score at 1K (85 % is asked for)"),
        ([0, 0], None, "no effective length: it scores 0 at 1K, so there is nothing to keep"),
        ([83.21], None, "no effective length: it scores 83.2 at 1K, and no other length was measured"),
        ([None, 80], None, "no effective length yet: 1K is incomplete and neither passes nor fails"),
        (
            [90, None, None],
            None,
            "effective length 1K: no longer length could be judged against its score at 1K; "
            "2K and 4K are incomplete and neither pass nor fail",
        ),
        (
            [90, 60, 80],
            None,
            "effective length >4K: at 4K it keeps 89 % of its score at 1K (85 % is asked for); "
            "with every shorter length passing too, it is 1K",
        ),
        (
            [96, 91.2, 80.2],
            85.6,
            "effective length 2K: it scores 91.2 at 2K and 80.2 at 4K (85.6 is asked for); "
            "by 85 % of its own score at 1K it is 2K",
        ),
        (
            [80, 70],
            85.6,
            "effective length <1K: it scores 80.0 at 1K (85.6 is asked for); by 85 % of its own score at 1K it is >2K",
        ),
        (
            [96, 85.58],
            85.6,
            "effective length 1K: it scores 96.0 at 1K and 85.58 at 2K (85.6 is asked for); "
            "by 85 % of its own score at 1K it is >2K",
        ),
        ([], None, "no effective length: nothing was measured"),
    ],
)
def test_sentence(
    make_scores: MakeScores,
    design: Design,
    scores: Sequence[float | None],
    absolute: float | None,
    sentence: str,
) -> None:
    made = make_scores(scores)
    asked = replace(design, lengths=tuple(score.length for score in made), threshold_absolute=absolute)
    assert verdict(summary_of(made, asked), asked) == sentence


def test_missing_tasks_are_named_by_number(make_scores: MakeScores, design: Design) -> None:
    asked = replace(design, threshold_absolute=85.6, claims_tasks=(*TASKS, *"abcdefghij"))
    sentence = verdict(summary_of(make_scores([90, 82.8]), asked, left_out=("vt",)), asked)
    assert sentence == (
        "effective length >2K: at 2K it keeps 92 % of its score at 1K (85 % is asked for); no absolute effective "
        "length is claimed, because 85.6 speaks of 13 tasks and 2 of them could be measured at all lengths"
    )


def test_without_any_threshold_the_scores_are_told(make_scores: MakeScores, design: Design) -> None:
    asked = replace(design, threshold_relative=None)
    sentence = verdict(summary_of(make_scores([90, 82.8]), asked), asked)
    assert sentence == "no effective length, because no threshold is set: it scores 90.0 at 1K, 82.8 at 2K"


def test_intervals_that_leave_it_open_are_told(make_scores: MakeScores, design: Design) -> None:
    sentence = verdict(summary_of(make_scores([90, 78], 10), design), design)
    assert sentence.endswith("; with this many trials it is not certain at 95 %")
    assert "certain" not in verdict(summary_of(make_scores([90, 20], 5), design), design)


def test_no_task_fits(make_scores: MakeScores, design: Design) -> None:
    sentence = verdict(summary_of(make_scores([None, None]), design, left_out=TASKS), design)
    assert sentence == "no effective length: no task fits all lengths"


@pytest.mark.parametrize(
    ("tokens", "k", "text"),
    [
        (4096, 1024, "4K"),
        (131072, 1024, "128K"),
        (1048576, 1024, "1M"),
        (512, 1024, "512"),
        (4000, 1024, "4000"),
        (1000, 1000, "1K"),
        (250, 1000, "250"),
        (2000000, 1000, "2M"),
        (0, 1024, "0"),
    ],
)
def test_format_length(tokens: int, k: int, text: str) -> None:
    assert format_length(tokens, k) == text


@pytest.mark.parametrize(
    ("value", "bound", "text"),
    [(91.24, 85.6, "91.2"), (85.58, 85.6, "85.58"), (85.6, 85.6, "85.6"), (85.64, 85.6, "85.6"), (0, 85.6, "0.0")],
)
def test_a_figure_shows_on_which_side_of_the_bound_it_is(value: float, bound: float, text: str) -> None:
    assert format_figure(value, bound, 1) == text

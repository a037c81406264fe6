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

from .runs_of_several import run_of

MakeScores = Callable[..., tuple[LengthScore, ...]]
TASKS = ("niah", "keys", "vt")


def summary_of(scores: tuple[LengthScore, ...], design: Design, left_out: tuple[str, ...] = ()) -> Summary:
    present = [task for task in TASKS if task not in left_out]
    lengths = effective_lengths(scores, design, present)
    return Summary("m", "s", "published", design.lengths, (), scores, lengths, None, None, None, left_out)


# The one table of cases: scores at 1K, 2K, ... with the half width of their intervals, the absolute threshold, the
# sentence. Without a threshold the relative one of 85 % decides.
CASES: list[tuple[list[float | None], float | None, float | None, str]] = [
    # no interval: the scores alone decide
    ([96, 91, 80], None, 85.6,
     "effective length 2K: passes 85.6 at 2K, and not at 4K; it scores 91.0 at 2K and 80.0 at 4K; REL 2K"),
    ([96, 85.58], None, 85.6,
     "effective length 1K: passes 85.6 at 1K, and not at 2K; it scores 96.0 at 1K and 85.58 at 2K; REL >2K"),
    # everything certain
    ([96, 91, 70], 2, 85.6,
     "effective length 2K: passes 85.6 at 2K, and not at 4K; it scores 91.0 at 2K and 70.0 at 4K; REL 2K"),
    ([96, 95], 2, 85.6,
     "effective length >2K: passes 85.6 at 2K, the greatest length tested; it scores 95.0 at 2K; REL >2K"),
    ([70, 60], 2, 85.6,
     "effective length <1K: does not pass 85.6 at any length tested; it scores 70.0 at 1K; REL >2K"),
    # one open length: beyond the effective one, after one that fails, the effective one itself, the shortest
    ([96, 95, 85], 2, 85.6,
     "effective length 2K: passes 85.6 at 2K; undecided at 4K; at 95 % it could be 2K or >4K; it scores "
     "95.0 at 2K and 85.0 at 4K; REL >4K"),
    ([96, 70, 85], 2, 85.6,
     "effective length 1K: passes 85.6 at 1K, and not at 2K; undecided at 4K; at 95 % it could be 1K or "
     ">4K; it scores 96.0 at 1K and 70.0 at 2K; REL >4K"),
    ([96, 86, 70], 2, 85.6,
     "effective length 2K: passes 85.6 at 1K, and not at 4K; undecided at 2K; at 95 % it could be 1K or "
     "2K; it scores 86.0 at 2K and 70.0 at 4K; REL 2K"),
    ([86, 70], 2, 85.6,
     "effective length 1K: passes 85.6 at no length for certain, and not at 2K; undecided at 1K; at 95 % "
     "it could be <1K or 1K; it scores 86.0 at 1K and 70.0 at 2K; REL 1K"),
    ([85, 70], 2, 85.6,
     "effective length <1K: does not pass 85.6 at any length tested; undecided at 1K; at 95 % it could be "
     "<1K or 1K; it scores 85.0 at 1K; REL 1K"),
    # several, and one that matters no more because a longer length passes
    ([90, 86, 84], 6, 85.6,
     "effective length 2K: passes 85.6 at no length for certain; undecided at 1K, 2K and 4K; at 95 % it "
     "could be <1K, 1K, 2K or >4K; it scores 86.0 at 2K and 84.0 at 4K; REL >4K"),
    ([96, 85, 95, 70], 2, 85.6,
     "effective length 4K: passes 85.6 at 4K, and not at 8K; it scores 95.0 at 4K and 70.0 at 8K; REL 4K; "
     "with every shorter length passing too, it is 1K"),
    # certain by itself, not by all lengths together
    ([96, 89, 70], 3, 85.6,
     "effective length 2K: passes 85.6 at 2K, and not at 4K; at 95 % it could be 1K or 2K; it scores 89.0 "
     "at 2K and 70.0 at 4K; REL 2K"),
    # incomplete lengths
    ([96, None, 70], 2, 85.6,
     "effective length 1K: passes 85.6 at 1K, and not at 4K; at 95 % it could be 1K or 2K; it scores 96.0 "
     "at 1K and 70.0 at 4K; REL 1K; 2K is incomplete and neither passes nor fails"),
    ([None, 80], None, None, "no effective length yet: 1K is incomplete and neither passes nor fails"),
    # by the model's own score
    ([90, 82.8, 54.9], None, None,
     "effective length 2K: passes 76.5 (85 % of its score at 1K) at 2K, and not at 4K; it scores 82.8 at "
     "2K and 54.9 at 4K"),
    ([90, 89, 88.2], None, None,
     "effective length >4K: passes 76.5 (85 % of its score at 1K) at 4K, the greatest length tested; it "
     "scores 88.2 at 4K"),
    ([100, 84.97], None, None,
     "effective length 1K: passes 85.0 (85 % of its score at 1K) at 1K, and not at 2K; it scores 100.0 at "
     "1K and 84.97 at 2K"),
    ([90, None, None], None, None,
     "effective length 1K: passes 76.5 (85 % of its score at 1K) at 1K; it scores 90.0 at 1K; 2K and 4K "
     "are incomplete and neither pass nor fail"),
    ([90, 60, 80], None, None,
     "effective length >4K: passes 76.5 (85 % of its score at 1K) at 4K, the greatest length tested; it "
     "scores 80.0 at 4K; with every shorter length passing too, it is 1K"),
    ([90, 78, 20], 10, None,
     "effective length 2K: passes 76.5 (85 % of its score at 1K) at 1K, and not at 4K; undecided at 2K; "
     "at 95 % it could be 1K or 2K; it scores 78.0 at 2K and 20.0 at 4K"),
    # nothing to claim
    ([0, 0], None, None, "no effective length: it scores 0 at 1K, so there is nothing to keep"),
    ([83.21], None, None, "no effective length: it scores 83.2 at 1K, and no other length was measured"),
    ([], None, None, "no effective length: nothing was measured"),
]  # fmt: skip


@pytest.mark.parametrize(("scores", "half_width", "absolute", "sentence"), CASES)
def test_sentence(
    make_scores: MakeScores,
    design: Design,
    scores: Sequence[float | None],
    half_width: float | None,
    absolute: float | None,
    sentence: str,
) -> None:
    made = make_scores(scores, half_width)
    asked = replace(design, lengths=tuple(score.length for score in made), threshold_absolute=absolute)
    assert verdict(summary_of(made, asked), asked) == sentence.replace("REL", "by 85 % of its own score at 1K it is")


def test_missing_tasks_are_named_by_number(make_scores: MakeScores, design: Design) -> None:
    asked = replace(design, threshold_absolute=85.6, claims_tasks=(*TASKS, *"abcdefghij"))
    sentence = verdict(summary_of(make_scores([90, 82.8]), asked, left_out=("vt",)), asked)
    assert sentence == (
        "effective length >2K: passes 76.5 (85 % of its score at 1K) at 2K, the greatest length tested; it scores 82.8 "
        "at 2K; no absolute effective length is claimed, because 85.6 speaks of 13 tasks and 2 of them could be "
        "measured at all lengths"
    )


def test_without_any_threshold_the_scores_are_told(make_scores: MakeScores, design: Design) -> None:
    asked = replace(design, threshold_relative=None)
    sentence = verdict(summary_of(make_scores([90, 82.8]), asked), asked)
    assert sentence == "no effective length, because no threshold is set: it scores 90.0 at 1K, 82.8 at 2K"


def test_no_task_fits(make_scores: MakeScores, design: Design) -> None:
    sentence = verdict(summary_of(make_scores([None, None]), design, left_out=TASKS), design)
    assert sentence == "no effective length: no task fits all lengths"


def test_lengths_below_the_shortest_that_can_be_effective_are_not_said_to_fail() -> None:
    told = run_of({250: 40, 500: 40, 1000: 0, 2000: 0}, suite="nolima-open").verdict
    assert "does not pass 85.0 (85 % of its base score, 100.0) at any length from 1K on" in told


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

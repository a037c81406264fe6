"""Which runs may share an axis, what they are called, and in which order they stand."""

from __future__ import annotations

import pytest

from leadline.analysis.correlation import TaskCorrelation
from leadline.analysis.several import comparable_groups, correlation_of, distinct_names

from .runs_of_several import NOLIMA, RULER, run_of

FAILS = {4096: 40, 8192: 10, 16384: 0}


def test_suites_protocols_and_needles_never_share_an_axis() -> None:
    runs = [
        run_of(RULER),
        run_of(RULER, protocol="sound"),
        run_of(NOLIMA, suite="nolima-open"),
        run_of(NOLIMA, suite="nolima"),
        run_of(RULER, "other"),
    ]
    groups = comparable_groups(runs)
    assert [(group.suite, group.protocol, group.k, len(group.runs)) for group in groups] == [
        ("ruler", "published", 1024, 2),
        ("ruler", "sound", 1024, 1),
        ("nolima-open", "published", 1000, 1),
        ("nolima", "published", 1000, 1),
    ]


def test_nolima_with_other_needles_is_another_group() -> None:
    runs = [run_of(NOLIMA, suite="nolima", variants={"nolima": name}, folder=name) for name in ("a", "b", "a2", "a")]
    runs[2] = run_of(NOLIMA, suite="nolima", variants={"nolima": "a"}, folder="a2")
    assert [[str(run.folder) for run in group.runs] for group in comparable_groups(runs)] == [["a", "a2", "a"], ["b"]]


def test_the_greatest_effective_length_comes_first_then_the_average() -> None:
    runs = [
        run_of({4096: 10, 8192: 0, 16384: 0}, "below"),
        run_of(FAILS, "four"),
        run_of({4096: 40, 8192: 20, 16384: 0}, "four-and-more"),
        run_of({4096: 40, 8192: 40}, "above-eight"),
        run_of({4096: 40, 8192: 40, 16384: 0}, "eight"),
        run_of(RULER, "all"),
    ]
    (group,) = comparable_groups(runs)
    assert group.names == ("all", "above-eight", "eight", "four-and-more", "four", "below")
    assert (group.lengths, group.shared_lengths) == ((4096, 8192, 16384), (4096, 8192))
    assert group.average(group.runs[-1]) == pytest.approx(12.5), "over the lengths that all of them have"
    assert group.threshold == 85.6


def test_means_are_over_the_tasks_that_are_the_same_in_all_runs() -> None:
    half = run_of(RULER, "half", tasks=("niah",))
    changed = run_of(RULER, "changed", tasks=("niah", "vt"), variants={"niah": "1", "vt": "2"})
    whole = run_of(RULER, "whole", tasks=("niah", "vt"))
    (group,) = comparable_groups([whole, half, changed])
    assert group.tasks == ("niah",)
    assert [score.n for score in group.scores(whole)] == [40, 40, 40]
    assert group.threshold is None, "the score that is asked for speaks of all tasks"
    (alone,) = comparable_groups([whole])
    assert [score.n for score in alone.scores(whole)] == [80, 80, 80]


def test_runs_without_a_common_task_stand_apart() -> None:
    groups = comparable_groups(
        [run_of(RULER, tasks=("niah",)), run_of(RULER, tasks=("vt",)), run_of(RULER, "b", tasks=("vt",))]
    )
    assert [group.tasks for group in groups] == [("niah",), ("vt",)]
    assert len(groups[1].runs) == 2


def test_equal_names_are_told_apart_by_what_differs() -> None:
    runs = [
        run_of(RULER, "m"),
        run_of(RULER, "m", protocol="sound"),
        run_of(NOLIMA, "m", suite="nolima-open"),
        run_of(RULER, "n"),
        run_of(RULER, "n", label="yarn"),
        run_of(RULER, "o"),
        run_of(RULER, "o"),
        run_of(RULER, "o (2)"),
    ]
    assert distinct_names(runs) == [
        "m (ruler, published)", "m (ruler, sound)", "m (nolima-open)", "n", "n (yarn)", "o", "o (2)", "o (2) (2)",
    ]  # fmt: skip


def test_tasks_are_correlated_without_the_runs_that_have_one_task() -> None:
    runs = [run_of(RULER, "a"), run_of(FAILS, "b"), run_of(NOLIMA, suite="nolima-open")]
    found = correlation_of(runs)
    assert isinstance(found, TaskCorrelation)
    assert {model for model, _ in found.scores.points} == {"a", "b"}
    assert isinstance(correlation_of(runs[2:]), str)


def test_tasks_that_score_the_same_everywhere_tell_no_story() -> None:
    assert "0 of 2 do" in str(correlation_of([run_of(RULER, "a"), run_of(RULER, "b")]))

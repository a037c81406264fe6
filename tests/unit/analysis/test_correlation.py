from __future__ import annotations

import math

import pytest

from leadline.analysis.correlation import TaskScores, scores_of_runs, task_correlation
from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.summary import Summary, summarise
from leadline.errors import UsageError
from leadline.items import ItemKey, TrialKey
from leadline.records import Record
from leadline.requests import Response

SAMPLES = 10
RIGHT = {
    "window": {"keys": (10, 5, 2), "lines": (10, 5, 2), "vt": (9, 8, 8), "passkey": (10, 10, 10)},
    "limit": {"keys": (10, 10, 0), "lines": (10, 9, 0), "vt": (2, 9, 4), "passkey": (10, 10, 10)},
    "middle": {"keys": (8, 7, 6), "lines": (8, 7, 6), "vt": (5, 1, 9), "passkey": (10, 10, 10)},
}
"""Right answers of ten, by reader and task, at 1K, 2K and 4K."""


def run_of(model: str, right: dict[str, tuple[int, ...]], lengths: tuple[int, ...] = (1024, 2048, 4096)) -> Summary:
    tasks = tuple(TaskDesign(name, "retrieval", binary=True) for name in right)
    design = Design("quick", model, "published", lengths, tasks, SAMPLES)
    records: list[Record] = []
    for task, counts in right.items():
        for length, count in zip(lengths, counts, strict=True):
            for index in range(SAMPLES):
                text = "yes" if index < count else "no"
                key = TrialKey(ItemKey(task, 1, "{}", 42, index), length)
                response = Response(text, prompt_tokens=length, output_tokens=1)
                records.append(Record(key, None, None, None, length, {}, (("yes",),), {}, response, "answered"))
    return summarise(records, design)


@pytest.fixture
def readers() -> list[Summary]:
    return [run_of(model, right) for model, right in RIGHT.items()]


def matrix_of(*rows: tuple[float, ...]) -> TaskScores:
    names = tuple(f"task_{place}" for place in range(len(rows)))
    return TaskScores(names, tuple(("model", place) for place in range(len(rows[0]))), rows)


def test_the_runs_of_three_readers_show_which_tasks_are_one(readers: list[Summary]) -> None:
    scores = scores_of_runs(readers)
    assert len(scores.points) == 9
    correlation = task_correlation(scores)
    assert correlation.between("keys", "lines") == pytest.approx(0.995, abs=0.005)
    assert {frozenset(group) for group in correlation.clusters(0.9)} == {
        frozenset({"keys", "lines"}),
        frozenset({"vt"}),
        frozenset({"passkey"}),
    }
    redundancy = correlation.redundant(0.9)
    assert [(pair.first, pair.second) for pair in redundancy.pairs] == [("keys", "lines")]
    assert len(redundancy.dropped) == 1 and redundancy.dropped[0] in ("keys", "lines")
    assert set(redundancy.kept) | set(redundancy.dropped) == set(RIGHT["window"])


def test_a_task_with_one_score_everywhere_correlates_with_nothing(readers: list[Summary]) -> None:
    correlation = task_correlation(scores_of_runs(readers))
    assert correlation.constant == ("passkey",)
    assert correlation.between("passkey", "keys") is None
    assert correlation.between("passkey", "passkey") is None
    assert correlation.order[-1] == "passkey"
    assert "passkey" in correlation.redundant(0.0).kept


def test_all_tasks_constant() -> None:
    correlation = task_correlation(matrix_of((1.0, 1.0, 1.0), (2.0, 2.0, 2.0)))
    assert correlation.clusters(0.5) == (("task_0",), ("task_1",))
    assert correlation.redundant(0.5).pairs == ()
    assert correlation.merges == ()


def test_one_task_that_varies_has_itself_alone() -> None:
    correlation = task_correlation(matrix_of((1.0, 1.0, 1.0), (2.0, 3.0, 2.0)))
    assert correlation.matrix == ((None, None), (None, 1.0))
    assert correlation.order == ("task_1", "task_0")


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_the_coefficients_are_the_textbook_s(method: str) -> None:
    first, second = (10.0, 20.0, 30.0, 90.0), (1.0, 2.0, 4.0, 3.0)
    correlation = task_correlation(matrix_of(first, second), "spearman" if method == "spearman" else "pearson")
    if method == "spearman":
        first, second = (1.0, 2.0, 3.0, 4.0), (1.0, 2.0, 4.0, 3.0)
    means = [math.fsum(values) / 4 for values in (first, second)]
    products = math.fsum((a - means[0]) * (b - means[1]) for a, b in zip(first, second, strict=True))
    norms = math.sqrt(math.fsum((a - means[0]) ** 2 for a in first) * math.fsum((b - means[1]) ** 2 for b in second))
    assert correlation.between("task_0", "task_1") == pytest.approx(products / norms)


def test_average_linkage_joins_the_nearest_first() -> None:
    rows = ((1.0, 2.0, 3.0, 4.0), (4.0, 3.0, 2.0, 1.0), (1.0, 2.0, 3.0, 4.5), (4.0, 3.0, 1.5, 1.0))
    correlation = task_correlation(matrix_of(*rows))
    assert {frozenset(group) for group in correlation.clusters(0.9)} == {
        frozenset({"task_0", "task_2"}),
        frozenset({"task_1", "task_3"}),
    }
    assert correlation.clusters(-1.0) == (correlation.order,)
    crossing = [
        value
        for a in ("task_0", "task_2")
        for b in ("task_1", "task_3")
        if (value := correlation.between(a, b)) is not None
    ]
    assert correlation.merges[-1][2] == pytest.approx(1 - math.fsum(crossing) / 4)
    assert correlation.merges[-1][3] == 4


def test_of_a_redundant_pair_the_one_goes_that_the_others_tell_as_well() -> None:
    rows = ((1.0, 2.0, 3.0, 4.0, 5.0), (1.0, 2.0, 3.1, 4.0, 4.6), (5.0, 1.0, 2.0, 3.0, 1.0))
    correlation = task_correlation(matrix_of(*rows))
    to_third = [correlation.between(name, "task_2") for name in ("task_0", "task_1")]
    assert to_third[0] is not None and to_third[1] is not None
    wanted = "task_1" if to_third[1] >= to_third[0] else "task_0"
    assert correlation.redundant(0.95).dropped == (wanted,)


def test_a_task_dropped_once_settles_its_other_pairs() -> None:
    row = (1.0, 2.0, 4.0)
    redundancy = task_correlation(matrix_of(row, row, row)).redundant(1.0)
    assert len(redundancy.pairs) == 3
    assert redundancy.kept == ("task_0",)


def test_tasks_and_points_that_are_not_everywhere_are_left_out(readers: list[Summary]) -> None:
    other = run_of("other", {"keys": (9, 3, 1), "vt": (1, 2, 3)})
    scores = scores_of_runs([*readers, other])
    assert scores.tasks == ("keys", "vt")
    assert scores.left_out_tasks == ("lines", "passkey")
    assert len(scores.points) == 12


def test_two_runs_of_one_model_are_two() -> None:
    scores = scores_of_runs([run_of("same", RIGHT["window"]), run_of("same", RIGHT["limit"])])
    assert {model for model, _ in scores.points} == {"same", "same (2)"}
    assert len(scores.points) == 6


def test_too_little_to_correlate_is_said() -> None:
    with pytest.raises(UsageError, match="3 pairs of model and length at least, and there are 2"):
        scores_of_runs([run_of("short", {"keys": (1, 2), "vt": (2, 1)}, lengths=(1024, 2048))])
    with pytest.raises(UsageError, match="needs two tasks"):
        scores_of_runs([run_of("narrow", {"keys": (1, 2, 3)})])

"""Which tasks tell the same story: correlation of task scores over models and lengths (RULER, figure 5, appendix C).

A task is the vector of its scores over all (model, length) pairs. Two tasks whose vectors correlate highly order
models and lengths alike, and one of them can be left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from leadline.analysis.summary import Summary
from leadline.errors import UsageError
from leadline.reference.tables import length_tokens, read_table

Method = Literal["pearson", "spearman"]
Point = tuple[str, int]

LEAST_POINTS = 3
"""Two points always lie on a line."""

THRESHOLDS = (0.8, 0.9, 0.95, 0.99)
"""Correlations from which a report takes two tasks for one."""

PUBLISHED_CATEGORIES = {"retrieval": "niah", "tracing": "vt", "aggregation": "aggregation", "qa": "qa"}
"""RULER's categories by the table of each (13 to 16)."""

_CONSTANT = 1e-9


@dataclass(frozen=True, slots=True)
class TaskScores:
    """Scores of tasks at the same points.

    Attributes:
        tasks: names.
        points: (model, length in tokens).
        values: one row for each task, one score in per cent for each point.
        left_out_tasks: those that not every run has at all its lengths.
        left_out_points: those that not every task has a score for.

    Raises:
        UsageError: fewer than two tasks or three points.
    """

    tasks: tuple[str, ...]
    points: tuple[Point, ...]
    values: tuple[tuple[float, ...], ...]
    left_out_tasks: tuple[str, ...] = ()
    left_out_points: tuple[Point, ...] = ()

    def __post_init__(self) -> None:
        if len(self.tasks) < 2:
            raise UsageError(f"a correlation needs two tasks, and {len(self.tasks)} is in all runs: give other runs")
        if len(self.points) < LEAST_POINTS:
            raise UsageError(
                f"a correlation needs {LEAST_POINTS} pairs of model and length at least, and there are "
                f"{len(self.points)}: give more runs, or runs of more lengths"
            )


@dataclass(frozen=True, slots=True)
class RedundantPair:
    """Two tasks that correlate at the threshold or above, and which of them adds less to the others."""

    first: str
    second: str
    correlation: float
    drop: str


@dataclass(frozen=True, slots=True)
class Redundancy:
    """What a threshold says.

    Attributes:
        pairs: at or above the threshold, highest first.
        dropped, kept: the tasks to drop, one after the other until no pair is left, and those that remain.
    """

    threshold: float
    pairs: tuple[RedundantPair, ...]
    dropped: tuple[str, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaskCorrelation:
    """Correlations of tasks and the tree that they make.

    Attributes:
        scores: what they are over.
        method: Pearson's r, or Spearman's over ranks.
        matrix: in the order of `scores.tasks`; None beside a constant task, 1 on the diagonal of every other.
        constant: tasks with one score everywhere, which correlate with nothing.
        order: the tasks as the leaves of the tree, neighbours alike; constant ones last.
        merges: (first, second, distance, size) of each step of the clustering, as scipy numbers them: the varying
            tasks from 0 in the order of `scores.tasks`, then one number for each step. Distance is 1 - r.
    """

    scores: TaskScores
    method: Method
    matrix: tuple[tuple[float | None, ...], ...]
    constant: tuple[str, ...]
    order: tuple[str, ...]
    merges: tuple[tuple[int, int, float, int], ...]

    def between(self, first: str, second: str) -> float | None:
        """The correlation of two tasks; None where one of them is constant."""
        tasks = self.scores.tasks
        return self.matrix[tasks.index(first)][tasks.index(second)]

    def clusters(self, threshold: float) -> tuple[tuple[str, ...], ...]:
        """Groups whose mean correlation with one another is at least the threshold, in the order of the leaves.

        A constant task is a group of its own.
        """
        members: dict[int, tuple[str, ...]] = {index: (task,) for index, task in enumerate(self._varying())}
        for step, (first, second, distance, _) in enumerate(self.merges, start=len(members)):
            if 1 - distance >= threshold - _CONSTANT and first in members and second in members:
                members[step] = members.pop(first) + members.pop(second)
        groups = [tuple(sorted(group, key=self.order.index)) for group in members.values()]
        return (*sorted(groups, key=lambda group: self.order.index(group[0])), *((task,) for task in self.constant))

    def redundant(self, threshold: float) -> Redundancy:
        """Which tasks others stand for.

        Of each pair the one goes that correlates more with all tasks on average: what it tells, the others tell as
        well. Pairs are taken from the highest correlation down, and a pair of which one is gone already is settled.
        """
        varying = self._varying()
        pairs = [
            RedundantPair(first, second, value, self._less_telling(first, second))
            for place, first in enumerate(varying)
            for second in varying[place + 1 :]
            if (value := self.between(first, second)) is not None and value >= threshold - _CONSTANT
        ]
        pairs.sort(key=lambda pair: -pair.correlation)
        dropped: list[str] = []
        for pair in pairs:
            if pair.first not in dropped and pair.second not in dropped:
                dropped.append(pair.drop)
        kept = tuple(task for task in self.scores.tasks if task not in dropped)
        return Redundancy(threshold, tuple(pairs), tuple(dropped), kept)

    def as_dict(self, thresholds: Sequence[float] = THRESHOLDS) -> dict[str, Any]:
        """The correlations as JSON, with the clusters and the redundant tasks at each threshold."""
        return {
            "method": self.method,
            "tasks": list(self.scores.tasks),
            "points": _as_dicts(self.scores.points),
            "left_out_tasks": list(self.scores.left_out_tasks),
            "left_out_points": _as_dicts(self.scores.left_out_points),
            "matrix": [list(row) for row in self.matrix],
            "constant": list(self.constant),
            "order": list(self.order),
            "merges": [list(merge) for merge in self.merges],
            "thresholds": [
                asdict(self.redundant(threshold)) | {"clusters": [list(group) for group in self.clusters(threshold)]}
                for threshold in thresholds
            ],
        }

    def _varying(self) -> list[str]:
        return [task for task in self.scores.tasks if task not in self.constant]

    def _less_telling(self, first: str, second: str) -> str:
        return second if self._mean(second) >= self._mean(first) - _CONSTANT else first

    def _mean(self, task: str) -> float:
        values = [value for other in self._varying() if (value := self.between(task, other)) is not None]
        return math.fsum(values) / len(values)


def _as_dicts(points: Sequence[Point]) -> list[dict[str, Any]]:
    return [{"model": model, "length": length} for model, length in points]


def scores_of_runs(summaries: Sequence[Summary]) -> TaskScores:
    """The task scores of several runs, over the tasks that all of them have and the points where all those scored.

    A task that does not fit some length of a run is left out, as it is of the run's means: one such task would else
    take that length's points from all the others.

    Raises:
        UsageError: what they share is too little.
    """
    by_point: dict[Point, dict[str, float]] = {}
    for name, summary in zip(run_names(summaries), summaries, strict=True):
        for length in summary.lengths:
            by_point[name, length] = {}
        for cell in summary.cells:
            if cell.score is not None and cell.complete:
                by_point[name, cell.length][cell.task] = cell.score
    asked = [list(dict.fromkeys(cell.task for cell in summary.cells)) for summary in summaries]
    every = list(dict.fromkeys(task for tasks in asked for task in tasks))
    absent = {task for summary in summaries for task in summary.left_out_tasks}
    shared = [task for task in every if task not in absent and all(task in tasks for tasks in asked)]
    return scores_of_points(by_point, shared, left_out_tasks=[task for task in every if task not in shared])


def run_names(summaries: Sequence[Summary]) -> list[str]:
    """The models' names; a second run of a model is numbered, so that it does not stand for the first."""
    models = [summary.model for summary in summaries]
    counts = [models[: place + 1].count(model) for place, model in enumerate(models)]
    return [model if count == 1 else f"{model} ({count})" for model, count in zip(models, counts, strict=True)]


def scores_of_points(
    by_point: Mapping[Point, Mapping[str, float]], tasks: Sequence[str], left_out_tasks: Sequence[str] = ()
) -> TaskScores:
    """Scores in per cent by point and task; points that lack one of the tasks are left out."""
    whole = [point for point, scores in by_point.items() if all(task in scores for task in tasks)]
    return TaskScores(
        tasks=tuple(tasks),
        points=tuple(whole),
        values=tuple(tuple(by_point[point][task] for point in whole) for task in tasks),
        left_out_tasks=tuple(left_out_tasks),
        left_out_points=tuple(point for point in by_point if point not in whole),
    )


def published_category_scores(*, within_claimed: bool = True) -> TaskScores:
    """RULER's four categories over its models and lengths (tables 13 to 16).

    Args:
        within_claimed: leave out lengths that a model does not claim. Every category is near 0 there, which alone
            would make all of them alike.
    """
    by_point: dict[Point, dict[str, float]] = {}
    for category, name in PUBLISHED_CATEGORIES.items():
        table = read_table(name)
        for row in table.rows:
            claimed = None if row.claimed is None else length_tokens(row.claimed, table.info.k)
            for length, score in row.scores.items():
                beyond = within_claimed and claimed is not None and length > claimed
                if score is not None and not beyond:
                    by_point.setdefault((row.model, length), {})[category] = score
    return scores_of_points(by_point, tuple(PUBLISHED_CATEGORIES))


def task_correlation(scores: TaskScores, method: Method = "pearson") -> TaskCorrelation:
    """Correlate tasks and cluster them: average linkage over 1 - r, leaves in the order of least distance."""
    import numpy as np
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform
    from scipy.stats import rankdata

    values = np.asarray(scores.values, dtype=float)
    varying = [index for index, row in enumerate(scores.values) if max(row) - min(row) > _CONSTANT]
    vectors = values[varying]
    if method == "spearman" and varying:
        vectors = rankdata(vectors, axis=1)
    # One vector alone would make numpy return a single number.
    known = np.clip(np.atleast_2d(np.corrcoef(vectors)), -1.0, 1.0) if varying else np.empty((0, 0))
    leaves, merges = list(range(len(varying))), np.empty((0, 4))
    if len(varying) > 1:
        distances = squareform(1.0 - known, checks=False)
        merges = linkage(distances, method="average", optimal_ordering=True)
        leaves = [int(leaf) for leaf in leaves_list(merges)]
    constant = [task for index, task in enumerate(scores.tasks) if index not in varying]
    return TaskCorrelation(
        scores=scores,
        method=method,
        matrix=_whole_matrix(known.tolist(), varying, len(scores.tasks)),
        constant=tuple(constant),
        order=(*(scores.tasks[varying[leaf]] for leaf in leaves), *constant),
        merges=tuple((int(first), int(second), float(distance), int(size)) for first, second, distance, size in merges),
    )


def _whole_matrix(
    known: Sequence[Sequence[float]], varying: Sequence[int], size: int
) -> tuple[tuple[float | None, ...], ...]:
    """The correlations of the varying tasks at their places among all."""
    rows: list[list[float | None]] = [[None] * size for _ in range(size)]
    for place, row in zip(varying, known, strict=True):
        for other, value in zip(varying, row, strict=True):
            rows[place][other] = 1.0 if place == other else float(value)
    return tuple(tuple(row) for row in rows)

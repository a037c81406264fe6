"""Several runs beside one another: what each is called, and which of them may share an axis and a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from leadline.analysis.correlation import TaskCorrelation, scores_of_runs, task_correlation
from leadline.analysis.design import Design
from leadline.analysis.effective import EffectiveLength
from leadline.analysis.lengths import LengthScore, average, length_scores
from leadline.analysis.summary import Summary
from leadline.errors import UsageError


@dataclass(frozen=True, slots=True)
class RunOfSeveral:
    """One of the runs.

    Attributes:
        folder: where it is, as it was named.
        verdict: its sentence.
        label: the user's, which keeps two set-ups of one model apart.
        variants: version and parameters of each task as one text, so that two tasks of one name are the same task only
            where these are equal.
        claimed_tokens: the length that the model is said to have been trained for; None where nobody says.
        changed: parameters that the user changed.
    """

    folder: Path
    summary: Summary
    design: Design
    verdict: str
    label: str | None = None
    variants: Mapping[str, str] = field(default_factory=dict[str, str])
    claimed_tokens: int | None = None
    changed: tuple[str, ...] = ()

    @property
    def effective(self) -> EffectiveLength:
        """By the rule that its verdict goes by."""
        lengths = self.summary.effective_length
        return lengths.absolute if lengths.absolute.no_claim is None else lengths.relative

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that its means are over."""
        # Variants of one test are no tasks to be averaged: the means are over the first one alone.
        tasks = self.design.tasks[:1] if self.design.base is not None else self.design.tasks
        return tuple(task.name for task in tasks if task.name not in self.summary.left_out_tasks)


@dataclass(frozen=True, slots=True)
class Comparable:
    """Runs of one suite, protocol and K, with a task at least that is the same in all of them.

    Attributes:
        runs: the greatest effective length first; of equal ones the greater average first.
        names: of the runs, no two alike.
        tasks: those that all of the runs have.
    """

    suite: str
    protocol: str
    k: int
    runs: tuple[RunOfSeveral, ...]
    names: tuple[str, ...]
    tasks: tuple[str, ...]

    @property
    def named(self) -> list[tuple[str, RunOfSeveral]]:
        """The runs with their names, in order."""
        return list(zip(self.names, self.runs, strict=True))

    @property
    def lengths(self) -> tuple[int, ...]:
        """All lengths that one of the runs has, in tokens, ascending."""
        return tuple(sorted({length for run in self.runs for length in run.design.lengths}))

    @property
    def shared_lengths(self) -> tuple[int, ...]:
        """The lengths that all of the runs have."""
        return tuple(length for length in self.lengths if all(length in run.design.lengths for run in self.runs))

    @property
    def threshold(self) -> float | None:
        """The score in per cent that every run must reach; None where each has its own, or the tasks are not all."""
        asked = [run.summary.effective_length.absolute for run in self.runs]
        whole = all(set(run.tasks) == set(self.tasks) for run in self.runs)
        thresholds = {length.threshold for length in asked if length.no_claim is None}
        same = all(length.no_claim is None for length in asked) and len(thresholds) == 1
        return thresholds.pop() if whole and same else None

    def scores(self, run: RunOfSeveral) -> tuple[LengthScore, ...]:
        """A run's scores by length over the tasks that all of the runs have."""
        if set(run.tasks) == set(self.tasks):
            return run.summary.by_length
        return length_scores([cell for cell in run.summary.cells if cell.task in self.tasks], run.design)

    def average(self, run: RunOfSeveral) -> float | None:
        """Its mean over the lengths and tasks that all of the runs have; None where a length was stopped early."""
        scores = [score for score in self.scores(run) if score.length in self.shared_lengths]
        return None if any(score.early for score in scores) else average(scores)


def distinct_names(runs: Sequence[RunOfSeveral]) -> list[str]:
    """The models' names; where two are equal, with what tells the runs apart: suite, protocol, label, else a number."""
    told: list[tuple[str, ...]] = [() for _ in runs]
    tellings: tuple[Callable[[RunOfSeveral], str], ...] = (
        lambda run: run.summary.suite,
        lambda run: run.summary.protocol,
        lambda run: run.label or "",
    )
    for telling in tellings:
        alike: dict[tuple[str, ...], list[int]] = {}
        for place, run in enumerate(runs):
            alike.setdefault((run.summary.model, *told[place]), []).append(place)
        for places in alike.values():
            if len({telling(runs[place]) for place in places}) > 1:
                for place in places:
                    told[place] = (*told[place], telling(runs[place]))
    names: list[str] = []
    for run, words in zip(runs, told, strict=True):
        name = unnumbered = run.summary.model + (f" ({', '.join(filter(None, words))})" if any(words) else "")
        number = 1
        while name in names:
            number += 1
            name = f"{unnumbered} ({number})"
        names.append(name)
    return names


def comparable_groups(runs: Sequence[RunOfSeveral]) -> tuple[Comparable, ...]:
    """The runs in groups that may share an axis and a table, in the order of their first runs.

    Scores of different suites or protocols are of different questions, and a K of 1000 is no K of 1024. Where the
    runs of a suite have no task in common, or NoLiMa's runs have other needles or other haystacks, only those with the
    same tasks stand together.
    """
    buckets: dict[tuple[Any, ...], list[RunOfSeveral]] = {}
    for run in runs:
        buckets.setdefault((run.summary.suite, run.summary.protocol, run.design.k), []).append(run)
    groups: list[Comparable] = []
    for bucket in buckets.values():
        if len(bucket) == 1 or _shared(bucket):
            groups.append(_group(bucket))
            continue
        same: dict[tuple[tuple[str, str], ...], list[RunOfSeveral]] = {}
        for run in bucket:
            same.setdefault(tuple((task, run.variants.get(task, "")) for task in run.tasks), []).append(run)
        groups += [_group(each) for each in same.values()]
    return tuple(groups)


def _group(runs: Sequence[RunOfSeveral]) -> Comparable:
    first = runs[0]
    names = dict(zip(map(id, runs), distinct_names(runs), strict=True))
    unsorted = Comparable(
        first.summary.suite, first.summary.protocol, first.design.k, tuple(runs), (), tuple(_shared(runs))
    )
    ordered = sorted(runs, key=lambda run: _standing(run.effective, unsorted.average(run)), reverse=True)
    return replace(unsorted, runs=tuple(ordered), names=tuple(names[id(run)] for run in ordered))


def _shared(runs: Sequence[RunOfSeveral]) -> list[str]:
    """Tasks that all runs average over and that are the same in all of them."""
    return [
        task
        for task in runs[0].tasks
        if all(task in run.tasks for run in runs) and len({run.variants.get(task) for run in runs}) == 1
    ]


def _standing(effective: EffectiveLength, average: float | None) -> tuple[bool, int, bool, bool, float]:
    """What runs are sorted by: no claim, below all lengths, a length, above a length; then the average."""
    return (
        effective.no_claim is None,
        effective.value or 0,
        effective.censored == "above",
        average is not None,
        average or 0.0,
    )


def correlation_of(runs: Sequence[RunOfSeveral]) -> TaskCorrelation | str:
    """How alike the tasks are over these runs, or why nothing can be said of that.

    NoLiMa's runs have one task each and would leave nothing to be correlated, so they are left out where others remain.
    """
    named = [
        (run, replace(run.summary, model=name)) for run, name in zip(runs, distinct_names(runs), strict=True)
    ]  # fmt: skip
    of_tasks = [summary for run, summary in named if run.design.base is None]
    try:
        found = task_correlation(scores_of_runs(of_tasks or [summary for _, summary in named]))
    except UsageError as error:
        return str(error)
    varying = len(found.scores.tasks) - len(found.constant)
    if varying < 2:
        return (
            f"a correlation needs two tasks whose scores differ from one model or length to another, and {varying} of "
            f"{len(found.scores.tasks)} do"
        )
    return found

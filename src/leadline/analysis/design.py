"""What a run measures, as far as its analysis needs to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from leadline.analysis.base_score import BaseRule
from leadline.analysis.stopped import StoppedRun

Metric = Literal["recall", "strict"]


@dataclass(frozen=True, slots=True)
class TaskDesign:
    """A task of the suite.

    Attributes:
        name: the task's name, as in the records' keys.
        category: what its mean is grouped under, for example ``"retrieval"``.
        metric: which of a trial's scores is the task's score; the strict one stands beside it in any case.
        binary: one target, so that each trial scores 0 or 1 and the mean is a proportion.
    """

    name: str
    category: str
    metric: Metric = "recall"
    binary: bool = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Design:
    """A suite's tasks and lengths, and the verdict that is asked of them.

    Attributes:
        suite, model, protocol: names, for the summary.
        lengths: in tokens (or the suite's units), ascending.
        tasks: in the order of the tables.
        samples: trials per task and length that were asked for.
        asked: the same for single cells, by (task, length), where they differ; 0 is a cell that nobody asked for.
        k: what the suite writes as K, 1024 or 1000.
        threshold_absolute: score in per cent that a length must reach, or None.
        threshold_name: what that score is called where it is one of the paper's, ``"chat"`` or ``"base"``.
        category_thresholds: the same for categories that have one of their own.
        category_tasks: tasks that the threshold of each such category speaks of.
        base: how a base score is taken from base lengths and what share of it a length must keep, or None.
        threshold_relative: share of the score at the shortest length that a length must keep, or None.
        claims_tasks: tasks that the absolute threshold speaks of; without all of them no absolute effective length is
            claimed.
        weights: the user's own, by length; lengths without one weigh nothing. Empty: no such average.
        stopped_lengths: lengths at which a stop rule decided before all samples were asked, so that fewer trials do
            not make a cell incomplete.
        stopped: what the stop rule says of each length; None where the run has none.
        control_length: the suite's shortest length, where a model should not be weak; None where it is not known.

    Raises:
        ValueError: lengths do not ascend, a task's name occurs twice, or the weights are not for these lengths.
    """

    suite: str
    model: str
    protocol: str
    lengths: tuple[int, ...]
    tasks: tuple[TaskDesign, ...]
    samples: int
    k: int = 1024
    threshold_absolute: float | None = None
    threshold_relative: float | None = 0.85
    claims_tasks: tuple[str, ...] = ()
    stopped_lengths: frozenset[int] = frozenset()
    asked: Mapping[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    threshold_name: str | None = None
    category_thresholds: Mapping[str, float] = field(default_factory=dict[str, float])
    category_tasks: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    weights: Mapping[int, float] = field(default_factory=dict[int, float])
    base: BaseRule | None = None
    stopped: StoppedRun | None = None
    control_length: int | None = None

    def __post_init__(self) -> None:
        if list(self.lengths) != sorted(set(self.lengths)):
            raise ValueError(f"lengths must ascend: {self.lengths}")
        names = [task.name for task in self.tasks]
        if len(names) != len(set(names)):
            raise ValueError(f"a task's name occurs twice: {names}")
        if not set(self.weights) <= set(self.lengths) or (self.weights and sum(self.weights.values()) <= 0):
            raise ValueError(f"weights must be for these lengths, and not all 0: {self.weights}")

    @property
    def share(self) -> float | None:
        """Share that a length must keep, of the base score or of the score at the shortest length; None for no rule."""
        return self.base.times if self.base is not None else self.threshold_relative

    @property
    def shortest(self) -> int:
        """The shortest length that can be an effective length; 0 where there is none."""
        if self.base is not None:
            return self.base.shortest
        return self.lengths[0] if self.lengths else 0

    def samples_of(self, task: str, length: int) -> int:
        """Trials that were asked for in one cell."""
        return self.asked.get((task, length), self.samples)

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories, in the order of their first task."""
        return tuple(dict.fromkeys(task.category for task in self.tasks))

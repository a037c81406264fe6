"""Readers through suites: runs that last as long as a calibration does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leadline.api.runs import Run, open_run
from leadline.api.waiting import completed
from leadline.records import Record
from leadline.spec import RunSpec, resolve


@dataclass(frozen=True, slots=True)
class Measured:
    """A run of a reader with the specification that it came from."""

    spec: RunSpec
    run: Run


class _Unheard:
    """A run's progress that nobody follows."""

    def say(self, message: str) -> None:
        """Nothing."""

    def begin(self, cells: Mapping[tuple[str, int], tuple[int, int]]) -> None:
        """Nothing."""

    def earlier(self, record: Record) -> None:
        """Nothing."""

    def record(self, record: Record) -> None:
        """Nothing."""


@dataclass(slots=True)
class Bench:
    """Measures readers in a folder of its own, as `leadline.api.measure` does but for the page of each run.

    Readers count with a tokenizer that needs no model.

    Attributes:
        folder: parent of the runs' folders.
        seed: of every draw.
        offline: fetch nothing.
        say: is told of each run as it begins.
        versions, tasks: of the packages, and of the tasks that were asked, as the runs' manifests name them.
        trials: asked so far.
    """

    folder: Path
    seed: int
    offline: bool
    say: Callable[[str], object]
    versions: dict[str, str] = field(default_factory=dict[str, str])
    tasks: dict[str, int] = field(default_factory=dict[str, int])
    trials: int = 0

    def measure(self, suite: str, reader: str, **options: Any) -> Measured:
        """The run of ``reader/NAME`` on a suite, with options of ``leadline run``.

        Raises:
            LeadlineError: the suite or an option is unknown, or its data cannot be had.
        """
        from leadline.run.runner import run

        self.say(f"reader/{reader} on {suite}")
        settings = {"seed": self.seed, "offline": self.offline, "no_control": True} | options
        spec = resolve(suite, {"model": f"reader/{reader}", "out": self.folder, **settings})
        made = open_run(completed(run(spec, _Unheard())).folder)
        self.versions = dict(made.manifest["versions"])
        self.tasks |= {task.name: task.version for task in spec.make_tasks()}
        self.trials += made.summary.tokens.asked
        return Measured(spec, made)

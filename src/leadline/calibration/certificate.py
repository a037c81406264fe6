"""The certificate: what a calibration found, and of which versions it speaks."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from leadline import __version__
from leadline.calibration.checks import FALSE_ALARM, Check
from leadline.errors import UsageError
from leadline.run.store import write_atomically

FORMAT = 1
PACKAGES = ("numpy", "scipy", "tiktoken", "pydantic")
"""Beside those that a run names: what the figures are computed with."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """All checks of a calibration.

    Attributes:
        checks: in the order in which they were made.
        suites: that readers were sent through.
        left_out: suites that could not be asked, with the reason.
        seed: of every draw.
        quick: the short calibration.
        tokenizer: what lengths were counted with.
        created: when it began.
        took_s: how long it took.
        trials: how many were asked.
        tasks: versions of the tasks that were asked.
        versions: of leadline, Python and the packages that the figures depend on.
    """

    checks: tuple[Check, ...]
    suites: tuple[str, ...]
    left_out: Mapping[str, str]
    seed: int
    quick: bool
    tokenizer: str
    created: datetime
    took_s: float
    trials: int
    tasks: Mapping[str, int]
    versions: Mapping[str, str]

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that did not pass."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def passed(self) -> bool:
        """Whether there are checks and all of them passed."""
        return bool(self.checks) and not self.failed

    @property
    def sentence(self) -> str:
        """What came out, in one sentence without a full stop."""
        count = len(self.checks)
        if self.passed:
            return f"all {count} checks passed: the tool found what is true of its readers"
        names = ", ".join(dict.fromkeys(f"{check.reader} ({check.what})" for check in self.failed))
        return f"{len(self.failed)} of {count} checks failed: {names}"

    def as_dict(self) -> dict[str, Any]:
        """The certificate as it is written."""
        return {
            "format": FORMAT,
            "passed": self.passed,
            "sentence": self.sentence,
            "created": self.created.astimezone(UTC).isoformat(timespec="seconds"),
            "took_s": round(self.took_s, 1),
            "seed": self.seed,
            "quick": self.quick,
            "suites": list(self.suites),
            "left_out": dict(self.left_out),
            "tokenizer": self.tokenizer,
            "trials": self.trials,
            "false_alarm": FALSE_ALARM,
            "versions": dict(self.versions),
            "tasks": dict(self.tasks),
            "machine": {"system": platform.system(), "machine": platform.machine()},
            "checks": [check.as_dict() for check in self.checks],
        }

    def write(self, path: Path) -> None:
        """Write it as JSON.

        Raises:
            UsageError: it cannot be written there.
        """
        check_place(path)
        write_atomically(path, json.dumps(self.as_dict(), indent=2, allow_nan=False) + "\n")


def check_place(path: Path) -> None:
    """Refuse a file that a certificate cannot be written to, before minutes of work.

    Raises:
        UsageError: it is a folder, or its folder does not exist.
    """
    if path.is_dir():
        raise UsageError(f"--out {path} is a folder: give a file's name in it")
    if not path.parent.is_dir():
        raise UsageError(f"--out {path}: there is no folder {path.parent}: make it, or give another file")


def versions_with(of_run: Mapping[str, str]) -> dict[str, str]:
    """A run's versions with those of the packages that compute the figures."""
    versions = {"leadline": __version__, **of_run}
    for package in PACKAGES:
        versions[package] = metadata.version(package)
    return versions

"""A check: what was found of a reader, beside what is true of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from leadline.analysis.intervals import Interval

Group = Literal["suites", "effective length", "fixed score", "curve", "coverage", "position", "failure kind"]
Figure = float | str | None

FALSE_ALARM = 0.001
"""Probability that a sound tool fails a calibration, over all checks that depend on draws."""

DRAWN_CHECKS = 50
"""No more of such checks than this are made; each may fail with an equal share of `FALSE_ALARM` (Bonferroni)."""

SURE = 1 - FALSE_ALARM / DRAWN_CHECKS
"""Level of the intervals that a single check is decided by."""


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a calibration.

    Attributes:
        group: what kind of property it is.
        reader: whose truth it is, without ``reader/``.
        where: suite, tasks and length.
        what: the property.
        true, found: the two figures: numbers in per cent or points, lengths and sequences of scores as text.
        n: trials (or runs, for a coverage) that `found` rests on.
        passed: found is what is true, as far as `n` can tell.
        low, high: the range that decided, where chance has a part in it; None where the two must be equal.
        note: what else is worth knowing.
    """

    group: Group
    reader: str
    where: str
    what: str
    true: Figure
    found: Figure
    n: int
    passed: bool
    low: float | None = None
    high: float | None = None
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The check as it stands in the certificate."""
        return {
            "group": self.group,
            "reader": self.reader,
            "where": self.where,
            "what": self.what,
            "true": self.true,
            "found": self.found,
            "n": self.n,
            "low": self.low,
            "high": self.high,
            "passed": self.passed,
            "note": self.note,
        }


def equal(group: Group, reader: str, where: str, what: str, *, true: Figure, found: Figure, n: int) -> Check:
    """A check in which chance has no part: numbers may differ by rounding, texts not at all."""
    if isinstance(true, float) and isinstance(found, float):
        passed = math.isclose(true, found, abs_tol=1e-9)
    else:
        passed = true == found
    return Check(group, reader, where, what, true, found, n, passed)


def inside(
    group: Group, reader: str, where: str, what: str, *, true: float, found: float, interval: Interval, n: int
) -> Check:
    """A check of the tool's own interval, taken at the level `SURE`: it must hold the truth."""
    low, high = interval
    return Check(group, reader, where, what, true, found, n, low <= true <= high, low, high)

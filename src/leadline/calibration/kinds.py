"""Readers that fail in one way each: the tool must name it in every wrong record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from leadline.analysis.verdict import format_length
from leadline.calibration.checks import Check, equal
from leadline.calibration.measuring import Bench
from leadline.models.failing import FAILING, Failing

TASKS = ("niah_multikey_3", "niah_multivalue", "vt_chains_2", "cwe", "qa_1")
"""Between them every kind can be acted out."""

LENGTH = 2048


def kind_checks(bench: Bench, samples: int, readers: tuple[Failing, ...] = FAILING) -> Iterator[Check]:
    """One check for each failing reader: the kinds of all its wrong answers."""
    for failing in readers:
        run = bench.measure("quick", failing.name, tasks=list(TASKS), lengths=[LENGTH], samples=samples).run
        at = format_length(LENGTH, run.design.k)
        counted = Counter(record.failure for record in run.records if record.failure is not None)
        found = ", ".join(kind for kind, _ in counted.most_common()) or "none"
        n = sum(counted.values())
        where = f"{len(TASKS)} tasks at {at}"
        yield equal("failure kind", failing.name, where, "kinds of wrong answers", true=failing.kind, found=found, n=n)

"""A calibration from the first reader to the certificate."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from leadline.calibration.certificate import Certificate, versions_with
from leadline.calibration.checks import Check
from leadline.calibration.coverage import association_curve_checks, coverage_checks, curve_checks, measure_curve
from leadline.calibration.fixed import NEVER_RIGHT, literal_checks, never_right_checks, tie_checks
from leadline.calibration.kinds import kind_checks
from leadline.calibration.lengths import suite_checks
from leadline.calibration.measuring import Bench
from leadline.calibration.places import dip_checks, no_dip_checks
from leadline.errors import DataError, UsageError
from leadline.models.failing import FAILING
from leadline.models.registry import DEFAULT_TOKENIZER
from leadline.suites import suite_names
from leadline.tasks.registry import suggestion

SEED = 42
QUICK_SUITES = ("quick",)
NEEDS_FILES = {"nolima": "its official files are fetched only on request: name it, once they are there"}
"""Suites that a calibration asks only by name, and why."""

SUITE_SAMPLES, QUICK_SUITE_SAMPLES = 2, 1
RUNS, QUICK_RUNS = 80, 15
"""Small runs that the coverage rests on."""

PLACED_SAMPLES, QUICK_PLACED_SAMPLES = 400, 200
KIND_SAMPLES = 2
QUICK_KINDS = ("partial", "neighbour")


def calibrate(
    suites: Sequence[str] = (),
    *,
    seed: int = SEED,
    quick: bool = False,
    offline: bool = False,
    say: Callable[[str], object] = lambda message: None,
) -> Certificate:
    """Send readers of known truth through suites and compare what is found with what is true.

    Args:
        suites: names of suites; all of them where there is none, but for those that need files of other people.
        seed: of every draw. A sound tool fails with a probability of one in a thousand over all seeds.
        quick: one suite, fewer readers and samples.
        offline: fetch nothing.
        say: is told what is being done.

    Raises:
        UsageError: an unknown suite.
        DataError: the data of a suite that was named cannot be had.
    """
    for name in suites:
        if name not in suite_names():
            raise UsageError(f"there is no suite {name!r}: {suggestion(name, suite_names())}")
    created, started = datetime.now(UTC), time.monotonic()
    left_out: dict[str, str] = {}
    asked: list[str] = []
    with tempfile.TemporaryDirectory(prefix="leadline-calibrate-") as folder:
        bench = Bench(Path(folder), seed, offline, say)
        checks: list[Check] = []
        for suite in suites or (QUICK_SUITES if quick else suite_names()):
            if not suites and suite in NEEDS_FILES:
                left_out[suite] = NEEDS_FILES[suite]
                continue
            try:
                checks += suite_checks(bench, suite, QUICK_SUITE_SAMPLES if quick else SUITE_SAMPLES)
                asked.append(suite)
            except DataError as error:
                if suites:
                    raise
                left_out[suite] = str(error)
        checks += _reader_checks(bench, quick)
    return Certificate(
        checks=tuple(checks),
        suites=tuple(asked),
        left_out=left_out,
        seed=seed,
        quick=quick,
        tokenizer=DEFAULT_TOKENIZER,
        created=created,
        took_s=time.monotonic() - started,
        trials=bench.trials,
        tasks=dict(sorted(bench.tasks.items())),
        versions=versions_with(bench.versions),
    )


def _reader_checks(bench: Bench, quick: bool) -> Iterator[Check]:
    """Everything that does not depend on the suite."""
    curve = measure_curve(bench, QUICK_RUNS if quick else RUNS)
    yield from curve_checks(curve)
    yield from coverage_checks(curve)
    yield from no_dip_checks(curve)
    yield from dip_checks(bench, QUICK_PLACED_SAMPLES if quick else PLACED_SAMPLES)
    if not quick:
        yield from association_curve_checks(bench)
        yield from literal_checks(bench)
    yield from tie_checks(bench)
    yield from never_right_checks(bench, "quick", 1, NEVER_RIGHT[-1:] if quick else NEVER_RIGHT)
    kinds = tuple(failing for failing in FAILING if not quick or failing.kind in QUICK_KINDS)
    yield from kind_checks(bench, KIND_SAMPLES, kinds)

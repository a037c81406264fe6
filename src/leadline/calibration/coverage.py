"""A reader that is right with a known probability: its curve, and how often the intervals hold the truth.

One long run is cut into many small ones of different items, which are as independent as runs of different seeds: an
item's draws are named after its index. Each small run is summed up like any other.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from leadline.analysis.design import Design
from leadline.analysis.intervals import CONFIDENCE, Interval
from leadline.analysis.summary import Summary, summarise
from leadline.analysis.verdict import format_length
from leadline.calibration.checks import DRAWN_CHECKS, FALSE_ALARM, SURE, Check, inside
from leadline.calibration.measuring import Bench, Measured
from leadline.models.curves import chance_at
from leadline.records import Record

SUITE = "ruler"
ONE_TARGET, SEVERAL_TARGETS = "niah_single_1", "niah_multivalue"
LENGTHS = (512, 1024, 2048)
HALF, ASSOCIATION_HALF = 1024, 1000
READER = f"logistic?half={HALF}"
ITEMS = 20
"""Of each task in a small run. Wilson's interval covers 95.6 % there at 80 %, 50 % and 20 %, by enumeration."""


def measure_curve(bench: Bench, runs: int) -> Measured:
    """The logistic reader on so many times `ITEMS` items."""
    return bench.measure(SUITE, READER, tasks=[ONE_TARGET, SEVERAL_TARGETS], lengths=LENGTHS, samples=runs * ITEMS)


def curve_checks(measured: Measured, half: int = HALF) -> Iterator[Check]:
    """Every cell's score over the whole run: the reader's probability must lie in the cell's interval."""
    summary, k = measured.run.summary, measured.run.design.k
    for cell in summary.cells:
        yield inside(
            "curve",
            f"logistic?half={half}",
            f"{cell.task} at {format_length(cell.length, k)}",
            "score",
            true=100 * chance_at(cell.length, half),
            found=cell.score or 0.0,
            interval=cell.interval(SURE) or (0.0, 100.0),
            n=cell.n,
        )


def association_curve_checks(bench: Bench) -> Iterator[Check]:
    """The same where lengths are those of the haystack, every pair once."""
    measured = bench.measure("nolima-quick", f"logistic?half={ASSOCIATION_HALF}")
    yield from curve_checks(measured, ASSOCIATION_HALF)


def coverage_checks(measured: Measured) -> Iterator[Check]:
    """Share of small runs whose interval holds the truth: at least the nominal one, as far as their number can tell."""
    counts = _count(measured)
    for what, of_runs in counts.items():
        runs = len(of_runs)
        covered = math.fsum(of.share for of in of_runs) / runs
        low = fewest_covered(runs)
        width = math.fsum(of.width for of in of_runs) / runs
        yield Check(
            "coverage",
            READER,
            f"{runs} runs of {ITEMS} items",
            what,
            100 * CONFIDENCE,
            100 * covered,
            runs,
            covered >= low,
            100 * low,
            100.0,
            f"{width:.1f} {'points wide' if 'set' not in what else 'lengths'} on average",
        )


def fewest_covered(runs: int) -> float:
    """The least share of runs, 0 to 1, that intervals of the nominal level cover, but for a chance of 1 - `SURE`."""
    from scipy.stats import binom

    return float(binom.ppf(FALSE_ALARM / DRAWN_CHECKS, runs, CONFIDENCE)) / runs


@dataclass(frozen=True, slots=True)
class _Covered:
    """What share of one small run's intervals of a kind hold the truth, and how wide they are."""

    share: float
    width: float


def _count(measured: Measured) -> Mapping[str, Sequence[_Covered]]:
    """By kind of interval, one entry for each small run."""
    blocks: dict[int, list[Record]] = defaultdict(list)
    for record in measured.run.records:
        blocks[record.key.item.index // ITEMS].append(record)
    design = replace(measured.run.design, samples=ITEMS, asked={})
    counts: dict[str, list[_Covered]] = defaultdict(list)
    for records in blocks.values():
        for what, covered in _of_run(summarise(records, design), design).items():
            counts[what].append(covered)
    return counts


def _of_run(summary: Summary, design: Design) -> dict[str, _Covered]:
    cells = {
        task: [(_true(cell.length), (cell.low, cell.high)) for cell in summary.cells if cell.task == task]
        for task in (ONE_TARGET, SEVERAL_TARGETS)
    }
    means = [(_true(score.length), (score.low, score.high)) for score in summary.by_length]
    truths = [_true(length) for length in design.lengths]
    average = [(math.fsum(truths) / len(truths), summary.intervals["average"])]
    covered = {
        "a cell's interval, one target": _covered(cells[ONE_TARGET]),
        "a cell's interval, several targets": _covered(cells[SEVERAL_TARGETS]),
        "the mean over tasks": _covered(means),
        "the average over lengths": _covered(average),
    }
    possible = summary.effective_length.relative.possible
    if possible is not None:
        holds = true_effective_length(design) in possible.lengths
        covered["the effective length as a set"] = _Covered(float(holds), possible.size)
    return covered


def true_effective_length(design: Design) -> int:
    """The greatest length at which the reader keeps the asked share of its probability at the shortest."""
    asked = (design.threshold_relative or 0.0) * chance_at(design.lengths[0], HALF)
    return max(length for length in design.lengths if chance_at(length, HALF) >= asked)


def _covered(intervals: Sequence[tuple[float, tuple[float | None, float | None] | Interval]]) -> _Covered:
    known = [(true, low, high) for true, (low, high) in intervals if low is not None and high is not None]
    share = sum(low <= true <= high for true, low, high in known) / len(intervals)
    return _Covered(share, math.fsum(high - low for _, low, high in known) / len(intervals))


def _true(length: int) -> float:
    return 100 * chance_at(length, HALF)

"""Readers whose score is a fixed number: nothing, or one that ties with the threshold."""

from __future__ import annotations

from collections.abc import Iterator

from leadline.analysis.verdict import format_effective
from leadline.calibration.checks import Check, equal
from leadline.calibration.measuring import Bench

NEVER_RIGHT = ("empty", "echo", "wrong", "copier", "neighbour")
TIED = 85
TIE_LENGTHS = (1024, 2048)
HUNDRED = 100

SHARES_WORDS = {"nolima_open": (0.0, 15.0), "nolima_open_direct": (95.0, 100.0)}
"""Scores in per cent that finding words alone can be worth, where the question has none of the needle's and where it
repeats them."""


def never_right_checks(bench: Bench, suite: str, samples: int, readers: tuple[str, ...]) -> Iterator[Check]:
    """Readers that say a lot, or nothing, and are never right."""
    for reader in readers:
        run = bench.measure(suite, reader, samples=samples).run
        known = [(cell.score, cell.strict, cell.n) for cell in run.summary.cells if cell.score is not None]
        best = max(max(score, strict or 0.0) for score, strict, _ in known)
        n = sum(count for _, _, count in known)
        yield equal("fixed score", reader, suite, "highest score of a cell", true=0.0, found=best, n=n)


def tie_checks(bench: Bench) -> Iterator[Check]:
    """A score that is exactly the threshold passes, by the published rule (at least), but for certain it does not."""
    reader, where = f"tie?at={TIED}", f"ruler, niah_single_1, threshold {TIED}"
    run = bench.measure(
        "ruler", reader, tasks=["niah_single_1"], lengths=TIE_LENGTHS, samples=HUNDRED, threshold=TIED
    ).run
    length, design = run.summary.effective_length.absolute, run.design
    scores = " / ".join(f"{score.score:.1f}" for score in run.summary.by_length)
    n = sum(cell.n for cell in run.summary.cells)
    yield equal("fixed score", reader, where, "scores", true=f"{TIED:.1f} / {TIED:.1f}", found=scores, n=n)
    label = format_effective(length, design.shortest, design.k)
    yield equal("effective length", reader, where, "effective length", true=">2K", found=label, n=n)
    sure = "certain" if length.confidence is not None else "undecided"
    yield equal("effective length", reader, where, "certainty", true="undecided", found=sure, n=n)


def literal_checks(bench: Bench) -> Iterator[Check]:
    """Finding words finds a needle that the question repeats, and none of those that it does not."""
    run = bench.measure("nolima-quick", "literal", tasks=list(SHARES_WORDS), lengths=[1000]).run
    for task, (low, high) in SHARES_WORDS.items():
        cell = run.summary.cell(task, 1000)
        found = cell.score or 0.0
        passed = low <= found <= high
        true = low if low > 0 else high
        what = "score, at least" if low > 0 else "score, at most"
        yield Check("fixed score", "literal", f"{task} at 1K", what, true, found, cell.n, passed, low, high)

"""A run as a row of a published table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from leadline.analysis.cells import Cell
from leadline.analysis.design import Design
from leadline.analysis.lengths import LengthScore
from leadline.analysis.summary import Summary
from leadline.analysis.verdict import format_length
from leadline.errors import UsageError
from leadline.reference.tables import TABLES, Kind, Table

PUBLISHED_SAMPLES = 500
"""Samples of each task and length in RULER's tables."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A run's scores at a table's lengths.

    Attributes:
        model: its name.
        kind: the rows it stands among.
        scores: one for each of the table's lengths, over the table's tasks.
        claims: all of the table's tasks are there, so that the table's threshold speaks of these scores.
        source: the run's folder.
        warnings: why the figures are not fully comparable, one clause each; empty where they are.
        notes: what to keep in mind besides.
    """

    model: str
    kind: Kind
    scores: tuple[LengthScore, ...]
    claims: bool
    source: str
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def make_entrant(
    summary: Summary,
    design: Design,
    table: Table,
    source: str,
    kind: Kind = "chat",
    changed: Sequence[str] = (),
) -> Entrant:
    """A run as a row of a table.

    Args:
        summary: of the run.
        design: of the run.
        table: a published table.
        source: the run's folder, for messages too.
        kind: the rows to stand among.
        changed: parameters that the user changed.

    Raises:
        UsageError: the table or the run is of another test, or the run has no score for one of the table's lengths, or
            stopped there before everything was asked.
    """
    info = table.info
    if design.base is not None:
        raise UsageError(
            f"{source} is a run of NoLiMa, which stands among no published rows: RULER's tables have other tasks, and "
            "NoLiMa's rows have base scores over 130 trials of each pair and length; leave out --with to see them"
        )
    if not info.tasks:
        with_runs = ", ".join(name for name, other in TABLES.items() if other.tasks)
        raise UsageError(f"no run of RULER's tasks belongs into the table {info.name!r}: give one of {with_runs}")
    if not table.thresholds.get(kind):
        raise UsageError(f"the table {info.name!r} has no {kind} models: give another --table or another --kind")
    missing = [length for length in table.lengths if length not in design.lengths]
    if missing:
        names = ", ".join(_k(length, table) for length in missing)
        all_lengths = ",".join(_k(length, table) for length in table.lengths)
        raise UsageError(
            f"{source} has not measured {names}, so its averages are no averages of the table {info.name!r}: "
            f"go on with  leadline run {design.suite} --lengths {all_lengths}"
        )
    stopped = [_k(length, table) for length in table.lengths if length in design.stopped_lengths]
    if stopped:
        raise UsageError(
            f"{source} stopped at {', '.join(stopped)} when its verdict was certain, so that its means are none to be "
            "ranked: finish it with  --stop never"
        )
    left_out = {cell.task for cell in summary.cells if cell.absent and cell.length in table.lengths}
    tasks = [task.name for task in design.tasks if task.name in info.tasks and task.name not in left_out]
    if not tasks:
        raise UsageError(f"{source} has none of the tasks of the table {info.name!r}: they are {', '.join(info.tasks)}")
    cells = {length: [summary.cell(task, length) for task in tasks] for length in table.lengths}
    scores = tuple(_score(length, of, summary, design) for length, of in cells.items())
    unscored = [_k(score.length, table) for score in scores if score.score is None]
    if unscored:
        raise UsageError(
            f"{source} has no score at {', '.join(unscored)}: go on with the run, so that every cell is scored"
        )
    return Entrant(
        model=summary.model,
        kind=kind,
        scores=scores,
        claims=len(tasks) == len(info.tasks),
        source=source,
        warnings=_warnings(summary, table, tasks, scores, changed),
        notes=_notes(cells),
    )


def _warnings(
    summary: Summary, table: Table, tasks: Sequence[str], scores: Sequence[LengthScore], changed: Sequence[str]
) -> tuple[str, ...]:
    warnings: list[str] = []
    if summary.protocol != "published":
        warnings.append(f"its protocol is {summary.protocol}, and the table's is published")
    if len(tasks) < len(table.info.tasks):
        absent = ", ".join(name for name in table.info.tasks if name not in tasks)
        warnings.append(f"it has {len(tasks)} of the table's {len(table.info.tasks)} tasks (not {absent})")
    if changed:
        warnings.append(f"parameters were changed ({', '.join(changed)})")
    incomplete = [_k(score.length, table) for score in scores if not score.complete]
    if incomplete:
        warnings.append(f"it is incomplete at {', '.join(incomplete)}")
    return tuple(warnings)


def _notes(cells: dict[int, list[Cell]]) -> tuple[str, ...]:
    least = min(cell.n for of in cells.values() for cell in of)
    if least >= PUBLISHED_SAMPLES:
        return ()
    return (f"its cells have {least} trials or more, the published ones {PUBLISHED_SAMPLES}",)


def _score(length: int, cells: Sequence[Cell], summary: Summary, design: Design) -> LengthScore:
    """The mean of these cells; the run's own figure, with its interval, where that is over the same tasks."""
    measured = {task.name for task in design.tasks} - set(summary.left_out_tasks)
    if measured == {cell.task for cell in cells}:
        return next(score for score in summary.by_length if score.length == length)
    known = [cell.score for cell in cells if cell.score is not None]
    score = math.fsum(known) / len(known) if len(known) == len(cells) else None
    return plain_score(length, score, complete=all(cell.complete for cell in cells))


def plain_score(length: int, score: float | None, *, complete: bool) -> LengthScore:
    """A score in per cent without interval, strict score or categories."""
    return LengthScore(
        length=length,
        n=0,
        score=score,
        low=None,
        high=None,
        strict=None,
        categories={},
        incomplete_categories=frozenset(),
        complete=complete,
    )


def _k(tokens: int, table: Table) -> str:
    return format_length(tokens, table.info.k)

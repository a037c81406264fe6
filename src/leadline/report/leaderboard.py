"""A leaderboard on the console: one table, its marks, and a line for each mark."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table as ConsoleTable
from rich.text import Text

from leadline.analysis.leaderboard import Standing
from leadline.analysis.lengths import LengthScore
from leadline.analysis.verdict import format_effective, format_figure, format_length
from leadline.reference.tables import BASE_TIMES, Kind, Table

NOTHING = "-"
BELOW_HALF = 0.5
"""Share of the base score below which NoLiMa marks a score."""


def console_table(table: Table, rows: Sequence[Standing], weights: Sequence[float] | None = None) -> ConsoleTable:
    """The rows as a table; a row with remarks has their numbers behind its model."""
    is_nolima = table.info.benchmark == "nolima"
    info = table.info
    shown = ConsoleTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), title=f"{info.name}: {info.about}")
    shown.title_justify = "left"
    shown.add_column("model", no_wrap=True)
    headings = ["claimed", "effective", *(["base", f"{BASE_TIMES:g} x base"] if is_nolima else [])]
    headings += [format_length(length, info.k) for length in table.lengths]
    headings += ["average", "wAvg (inc)", "wAvg (dec)"]
    if weights is not None:
        headings.append(f"weights {','.join(f'{weight:g}' for weight in weights)}")
    for heading in headings:
        shown.add_column(heading, justify="right", no_wrap=True)
    number = 1
    previous: Kind | None = None
    for row in rows:
        if previous not in (None, row.kind):
            shown.add_row("")
        previous = row.kind
        marks = ",".join(str(number + place) for place in range(len(row.remarks)))
        number += len(row.remarks)
        name = ("> " if row.is_run else "") + row.model + (f" [{marks}]" if marks else "")
        cells = [Text(cell) for cell in _cells(table, row, is_nolima, weighted=weights is not None)]
        shown.add_row(Text(name), *cells, style="bold" if row.is_run else "")
    return shown


def footnotes(table: Table, rows: Sequence[Standing]) -> list[str]:
    """The lines under the table: what is asked for, the remarks by number, the source."""
    lines: list[str] = []
    if table.info.benchmark == "nolima" and any(row.base is not None for row in rows):
        lines.append("(...) below half of the base score")
    elif table.thresholds:
        kinds: list[Kind] = [kind for kind in table.thresholds if any(row.kind == kind for row in rows)]
        lines.append(
            "effective: the greatest length at or above "
            + ", ".join(f"{table.thresholds[kind]:g} ({kind} models)" for kind in kinds)
            + ", Llama2-7B's score at 4K"
        )
    if table.info.note:
        lines.append(table.info.note)
    remarks = [(row.model, remark) for row in rows for remark in row.remarks]
    lines += [f"[{number}] {model}: {remark}" for number, (model, remark) in enumerate(remarks, start=1)]
    lines.append(f"source: {table.info.source}; averages, ranks and effective lengths are derived from the scores")
    return lines


def _cells(table: Table, row: Standing, is_nolima: bool, weighted: bool) -> list[str]:
    figures = row.figures
    cells = [row.claimed or NOTHING, format_effective(row.effective, table.lengths[0], table.info.k)]
    if is_nolima:
        cells += [_figure(row.base), _figure(row.effective.threshold)]
    cells += [_score(score, row) for score in row.scores]
    cells += [
        _figure(figures.average),
        _ranked(figures.wavg_inc, row.rank_inc),
        _ranked(figures.wavg_dec, row.rank_dec),
    ]
    if weighted:
        cells.append(_ranked(figures.weighted, row.rank_weighted))
    return [NOTHING if cell == "–" else cell for cell in cells]


def _score(score: LengthScore, row: Standing) -> str:
    if score.score is None:
        return NOTHING
    threshold = row.effective.threshold
    text = f"{score.score:.1f}" if threshold is None else format_figure(score.score, threshold, 1)
    text += "" if score.complete else "*"
    return f"({text})" if row.base is not None and score.score < BELOW_HALF * row.base else text


def _ranked(value: float | None, rank: int | None) -> str:
    return NOTHING if value is None else f"{value:.1f} ({rank})"


def _figure(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1f}"

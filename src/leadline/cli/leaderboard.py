"""``leadline leaderboard``: the papers' tables with their derived figures recomputed, and runs among them."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from leadline.analysis.entrant import Entrant, make_entrant
from leadline.analysis.leaderboard import Standing, standings
from leadline.cli import options as opt
from leadline.cli.results import changed_parameters, load_run
from leadline.cli.tables import print_table
from leadline.errors import UsageError
from leadline.reference.tables import KINDS, TABLES, Kind, Table, read_table
from leadline.tasks.registry import suggestion

DEFAULT_WITH = "ruler"
"""The table that a run or the user's weights are for where none is named."""

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog="Example: leadline leaderboard --table ruler --with runs/local/ruler-1a2b3c4d")
def leaderboard(
    table: Annotated[
        str | None,
        typer.Option(help=f"Tables, separated by commas: {', '.join(TABLES)}.", show_default="all of them"),
    ] = None,
    run: Annotated[
        list[Path] | None, typer.Option("--with", help="A run's folder to rank among the rows; repeatable.")
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(help="Your own weights of the table's lengths, shortest first, for example 5,3,1,1,0,0."),
    ] = None,
    kind: Annotated[str | None, typer.Option(help="Only chat or only base models; a run stands among these.")] = None,
    skip_damaged: opt.SkipDamaged = False,
    as_json: opt.Json = False,
) -> None:
    """Show the papers' tables, averages, ranks and effective lengths derived anew, and where the print disagrees."""
    chosen = _tables(table, needs_one=bool(run) or weights is not None)
    only = _kind(kind)
    shown: list[dict[str, Any]] = []
    warned: set[str] = set()
    for each in chosen:
        given = None if weights is None else _weights(weights, each)
        entrants = [_entrant(folder, each, only, skip_damaged) for folder in run or ()]
        rows = standings(each, entrants, given, only)
        if as_json:
            shown += [_as_dict(row, each, weighted=given is not None) for row in rows]
        else:
            _show(each, rows, given)
        for entrant in entrants:
            _warn(entrant, each, warned, as_json)
    if as_json:
        print(json.dumps(shown))


def _tables(names: str | None, *, needs_one: bool) -> list[Table]:
    if names is None:
        return [read_table(name) for name in ((DEFAULT_WITH,) if needs_one else TABLES)]
    listed = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not listed:
        raise UsageError(f"--table {names!r} names no table: give one of {', '.join(TABLES)}")
    for name in listed:
        if name not in TABLES:
            raise UsageError(f"there is no table {name!r}: {suggestion(name, list(TABLES))}")
    return [read_table(name) for name in listed]


def _kind(text: str | None) -> Kind | None:
    for kind in KINDS:
        if text == kind:
            return kind
    if text is None:
        return None
    raise UsageError(f"--kind {text!r} is neither chat nor base: give one of them")


def _weights(text: str, table: Table) -> list[float]:
    try:
        weights = [float(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"--weights {text!r} are not numbers between commas: give for example 5,3,1,1,0,0") from error
    if len(weights) != len(table.lengths):
        raise UsageError(
            f"--weights {text!r} are {len(weights)}, and the table {table.info.name!r} has {len(table.lengths)} "
            "lengths: give one weight for each, shortest first"
        )
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights) or not any(weights):
        raise UsageError(f"--weights {text!r} are no weights: none may be negative, and one at least is above 0")
    return weights


def _entrant(folder: Path, table: Table, kind: Kind | None, skip_damaged: bool) -> Entrant:
    run = load_run(folder, skip_damaged=skip_damaged)
    return make_entrant(
        run.summary,
        run.design,
        table,
        source=str(folder),
        kind=kind or _only_kind(table),
        changed=changed_parameters(run),
    )


def _only_kind(table: Table) -> Kind:
    """The kind of a table that has one; chat where it has both."""
    return "base" if list(table.thresholds) == ["base"] else "chat"


def _as_dict(row: Standing, table: Table, *, weighted: bool) -> dict[str, Any]:
    data = row.as_dict(table.info.name)
    if row.base is not None:
        data["base"] = row.base
    if weighted:
        data |= {"weighted": row.figures.weighted, "rank_weighted": row.rank_weighted}
    return data


def _show(table: Table, rows: tuple[Standing, ...], weights: list[float] | None) -> None:
    from leadline.report.leaderboard import console_table, footnotes

    if not rows:
        raise UsageError(f"the table {table.info.name!r} has no such models: leave out --kind, or give another --table")
    print_table(console_table(table, rows, weights))
    print("\n".join(footnotes(table, rows)) + "\n")


def _warn(entrant: Entrant, table: Table, warned: set[str], as_json: bool) -> None:
    """Say once of each run what keeps its figures from being the table's."""
    name = f"{entrant.model} ({entrant.source})"
    lines = [f"warning: {name} is not comparable with the table {table.info.name!r}: {'; '.join(entrant.warnings)}"]
    lines = lines if entrant.warnings else []
    lines += [f"note: {name}: {note}" for note in entrant.notes]
    for line in lines:
        if line not in warned:
            print(line, file=sys.stderr if as_json or line.startswith("warning") else sys.stdout)
            warned.add(line)

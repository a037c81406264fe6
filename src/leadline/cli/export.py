"""``leadline export``: a run in other tools' formats."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from leadline.cli import options as opt
from leadline.errors import UsageError
from leadline.visible import visible

app = typer.Typer(add_completion=False, rich_markup_mode=None)

TARGETS = {
    "ruler": "samples, predictions and summary.csv as RULER's reference tool leaves them",
    "csv": "a table with one row for each trial",
}


@app.command(epilog="Example: leadline export runs/local/ruler-1a2b3c4d --to ruler -o benchmark_root")
def export(
    folder: opt.RunFolder,
    to: Annotated[str, typer.Option("--to", help="; ".join(f"{name}: {what}" for name, what in TARGETS.items()))],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Where to: a folder for ruler, a file for csv.", show_default="in the run's folder"
        ),
    ] = None,
    offline: opt.Offline = False,
    skip_damaged: opt.SkipDamaged = False,
    as_json: opt.Json = False,
) -> None:
    """Write a run's records in another format; no model is asked."""
    if to not in TARGETS:
        raise UsageError(f"--to {to!r} is no format of an export: give one of {', '.join(TARGETS)}")
    from leadline.interop.run_records import read_run

    run = read_run(folder, skip_damaged=skip_damaged)
    notices = [f"{run.damaged} damaged record lines were skipped"] if run.damaged else []
    if to == "csv":
        from leadline.interop.csv_export import export_csv

        place = output or folder / "records.csv"
        export_csv(run, place)
    else:
        from leadline.interop.ruler_export import export_ruler

        done = export_ruler(run, output or folder / "ruler", offline=offline)
        place = done.folder
        notices += done.notices
    for notice in notices:
        print(f"leadline: {visible(notice)}", file=sys.stderr)
    print(json.dumps({"to": to, "path": str(place), "notices": notices}) if as_json else place)

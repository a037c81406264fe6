"""``leadline report``: a run's HTML page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from leadline.cli import options as opt
from leadline.cli.results import load_results
from leadline.errors import UsageError

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog="Example: leadline report runs/local/quick-1a2b3c4d -o page.html")
def report(
    folder: opt.RunFolder,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write it; the run's folder by default.")
    ] = None,
    skip_damaged: opt.SkipDamaged = False,
    as_json: opt.Json = False,
) -> None:
    """Write one self-contained page: verdict, table, chart."""
    from leadline.report.charts import score_by_length

    results = load_results(folder, skip_damaged=skip_damaged)
    path = output or folder / "report.html"
    if not path.parent.is_dir():
        raise UsageError(f"-o {path}: the folder {path.parent} does not exist: make it first")
    results.write_report(path)
    if as_json:
        chart = score_by_length(results.summary, results.design)
        print(json.dumps({"page": str(path), "figures": {"score_by_length": chart}}))
    else:
        print(f"report: {path}")

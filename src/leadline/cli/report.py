"""``leadline report``: a run's HTML page, or one page of several runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from leadline.analysis.correlation import TaskCorrelation
from leadline.api import Run, correlate, differing_tasks
from leadline.cli import options as opt
from leadline.cli.results import load_run
from leadline.errors import UsageError

SEVERAL = Path("report.html")
"""Where the page of several runs goes: into the folder that the command is started in."""

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog="Example: leadline report runs/local/quick-1a2b3c4d -o page.html")
def report(
    folder: Annotated[list[Path], typer.Argument(help="A run's folder, or those of several.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Where to write it; report.html in the run's folder by default, or in this one for several runs.",
        ),
    ] = None,
    skip_damaged: opt.SkipDamaged = False,
    as_json: opt.Json = False,
) -> None:
    """Write one self-contained page: verdict, table, chart; of several runs, how their tasks correlate besides."""
    path = output or (folder[0] / "report.html" if len(folder) == 1 else SEVERAL)
    if not path.parent.is_dir():
        raise UsageError(f"-o {path}: the folder {path.parent} does not exist: make it first")
    _refuse_twice(folder)
    runs = [load_run(each, skip_damaged=skip_damaged) for each in folder]
    figures = _one(path, runs[0]) if len(runs) == 1 else _several(path, runs)
    print(json.dumps({"page": str(path), **figures}) if as_json else f"report: {path}")


def _refuse_twice(folders: Sequence[Path]) -> None:
    seen: set[Path] = set()
    for folder in folders:
        if folder.resolve() in seen:
            raise UsageError(f"{folder} is given twice: name each run once")
        seen.add(folder.resolve())


def _figures(run: Run) -> dict[str, Any]:
    return {name: run.chart_data(name) for name in run.charts}


def _one(path: Path, run: Run) -> dict[str, Any]:
    """Write the page and give the figures on it."""
    run.write_report(path)
    return {"figures": _figures(run)}


def _several(path: Path, runs: Sequence[Run]) -> dict[str, Any]:
    """Write the page and give all figures on it; the correlation is null where the runs share too little."""
    from leadline.report.correlation import correlation_figure
    from leadline.report.several import MARKED_AT, RunOfSeveral, write_page_of_several

    correlation: TaskCorrelation | str
    try:
        correlation = correlate(runs)
    except UsageError as error:
        correlation = str(error)
    others = differing_tasks(runs)
    remarks = [f"Not the same task in all runs (version or parameters): {', '.join(others)}"] if others else []
    shown = [RunOfSeveral(run.folder, run.summary, run.design, run.sentence) for run in runs]
    write_page_of_several(path, shown, correlation, remarks)
    known = not isinstance(correlation, str)
    return {
        "runs": [
            {"folder": str(run.folder), "model": run.summary.model, "suite": run.summary.suite, "verdict": run.sentence}
            | {"summary": run.summary.as_dict(), "figures": _figures(run)}
            for run in runs
        ],
        "figures": {"task_correlation": correlation_figure(correlation, MARKED_AT)} if known else {},
        "correlation": correlation.as_dict() if known else None,
        "differing_tasks": others,
    }

"""``leadline score``: a run's figures again, from its records alone."""

from __future__ import annotations

import json

import typer

from leadline.cli import options as opt
from leadline.cli.results import load_run, print_run

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog="Example: leadline score runs/local/quick-1a2b3c4d")
def score(
    folder: opt.RunFolder,
    threshold: opt.Threshold = None,
    weights: opt.Weights = None,
    skip_damaged: opt.SkipDamaged = False,
    as_json: opt.Json = False,
) -> None:
    """Recompute scores, table and verdict; no model is asked."""
    run = load_run(folder, skip_damaged=skip_damaged, threshold=threshold, weights=weights)
    run.write()
    if as_json:
        print(json.dumps(run.summary.as_dict()))
    else:
        print_run(run)

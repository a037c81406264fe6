"""``leadline import``: other tools' files as runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from leadline.cli import options as opt
from leadline.cli.results import load_run, print_run
from leadline.visible import visible

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def imported() -> None:
    """Make a run of what another tool measured; score, report and leaderboard then read it like any other.

    Example: leadline import ruler benchmark_root/llama-3.1-8b
    """


@app.command(epilog="Example: leadline import ruler benchmark_root/llama-3.1-8b --model llama-3.1-8b-int4")
def ruler(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="A model's folder of RULER's tool, one length's, or one of predictions.",
            show_default=False,
        ),
    ],
    model: Annotated[
        str | None, typer.Option(help="What to call the model.", show_default="the name of its folder")
    ] = None,
    out: opt.Out = None,
    as_json: opt.Json = False,
) -> None:
    """Read the data and prediction files of RULER's reference tool."""
    from leadline.interop.ruler_import import import_ruler

    done = import_ruler(directory, out or Path("runs"), model)
    for notice in done.notices:
        print(f"leadline: {visible(notice)}", file=sys.stderr)
    run = load_run(done.folder)
    run.write()
    if as_json:
        print(json.dumps(run.summary.as_dict()))
    else:
        print_run(run)
        print(f"run: {done.folder} ({done.records} records)")

"""``leadline calibrate``: the tool against readers whose truth is known."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from leadline.cli import options as opt
from leadline.cli.tables import print_table

if TYPE_CHECKING:
    from leadline.calibration import Certificate, Check

CERTIFICATE = Path("calibration.json")
CHECK_FAILED = 1

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog="Example: leadline calibrate --suite ruler --suite nolima-open --out certificate.json")
def calibrate(
    suite: Annotated[
        list[str] | None, typer.Option(help="A suite to send readers through; repeatable.", show_default="all")
    ] = None,
    seed: opt.Seed = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="One suite and few samples: seconds instead of minutes.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Where the certificate is written.")] = CERTIFICATE,
    offline: opt.Offline = False,
    as_json: opt.Json = False,
) -> int:
    """Measure readers of known truth, show what was found beside what is true, and write a certificate.

    Asks no model. Exit code 1 where a check fails.
    """
    from leadline.calibration import SEED, check_place
    from leadline.calibration import calibrate as measured

    check_place(out)
    certificate = measured(suite or (), seed=SEED if seed is None else seed, quick=quick, offline=offline, say=_say)
    certificate.write(out)
    if as_json:
        print(json.dumps(certificate.as_dict()))
    else:
        _show(certificate)
        print(f"certificate: {out}")
    return 0 if certificate.passed else CHECK_FAILED


def _say(message: str) -> None:
    if sys.stderr.isatty():
        print(message, file=sys.stderr)


def _show(certificate: Certificate) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("", "reader", "where", "what"):
        table.add_column(column)
    for column in ("true", "found"):
        table.add_column(column, justify="right")
    table.add_column("within")
    table.add_column("n", justify="right")
    table.add_column("verdict")
    group = ""
    for check in certificate.checks:
        shown = check.group if check.group != group else ""
        group = check.group
        table.add_row(
            shown,
            check.reader,
            check.where,
            check.what,
            _figure(check.true),
            _figure(check.found),
            _range(check),
            str(check.n),
            "passed" if check.passed else "FAILED",
        )
    print_table(table)
    for suite, reason in certificate.left_out.items():
        print(f"left out: {suite}: {reason}")
    print(f"{certificate.sentence} ({certificate.trials} trials, {certificate.took_s:.0f} s, seed {certificate.seed})")


def _figure(figure: float | str | None) -> str:
    if figure is None:
        return "-"
    return figure if isinstance(figure, str) else f"{figure:.1f}"


def _range(check: Check) -> str:
    """What decided where chance has a part; the width of intervals beside their coverage."""
    if check.low is None or check.high is None:
        return ""
    told = f"{check.low:.1f} to {check.high:.1f}"
    return f"{told} ({check.note})" if check.note else told

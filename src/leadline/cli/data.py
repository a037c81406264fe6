"""``leadline data``: data sets and the model in the box."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from leadline import data as catalogue
from leadline.cli import options as opt

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A name of `leadline data list`.", show_default=False)]


@app.callback()
def data() -> None:
    """What leadline fetches: where from, under which licence, where to.

    Example: leadline data get local
    """


@app.command("list", epilog="Example: leadline data list --verify")
def list_all(
    verify: Annotated[bool, typer.Option("--verify", help="Hash every file that is held.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Show each entry with its licence, source, checksum and whether it is held."""
    held = [catalogue.status(entry, verify=verify) for entry in catalogue.entries()]
    if as_json:
        print(json.dumps([_as_dict(status) for status in held]))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("name", "what", "state", "licence", "source", "sha256"):
        table.add_column(column, overflow="fold")
    for status in held:
        entry = status.entry
        name = ", ".join((entry.name, *entry.aliases))
        table.add_row(name, entry.title, status.state, entry.licence, entry.wheel.requirement, entry.sha256[:12])
    Console(highlight=False).print(table, markup=False)
    for status in held:
        if status.reason is not None:
            print(f"{status.entry.name}: {status.reason}")


@app.command(epilog="Example: leadline data get essays")
def get(
    name: Name,
    again: Annotated[bool, typer.Option("--again", help="Fetch it even where it is held.")] = False,
    offline: opt.Offline = False,
    as_json: opt.Json = False,
) -> None:
    """Fetch an entry into the cache and check it."""
    file = catalogue.get(name, again=again, offline=offline)
    print(json.dumps({"name": name, "path": str(file)}) if as_json else file)


@app.command(epilog="Example: leadline data path local")
def path(name: Name, as_json: opt.Json = False) -> None:
    """Print where an entry's file is in the cache, or would be."""
    file = catalogue.path(name)
    print(json.dumps({"name": name, "path": str(file)}) if as_json else file)


def _as_dict(status: catalogue.Status) -> dict[str, str | int | None]:
    entry = status.entry
    return {
        "name": entry.name,
        "title": entry.title,
        "about": entry.about,
        "licence": entry.licence,
        "source": f"{entry.wheel.requirement}: {entry.member}",
        "source_licence": entry.wheel_licence,
        "sha256": entry.sha256,
        "size_bytes": entry.size_bytes,
        "state": status.state,
        "path": str(status.path),
        "reason": status.reason,
    }

"""``leadline data``: data sets and the model in the box."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from leadline import data as catalogue
from leadline.cli import options as opt
from leadline.cli.tables import print_table
from leadline.data.added import Added, all_added, find_added
from leadline.data.added import add as keep
from leadline.data.needle_files import official_folder
from leadline.data.nolima_official import LICENCE, NAME, SOURCE, TITLE, Official, get_official, official_status
from leadline.errors import UsageError

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
    added = all_added()
    official = official_status(verify)
    if as_json:
        rows = [*map(_as_dict, held), _official_as_dict(official), *map(_added_as_dict, added)]
        print(json.dumps(rows))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("name", "what", "state", "licence", "source", "sha256"):
        table.add_column(column, overflow="fold")
    for status in held:
        entry = status.entry
        name = ", ".join((entry.name, *entry.aliases))
        table.add_row(name, entry.title, status.state, entry.licence, entry.wheel.requirement, entry.sha256[:12])
    table.add_row(NAME, TITLE, official.state, LICENCE, SOURCE, "")
    for entry in added:
        what = f"{entry.questions:,} questions on {entry.documents:,} documents"
        table.add_row(entry.name, what, "held", "your own", entry.source, entry.sha256[:12])
    print_table(table)
    for status in held:
        if status.reason is not None:
            print(f"{status.entry.name}: {status.reason}")


@app.command(epilog="Example: leadline data get essays")
def get(
    name: Name,
    again: Annotated[bool, typer.Option("--again", help="Fetch it even where it is held.")] = False,
    accept_licence: Annotated[
        bool, typer.Option("--accept-licence", help=f"For {NAME}: you accept its licence, which is non-commercial.")
    ] = False,
    offline: opt.Offline = False,
    as_json: opt.Json = False,
) -> None:
    """Fetch an entry into the cache and check it."""
    if name == NAME:
        file = get_official(accepted=accept_licence, again=again, offline=offline)
    elif accept_licence:
        raise UsageError(f"--accept-licence is for {NAME}: leave it out for {name}, which is fetched without")
    else:
        file = catalogue.get(name, again=again, offline=offline)
    print(json.dumps({"name": name, "path": str(file)}) if as_json else file)


@app.command(epilog="Example: leadline data path local")
def path(name: Name, as_json: opt.Json = False) -> None:
    """Print where an entry's file is in the cache, or would be."""
    if name == NAME:
        file = official_folder()
    else:
        own = find_added(name)
        file = catalogue.path(name) if own is None else own.path
    print(json.dumps({"name": name, "path": str(file)}) if as_json else file)


@app.command(epilog="Example: leadline data add my-questions.json --name mine; then --set qa_1.dataset=mine")
def add(
    file: Annotated[Path, typer.Argument(help="JSON in the format of SQuAD or of HotpotQA.", show_default=False)],
    name: Annotated[str, typer.Option(help="What to call it.")],
    again: Annotated[bool, typer.Option("--again", help="Take the place of another file of this name.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Keep a file of questions of your own, for the tasks of the family qa."""
    added = keep(file, name, again)
    if as_json:
        print(json.dumps(_added_as_dict(added)))
    else:
        print(f"{added.name}: {added.questions:,} questions on {added.documents:,} documents ({added.format} format)")


def _official_as_dict(official: Official) -> dict[str, str | int | None]:
    return {
        "name": NAME,
        "title": TITLE,
        "about": "Six needle files and five shuffled books; fetched only with --accept-licence.",
        "licence": LICENCE,
        "source": SOURCE,
        "sha256": None,
        "size_bytes": official.size_bytes,
        "state": official.state,
        "path": str(official_folder()),
        "reason": None if official.state != "damaged" else "a file has gone or changed: get it --again",
    }


def _added_as_dict(added: Added) -> dict[str, str | int]:
    return {
        "name": added.name,
        "title": f"{added.questions} questions on {added.documents} documents",
        "licence": "the user's own",
        "source": added.source,
        "format": added.format,
        "sha256": added.sha256,
        "size_bytes": added.size_bytes,
        "state": "held",
        "path": str(added.path),
    }


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

"""``leadline tasks``: what there is to ask."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from leadline.cli.tables import print_table
from leadline.errors import UsageError
from leadline.suites import suite_data, suite_names
from leadline.tasks.base import describe
from leadline.tasks.registry import FAMILIES, TASKS, make_task, suggestion

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog="Example: leadline tasks niah_multikey_1")
def tasks(
    name: Annotated[
        str | None, typer.Argument(help="A suite, a family or a task; everything where none is named.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """List suites and tasks, or show one with its parameters, defaults and sources."""
    if name is None:
        data = {"suites": [_suite(suite) for suite in suite_names()], "tasks": [_task(task) for task in TASKS]}
    elif name in suite_names():
        data = _suite(name)
    elif name in TASKS:
        data = _task(name) | {"parameters": _parameters(name)}
    elif name in FAMILIES:
        family = FAMILIES[name]
        data = {"family": name, "about": family.about, "source": family.source, "parameters": describe(family.params)}
    else:
        known = [*suite_names(), *FAMILIES, *TASKS]
        raise UsageError(f"there is no suite, family or task {name!r}: {suggestion(name, known)}")
    if as_json:
        print(json.dumps(data))
    else:
        _show(data)


def _suite(name: str) -> dict[str, Any]:
    data = suite_data(name)
    return {
        "suite": name,
        "about": data["about"],
        "source": data["source"],
        "lengths": data["lengths"],
        "samples": data["samples"],
        "tasks": data["tasks"],
        "verdict": data["verdict"],
    }


def _task(name: str) -> dict[str, Any]:
    family = FAMILIES[TASKS[name][0]]
    task = make_task(name)
    return {
        "task": name,
        "family": family.name,
        "category": task.category,
        "version": task.version,
        "about": family.about,
        "source": family.source,
        "changes": dict(TASKS[name][1]),
        "output_tokens": task.params.output_tokens,
    }


def _parameters(name: str) -> list[dict[str, Any]]:
    """Parameters with the values that this task gives them."""
    values = make_task(name).params.model_dump()
    rows = describe(FAMILIES[TASKS[name][0]].params)
    return [{**row, "default": values[row["name"]]} for row in rows]


def _show(data: dict[str, Any]) -> None:
    console = Console(soft_wrap=True, highlight=False)
    if "suites" in data:
        _rows("suites", data["suites"], ("suite", "about", "lengths", "samples"))
        _rows("tasks", data["tasks"], ("task", "category", "output_tokens", "changes"))
        return
    parameters = data.pop("parameters", None)
    for name, value in data.items():
        console.print(f"{name}: {_text(value)}", markup=False)
    if parameters:
        _rows("parameters", parameters, ("name", "default", "values", "about"))


def _rows(title: str, rows: list[dict[str, Any]], columns: tuple[str, ...]) -> None:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column.replace("_", " "), overflow="fold")
    for row in rows:
        table.add_row(*(_text(row[column]) for column in columns))
    print_table(table)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={entry}" for name, entry in value.items())
    if isinstance(value, list):
        return ", ".join(str(entry) for entry in value)
    return str(value)

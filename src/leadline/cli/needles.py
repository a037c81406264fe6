"""``leadline needles``: needle sets looked at before anything is asked."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from leadline.cli import options as opt
from leadline.cli.tables import print_table
from leadline.errors import UsageError
from leadline.needles.lint import lint as findings_of
from leadline.needles.open_set import load_open_set, open_facts
from leadline.needles.overlap import PUBLISHED, Overlap, overlap_of
from leadline.needles.reading import read_needle_file
from leadline.needles.sets import NeedleSet
from leadline.needles.table import fact_table, pair_table
from leadline.visible import visible

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)

File = Annotated[
    Path | None,
    typer.Argument(help="A needle set in NoLiMa's format; leadline's own where none is named.", show_default=False),
]


@app.callback()
def needles() -> None:
    """Needle sets: what is in them, and what is wrong with them.

    Example: leadline needles lint my_needles.json --haystack books
    """


@app.command(epilog="Example: leadline needles lint my_needles.json --haystack books")
def lint(
    file: File = None,
    haystack: Annotated[
        Path | None, typer.Option(help="Folder of .txt files that the needles are to stand in.", show_default=False)
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Check a set: shared words, overlap, names, duplicates, placeholders, and whether the haystack meets it.

    Exit code 1 where an error is found.
    """
    needle_set = _set(file)
    text = None if haystack is None else _haystack(haystack)
    findings = findings_of(needle_set, text)
    direct = all(pair.hops == "direct" for pair in needle_set.pairs)
    overlap = overlap_of(needle_set, direct=direct)
    if as_json:
        print(
            json.dumps(
                {
                    "set": needle_set.name,
                    "pairs": len(needle_set.pairs),
                    "groups": needle_set.groups,
                    "names": len(needle_set.characters),
                    "overlap": asdict(overlap),
                    "published_overlap": asdict(PUBLISHED),
                    "findings": [asdict(finding) for finding in findings],
                }
            )
        )
    else:
        _show(needle_set, overlap, direct)
        if findings:
            table = Table(box=None, pad_edge=False)
            for column in ("severity", "check", "where", "message"):
                table.add_column(column, overflow="fold")
            for finding in findings:
                table.add_row(finding.severity, finding.check, finding.where, finding.message)
            print_table(table)
        else:
            print("nothing found")
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(1)


@app.command(epilog="Example: leadline needles table my_needles.json > pairs.md")
def table(
    file: File = None,
    facts: Annotated[bool, typer.Option("--facts", help="The facts of leadline's own set, with sources.")] = False,
) -> None:
    """Print every pair of a set as a Markdown table."""
    if facts and file is not None:
        raise UsageError(f"--facts shows the facts of leadline's own set, not of {file}: leave one of the two out")
    print(fact_table(open_facts()) if facts else pair_table(_set(file)), end="")


def _set(file: Path | None) -> NeedleSet:
    return load_open_set() if file is None else read_needle_file(file)


def _haystack(folder: Path) -> str:
    """The text of all .txt files of a folder and the folders in it."""
    files = sorted(folder.rglob("*.txt")) if folder.is_dir() else []
    if not files:
        raise UsageError(f"--haystack {folder}: there is no .txt file, give a folder that holds some")
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)


def _show(needle_set: NeedleSet, overlap: Overlap, direct: bool) -> None:
    count = f"{len(needle_set.pairs)} pairs in {len(needle_set.groups)} groups, {len(needle_set.characters)} names"
    print(f"{visible(needle_set.name)}: {count}")
    figures = f"{overlap.rouge_1:.3f} / {overlap.rouge_2:.3f} / {overlap.rouge_l:.3f}"
    published = f"{PUBLISHED.rouge_1:.3f} / {PUBLISHED.rouge_2:.3f} / {PUBLISHED.rouge_l:.3f}"
    about = "direct questions, which repeat the needle on purpose" if direct else f"at most {published}, as published"
    print(f"ROUGE-1 / 2 / L precision of {overlap.count} questions against their needles: {figures} ({about})")

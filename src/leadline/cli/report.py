"""``leadline report``: a run's HTML page, or one page of several runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.analysis.several import RunOfSeveral
from leadline.api import Run, differing_tasks
from leadline.cli import options as opt
from leadline.cli.results import changed_parameters, load_run
from leadline.errors import UsageError
from leadline.items import canonical_json

if TYPE_CHECKING:
    from leadline.report.drawing import FileKind

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
    family: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=RUN,RUN: models to draw as one family; repeatable.", show_default="as the models' names tell"
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(help="A folder for every chart as an SVG file, dark on white; made where it is missing."),
    ] = None,
    png: Annotated[Path | None, typer.Option(help="The same as PNG files.")] = None,
    skip_damaged: opt.SkipDamaged = False,
    as_json: opt.Json = False,
) -> None:
    """Write one self-contained page: verdict, charts, tables; of several runs, what tells them apart besides."""
    path = output or (folder[0] / "report.html" if len(folder) == 1 else SEVERAL)
    if output is not None and not path.parent.is_dir():
        raise UsageError(f"-o {path}: the folder {path.parent} does not exist: make it first")
    _refuse_twice(folder)
    if family and len(folder) == 1:
        raise UsageError(f"--family {family[0]} is for a page of several runs: name the folders of all of them")
    folders = _chart_folders(svg, png)
    runs = [load_run(each, skip_damaged=skip_damaged) for each in folder]
    figures = _one(path, runs[0]) if len(runs) == 1 else _several(path, runs, family or ())
    written = _write_charts(figures, folders)
    if as_json:
        print(json.dumps({"page": str(path), **figures, **({"files": written} if folders else {})}))
        return
    print(f"report: {path}")
    for folder_of_kind in dict.fromkeys(folders.values()):
        count = sum(Path(each).parent == folder_of_kind for each in written)
        print(f"charts: {folder_of_kind} ({count} file{'s' if count != 1 else ''})")


def _chart_folders(svg: Path | None, png: Path | None) -> dict[FileKind, Path]:
    """The folders that charts go into, made before anything is read."""
    from leadline.report.drawing import make_folder

    given: tuple[tuple[FileKind, Path | None], ...] = (("svg", svg), ("png", png))
    folders: dict[FileKind, Path] = {}
    for kind, folder in given:
        if folder is not None:
            make_folder(folder, kind)
            folders[kind] = folder
    return folders


def _write_charts(figures: Mapping[str, Any], folders: Mapping[FileKind, Path]) -> list[str]:
    """Write every chart of the page, those of one of several runs under the place of their run on it."""
    from leadline.report.drawing import write_charts

    charts: dict[str, Any] = dict(figures["figures"])
    for place, run in enumerate(figures.get("runs", ()), start=1):
        charts |= {f"run-{place}-{name}": chart for name, chart in run["figures"].items()}
    return [str(path) for kind, folder in folders.items() for path in write_charts(charts, folder, kind)]


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


def _several(path: Path, runs: Sequence[Run], families: Sequence[str] = ()) -> dict[str, Any]:
    """Write the page and give all figures on it; the correlation is null where the runs share too little."""
    from leadline.report.several import several_runs
    from leadline.report.several_page import write_page_of_several

    others = differing_tasks(runs)
    several = several_runs([_of_several(run) for run in runs], _families(families))
    write_page_of_several(path, several)
    correlation = several.correlation
    return {
        "runs": [
            {"folder": str(run.folder), "name": name, "model": run.summary.model, "suite": run.summary.suite}
            | {"verdict": run.sentence, "summary": run.summary.as_dict(), "figures": _figures(run)}
            for name, run in zip(several.names, runs, strict=True)
        ],
        "figures": several.figures(),
        "correlation": None if isinstance(correlation, str) else correlation.as_dict(),
        "differing_tasks": others,
        **several.as_dict(),
    }


def _of_several(run: Run) -> RunOfSeveral:
    from leadline.report.claimed import claimed_length

    identity: Mapping[str, Any] = run.manifest["identity"]
    tasks: Mapping[str, Any] = identity.get("tasks", {})
    # NoLiMa's needles and haystacks may be the user's files, and then only their hashes tell two sets apart.
    data = identity.get("data") if run.design.base is not None else None
    return RunOfSeveral(
        folder=run.folder,
        summary=run.summary,
        design=run.design,
        verdict=run.sentence,
        label=run.manifest["spec"].get("label"),
        variants={task.name: canonical_json([tasks.get(task.name), data]) for task in run.design.tasks},
        claimed_tokens=claimed_length(run.manifest)[0],
        changed=tuple(changed_parameters(run)),
    )


def _families(options: Sequence[str]) -> dict[str, list[Path]]:
    """Folders by the name of their family."""
    families: dict[str, list[Path]] = {}
    for option in options:
        name, _, folders = option.partition("=")
        listed = [Path(folder.strip()) for folder in folders.split(",") if folder.strip()]
        if not name.strip() or not listed:
            raise UsageError(
                f"--family {option!r} is not of the form NAME=RUN,RUN: write for example small=runs/a,runs/b"
            )
        families.setdefault(name.strip(), []).extend(listed)
    return families

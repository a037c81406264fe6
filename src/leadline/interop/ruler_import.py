"""RULER's data and prediction files as a run of leadline's: a manifest and records, like those of any other run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leadline import __version__
from leadline.errors import DataError, RunFolderError
from leadline.interop.ruler_cells import MARK, ImportedCell, read_cell
from leadline.interop.ruler_files import Found, find_files
from leadline.interop.ruler_notices import notices_of_cell, notices_of_folder
from leadline.requests import ModelFacts
from leadline.run.identity import folder_name, identity_hash
from leadline.run.manifest import FORMAT, write_manifest
from leadline.run.store import write_atomically
from leadline.spec import RunSpec
from leadline.suites import suite_data
from leadline.tasks.registry import make_task

SUITE = "ruler"
RECORDS = "records-1of1-imported.jsonl"


@dataclass(frozen=True, slots=True)
class Imported:
    """A run that was made of files.

    Attributes:
        folder: where it is.
        records: how many trials it has.
        notices: what a reader must know, one line each.
    """

    folder: Path
    records: int
    notices: tuple[str, ...]


def import_ruler(directory: Path, out: Path, model: str | None = None) -> Imported:
    """Make a run of the files that RULER's tool left in a folder.

    Args:
        directory: a folder of any level, down to that of the predictions.
        out: parent of the runs' folders.
        model: the model's name; None takes that of its folder.

    Raises:
        LeadlineError: there is nothing to read, a file is damaged, or the run cannot be written.
    """
    found = find_files(directory)
    cells = [read_cell(files) for files in found.cells]
    records = [record for cell in cells for record in cell.records]
    if not records:
        raise DataError(f"{directory}: {_why_nothing(cells)}")
    manifest, folder_parts = _manifest(found, cells, directory.resolve(), out, model or found.model)
    folder = out / folder_parts
    notices = (*notices_of_folder(found, cells), *(line for cell in cells for line in notices_of_cell(cell)))
    manifest["imported"]["notices"] = list(notices)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"{folder} cannot be made ({error.strerror}): choose another --out") from error
    write_atomically(folder / RECORDS, "".join(f"{record.to_json()}\n" for record in records))
    write_manifest(folder, manifest)
    return Imported(folder, len(records), notices)


def _why_nothing(cells: Sequence[ImportedCell]) -> str:
    if any(cell.tally.extra for cell in cells):
        return (
            "no prediction belongs to a sample of its files: were the samples made again since? Move the data folders "
            "away to read the predictions alone"
        )
    return "its files hold no whole prediction: let RULER's tool ask the model first"


def _manifest(
    found: Found, cells: Sequence[ImportedCell], root: Path, out: Path, model: str
) -> tuple[dict[str, Any], str]:
    """The run's manifest, and its folder below `out`."""
    asked: dict[str, dict[str, int]] = {}
    for cell in cells:
        if cell.tally.samples:
            asked.setdefault(cell.files.task, {})[str(cell.files.length)] = cell.tally.samples
    suite = suite_data(SUITE)
    order = [*suite["tasks"], *(task for task in asked if task not in suite["tasks"])]
    tasks = [task for task in order if task in asked]
    spec = RunSpec.model_validate(
        {
            "suite": SUITE,
            "about": "predictions of RULER's reference tool, imported",
            "source": suite["source"],
            "k": suite["k"],
            "model": model,
            "suite_tasks": tasks,
            "tasks": tasks,
            "lengths": sorted({int(length) for samples in asked.values() for length in samples}),
            "samples": max(max(samples.values()) for samples in asked.values()),
            "verdict": suite["verdict"],
            "out": out,
        }
    )
    facts = ModelFacts(model)
    hashes = {
        Path(os.path.relpath(path, root)).as_posix(): seen.sha256
        for cell in cells
        for path, seen in cell.tally.files.items()
    }
    identity = _identity(spec, facts, hashes)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "id": identity_hash(identity),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "asked": {task: asked[task] for task in tasks},
        "spec": spec.model_dump(mode="json"),
        "identity": identity,
        "model": {"name": model},
        "imported": {
            "tool": "RULER's reference tool (github.com/NVIDIA/RULER)",
            "directory": str(root),
            "files": hashes,
            "tokens": "prompt tokens are the tool's own counts, less the task's answer budget",
            "scores": {cell.name: cell.tally.tool.score for cell in cells},
        },
        "versions": {"leadline": __version__},
    }
    return manifest, folder_name(spec, facts, identity)


def _identity(spec: RunSpec, facts: ModelFacts, hashes: Mapping[str, str]) -> dict[str, Any]:
    """What makes two imports the same run: the files' contents, whatever they are called, and the model's name."""
    return {
        "suite": spec.suite,
        "tasks": {task: {"version": make_task(task).version, "params": {"imported": MARK}} for task in spec.tasks},
        "set": {},
        "seed": None,
        "protocol": spec.protocol,
        "k": spec.k,
        "exhaust": spec.exhaust,
        "model": {"name": facts.name},
        "label": None,
        "tokenizer": None,
        "frame": None,
        "decoding": None,
        "data": {"imported": sorted(hashes.values())},
    }

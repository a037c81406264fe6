"""RULER's own files: where its reference tool puts them, and what stands on a line.

The tool writes ``<root>/<model>/synthetic/<length>/data/<task>/validation.jsonl`` (samples) and
``.../<length>/pred/<task>.jsonl`` (predictions, or ``<task>-<chunk>.jsonl`` where the work was divided).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from leadline.errors import DataError, UsageError
from leadline.tasks.registry import TASKS
from leadline.values import parse_length

LAYOUT = "<model>/synthetic/<length>/pred/<task>.jsonl"
BENCHMARK = "synthetic"
SAMPLE_FILES = ("validation.jsonl", "test.jsonl")
"""Names of a file of samples, by preference."""

FAMILIES = frozenset({"niah", "vt", "cwe", "fwe", "qa"})
"""Generators of the tool's, by leadline's names."""

_DEPTHS = ("", "*/", "*/*/", "*/*/*/")
"""How far below the given folder a length's folder may stand: a folder of models is four levels up."""

_CHUNK = re.compile(r"(?P<task>.+)-(?P<number>\d+)")


@dataclass(frozen=True, slots=True)
class CellFiles:
    """The files of one task at one length: samples (or None), and predictions in the order of their chunks."""

    task: str
    length: int
    samples: Path | None
    predictions: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What a folder holds.

    Attributes:
        model: its name, by the folders' names.
        cells: by length, then by task.
        unknown: names of tasks that leadline does not have, with how many files they have.
        pred_folders: folder of predictions by length.
    """

    model: str
    cells: tuple[CellFiles, ...]
    unknown: dict[str, int]
    pred_folders: dict[int, Path]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a samples or predictions file.

    Attributes:
        index: the tool's number; in some versions a place in the text, so that several samples have the same.
        outputs: the reference answers; None where the line has none.
        input: the prompt, or None.
        length: tokens by the tool's count, answer budget included; None where it was not counted.
        prediction: the model's text; None where the line has none.
    """

    index: int
    outputs: tuple[str, ...] | None
    input: str | None
    answer_prefix: str
    length: int | None
    prediction: str | None


@dataclass(slots=True)
class FileFacts:
    """What was seen while a file was read: its SHA-256, and whether its last line was cut."""

    sha256: str = ""
    cut: bool = False


def find_files(directory: Path) -> Found:
    """The files below a folder of any level: a model's, that of its lengths, one length's, or one of predictions.

    Raises:
        UsageError: there are none, or those of several models.
    """
    root = directory.resolve()
    if not root.is_dir():
        raise UsageError(f"{directory} is no folder: give one that holds {LAYOUT}")
    folders = _length_folders(root)
    if not folders:
        raise UsageError(
            f"{directory} holds no predictions of RULER's tool (a folder pred below one named by its length in "
            f"tokens): give a folder that holds {LAYOUT}"
        )
    parents = sorted({folder.parent for folder in folders})
    if len(parents) > 1:
        names = ", ".join(_model_of(parent) for parent in parents[:5])
        raise UsageError(f"{directory} holds the files of {len(parents)} models ({names}): give the folder of one")
    cells: list[CellFiles] = []
    unknown: dict[str, int] = {}
    by_length: dict[int, Path] = {}
    for folder in folders:
        length = cast("int", _length_of(folder))
        if length in by_length:
            raise UsageError(f"{by_length[length]} and {folder} are of one length: move one of them away")
        by_length[length] = folder
    for length, folder in sorted(by_length.items()):
        for cell in _cells(folder, length):
            if is_ruler_task(cell.task):
                cells.append(cell)
            else:
                unknown[cell.task] = unknown.get(cell.task, 0) + 1
    if not cells:
        what = f"tasks that leadline has (found: {', '.join(unknown)})" if unknown else f"files {LAYOUT}"
        raise UsageError(f"{directory} has no {what}: nothing can be read from it")
    return Found(_model_of(parents[0]), tuple(cells), unknown, {at: path / "pred" for at, path in by_length.items()})


def read_rows(path: Path, facts: FileFacts) -> Iterator[Row]:
    """The lines of a file, in order; a last line that was cut by a crash is none and is marked in `facts`.

    Raises:
        DataError: the file cannot be read, or a line is not what the tool writes.
    """
    hasher = hashlib.sha256()
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                hasher.update(line)
                if not line.strip():
                    continue
                try:
                    data = json.loads(line)
                except ValueError as error:
                    if not line.endswith(b"\n"):
                        facts.cut = True
                        break
                    raise DataError(f"{path}, line {number} is no JSON: repair it or take the line out") from error
                yield _row(data, path, number)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): restore it or take it away") from error
    facts.sha256 = hasher.hexdigest()


def is_ruler_task(name: str) -> bool:
    """Whether this is a task of leadline's whose generator the tool has too."""
    return name in TASKS and TASKS[name][0] in FAMILIES


def _row(data: Any, path: Path, number: int) -> Row:
    fields: dict[str, Any] = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    index, outputs = fields.get("index"), _texts(fields.get("outputs", fields.get("output")))
    text, prefix, prediction = fields.get("input"), fields.get("answer_prefix"), fields.get("pred")
    wrong = [name for name in ("input", "answer_prefix", "pred") if not isinstance(fields.get(name), str | None)]
    if not isinstance(index, int) or isinstance(index, bool):
        wrong.append("index")
    if "outputs" in fields and outputs is None:
        wrong.append("outputs")
    if wrong:
        raise DataError(
            f"{path}, line {number} is not as RULER's tool writes it (its {', '.join(sorted(wrong))}): "
            "repair it or take the line out"
        )
    tokens = fields.get("length")
    return Row(
        index=cast("int", index),
        outputs=outputs,
        input=text or None,
        answer_prefix=prefix or "",
        length=tokens if isinstance(tokens, int) and tokens > 0 else None,
        prediction=prediction,
    )


def _texts(value: Any) -> tuple[str, ...] | None:
    """Reference answers: a list of texts or numbers, or a single one."""
    values: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [value]
    if not values or not all(isinstance(each, str | int | float) for each in values):
        return None
    return tuple(str(each) for each in values)


def _length_folders(root: Path) -> list[Path]:
    """Folders that are named by a length and hold predictions or samples."""
    if any(root.glob("*.jsonl")) and root.name == "pred":
        return [root.parent] if _length_of(root.parent) is not None else []
    found = {path.parent for depth in _DEPTHS for name in ("pred", "data") for path in root.glob(f"{depth}{name}")}
    return sorted(folder for folder in found if _length_of(folder) is not None)


def _length_of(folder: Path) -> int | None:
    try:
        return parse_length(folder.name)
    except UsageError:
        return None


def _model_of(parent: Path) -> str:
    return parent.parent.name if parent.name == BENCHMARK else parent.name


def _cells(folder: Path, length: int) -> list[CellFiles]:
    """A length's tasks, in leadline's order, then by name."""
    predictions: dict[str, list[tuple[int, Path]]] = {}
    for path in (folder / "pred").glob("*.jsonl"):
        chunk = _CHUNK.fullmatch(path.stem)
        task, number = (path.stem, -1) if chunk is None else (chunk["task"], int(chunk["number"]))
        predictions.setdefault(task, []).append((number, path))
    samples: dict[str, Path] = {}
    for task_folder in (folder / "data").glob("*"):
        for name in SAMPLE_FILES:
            if task_folder.name not in samples and (task_folder / name).is_file():
                samples[task_folder.name] = task_folder / name
    order = list(TASKS)
    names = sorted(
        {*predictions, *samples}, key=lambda name: (order.index(name) if name in order else len(order), name)
    )
    return [
        CellFiles(name, length, samples.get(name), tuple(path for _, path in sorted(predictions.get(name, []))))
        for name in names
    ]

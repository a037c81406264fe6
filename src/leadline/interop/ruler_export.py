"""A run's records in the layout of RULER's reference tool: samples, predictions and its tables of results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from leadline.analysis.summary import Summary, summarise
from leadline.data.sources import Sources
from leadline.errors import RunFolderError, UsageError
from leadline.interop.ruler_files import BENCHMARK, SAMPLE_FILES, is_ruler_task
from leadline.interop.ruler_lines import ToolLine, tool_lines
from leadline.interop.ruler_notices import SAME
from leadline.interop.ruler_samples import Remaker
from leadline.interop.ruler_scores import ToolCell, csv_text, summary_table
from leadline.interop.run_records import RunRecords
from leadline.requests import ModelFacts
from leadline.run.identity import folder_name
from leadline.run.store import write_atomically
from leadline.spec import RunSpec
from leadline.tasks.registry import make_task


@dataclass(frozen=True, slots=True)
class Exported:
    """Where the files are, and what a reader of them must know, one line each."""

    folder: Path
    notices: tuple[str, ...]


def export_ruler(run: RunRecords, out: Path, *, offline: bool = False) -> Exported:
    """Write a run as RULER's tool would have left it, in ``<out>/<model>/synthetic/<length>/{data,pred}``.

    Raises:
        UsageError: the folder is there already, or no task of the run is one of RULER's.
        RunFolderError: a file cannot be written.
    """
    spec = RunSpec.model_validate(run.manifest["spec"])
    root = out / Path(folder_name(spec, ModelFacts(run.design.model), {})).parent / BENCHMARK
    if root.exists():
        raise UsageError(f"{root} is there already: take it away, or give another folder with -o")
    tasks = [task.name for task in run.design.tasks if is_ruler_task(task.name)]
    others = ", ".join(task.name for task in run.design.tasks if task.name not in tasks)
    if not tasks:
        raise UsageError(f"RULER's tool has none of the tasks of {run.folder} ({others}): export it --to csv")
    remaker = Remaker(run.manifest, spec, Sources(offline=offline))
    summary = summarise(run.records, run.design)
    notices = [f"left out: {others}: RULER's tool has no such task"] if others else []
    bare = 0
    for length in run.design.lengths:
        folder = root / str(length)
        cells: dict[str, ToolCell] = {}
        submission: list[Sequence[object]] = [("Task", "ID", "Prediction")]
        for task in tasks:
            notices += _incomplete(summary, task, length, run.design.samples_of(task, length))
            cell = ToolCell()
            lines = tool_lines(run.of(task, length), run.design.samples_of(task, length), remaker)
            for line in _written(lines, folder, task):
                bare += not line.input
                if line.prediction is not None:
                    cell.add(line.prediction, line.outputs, any_of_them=make_task(task).family == "qa")
                    submission.append((task, line.index, line.prediction))
            if cell.scores:
                cells[task] = cell
                notices += _difference(summary, task, length, cell)
        if cells:
            name, text = summary_table(cells)
            write_atomically(folder / "pred" / name, text)
            write_atomically(folder / "pred" / "submission.csv", csv_text(submission))
    if bare:
        why = "their samples are of other files" if remaker.imported else "they were never sent"
        reasons = "; ".join(f"{task}: {reason}" for task, reason in remaker.reasons.items()) or why
        notices.append(f"lines without a prompt: {bare} ({reasons})")
    if remaker.without_template:
        notices.append(
            "prompts without the model's chat template, of which the run does not keep everything: "
            f"{remaker.without_template}"
        )
    return Exported(root, tuple(notices))


def _incomplete(summary: Summary, task: str, length: int, samples: int) -> Iterator[str]:
    """RULER's files cannot tell a trial that is still to be asked from one that was never meant."""
    cell = summary.cell(task, length)
    if not cell.complete:
        yield (
            f"{task} at {length} is incomplete: its score rests on {cell.n} of {samples} trials, and only they have "
            "predictions"
        )


def _difference(summary: Summary, task: str, length: int, written: ToolCell) -> Iterator[str]:
    """Says where the tool would score the files otherwise than leadline scores the run."""
    ours = summary.cell(task, length).score
    if ours is not None and written.score is not None and abs(ours - written.score) > SAME:
        yield f"{task} at {length}: RULER's tool scores these files {written.score:.2f}, leadline the run {ours:.2f}"


def _written(lines: Iterator[ToolLine], folder: Path, task: str) -> Iterator[ToolLine]:
    """The lines of a cell, each written to the files of samples and predictions; no line, no file."""
    files: dict[Path, TextIO] = {}
    with ExitStack() as stack:

        def write(path: Path, line: Mapping[str, Any]) -> None:
            try:
                if path not in files:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    files[path] = stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
                files[path].write(json.dumps(line, ensure_ascii=False) + "\n")
            except OSError as error:
                raise RunFolderError(f"{path} cannot be written ({error.strerror}): choose another with -o") from error

        for line in lines:
            write(folder / "data" / task / SAMPLE_FILES[0], line.sample())
            if line.prediction is not None:
                write(folder / "pred" / f"{task}.jsonl", line.predicted())
            yield line

"""What is to be said of RULER's files that were read: everything that keeps our figures from being the tool's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leadline.interop.ruler_cells import ImportedCell
from leadline.interop.ruler_files import Found
from leadline.interop.ruler_scores import printed_scores
from leadline.tasks.registry import make_task

SAME = 0.005
"""Per cent by which two figures with two decimals may differ."""


def notices_of_folder(found: Found, cells: Sequence[ImportedCell]) -> Iterator[str]:
    """What is to be said of the folder as a whole."""
    if found.unknown:
        names = ", ".join(found.unknown)
        others = ", ".join(dict.fromkeys(cell.files.task for cell in cells))
        yield f"left out: {names}: leadline has no such task; read: {others}"
    without = sum(cell.without_prompt for cell in cells)
    if without:
        yield f"predictions whose prompt is in no file, so that why they are wrong is not judged: {without}"
    for length, folder in sorted(found.pred_folders.items()):
        printed = printed_scores(folder)
        for cell in cells:
            ours = cell.score
            there = printed.get(cell.files.task)
            if cell.files.length == length and there is not None and ours is not None and abs(there - ours) > SAME:
                yield f"{cell.name}: the folder's summary has {there:.2f}, the predictions that were read {ours:.2f}"


def notices_of_cell(cell: ImportedCell) -> Iterator[str]:
    """What is to be said of a cell."""
    tally = cell.tally
    for path, seen in tally.files.items():
        if seen.cut:
            yield f"{cell.name}: the last line of {path.name} was cut and is left out"
    counts = {
        "predictions are missing and the cell is incomplete": tally.missing,
        "repeated lines of samples, left out": tally.repeated_samples,
        "repeated predictions, of which the last counts": tally.repeated_predictions,
        "predictions of no sample, left out": tally.extra,
        "predictions without text, counted as wrong": tally.without_text,
        "prompts of another template, whose failures are not judged": cell.not_understood,
    }
    for what, count in counts.items():
        if count:
            yield f"{cell.name}: {what}: {count}"
    ours, theirs = cell.score, tally.tool.score
    if ours is not None and theirs is not None and abs(ours - theirs) > SAME:
        yield f"{cell.name}: RULER's tool scores all its lines {theirs:.2f}, leadline {ours:.2f}: {_why(cell)}"
    targets = make_task(cell.files.task).targets
    answers = {len(record.answers) for record in cell.records} - {targets}
    if answers:
        yield f"{cell.name}: {max(answers)} answers a sample where the task has {targets}: other settings"


def _why(cell: ImportedCell) -> str:
    """Why two figures of a cell part."""
    if cell.tally.repeated_predictions or cell.tally.extra:
        return "it counts repeated and extra lines"
    return "it counts reasoning as answer"

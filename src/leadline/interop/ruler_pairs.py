"""Which prediction belongs to which sample: the tool's numbers alone do not tell, its numbers and answers do.

Some versions of the tool overwrite a needle sample's number with a place in its text, so that two samples of one file
may have the same; and a tool that was stopped and started again may write a sample's prediction twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from leadline.errors import DataError
from leadline.interop.ruler_files import CellFiles, FileFacts, Row, read_rows
from leadline.interop.ruler_scores import ToolCell


@dataclass(frozen=True, slots=True)
class Pair:
    """A sample (or the prediction itself, where there is no file of samples) and its prediction; None where missing.

    `number` counts the samples of the file from 0.
    """

    number: int
    sample: Row
    prediction: Row | None


@dataclass(slots=True)
class Tally:
    """What was found while a cell was read.

    Attributes:
        samples: different samples.
        missing: of them without a prediction.
        repeated_samples, repeated_predictions: lines that say again what another line says.
        extra: predictions that belong to no sample.
        without_text: predictions whose line has no text.
        tool: the tool's own figures of the cell.
        indices: the samples' numbers as the tool gives them.
        files: what was seen of each file.
    """

    samples: int = 0
    missing: int = 0
    repeated_samples: int = 0
    repeated_predictions: int = 0
    extra: int = 0
    without_text: int = 0
    tool: ToolCell = field(default_factory=ToolCell)
    indices: list[int] = field(default_factory=list[int])
    files: dict[Path, FileFacts] = field(default_factory=dict[Path, FileFacts])

    @property
    def numbered(self) -> bool:
        """Whether the tool's numbers ascend, so that they can be the samples' own."""
        return all(one < other for one, other in pairwise(self.indices)) and all(index >= 0 for index in self.indices)


def read_pairs(files: CellFiles, tally: Tally, *, any_of_them: bool) -> Iterator[Pair]:
    """The samples of a cell with their predictions, in order; of several predictions of one sample the last counts.

    Args:
        files: of the cell.
        tally: is filled while the pairs are read.
        any_of_them: whether one of a sample's references is enough for the tool.

    Raises:
        DataError: a file cannot be read.
    """
    if files.samples is None:
        yield from _without_samples(files, tally, any_of_them)
        return
    waiting: dict[int, list[Row]] = {}
    for row in _predictions(files, tally, any_of_them):
        waiting.setdefault(row.index, []).append(_without_input(row))
    seen: set[tuple[int, tuple[str, ...]]] = set()
    for sample in read_rows(files.samples, tally.files.setdefault(files.samples, FileFacts())):
        if sample.outputs is None:
            raise DataError(f"{files.samples} has a sample without outputs (index {sample.index}): make the file again")
        if (sample.index, sample.outputs) in seen:
            tally.repeated_samples += 1
            continue
        seen.add((sample.index, sample.outputs))
        candidates = waiting.get(sample.index, [])
        found = [row for row in candidates if row.outputs in (None, sample.outputs)]
        waiting[sample.index] = [row for row in candidates if row not in found]
        for row in found:
            if row.outputs is None:
                tally.tool.add(row.prediction or "", sample.outputs, any_of_them=any_of_them)
        tally.repeated_predictions += max(0, len(found) - 1)
        tally.missing += not found
        tally.indices.append(sample.index)
        yield Pair(tally.samples, sample, found[-1] if found else None)
        tally.samples += 1
    tally.extra = sum(len(rows) for rows in waiting.values())


def _without_samples(files: CellFiles, tally: Tally, any_of_them: bool) -> Iterator[Pair]:
    """Predictions alone, each its own sample; the last of those that have the same number and references."""
    last: dict[tuple[int, tuple[str, ...]], tuple[int, Row]] = {}
    for line, row in enumerate(_predictions(files, tally, any_of_them)):
        if row.outputs is None:
            raise DataError(
                f"{files.predictions[0]} has a prediction without outputs (index {row.index}) and there is no file of "
                f"samples: put the samples at <length>/data/{files.task}/validation.jsonl"
            )
        tally.repeated_predictions += (row.index, row.outputs) in last
        last[row.index, row.outputs] = (line, _without_input(row))
    kept = {line for line, _ in last.values()}
    for line, row in enumerate(row for path in files.predictions for row in read_rows(path, FileFacts())):
        if line in kept:
            tally.indices.append(row.index)
            yield Pair(tally.samples, row, row)
            tally.samples += 1


def _predictions(files: CellFiles, tally: Tally, any_of_them: bool) -> Iterator[Row]:
    """All lines of the predictions; each counts for the tool's figures."""
    for path in files.predictions:
        for row in read_rows(path, tally.files.setdefault(path, FileFacts())):
            tally.without_text += row.prediction is None
            if row.outputs is not None:
                tally.tool.add(row.prediction or "", row.outputs, any_of_them=any_of_them)
            yield row


def _without_input(row: Row) -> Row:
    """The row without its prompt, which may have half a million characters."""
    return Row(row.index, row.outputs, None, row.answer_prefix, row.length, row.prediction)

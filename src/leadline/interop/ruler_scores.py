"""How RULER's reference tool scores, for comparison with our own figures, and its two tables of results."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leadline.errors import DataError

_UNPRINTABLE = re.compile(r"[\x00-\x1f]")


def tidied(prediction: str) -> str:
    """A prediction as the tool matches it: ends stripped, unprintable characters as line breaks."""
    return _UNPRINTABLE.sub("\n", prediction.strip()).strip()


def tool_score(prediction: str, outputs: Sequence[str], *, any_of_them: bool) -> float:
    """Score of one prediction, 0 to 1: the share of the references that it contains, or whether it has any of them."""
    answer = tidied(prediction).lower()
    hits = [reference.lower() in answer for reference in outputs]
    return float(any(hits)) if any_of_them else sum(hits) / len(hits)


@dataclass(slots=True)
class ToolCell:
    """The tool's figures of one task at one length, over every line of its predictions."""

    scores: list[float] = field(default_factory=list[float])
    nulls: int = 0

    def add(self, prediction: str, outputs: Sequence[str], *, any_of_them: bool) -> None:
        """Count one more line."""
        self.scores.append(tool_score(prediction, outputs, any_of_them=any_of_them))
        self.nulls += not tidied(prediction)

    @property
    def score(self) -> float | None:
        """In per cent with two decimals; None without a line."""
        return round(100 * math.fsum(self.scores) / len(self.scores), 2) if self.scores else None


def summary_table(cells: Mapping[str, ToolCell]) -> tuple[str, str]:
    """Name and text of a length's ``summary.csv``: tasks as columns, below them scores and empty predictions.

    The tool names the columns by numbers, and a table of a single task after the task.
    """
    rows = [
        list(range(len(cells) + 1)),
        ["Tasks", *cells],
        ["Score", *(cell.score for cell in cells.values())],
        ["Nulls", *(f"{cell.nulls}/{len(cell.scores)}" for cell in cells.values())],
    ]
    name = "summary.csv" if len(cells) > 1 else f"summary-{next(iter(cells))}.csv"
    return name, csv_text(rows)


def csv_text(rows: Sequence[Sequence[object]]) -> str:
    """Rows as comma-separated text."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def printed_scores(folder: Path) -> dict[str, float]:
    """The scores in the ``summary*.csv`` files of a folder of predictions, by task.

    Raises:
        DataError: such a file is no table of the tool's.
    """
    scores: dict[str, float] = {}
    for path in sorted(folder.glob("summary*.csv")):
        try:
            rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8"))) if row}
            scores.update(zip(rows["Tasks"], map(float, rows["Score"]), strict=True))
        except (OSError, ValueError, KeyError, csv.Error) as error:
            raise DataError(f"{path} is no summary of RULER's tool: take it away, it is only compared with") from error
    return scores

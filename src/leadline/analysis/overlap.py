"""How many of a question's words stand in the text that answers it, task by task (NoLiMa, article table 1)."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from leadline.needles.overlap import overlap
from leadline.reference.sources import SOURCES

FILE = "nolima_table1_overlap.csv"
PUBLISHED = "published"
"""What stands for a suite in the rows of the article."""

COUNTERPARTS: dict[str, str] = {
    **dict.fromkeys(("niah_single_1", "niah_single_2", "niah_single_3"), "RULER S-NIAH"),
    **dict.fromkeys(("qa_1", "qa_2"), "RULER QA"),
    "nolima": "NoLiMa",
}
"""The article's row of the same test; leadline's own needles have none."""

_LABEL = re.compile(r"^\s*question:\s*", re.IGNORECASE)
_THOUSANDTHS = 3


@dataclass(frozen=True, slots=True)
class OverlapRow:
    """ROUGE precision, 0 to 1, of one task's questions against the text that answers them.

    Attributes:
        suite: whose task it is; `published` for the article's rows.
        n: questions that it is a mean over; None where the article does not say.
        rouge_1, rouge_2, rouge_l: None where no stretch of the text answers the question (counting words, say).
        counterpart: the article's row of the same test, or None.
    """

    suite: str
    task: str
    n: int | None
    rouge_1: float | None
    rouge_2: float | None
    rouge_l: float | None
    counterpart: str | None = None

    @property
    def published(self) -> bool:
        """Whether it is one of the article's."""
        return self.suite == PUBLISHED

    @property
    def figures(self) -> tuple[float | None, float | None, float | None]:
        """ROUGE-1, ROUGE-2 and ROUGE-L."""
        return self.rouge_1, self.rouge_2, self.rouge_l

    def as_dict(self) -> dict[str, Any]:
        """The row as ``leadline overlap --json`` prints it."""
        return {
            "suite": self.suite,
            "task": self.task,
            "n": self.n,
            "rouge1": self.rouge_1,
            "rouge2": self.rouge_2,
            "rougeL": self.rouge_l,
            "published": self.published,
            "counterpart": self.counterpart,
            "distance": distance(self),
        }


def overlap_row(suite: str, task: str, texts: Iterable[tuple[str, Sequence[str]]]) -> OverlapRow:
    """The row of one task.

    Args:
        suite: its suite's name.
        task: its name.
        texts: of each sample the question and the stretches that answer it, in the order of the text. They are
            compared as one text; a label before the question ("Question:") is no word of it.
    """
    pairs = [
        (_LABEL.sub("", question), "\n".join(stretches)) for question, stretches in texts if question and any(stretches)
    ]
    counterpart = COUNTERPARTS.get(task)
    if not pairs:
        return OverlapRow(suite, task, 0, None, None, None, counterpart)
    found = overlap(pairs)
    return OverlapRow(suite, task, found.count, found.rouge_1, found.rouge_2, found.rouge_l, counterpart)


def published_rows() -> tuple[OverlapRow, ...]:
    """The article's five rows, in its order."""
    lines = (files("leadline.reference") / FILE).read_text(encoding="utf-8").splitlines()
    return tuple(
        OverlapRow(PUBLISHED, row["benchmark"], None, float(row["rouge1"]), float(row["rouge2"]), float(row["rougeL"]))
        for row in csv.DictReader(lines)
    )


def published_source() -> str:
    """Where the article's rows stand."""
    return str(SOURCES[FILE])


def distance(row: OverlapRow) -> float | None:
    """The greatest difference of the three figures from the article's row of the same test, or None."""
    printed = next((other for other in published_rows() if other.task == row.counterpart), None)
    if printed is None:
        return None
    differences = [
        abs(one - other)
        for one, other in zip(row.figures, printed.figures, strict=True)
        if one is not None and other is not None
    ]
    return round(max(differences), _THOUSANDTHS) if differences else None

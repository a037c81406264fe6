"""How far a run is, as text on standard error: for scripts and notebooks, where no bar can be drawn."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from types import TracebackType

from leadline.records import Record
from leadline.report.tally import Tally
from leadline.visible import visible

INTERVAL_S = 0.5
"""Time between two lines; each is written over the last."""


class LineProgress:
    """One line with the run's figures, and the scores of its lengths so far."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._width = 0
        self._shown_s = time.monotonic()

    def __enter__(self) -> LineProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._tally.done:
            self._show()
            sys.stderr.write("\n")

    def say(self, message: str) -> None:
        """Write a line of its own."""
        if self._width:
            sys.stderr.write("\n")
            self._width = 0
        sys.stderr.write(f"{visible(message)}\n")

    def begin(self, cells: Mapping[tuple[str, int], tuple[int, int]]) -> None:
        """Take how many trials and prompt tokens there are to ask of each task and length."""
        self._tally.begin(cells)

    def earlier(self, record: Record) -> None:
        """Take an answer of an earlier invocation into the scores."""
        self._tally.earlier(record)

    def record(self, record: Record) -> None:
        """Count a trial."""
        self._tally.record(record)
        if time.monotonic() - self._shown_s >= INTERVAL_S:
            self._show()

    def _show(self) -> None:
        self._shown_s = time.monotonic()
        scores = [f"{length.name} {length.score:.1f}" for length in self._tally.lengths if length.score is not None]
        line = self._tally.sentence() + (f"; score so far {', '.join(scores)}" if scores else "")
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

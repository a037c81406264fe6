"""How far a run is, as text on standard error: for scripts and notebooks, where no bar can be drawn."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from leadline.records import Record

INTERVAL_S = 0.5
"""Time between two lines; each is written over the last."""


class LineProgress:
    """One line that counts trials and prompt tokens."""

    def __init__(self) -> None:
        self._trials = self._done = self._tokens = self._width = 0
        self._started = self._shown = time.monotonic()

    def __enter__(self) -> LineProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._done:
            self._show()
            sys.stderr.write("\n")

    def say(self, message: str) -> None:
        """Write a line of its own."""
        if self._width:
            sys.stderr.write("\n")
            self._width = 0
        sys.stderr.write(f"{message}\n")

    def begin(self, trials: int, prompt_tokens: int) -> None:
        """Take the number of trials, as far as it is known."""
        self._trials = trials
        self._started = self._shown = time.monotonic()

    def record(self, record: Record) -> None:
        """Count a trial."""
        self._done += 1
        self._tokens += record.prompt_tokens or 0
        if time.monotonic() - self._shown >= INTERVAL_S:
            self._show()

    def _show(self) -> None:
        self._shown = time.monotonic()
        rate = self._tokens / max(1e-9, self._shown - self._started)
        line = f"{self._done:,} of {max(self._trials, self._done):,} trials, {rate:,.0f} prompt tokens/s"
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

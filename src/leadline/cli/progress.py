"""Progress of a run on standard error: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from leadline.records import Record
from leadline.run.prices import Bill, Price


class ConsoleProgress:
    """Rate and time left by prompt tokens, since long prompts take most of the time."""

    def __init__(self, price: Price | None = None) -> None:
        """Show nothing until `begin`; with a price, also what this invocation has cost so far."""
        self._bill = Bill(price)
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            console=self._console,
            disable=not sys.stderr.isatty(),
            transient=True,
        )
        self._task: TaskID | None = None
        self._tokens_left = 0
        self._tokens_done = 0
        self._started = 0.0

    def __enter__(self) -> ConsoleProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def say(self, message: str) -> None:
        """Print a line above the bar."""
        self._console.print(message, markup=False)

    def begin(self, trials: int, prompt_tokens: int) -> None:
        """Show the bar."""
        self._started = time.monotonic()
        self._tokens_left = prompt_tokens
        self._task = self._bar.add_task("asking", total=trials, rate="")

    def record(self, record: Record) -> None:
        """Move on by one trial."""
        if self._task is None or record.response is None:
            return
        self._bill.add(record)
        tokens = record.prompt_tokens or 0
        self._tokens_done += tokens
        self._tokens_left = max(0, self._tokens_left - tokens)
        rate = self._tokens_done / max(1e-9, time.monotonic() - self._started)
        left_s = self._tokens_left / max(1e-9, rate)
        self._bar.update(
            self._task,
            advance=1,
            description=f"{record.key.item.task} at {record.key.length}",
            rate=f"{rate:,.0f} tokens/s, {_duration(left_s)} left"
            + ("" if self._bill.usd is None else f", ${self._bill.usd:,.2f}"),
        )


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"

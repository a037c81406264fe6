"""Progress of a run on standard error: bars of its lengths on a terminal, nothing but what it has to say elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from leadline.records import Record
from leadline.report.tally import LengthTally, Tally
from leadline.visible import visible

REFRESHED_PER_S = 4


class ConsoleProgress:
    """The lengths of a run with their bars and scores, and under them the figures of the whole."""

    def __init__(self, tally: Tally, console: Console | None = None) -> None:
        """Show nothing until `begin`, on standard error where no console is given."""
        self._tally = tally
        self._console = console or Console(stderr=True, highlight=False)
        self._live: Live | None = None

    def __enter__(self) -> ConsoleProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, message: str) -> None:
        """Print a line above the bars."""
        self._console.print(visible(message), markup=False, soft_wrap=True)

    def begin(self, cells: Mapping[tuple[str, int], tuple[int, int]]) -> None:
        """Show the bars, on a terminal."""
        self._tally.begin(cells)
        if self._console.is_terminal:
            self._live = Live(
                console=self._console,
                get_renderable=self.drawn,
                refresh_per_second=REFRESHED_PER_S,
                transient=True,
                redirect_stdout=False,  # what is piped stays in its pipe
            )
            self._live.start()

    def earlier(self, record: Record) -> None:
        """Take an answer of an earlier invocation into the scores, where they are shown."""
        if self._console.is_terminal:
            self._tally.earlier(record)

    def record(self, record: Record) -> None:
        """Move on by one trial, where it is shown."""
        if self._live is not None:
            self._tally.record(record)

    def drawn(self) -> RenderableType:
        """What stands on the terminal now, as wide as it is."""
        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(ratio=1)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(justify="right", no_wrap=True, style="bold")
        table.add_row("", "", Text("trials", style="dim"), Text("score so far", style="dim not bold"))
        for length in self._tally.lengths:
            table.add_row(*_row(length))
        return Group(table, Text(self._tally.sentence()))


def _row(length: LengthTally) -> tuple[RenderableType, ...]:
    bar = ProgressBar(total=max(1, length.of), completed=length.done if length.of else 1)
    score = "" if length.score is None else f"{length.score:.1f}"
    return length.name, bar, f"{length.done:,} of {length.of:,}" if length.of else "done", score

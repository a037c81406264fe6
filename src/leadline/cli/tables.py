"""Tables on standard output: in the terminal's width, and as wide as they have to be anywhere else."""

from __future__ import annotations

import sys

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.table import Table

from leadline.visible import visible

PIPED_WIDTH = 240


def print_table(table: Table) -> None:
    """Print a table; in a pipe nothing is cut short or coloured."""
    width = None if sys.stdout.isatty() else PIPED_WIDTH
    Console(highlight=False, width=width).print(_Visible(table), markup=False)


class _Visible:
    """A table whose cells may hold what servers and files say: it is shown, and steers no terminal."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for text, style, control in console.render(self._table, options):
            yield Segment(visible(text), style, control)

"""Tables on standard output: in the terminal's width, and as wide as they have to be anywhere else."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

PIPED_WIDTH = 240


def print_table(table: Table) -> None:
    """Print a table; in a pipe nothing is cut short or coloured."""
    width = None if sys.stdout.isatty() else PIPED_WIDTH
    Console(highlight=False, width=width).print(table, markup=False)

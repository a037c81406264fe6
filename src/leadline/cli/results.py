"""A run's folder on the command line: opened with a word on damage, shown with where its report is."""

from __future__ import annotations

import sys
from pathlib import Path

from leadline.api import Run, open_run


def load_run(
    folder: Path, *, skip_damaged: bool = False, threshold: str | None = None, weights: str | None = None
) -> Run:
    """A run summed up from its records, by its own threshold and weights or by others.

    Raises:
        RunFolderError: the folder is not a run's, or a record is damaged.
        UsageError: a threshold or a weight that is none.
    """
    run = open_run(folder, skip_damaged=skip_damaged, threshold=threshold, weights=weights)
    if run.damaged_lines:
        print(f"leadline: {run.damaged_lines} damaged record lines were skipped", file=sys.stderr)
    return run


def changed_parameters(run: Run) -> list[str]:
    """Parameters that the user changed, by the names of their options, which a published figure does not share."""
    from leadline.report.standing import changed_parameters as changed

    return list(changed(run.manifest))


def print_run(run: Run) -> None:
    """Print the table, the verdict and where the report is."""
    run.show()
    print(f"report: {run.folder / 'report.html'}")

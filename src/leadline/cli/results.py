"""A run's folder summed up: what `run`, `score` and `report` show and write."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.analysis.design import Design
from leadline.analysis.summary import Summary, summarise
from leadline.analysis.verdict import verdict
from leadline.run.manifest import design_of, read_manifest, with_rule
from leadline.run.store import Damage, read_records, write_atomically


@dataclass(frozen=True, slots=True)
class Results:
    """A run's figures with what they were made from."""

    folder: Path
    manifest: dict[str, Any]
    design: Design
    summary: Summary

    @property
    def sentence(self) -> str:
        """The verdict."""
        return verdict(self.summary, self.design)

    def write(self) -> None:
        """Write ``summary.json`` and ``report.html`` into the run's folder."""
        write_atomically(self.folder / "summary.json", json.dumps(self.summary.as_dict(), indent=2) + "\n")
        self.write_report(self.folder / "report.html")

    def write_report(self, path: Path) -> None:
        """Write the HTML page."""
        from leadline.report.page import write_page

        write_page(path, self.summary, self.design, self.manifest, self.sentence)

    def print_table(self) -> None:
        """Print the table, the verdict and where the report is."""
        from leadline.report.console import show

        show(self.summary, self.design, self.sentence, sys.stdout)
        print(f"report: {self.folder / 'report.html'}")


def load_results(
    folder: Path, *, skip_damaged: bool = False, threshold: str | None = None, weights: str | None = None
) -> Results:
    """Sum up a run from its records, by its own threshold and weights or by others.

    Raises:
        RunFolderError: the folder is not a run's, or a record is damaged.
        UsageError: a threshold or a weight that is none.
    """
    manifest = with_rule(read_manifest(folder), threshold, weights)
    design = design_of(manifest)
    damage = Damage()
    summary = summarise(read_records(folder, skip_damaged=skip_damaged, damage=damage), design)
    if damage.lines:
        print(f"leadline: {damage.lines} damaged record lines were skipped", file=sys.stderr)
    return Results(folder, manifest, design, summary)

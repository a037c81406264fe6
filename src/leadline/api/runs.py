"""A run that is on disk: its figures, records, table and charts, and the correlation of several runs' tasks."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from leadline.analysis.correlation import Method, TaskCorrelation, scores_of_runs, task_correlation
from leadline.analysis.design import Design
from leadline.analysis.summary import Summary, summarise
from leadline.analysis.verdict import verdict
from leadline.errors import UsageError
from leadline.items import TrialKey, canonical_json
from leadline.records import Record
from leadline.run.decisions import with_decisions
from leadline.run.manifest import design_of, read_manifest, with_rule
from leadline.run.store import Damage, read_records, write_atomically
from leadline.tasks.registry import suggestion

if TYPE_CHECKING:
    import altair

    from leadline.analysis.findings import Findings
    from leadline.report.drawing import Chart
    from leadline.report.spent import Cost
    from leadline.run.prices import Bill


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a run, read from disk anew by each iteration, one line at a time.

    Iterating gives every record ever written, oldest file first: a trial that was asked again has several.
    """

    folder: Path
    skip_damaged: bool = False

    def __iter__(self) -> Iterator[Record]:
        return read_records(self.folder, skip_damaged=self.skip_damaged)

    def newest(self) -> Iterator[Record]:
        """The newest record of each trial, which is the one that counts; only the trials' keys are held in memory."""
        last: dict[TrialKey, int] = {record.key: place for place, record in enumerate(self)}
        return (record for place, record in enumerate(self) if last.get(record.key) == place)


@dataclass(frozen=True, repr=False, eq=False)
class Run:
    """A run's figures with what they were made from. Shows itself in a notebook.

    Attributes:
        folder: where it is.
        manifest: its ``run.json``: the resolved set-up, versions, hashes, what the model said of itself.
        design: what was measured.
        summary: all figures; scores in per cent, lengths in tokens.
        skip_damaged: damaged lines are left out, else they are an error.
        damaged_lines: how many lines that were.
    """

    folder: Path
    manifest: Mapping[str, Any]
    design: Design
    summary: Summary
    skip_damaged: bool = False
    damaged_lines: int = 0

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, without a full stop."""
        return verdict(self.summary, self.design)

    @property
    def findings(self) -> Findings:
        """Where in the text the model fails, and how: read from the records when it is first asked for."""
        return self._findings_and_bill[0]

    @cached_property
    def _findings_and_bill(self) -> tuple[Findings, Bill]:
        """Both from one reading of the records."""
        from leadline.analysis.findings import findings
        from leadline.run.prices import Bill, price_of_run
        from leadline.spec import RunSpec

        bill = Bill(price_of_run(RunSpec.model_validate(self.manifest["spec"])))

        def billed() -> Iterator[Record]:
            for record in self.records:
                bill.add(record)
                yield record

        return findings(billed(), self.design), bill

    @property
    def records(self) -> Records:
        """The run's records, read from disk as they are used."""
        return Records(self.folder, self.skip_damaged)

    def table(self) -> list[dict[str, Any]]:
        """The cells, by task and then by length: what ``pandas.DataFrame`` and ``polars.DataFrame`` take as it is.

        Keys of a row: task, category, length (tokens), n, score, low, high, strict (per cent; None where there is
        none), complete.
        """
        categories = {task.name: task.category for task in self.design.tasks}
        return [
            {
                "task": cell.task,
                "category": categories[cell.task],
                "length": cell.length,
                "n": cell.n,
                "score": cell.score,
                "low": cell.low,
                "high": cell.high,
                "strict": cell.strict,
                "complete": cell.complete,
            }
            for cell in self.summary.cells
        ]

    @cached_property
    def _charts(self) -> dict[str, Chart]:
        from leadline.report.gallery import charts_of

        return charts_of(self.summary, self.design, self.manifest, self.findings)

    @property
    def cost(self) -> Cost | None:
        """What the run's tokens cost so far, in US dollars; None where their price is not known."""
        from leadline.report.spent import Cost

        _, bill = self._findings_and_bill
        return None if bill.price is None or bill.usd is None else Cost(bill.usd, bill.price.source)

    @property
    def charts(self) -> tuple[str, ...]:
        """Names of the figures that this run has something to show in."""
        return tuple(self._charts)

    def chart(self, name: str = "score_by_length") -> altair.Chart:
        """A figure as an Altair chart, which shows itself in a notebook and saves itself as HTML, SVG or PNG.

        Raises:
            UsageError: the run has no figure of this name.
        """
        import altair

        return altair.Chart.from_dict(self.chart_data(name))

    def chart_data(self, name: str = "score_by_length") -> dict[str, Any]:
        """The same figure as a Vega-Lite description that holds its data.

        Raises:
            UsageError: the run has no figure of this name.
        """
        if name not in self._charts:
            raise UsageError(f"there is no chart {name!r} of this run: {suggestion(name, list(self.charts))}")
        return self._charts[name].data()

    def show(self, file: TextIO | None = None) -> None:
        """Write the table and the verdict as text, to standard output where no file is given."""
        from leadline.report.console import show

        show(self.summary, self.design, self.sentence, sys.stdout if file is None else file)

    def write(self) -> None:
        """Write ``summary.json`` and ``report.html`` into the run's folder.

        Raises:
            RunFolderError: they cannot be written.
        """
        write_atomically(self.folder / "summary.json", json.dumps(self.summary.as_dict(), indent=2) + "\n")
        self.write_report(self.folder / "report.html")

    def write_report(self, path: str | Path) -> None:
        """Write the HTML page.

        Raises:
            RunFolderError: it cannot be written there.
        """
        from leadline.report.page import write_page

        write_page(Path(path), self.summary, self.design, self.manifest, self.sentence, self.findings, self.cost)

    def __repr__(self) -> str:
        headline = self.sentence.partition(": ")[0]
        return f"<leadline.Run {self.summary.model} on {self.summary.suite}: {headline} ({self.folder})>"

    def _repr_html_(self) -> str:
        from leadline.report.notebook import render_fragment

        return render_fragment(self.summary, self.design, self.sentence)


def open_run(
    path: str | Path, *, skip_damaged: bool = False, threshold: str | float | None = None, weights: Any = None
) -> Run:
    """A run that is on disk, summed up from its records; no model is asked.

    Args:
        path: its folder, which holds ``run.json``.
        skip_damaged: go on without damaged record lines.
        threshold: another threshold than the run's: chat, base, or a score in per cent.
        weights: other weights of the lengths: ``"4k=5,8k=3"`` or a mapping.

    Raises:
        RunFolderError: the folder is not a run's, or a record is damaged.
        UsageError: the threshold or a weight is none.
    """
    folder = Path(path)
    manifest = with_rule(read_manifest(folder), None if threshold is None else str(threshold), weights)
    design = with_decisions(design_of(manifest), manifest, read_records(folder, skip_damaged=skip_damaged))
    damage = Damage()
    summary = summarise(read_records(folder, skip_damaged=skip_damaged, damage=damage), design)
    summary = summary.with_name_tokens(manifest.get("name_tokens", {}))
    return Run(folder, manifest, design, summary, skip_damaged, damage.lines)


def correlate(runs: Sequence[Run | str | Path], method: Method = "pearson") -> TaskCorrelation:
    """How alike the tasks are over the (model, length) points of several runs (RULER, figure 5, appendix C).

    Args:
        runs: runs, or their folders.
        method: Pearson's r, or Spearman's over ranks.

    Raises:
        UsageError: they share fewer than two tasks or three points.
        RunFolderError: a folder is not a run's.
    """
    opened = [run if isinstance(run, Run) else open_run(run) for run in runs]
    return task_correlation(scores_of_runs([run.summary for run in opened]), method)


def differing_tasks(runs: Sequence[Run]) -> list[str]:
    """Tasks that several of the runs have and that are not the same in all of them, by version or parameters."""
    variants: dict[str, set[str]] = {}
    for run in runs:
        known: Mapping[str, Any] = run.manifest["identity"].get("tasks", {})
        for task in run.design.tasks:
            variants.setdefault(task.name, set()).add(canonical_json(known.get(task.name)))
    return [name for name, of_runs in variants.items() if len(of_runs) > 1]

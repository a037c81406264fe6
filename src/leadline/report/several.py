"""The page of several runs: verdict and table of each, and which tasks tell the same story over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.analysis.correlation import THRESHOLDS, TaskCorrelation, run_names
from leadline.analysis.design import Design
from leadline.analysis.summary import Summary
from leadline.analysis.verdict import format_length
from leadline.errors import RunFolderError
from leadline.report.charts import score_by_length, to_svg
from leadline.report.correlation import correlation_figure
from leadline.report.scores import render, shown

MARKED_AT = 0.95
"""Threshold whose redundant tasks carry an asterisk in the heat map."""


@dataclass(frozen=True, slots=True)
class RunOfSeveral:
    """One of the runs of a page.

    Attributes:
        folder: where it is, as it was named.
        verdict: its sentence.
    """

    folder: Path
    summary: Summary
    design: Design
    verdict: str


def write_page_of_several(
    path: Path, runs: Sequence[RunOfSeveral], correlation: TaskCorrelation | str, remarks: Sequence[str] = ()
) -> None:
    """Write the page.

    Args:
        path: the HTML file, replaced where it exists.
        runs: in the order of the page.
        correlation: of their tasks, or why there is none.
        remarks: what keeps the runs from being alike, in sentences without a full stop.

    Raises:
        RunFolderError: it cannot be written there.
    """
    page = render_page_of_several(runs, correlation, remarks)
    try:
        path.write_bytes(page.encode("utf-8", errors="replace"))  # a model's name can hold half a surrogate pair
    except OSError as error:
        raise RunFolderError(f"{path} cannot be written ({error.strerror}): name another file with -o") from error


def render_page_of_several(
    runs: Sequence[RunOfSeveral], correlation: TaskCorrelation | str, remarks: Sequence[str] = ()
) -> str:
    """The page as HTML. Everything that is put into it is escaped."""
    from markupsafe import Markup

    names = run_names([run.summary for run in runs])
    values: dict[str, Any] = {
        "runs": [
            shown(run.summary, run.design, run.verdict)
            | {
                "name": name,
                "folder": str(run.folder),
                "average": "–" if run.summary.average is None else f"{run.summary.average:.1f}",
                "chart": Markup(to_svg(score_by_length(run.summary, run.design))) if run.summary.by_length else "",
            }
            for name, run in zip(names, runs, strict=True)
        ],
        "remarks": list(remarks),
        "why_not": correlation if isinstance(correlation, str) else "",
        "correlation": None if isinstance(correlation, str) else _correlation(correlation, runs[0].design.k),
    }
    return render("several.html.j2", values)


def _correlation(correlation: TaskCorrelation, k: int) -> dict[str, Any]:
    from markupsafe import Markup

    scores = correlation.scores
    return {
        "figure": Markup(to_svg(correlation_figure(correlation, MARKED_AT))),  # our own drawing
        "coefficient": "Pearson's r" if correlation.method == "pearson" else "Spearman's rho",
        "tasks": len(scores.tasks),
        "points": len(scores.points),
        "marked_at": f"{MARKED_AT:g}",
        "constant": correlation.constant,
        "left_out_tasks": scores.left_out_tasks,
        "left_out_points": [f"{model} at {format_length(length, k)}" for model, length in scores.left_out_points],
        "thresholds": [_threshold(correlation, threshold) for threshold in THRESHOLDS],
    }


def _threshold(correlation: TaskCorrelation, threshold: float) -> dict[str, Any]:
    redundancy = correlation.redundant(threshold)
    return {
        "threshold": f"{threshold:g}",
        "dropped": redundancy.dropped,
        "kept": redundancy.kept,
        "groups": [group for group in correlation.clusters(threshold) if len(group) > 1],
    }

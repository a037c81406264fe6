"""The page of several runs: who can use how much, in tables and charts, and a verdict and table of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from leadline.analysis.correlation import THRESHOLDS, TaskCorrelation
from leadline.analysis.families import described
from leadline.analysis.several import Comparable, RunOfSeveral
from leadline.analysis.verdict import format_length
from leadline.errors import RunFolderError
from leadline.report.charts import Drawing, to_svg
from leadline.report.correlation import correlation_figure
from leadline.report.gallery import mean_chart
from leadline.report.parting import APART, EXPLAINED
from leadline.report.ranking import published_table, ranking_of
from leadline.report.scores import capitalised, render, shown
from leadline.report.several import MARKED_AT, SeveralRuns


def write_page_of_several(path: Path, several: SeveralRuns) -> None:
    """Write the page.

    Args:
        path: the HTML file, replaced where it exists.
        several: what it says.

    Raises:
        RunFolderError: it cannot be written there.
    """
    page = render_page_of_several(several)
    try:
        path.write_bytes(page.encode("utf-8", errors="replace"))  # a model's name can hold half a surrogate pair
    except OSError as error:
        raise RunFolderError(f"{path} cannot be written ({error.strerror}): name another file with -o") from error


def render_page_of_several(several: SeveralRuns) -> str:
    """The page as HTML. Everything that is put into it is escaped."""
    places = {id(run): place for place, run in enumerate(several.runs, start=1)}
    by_folder = {str(run.folder): place for place, run in enumerate(several.runs, start=1)}
    values: dict[str, Any] = {
        "runs": [
            shown(run.summary, run.design, run.verdict)
            | {"name": name, "folder": str(run.folder), "drawing": _own(run)}
            for name, run in zip(several.names, several.runs, strict=True)
        ],
        "groups": [
            {
                "name": described(group),
                "ranking": ranking_of(group, places),
                "drawings": [chart.drawing() for chart in charts],
                "claims": any(run.claimed_tokens for run in group.runs),
            }
            for group, charts in zip(several.groups, several.group_charts, strict=True)
        ],
        "published": [
            {"about": each.table.info.about, "source": each.table.info.source}
            | {"name": each.table.info.name, "ranking": published_table(each, by_folder)}
            for each in several.published
        ],
        "not_published": several.not_published,
        "families": [chart.drawing() for chart in several.family_charts],
        "partings": [
            (f"{parting.model}: {parting.sentence}", None if chart is None else chart.drawing())
            for parting, chart in zip(several.partings, several.parting_charts, strict=True)
        ],
        "explained": EXPLAINED,
        "apart": APART if _both_nolima(several.groups) else "",
        "remarks": several.remarks,
        "why_not": capitalised(several.correlation) if isinstance(several.correlation, str) else "",
        "correlation": None
        if isinstance(several.correlation, str)
        else _correlation(several.correlation, several.runs[0].design.k),
    }
    return render("several.html.j2", values)


def _own(run: RunOfSeveral) -> Drawing | None:
    """The chart of one run, as on its own page; None where it has no lengths."""
    chart = mean_chart(run.summary, run.design)
    return None if chart is None else chart.drawing()


def _correlation(correlation: TaskCorrelation, k: int) -> dict[str, Any]:
    from markupsafe import Markup

    scores = correlation.scores
    return {
        "figure": Markup(to_svg(correlation_figure(correlation, MARKED_AT))),  # our own drawing
        "coefficient": "Pearson's r" if correlation.method == "pearson" else "Spearman's rho",
        "tasks": len(scores.tasks),
        "points": len(scores.points),
        "models": len({model for model, _ in scores.points}),
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


def _both_nolima(groups: Sequence[Comparable]) -> bool:
    """Whether the official needles and those of our own are both among the runs."""
    needles = [run.design.tasks[0].name for group in groups for run in group.runs if run.design.base is not None]
    return len({name.startswith("nolima_open") for name in needles}) > 1

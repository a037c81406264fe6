"""All charts of one run, by name: what the page, the files, JSON and notebooks draw from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.analysis.design import Design
from leadline.analysis.findings import Findings
from leadline.analysis.summary import Summary
from leadline.report.charts import MEAN, score_by_length, score_told
from leadline.report.claimed import claimed_chart
from leadline.report.drawing import Chart
from leadline.report.failures import kinds_chart
from leadline.report.names import names_drawn
from leadline.report.outcomes import outcomes_chart
from leadline.report.positions import depth_charts
from leadline.report.subsets import subsets_chart
from leadline.report.sweeps import sweeps_chart
from leadline.report.tasks import tasks_chart


def charts_of(
    summary: Summary, design: Design, manifest: Mapping[str, Any], findings: Findings | None = None
) -> dict[str, Chart]:
    """The charts in which this run has something to show, in the order of the page.

    Args:
        summary: the figures.
        design: what was measured.
        manifest: the run's ``run.json``.
        findings: where and how the model fails; None leaves these charts out.
    """
    charts = [
        claimed_chart(summary, design, manifest),
        mean_chart(summary, design),
        tasks_chart(summary, design),
        subsets_chart(summary, design),
        None if summary.names is None else names_drawn(summary.names),
        sweeps_chart(summary, design, manifest),
        *(() if findings is None else depth_charts(findings.positions, design)),
        None if findings is None else kinds_chart(findings.failures, design),
        outcomes_chart(summary, design),
    ]
    return {chart.name: chart for chart in charts if chart is not None}


def mean_chart(summary: Summary, design: Design) -> Chart | None:
    """Score by length: the mean of the tasks and each category; None where there are no lengths."""
    if not summary.by_length:
        return None
    several = len(design.categories) > 1
    lengths = summary.effective_length
    told = ", ".join(score_told(score, design.k) for score in summary.by_length)
    thresholds = lengths.absolute.threshold is not None or lengths.relative.no_claim is None
    return Chart(
        name="score_by_length",
        make=lambda width: score_by_length(summary, design, width_px=width),
        rows=lambda: _mean_rows(summary, design),
        text=f"Line chart of the score in per cent by length. Mean: {told}.",
        caption="Score in per cent by length"
        + (": the mean of the tasks, and each category." if several else ".")
        + (
            " Upright bars are 95 % intervals of the mean."
            if any(score.low is not None for score in summary.by_length)
            else ""
        )
        + (" Dotted lines are the thresholds." if thresholds else ""),
    )


def _mean_rows(summary: Summary, design: Design) -> list[dict[str, Any]]:
    """The mean, then each category where there are several."""
    series = {MEAN: summary.by_length, **(summary.by_category if len(design.categories) > 1 else {})}
    return [
        {
            "series": name,
            "length": score.length,
            "n": score.n,
            "score": score.score,
            "low": score.low,
            "high": score.high,
        }
        for name, scores in series.items()
        for score in scores
    ]

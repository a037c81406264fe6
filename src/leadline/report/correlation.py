"""The heat map of task correlations (RULER, figure 5), as data."""

from __future__ import annotations

from typing import Any

from leadline.analysis.correlation import TaskCorrelation
from leadline.report.charts import FONT, INK

CELL_PX = 34
_DARK = 0.7
"""Correlation from which a cell is so dark, at either end of the scale, that its figure has to be light."""


def correlation_heat_map(correlation: TaskCorrelation, threshold: float | None = None) -> dict[str, Any]:
    """Correlations by task and task in the order of the clustering, as a Vega-Lite description.

    Args:
        correlation: of tasks.
        threshold: the tasks that are redundant at it are marked with an asterisk, as the paper marks them in red.
    """
    import altair as alt

    dropped = () if threshold is None else correlation.redundant(threshold).dropped
    labels = {task: f"{task} *" if task in dropped else task for task in correlation.order}
    values = [
        {"task": labels[first], "other": labels[second], "correlation": value, "text": _text(value)}
        for first in correlation.order
        for second in correlation.order
        for value in [correlation.between(first, second)]
    ]
    order = list(labels.values())
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("other:N", sort=order, title=None, axis=alt.Axis(labelAngle=-45)),
        y=alt.Y("task:N", sort=order, title=None),
    )
    colour = alt.Color(
        "correlation:Q",
        scale=alt.Scale(domain=[-1, 0, 1], range=["#b35806", "#f7f7f7", "#1f4e79"]),
        legend=alt.Legend(title=_title(correlation)),
    )
    light = f"datum.correlation !== null && abs(datum.correlation) >= {_DARK}"
    cells = base.mark_rect().encode(color=colour)
    figures = base.mark_text(fontSize=11).encode(
        text="text:N", color=alt.condition(light, alt.value("#ffffff"), alt.value("#1a1a1a"))
    )
    side = CELL_PX * len(order)
    chart = (
        alt.layer(cells, figures)
        .properties(width=side, height=side, background="transparent")
        .configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(labelColor=INK, titleColor=INK, domain=False, ticks=False, labelLimit=240)
        .configure_legend(labelColor=INK, titleColor=INK)
    )
    return chart.to_dict()


def _title(correlation: TaskCorrelation) -> str:
    return "Pearson's r" if correlation.method == "pearson" else "Spearman's rho"


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"

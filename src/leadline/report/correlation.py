"""The heat map of task correlations and the tree that they make (RULER, figure 5), as data."""

from __future__ import annotations

from typing import Any

from leadline.analysis.correlation import TaskCorrelation
from leadline.report.charts import FONT, INK

CELL_PX = 34
TREE_PX = 150
MARGIN_PX = 28
"""Around the figure: a browser's letters may be wider than those it was drawn with."""

_DARK = 0.7
"""Correlation from which a cell is so dark, at either end of the scale, that its figure has to be light."""


def correlation_heat_map(correlation: TaskCorrelation, threshold: float | None = None) -> dict[str, Any]:
    """Correlations by task and task in the order of the clustering, as a Vega-Lite description.

    Args:
        correlation: of tasks.
        threshold: the tasks that are redundant at it are marked with an asterisk, as the paper marks them in red.
    """
    import altair as alt

    return _styled(_heat_map(correlation, threshold, alt), alt).to_dict()


def correlation_figure(correlation: TaskCorrelation, threshold: float | None = None) -> dict[str, Any]:
    """The heat map with the tree of its tasks beside it, line by line: where two branches meet, groups join."""
    import altair as alt

    heat_map = _heat_map(correlation, threshold, alt)
    if not correlation.merges:
        return _styled(heat_map, alt).to_dict()
    return _styled(alt.hconcat(heat_map, _tree(correlation, alt), spacing=4), alt).to_dict()


def _heat_map(correlation: TaskCorrelation, threshold: float | None, alt: Any) -> Any:
    dropped = () if threshold is None else correlation.redundant(threshold).dropped
    labels = {task: f"{task} *" if task in dropped else task for task in correlation.order}
    values = [
        {"task": labels[first], "other": labels[second], "correlation": value, **_figure(value)}
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
        legend=alt.Legend(title=_title(correlation), orient="top", gradientLength=CELL_PX * min(6, len(order))),
    )
    cells = base.mark_rect().encode(color=colour)
    figures = base.mark_text(fontSize=11).encode(text="text:N", color=alt.Color("ink:N", scale=None))
    side = CELL_PX * len(order)
    # The figures' colours are no scale's, and must not be merged with the cells'.
    return alt.layer(cells, figures).resolve_scale(color="independent").properties(width=side, height=side)


def _tree(correlation: TaskCorrelation, alt: Any) -> Any:
    """One bracket for each step of the clustering, over the rows of the heat map."""
    tasks = [task for task in correlation.scores.tasks if task not in correlation.constant]
    row = {number: correlation.order.index(task) + 0.5 for number, task in enumerate(tasks)}
    reach = dict.fromkeys(row, 0.0)
    corners: list[dict[str, float]] = []
    for step, (first, second, distance, _) in enumerate(correlation.merges, start=len(tasks)):
        ends = ((reach[first], row[first]), (reach[second], row[second]))
        path = (ends[0], (distance, row[first]), (distance, row[second]), ends[1])
        corners += [
            {"step": step, "corner": corner, "distance": along, "row": across}
            for corner, (along, across) in enumerate(path)
        ]
        row[step], reach[step] = (row[first] + row[second]) / 2, distance
    size = len(correlation.order)
    # Where all tasks are alike, the tree still needs some width.
    greatest = max(0.05, *(distance for _, _, distance, _ in correlation.merges))
    return (
        alt.Chart(alt.Data(values=corners))
        .mark_line(color=INK, strokeWidth=1.25, opacity=0.7)
        .encode(
            x=alt.X(
                "distance:Q",
                title=f"joined at {_title(correlation)}",
                scale=alt.Scale(domain=[0, greatest], nice=False),
                axis=alt.Axis(
                    labelExpr="format(1 - datum.value, '.2f')", tickCount=4, grid=False, labelOverlap="greedy"
                ),
            ),
            y=alt.Y("row:Q", title=None, axis=None, scale=alt.Scale(domain=[size, 0], nice=False, zero=False)),
            detail="step:N",
            order="corner:Q",
        )
        .properties(width=TREE_PX, height=CELL_PX * size)
    )


def _styled(chart: Any, alt: Any) -> Any:
    return (
        chart.properties(background="transparent", padding=MARGIN_PX)
        .configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(labelColor=INK, titleColor=INK, domain=False, ticks=False, labelLimit=240)
        .configure_legend(labelColor=INK, titleColor=INK)
    )


def _title(correlation: TaskCorrelation) -> str:
    return "Pearson's r" if correlation.method == "pearson" else "Spearman's rho"


def _figure(value: float | None) -> dict[str, str]:
    """The text in a cell and its colour; a cell without a correlation has no ground of its own."""
    if value is None:
        return {"text": "–", "ink": INK}
    return {"text": f"{value:.2f}", "ink": "#ffffff" if abs(value) >= _DARK else "#1a1a1a"}

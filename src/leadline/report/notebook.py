"""A run inside a notebook: verdict, table and chart as one piece of HTML that needs nothing else."""

from __future__ import annotations

from leadline.analysis.design import Design
from leadline.analysis.summary import Summary
from leadline.report.charts import to_svg
from leadline.report.gallery import mean_chart
from leadline.report.scores import render, shown


def render_fragment(summary: Summary, design: Design, verdict: str) -> str:
    """The HTML of a run, for the middle of a page. Everything that is put into it is escaped."""
    from markupsafe import Markup

    chart = mean_chart(summary, design)
    drawn = "" if chart is None else Markup(to_svg(chart.data()))  # our own drawing
    return render("notebook.html.j2", {"run": shown(summary, design, verdict), "chart": drawn})

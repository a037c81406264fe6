"""Charts as data: each is a Vega-Lite description over aggregates, drawn elsewhere (page, PNG, notebook)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from leadline.analysis.design import Design
from leadline.analysis.lengths import LengthScore
from leadline.analysis.summary import Summary
from leadline.analysis.verdict import format_length, format_share
from leadline.visible import visible

MEAN = "mean"

WIDE_PX, NARROW_PX = 640, 250
"""Widths of a chart on a desk and on a telephone."""

ROOMY_PX = 400
"""Width from which a chart has room for a desk's lettering."""

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

INK = "currentColor"
"""Text and axes take the colour of the text around the chart, so that one drawing reads on light and on dark."""

SERIES_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d1f", "#7f7f7f")
"""After Okabe and Ito, "Color universal design", 2008: told apart with every common colour vision. Only those with a
contrast of 3 to 1 on white and on near-black."""

SERIES_DASHES = ([6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [1, 3], [10, 4])
SERIES_SHAPES = ("square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"


def score_by_length(summary: Summary, design: Design, width_px: int = 620, height_px: int = 300) -> dict[str, Any]:
    """Score by length: the mean, one line per category, the thresholds, and intervals of the mean where there are any.

    Series differ by colour, by dash and by shape. The Vega-Lite description holds its data.
    """
    import altair as alt

    series = [MEAN, *(design.categories if len(design.categories) > 1 else ())]
    x = length_axis(design, alt)
    layers: list[Any] = [
        *_thresholds(summary, design, alt),
        *_lines(summary, series, x, alt, legend_columns=3 if width_px >= ROOMY_PX else 2),
    ]
    intervals = [
        {"length": score.length, "low": score.low, "high": score.high}
        for score in summary.by_length
        if score.low is not None and score.high is not None
    ]
    if intervals:
        bars = alt.Chart(alt.Data(values=intervals)).mark_rule(color=INK, strokeWidth=1.5, opacity=0.55)
        layers.append(bars.encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high")))
    return finished(alt.layer(*layers), width_px, height_px)


def score_told(score: LengthScore, k: int) -> str:
    """A length's score in words, for the text of a chart."""
    return f"{format_length(score.length, k)} {'no score' if score.score is None else f'{score.score:.1f}'}"


def length_axis(design: Design, alt: Any) -> Any:
    """Lengths on a logarithmic axis of base 2, labelled as people write them, at the tested lengths alone."""
    labels = json.dumps({str(length): format_length(length, design.k) for length in design.lengths})
    first, last = design.lengths[0], design.lengths[-1]
    return alt.X(
        "length:Q",
        title="length",
        scale=alt.Scale(type="log", base=2, domain=[first / 1.12, last * 1.12], nice=False),
        axis=alt.Axis(values=list(design.lengths), labelExpr=f"({labels})[datum.value]", grid=False, labelOverlap=True),
    )


def _lines(summary: Summary, series: list[str], x: Any, alt: Any, legend_columns: int) -> list[Any]:
    values = [
        {"length": score.length, "series": name, "score": value}
        for score in summary.by_length
        for name in series
        if (value := score.score if name == MEAN else score.categories[name]) is not None
    ]
    count = len(series) - 1
    legend = (
        alt.Legend(title=None, orient="top", direction="horizontal", columns=legend_columns, columnPadding=18)
        if count
        else None
    )
    base = alt.Chart(alt.Data(values=values)).encode(
        x=x,
        y=alt.Y("score:Q", title="score, per cent", scale=alt.Scale(domain=[0, 100])),
        color=alt.Color(
            "series:N",
            scale=alt.Scale(domain=series, range=[INK, *_cycle(SERIES_COLOURS, count)]),
            legend=legend,
        ),
    )
    dash = alt.StrokeDash(
        "series:N", scale=alt.Scale(domain=series, range=[[1, 0], *_cycle(SERIES_DASHES, count)]), legend=legend
    )
    shape = alt.Shape(
        "series:N", scale=alt.Scale(domain=series, range=["circle", *_cycle(SERIES_SHAPES, count)]), legend=legend
    )
    thick = alt.condition("datum.series === 'mean'", alt.value(3), alt.value(1.75))
    return [
        base.mark_line().encode(strokeDash=dash, strokeWidth=thick),
        base.mark_point(filled=True, size=60, opacity=1).encode(shape=shape),
    ]


def _thresholds(summary: Summary, design: Design, alt: Any) -> list[Any]:
    lengths = summary.effective_length
    rules: list[dict[str, Any]] = []
    if lengths.absolute.threshold is not None:
        rules.append({"score": lengths.absolute.threshold, "label": f"{lengths.absolute.threshold:g} asked for"})
    if lengths.relative.no_claim is None and lengths.relative.threshold is not None:
        rules.append({"score": lengths.relative.threshold, "label": format_share(design)})
    if not rules:
        return []
    rules.sort(key=lambda rule: rule["score"], reverse=True)
    base = alt.Chart(alt.Data(values=rules)).encode(y=alt.Y("score:Q"))
    layers: list[Any] = [base.mark_rule(color=INK, strokeDash=[2, 4], opacity=0.7)]
    # The upper label stands above its rule and the lower one below, so that they keep apart however near the rules are.
    for rule, (baseline, offset) in zip(rules, (("bottom", -4), ("top", 4)), strict=False):
        text = alt.Chart(alt.Data(values=[rule])).encode(y=alt.Y("score:Q"), x=alt.value("width"), text="label:N")
        layers.append(text.mark_text(align="right", baseline=baseline, dy=offset, fontSize=11, color=INK, opacity=0.75))
    return layers


def _cycle(values: tuple[Any, ...], count: int) -> list[Any]:
    return [values[index % len(values)] for index in range(count)]


def finished(chart: Any, width_px: int, height_px: int) -> dict[str, Any]:
    """The Vega-Lite description of an Altair chart, with the look that all charts of a page share."""
    described: dict[str, Any] = chart.properties(width=width_px, height=height_px, background="transparent").to_dict()
    return described | {"config": look()}


def drawable(value: Any) -> Any:
    """A description with every text fit to be shown: a control character is no XML, at which the drawer gives up."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {name: drawable(part) for name, part in value.items()}
    if isinstance(value, list):
        return [drawable(part) for part in value]
    return value


def look() -> dict[str, Any]:
    """Vega-Lite's configuration of the look that all charts of a page share."""
    return {
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": INK,
            "titleColor": INK,
            "domainColor": INK,
            "tickColor": INK,
            "gridColor": INK,
            "gridOpacity": 0.12,
            "domainOpacity": 0.4,
            "tickOpacity": 0.4,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
        },
        "legend": {
            "labelColor": INK,
            "labelFontSize": 12,
            "titleColor": INK,
            "titleFontWeight": "normal",
            "symbolSize": 70,
            "symbolStrokeWidth": 0,
        },
        "title": {"color": INK, "anchor": "start", "fontWeight": "normal", "fontSize": 12},
    }


def to_svg(chart: dict[str, Any]) -> str:
    """The chart drawn as one SVG element."""
    import vl_convert

    return vl_convert.vegalite_to_svg(drawable(chart))


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart as a page holds it: drawn twice, so that its lettering keeps its size on a telephone.

    Attributes:
        wide, narrow: SVG elements, safe to put into HTML as they are.
        text: the chart in words, for those who cannot see it.
        caption: what it shows.
        name: what the chart is called.
        table: a link that holds its values as CSV; empty where it has none.
    """

    wide: str
    narrow: str
    text: str
    caption: str = ""
    name: str = ""
    table: str = ""


def draw(make: Callable[[int], dict[str, Any]], text: str, caption: str = "") -> Drawing:
    """Draw a chart for a page.

    Args:
        make: gives the chart for a width in pixels.
        text: the chart in words.
        caption: what it shows.
    """
    from markupsafe import Markup

    wide, narrow = (Markup(_inline(to_svg(_mute(make(width))))) for width in (WIDE_PX, NARROW_PX))  # our own drawing
    return Drawing(wide, narrow, text, caption)


def _mute(chart: dict[str, Any]) -> dict[str, Any]:
    """Without a label on each mark, which nobody hears where the whole drawing has one, and which double its size."""
    return chart | {"config": chart.get("config", {}) | {"aria": False}}


def _inline(svg: str) -> str:
    """The SVG for use inside HTML, where name spaces are known and the size comes from the page."""
    head, _, rest = svg.partition(">")
    kept = re.sub(r'\s(?:xmlns(?::\w+)?|version|width|height)="[^"]*"', "", head)
    return f'{kept} aria-hidden="true" focusable="false">{rest}'

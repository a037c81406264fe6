"""Stacked bars by length: shares of a whole, each with its figure where there is room for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analysis.design import Design
from leadline.analysis.verdict import format_length
from leadline.report.charts import INK, ROOMY_PX, finished

LIGHT = "#ffffff"
_FIGURE_RATE, _FIGURE_PX, _AXIS_PX, _COUNT_PX = 8.0, 26, 60, 58
"""A figure stands in a part of at least this rate, where a bar has at least this width; a count is written with its
"n = " where a bar has `_COUNT_PX`."""

_BAR_SHARE = 0.78


@dataclass(frozen=True, slots=True)
class Part:
    """One part of one bar: how many at a length are of a kind, and the share of the bar's whole, in per cent."""

    length: int
    kind: str
    count: int
    rate: float


def stacked_rows(parts: Sequence[Part], kinds: Sequence[str], design: Design) -> list[dict[str, Any]]:
    """A row for each kind at each length, in the order of lengths and kinds, with the ends of its part of the bar."""
    found = {(part.length, part.kind): part for part in parts}
    rows: list[dict[str, Any]] = []
    for length in design.lengths:
        start = 0.0
        for kind in kinds:
            part = found.get((length, kind))
            if part is None:
                continue
            rows.append(
                {
                    "length": format_length(length, design.k),
                    "kind": kind,
                    "count": part.count,
                    "rate": part.rate,
                    "start": start,
                    "end": start + part.rate,
                    "centre": start + part.rate / 2,
                    "text": f"{part.rate:.0f}",
                }
            )
            start += part.rate
    return rows


def stacked_bars(
    parts: Sequence[Part],
    colours: Mapping[str, tuple[str, str]],
    wholes: Mapping[int, int],
    design: Design,
    width_px: int,
    title: str,
) -> dict[str, Any]:
    """A bar for each of the design's lengths.

    The Vega-Lite description holds its data.

    Args:
        parts: of all bars.
        colours: the kinds from below, each with its colour and that of figures on it.
        wholes: what the shares of each length are of; lengths without one have no bar.
        design: of the run.
        width_px: of the whole.
        title: of the upright axis.
    """
    import altair as alt

    kinds = list(colours)
    names = [format_length(length, design.k) for length in design.lengths]
    roomy = width_px >= ROOMY_PX
    bar_px = _BAR_SHARE * (width_px - _AXIS_PX) / max(1, len(names))
    x = alt.X(
        "length:O",
        sort=names,
        title="length",
        scale=alt.Scale(domain=names, paddingInner=1 - _BAR_SHARE, paddingOuter=0.1),
        axis=alt.Axis(labelAngle=0, ticks=False, labelOverlap=True),
    )
    y = alt.Scale(domain=[0, 100])
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=kinds, range=[colour for colour, _ in colours.values()]),
        legend=alt.Legend(
            title=None,
            orient="top",
            direction="horizontal",
            columns=4 if roomy else 2,
            symbolType="square",
            symbolSize=130,
            columnPadding=22,
            rowPadding=5,
            offset=26,
        ),
    )
    base = alt.Chart(alt.Data(values=stacked_rows(parts, kinds, design))).encode(x=x)
    layers: list[Any] = [
        base.mark_bar().encode(y=alt.Y("start:Q", title=title, scale=y), y2=alt.Y2("end"), color=colour)
    ]
    if bar_px >= _FIGURE_PX:
        light = [kind for kind, (_, figure) in colours.items() if figure == LIGHT]
        ink = alt.condition(f"indexof({light}, datum.kind) >= 0", alt.value(LIGHT), alt.value("#000000"))
        figures = base.transform_filter(f"datum.rate >= {_FIGURE_RATE}").mark_text(fontSize=11)
        layers.append(figures.encode(y=alt.Y("centre:Q", scale=y), text="text:N", color=ink))
    counts = [
        {"length": name, "count": f"n = {whole}" if bar_px >= _COUNT_PX else str(whole)}
        for length, name in zip(design.lengths, names, strict=True)
        if (whole := wholes.get(length, 0))
    ]
    above = alt.Chart(alt.Data(values=counts)).mark_text(fontSize=11, color=INK, baseline="bottom", dy=-5)
    layers.append(above.encode(x=x, y=alt.value(0), text="count:N"))
    return finished(alt.layer(*layers), width_px, 280 if roomy else 240)

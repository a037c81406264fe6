"""Small multiples: many small charts of score by length that share their axes, in groups."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analysis.verdict import format_length
from leadline.report.charts import INK, ROOMY_PX, SCHEMA, SERIES_COLOURS, SERIES_DASHES, SERIES_SHAPES, look

BLUE = "#0072b2"
_LETTER_PX = 6.3
"""Width of a letter of a panel's title, on average."""

_AXIS_PX, _GAP_PX, _FEWEST_PX, _HEIGHT_PX, _ROW_GAP_PX = 34, 16, 96, 84, 44
_MOST_COLUMNS = 4
_FLUSH_PX = 12
"""Labels so near an end of the axis stay within it, so that those of two panels keep apart."""


@dataclass(frozen=True, slots=True)
class Point:
    """A score in per cent at a length in tokens, with its 95 % interval where there is one."""

    length: int
    score: float
    low: float | None = None
    high: float | None = None
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """Points of one series, ascending by length."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One small chart; with several lines it has a legend of its own. `threshold` is in per cent."""

    title: str
    lines: tuple[Line, ...]
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class PanelGroup:
    """Panels that stand together under a title, which may be empty."""

    title: str
    panels: tuple[Panel, ...]


def small_multiples(
    groups: Sequence[PanelGroup], lengths: Sequence[int], k: int, width_px: int, highest: float = 100
) -> dict[str, Any]:
    """The groups one below another, in as many columns as the width has room for.

    The Vega-Lite description holds its data. It is put together from plain mappings, since Altair copies and checks
    a chart of many charts again and again: seconds for thirty panels.

    Args:
        groups: none of them is empty.
        lengths: ascending, in tokens: the axis of every panel.
        k: what the suite writes as K.
        width_px: of the whole.
        highest: end of the upright axis.
    """
    several = any(len(panel.lines) > 1 for group in groups for panel in group.panels)
    columns = _columns(groups, width_px, several)
    panel_px = int((width_px - _AXIS_PX - (columns - 1) * _gap(several)) / columns)
    axes = _Axes(tuple(lengths), k, panel_px, highest, several)
    return {
        "$schema": SCHEMA,
        "background": "transparent",
        "config": look(),
        "spacing": 24,
        "vconcat": [_group(group, columns, axes) for group in groups],
    }


@dataclass(frozen=True, slots=True)
class _Axes:
    lengths: tuple[int, ...]
    k: int
    panel_px: int
    highest: float
    several: bool

    @property
    def scale(self) -> dict[str, Any]:
        """The upright scale, which every layer of a panel must name."""
        return {"domain": [0, self.highest], "clamp": True}

    def y(self, field: str) -> dict[str, Any]:
        """The upright place of a field, without an axis of its own."""
        return {"field": field, "type": "quantitative", "scale": self.scale}


def _gap(several: bool) -> int:
    return _AXIS_PX + 30 if several else _GAP_PX


def _columns(groups: Sequence[PanelGroup], width_px: int, several: bool) -> int:
    """As many as leave room for the longest title."""
    if several:
        return 2 if width_px >= ROOMY_PX else 1
    longest = max(len(panel.title) for group in groups for panel in group.panels)
    wanted = max(_FEWEST_PX, longest * _LETTER_PX) + _GAP_PX
    return max(1, min(_MOST_COLUMNS, int((width_px - _AXIS_PX + _GAP_PX) / wanted)))


def _group(group: PanelGroup, columns: int, axes: _Axes) -> dict[str, Any]:
    drawn: dict[str, Any] = {
        "concat": [_panel(panel, place % columns == 0, axes) for place, panel in enumerate(group.panels)],
        "columns": columns,
        "spacing": {"row": 18 if axes.several else _ROW_GAP_PX, "column": _gap(axes.several)},
        "bounds": "full" if axes.several else "flush",
        "resolve": {"scale": {"color": "independent", "strokeDash": "independent", "shape": "independent"}},
    }
    if group.title:
        drawn["title"] = {"text": group.title, "fontSize": 13, "fontWeight": "bold", "offset": 8}
    return drawn


def _panel(panel: Panel, first: bool, axes: _Axes) -> dict[str, Any]:
    values = [
        {
            "length": point.length,
            "score": point.score,
            "low": point.low,
            "high": point.high,
            "series": line.name,
            "complete": point.complete,
        }
        for line in panel.lines
        for point in line.points
    ]
    y = axes.y("score") | {"title": None, "axis": _y_axis(first or axes.several)}
    layers: list[dict[str, Any]] = []
    if panel.threshold is not None:
        rule = {"type": "rule", "color": INK, "strokeDash": [2, 3], "opacity": 0.7}
        data = {"values": [{"threshold": panel.threshold}]}
        layers.append({"data": data, "mark": rule, "encoding": {"y": axes.y("threshold")}})
    layers += _lines(panel, y, axes) if len(panel.lines) > 1 else _line(y, axes)
    for layer in layers:
        if "data" not in layer:
            layer["encoding"] = {"x": _x(axes)} | layer["encoding"]
    return {
        "data": {"values": values},
        "layer": layers,
        "width": axes.panel_px,
        "height": int(_HEIGHT_PX * (1.5 if axes.several else 1)),
        # Cut where it does not fit, in a browser's letters too, which may be wider; the table has it in full.
        "title": {
            "text": panel.title,
            "fontSize": 11,
            "offset": 6,
            "frame": "group",
            "limit": 0.92 * (axes.panel_px + (_gap(True) / 2 if axes.several else 0)),
        },
    }


def _line(y: dict[str, Any], axes: _Axes) -> list[dict[str, Any]]:
    """One line with the band of its intervals; hollow points are incomplete."""
    band = {"type": "area", "color": BLUE, "opacity": 0.22}
    return [
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": band,
            "encoding": {"y": axes.y("low"), "y2": {"field": "high"}},
        },
        {"mark": {"type": "line", "color": BLUE, "strokeWidth": 2}, "encoding": {"y": y}},
        *(
            {
                "transform": [{"filter": state}],
                "mark": {"type": "point", "color": BLUE, "filled": filled, "size": 24, "opacity": 1},
                "encoding": {"y": y},
            }
            for state, filled in (("datum.complete", True), ("!datum.complete", False))
        ),
    ]


def _lines(panel: Panel, y: dict[str, Any], axes: _Axes) -> list[dict[str, Any]]:
    """Several lines, told apart by colour, dash and shape, with upright intervals."""
    names = [line.name for line in panel.lines]
    widest = max(map(len, names)) * _LETTER_PX + 30
    legend = {
        "title": None,
        "orient": "top",
        "direction": "horizontal",
        "columns": max(1, min(len(names), int(axes.panel_px / widest))),
        "labelFontSize": 11,
        "symbolSize": 40,
        "symbolOpacity": 1,
        "offset": 4,
    }
    colour, dash, shape = (
        {
            "field": "series",
            "type": "nominal",
            "scale": {"domain": names, "range": [options[place % len(options)] for place in range(len(names))]},
            "legend": legend,
        }
        for options in (SERIES_COLOURS, ([1, 0], *SERIES_DASHES), ("circle", *SERIES_SHAPES))
    )
    return [
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "opacity": 0.35},
            "encoding": {"y": axes.y("low"), "y2": {"field": "high"}, "color": colour},
        },
        {
            "mark": {"type": "line", "strokeWidth": 1.75},
            "encoding": {"y": y, "color": colour, "strokeDash": dash},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 34, "opacity": 1},
            "encoding": {"y": y, "color": colour, "shape": shape},
        },
    ]


def _x(axes: _Axes) -> dict[str, Any]:
    first, last = axes.lengths[0], axes.lengths[-1]
    labels = json.dumps({str(length): format_length(length, axes.k) for length in axes.lengths})
    return {
        "field": "length",
        "type": "quantitative",
        "title": None,
        "scale": {"type": "log", "base": 2, "domain": [first / 1.15, last * 1.15], "nice": False},
        "axis": {
            "values": list(axes.lengths),
            "labelExpr": f"({labels})[datum.value]",
            "grid": False,
            "labelOverlap": "greedy",
            "labelFlush": _FLUSH_PX,
            "labelFontSize": 10,
            "labelSeparation": 4,
            "tickSize": 3,
        },
    }


def _y_axis(labelled: bool) -> dict[str, Any]:
    return {
        "values": [0, 50, 100],
        "labelOpacity": 1 if labelled else 0,
        "ticks": False,
        "domain": False,
        "labelFontSize": 10,
        "labelPadding": 4,
    }

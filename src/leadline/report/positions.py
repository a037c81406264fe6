"""Where a model fails, for the page: the heat map of depth by length, the depth curve, the middle and the ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analysis.curves import Bin, Curve
from leadline.analysis.design import Design
from leadline.analysis.inflation import MATTERS_POINTS
from leadline.analysis.middle import MIDDLE, MiddleAgainstEnds
from leadline.analysis.positions import Positions
from leadline.analysis.verdict import format_length
from leadline.report.charts import INK, ROOMY_PX, finished
from leadline.report.drawing import Chart

SCALE: tuple[tuple[float, str, str], ...] = (
    (20, "#6b0f1a", "#ffffff"),
    (40, "#a3281f", "#ffffff"),
    (60, "#cf5a2b", "#000000"),
    (80, "#e0913c", "#000000"),
    (95, "#dcc95c", "#000000"),
    (100, "#a5e69a", "#000000"),
)
"""Upper end of each class of the heat map in per cent, its colour from red to green, and the colour of figures on it.
The lightness rises from class to class, so that they are told apart in print and with every colour vision."""

_FIGURE_PX = 30
"""Width of a cell in which a figure of three digits fits."""

_AXIS_PX = 60
_MOST_NAMED = 6
"""Cells that a sentence names; the table marks all of them."""

METHODS: tuple[tuple[str, str], ...] = (
    (
        "Position",
        "each wanted item at its own depth where the plan knows it (needles, variables of a chain), else the question"
        " at its needle's or golden document's; a bin's score is the plain mean, its interval Wilson's, or that of a"
        " mean over items where an item is in it more than once",
    ),
    (
        "Middle against ends",
        "the middle third's score minus the outer thirds', within each task and length, weighed as by Cochran 1954;"
        " its interval is put together from one for each part (Newcombe's way: Yan and Su 2010, Zou 2007)",
    ),
)
"""How the figures of this section are computed."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A row of the table of the middle against the ends, as texts; `places` are those of both."""

    name: str
    difference: str
    interval: str
    middle: str
    ends: str
    places: str
    worse: bool


@dataclass(frozen=True, slots=True)
class PositionsSection:
    """What the page shows of positions, as texts.

    Attributes:
        sentence: the middle against the ends, over all tasks and lengths; empty where they cannot be compared.
        comparisons: all together, then by length, then by task.
        spreads: for each task with chains its name and its bins: spread, score, interval, n.
        lengths: heads of the columns of `inflations`.
        inflations: for each task whose recall and strict score part anywhere: for each length points, trials, and
            whether it matters.
        matters: the cells where it matters, in words.
        matters_points: points from which it does.
        same: tasks whose two scores are the same everywhere.
    """

    sentence: str
    comparisons: tuple[Comparison, ...]
    spreads: tuple[tuple[str, tuple[tuple[str, str, str, int], ...]], ...]
    lengths: tuple[str, ...]
    inflations: tuple[tuple[str, tuple[tuple[str, str, bool], ...]], ...]
    matters: str
    matters_points: str
    same: int


def positions_section(positions: Positions, design: Design) -> PositionsSection:
    """What the page shows of these positions."""
    overall = positions.curve()
    middle = None if overall is None else overall.middle
    parting = {one.task for one in positions.inflations if abs(one.points) >= 0.05}
    return PositionsSection(
        sentence="" if middle is None else f"{middle.sentence()}, over all tasks and lengths",
        comparisons=tuple(_comparisons(positions, design)),
        spreads=tuple(
            (curve.task, tuple(_bin_row(one) for one in curve.bins if one.n))
            for curve in positions.curves
            if curve.axis == "spread" and curve.length is None and curve.task is not None
        ),
        lengths=tuple(format_length(length, design.k) for length in design.lengths),
        inflations=tuple(
            (task.name, tuple(_inflation(positions, task.name, length) for length in design.lengths))
            for task in design.tasks
            if task.name in parting
        ),
        matters=_matters(positions, design),
        matters_points=f"{MATTERS_POINTS:g}",
        same=len({one.task for one in positions.inflations} - parting),
    )


def depth_by_length(positions: Positions, design: Design, width_px: int = 620) -> dict[str, Any]:
    """Heat map of the mean score over all tasks: depth downwards, length to the right."""
    import altair as alt

    names = [format_length(length, design.k) for length in design.lengths]
    values = [
        {
            "length": format_length(curve.length or 0, design.k),
            "start": one.start,
            "end": one.end,
            "centre": (one.start + one.end) / 2,
            "score": one.score,
            "low": one.low,
            "high": one.high,
            "n": one.n,
            "class": _class(round(one.score)),
            "text": f"{one.score:.0f}",
        }
        for curve in positions.grid()
        for one in curve.bins
        if one.score is not None
    ]
    roomy = width_px >= ROOMY_PX
    x = alt.X(
        "length:O",
        sort=names,
        title="length",
        scale=alt.Scale(domain=names, paddingInner=0.04, paddingOuter=0.0),
        axis=alt.Axis(labelAngle=0, domain=False, ticks=False, labelOverlap=True),
    )
    depths = alt.Scale(domain=[0, 100], reverse=True)
    axis = alt.Axis(values=_edges(positions.grid()), format=".0f", grid=False, domain=False)
    colour = alt.Color(
        "class:N",
        scale=alt.Scale(domain=[_name(place) for place in range(len(SCALE))], range=[step[1] for step in SCALE]),
        legend=alt.Legend(
            title=None,
            orient="top",
            direction="horizontal",
            columns=len(SCALE) if roomy else 3,
            symbolType="square",
            symbolSize=130,
            columnPadding=12,
        ),
    )
    base = alt.Chart(alt.Data(values=values))
    cells = base.mark_rect().encode(
        x=x, y=alt.Y("start:Q", title="depth, per cent", scale=depths, axis=axis), y2=alt.Y2("end"), color=colour
    )
    layers: list[Any] = [cells]
    if (width_px - _AXIS_PX) / max(1, len(names)) >= _FIGURE_PX:
        # A field of its own for the colour of figures would get a scale and a legend of its own.
        dark = [_name(place) for place, step in enumerate(SCALE) if step[2] == "#ffffff"]
        light = f"indexof({dark}, datum.class) >= 0"
        figures = base.mark_text(fontSize=12 if roomy else 11).encode(
            x=x,
            y=alt.Y("centre:Q", scale=depths),
            text="text:N",
            color=alt.condition(light, alt.value("#ffffff"), alt.value("#000000")),
        )
        layers.append(figures)
    return finished(alt.layer(*layers), width_px, 320 if roomy else 260)


def score_by_depth(curve: Curve, width_px: int = 620) -> dict[str, Any]:
    """Score by depth with its 95 % band; dotted lines part the middle third from the ends."""
    import altair as alt

    values = [
        {"depth": (one.start + one.end) / 2, "score": one.score, "low": one.low, "high": one.high, "n": one.n}
        for one in curve.bins
        if one.score is not None
    ]
    x = alt.X(
        "depth:Q",
        title="depth, per cent",
        scale=alt.Scale(domain=[0, 100]),
        axis=alt.Axis(values=[0, 25, 50, 75, 100], grid=False),
    )
    y = alt.Scale(domain=[0, 100])
    base = alt.Chart(alt.Data(values=values)).encode(x=x)
    score = alt.Y("score:Q", title="score, per cent", scale=y)
    thirds = alt.Chart(alt.Data(values=[{"depth": end} for end in MIDDLE]))
    layers = (
        thirds.mark_rule(color=INK, strokeDash=[2, 4], opacity=0.6).encode(x=x),
        base.mark_area(color="#0072b2", opacity=0.25).encode(y=alt.Y("low:Q", scale=y), y2=alt.Y2("high")),
        base.mark_line(color="#0072b2", strokeWidth=2.5).encode(y=score),
        base.mark_point(color="#0072b2", filled=True, size=60, opacity=1).encode(y=score),
    )
    return finished(alt.layer(*layers), width_px, 240 if width_px >= ROOMY_PX else 200)


def depth_charts(positions: Positions, design: Design) -> tuple[Chart, ...]:
    """Heat map and curve of a run; none where nothing has a depth."""
    overall = positions.curve()
    return () if overall is None else (_grid_chart(positions, design), _curve_chart(overall))


def _grid_chart(positions: Positions, design: Design) -> Chart:
    told = "; ".join(
        f"{format_length(curve.length or 0, design.k)}: {_in_words(curve.bins)}" for curve in positions.grid()
    )
    counts = [one.n for curve in positions.grid() for one in curve.bins if one.n]
    n = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else str(counts[0])
    return Chart(
        name="depth_by_length",
        make=lambda width: depth_by_length(positions, design, width),
        rows=lambda: [{"length": curve.length} | one.as_dict() for curve in positions.grid() for one in curve.bins],
        text=f"Heat map of the score in per cent by length and depth. {told}.",
        caption="Score in per cent by length and by depth of what was asked for, 0 being the beginning of the context:"
        f" the mean over all tasks that have a depth, {n} places in each cell. An empty cell had none.",
    )


def _curve_chart(curve: Curve) -> Chart:
    return Chart(
        name="score_by_depth",
        make=lambda width: score_by_depth(curve, width),
        rows=lambda: [one.as_dict() for one in curve.bins],
        text=f"Line chart of the score in per cent by depth, over all lengths. {_in_words(curve.bins)}.",
        caption="Score in per cent by depth, over all lengths and all tasks that have a depth, with 95 % intervals."
        " Dotted lines part the middle third from the ends.",
    )


def _edges(grid: Sequence[Curve]) -> list[float]:
    """Ends of the bins that are written on the axis: all, or every second where there are many."""
    ends = [0.0, *(one.end for curve in grid[:1] for one in curve.bins)]
    return ends if len(ends) <= 6 else ends[::2]


def _in_words(bins: Sequence[Bin]) -> str:
    return ", ".join(f"{one.start:.0f} to {one.end:.0f} % {one.score:.0f}" for one in bins if one.score is not None)


def _class(score: float) -> str:
    """The class of a score as its figure is written; an end belongs to the class above it."""
    return _name(next((place for place, step in enumerate(SCALE) if score < step[0]), len(SCALE) - 1))


def _name(place: int) -> str:
    start = SCALE[place - 1][0] if place else 0
    return f"{start:g}–{SCALE[place][0]:g}"


def _comparisons(positions: Positions, design: Design) -> list[Comparison]:
    """All together, then by length, then by task."""
    lengths = [(f"at {format_length(length, design.k)}", positions.curve(None, length)) for length in design.lengths]
    tasks = [(task.name, positions.curve(task.name)) for task in design.tasks]
    return [
        _comparison(name, curve.middle)
        for name, curve in [("all together", positions.curve()), *lengths, *tasks]
        if curve is not None and curve.middle is not None
    ]


def _comparison(name: str, middle: MiddleAgainstEnds) -> Comparison:
    return Comparison(
        name=name,
        difference=_signed(middle.difference),
        interval=f"{_signed(middle.low)} to {_signed(middle.high)}",
        middle=f"{middle.middle:.1f}",
        ends=f"{middle.ends:.1f}",
        places=f"{middle.n_middle}, {middle.n_ends}",
        worse=middle.high < 0,
    )


def _bin_row(one: Bin) -> tuple[str, str, str, int]:
    return (
        f"{one.start:.0f} to {one.end:.0f} %",
        "–" if one.score is None else f"{one.score:.1f}",
        "" if one.low is None or one.high is None else f"{one.low:.0f} to {one.high:.0f}",
        one.n,
    )


def _matters(positions: Positions, design: Design) -> str:
    told = [
        f"{one.task} at {format_length(one.length, design.k)} (+{one.points:.1f})"
        for one in positions.mattering[:_MOST_NAMED]
    ]
    more = len(positions.mattering) - len(told)
    return ", ".join(told) + (f" and {more} more" if more else "")


def _inflation(positions: Positions, task: str, length: int) -> tuple[str, str, bool]:
    found = next((one for one in positions.inflations if (one.task, one.length) == (task, length)), None)
    return (
        ("–", "", False) if found is None else (_signed(found.points), f"{found.inflated} of {found.n}", found.matters)
    )


def _signed(points: float) -> str:
    """With its sign; a nought has none."""
    return "0.0" if abs(points) < 0.05 else f"{points:+.1f}".replace("-", "−")

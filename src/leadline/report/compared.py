"""Comparable models in charts: all of them in one, and each in a panel of its own on the same axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from leadline.analysis.families import described
from leadline.analysis.lengths import LengthScore
from leadline.analysis.several import Comparable, RunOfSeveral
from leadline.analysis.verdict import format_effective
from leadline.report.charts import (
    INK,
    ROOMY_PX,
    SERIES_COLOURS,
    SERIES_DASHES,
    SERIES_SHAPES,
    finished,
    length_axis,
    score_told,
)
from leadline.report.drawing import Chart
from leadline.report.panels import Line, Panel, PanelGroup, Point, small_multiples

FEWEST = 2
"""One model alone is compared with nothing; its own chart stands with its table."""

LEGEND_LETTERS = 80
"""Letters of names that a line of the legend has room for on a desk; on a telephone there is one name to a line."""

_FAINT = 0.35
_DASHES = ([1, 0], *SERIES_DASHES)
_SHAPES = ("circle", *SERIES_SHAPES)


def series_looks(names: Sequence[str]) -> tuple[list[str], list[list[int]], list[str]]:
    """Colours, dashes and shapes by which so many lines are told apart.

    There are as many dashes as shapes and one colour fewer, so that the first 42 lines have no two that look alike.
    """
    places = range(len(names))
    return (
        [SERIES_COLOURS[place % len(SERIES_COLOURS)] for place in places],
        [list(_DASHES[place % len(_DASHES)]) for place in places],
        [_SHAPES[place % len(_SHAPES)] for place in places],
    )


def legend_of(names: Sequence[str], width_px: int, alt: Any) -> Any:
    """A legend above the chart with as many names to a line as fit, none of them cut on a desk."""
    roomy = width_px >= ROOMY_PX
    columns = max(1, LEGEND_LETTERS // (6 + max(map(len, names)))) if roomy else 1
    return alt.Legend(
        title=None,
        orient="top",
        direction="horizontal",
        columns=columns,
        # A browser's letters may be wider than those that the legend was laid out with.
        columnPadding=18 + max(map(len, names)),
        labelLimit=560 if roomy else 220,
    )


def comparison_charts(group: Comparable, ending: str = "") -> list[Chart]:
    """The charts of a group that have something to show.

    Args:
        group: runs that may share an axis.
        ending: of the charts' names, where a page has several groups.
    """
    if not _rows(group) or len(group.runs) < FEWEST:
        return []
    return [
        Chart(
            f"models_compared{ending}",
            lambda width: models_compared(group, width),
            lambda: _rows(group),
            _text(group),
            _caption(group),
        ),
        Chart(
            f"model_panels{ending}",
            lambda width: model_panels(group, width),
            lambda: [{"model": name} | row for name, run in group.named for row in _own_rows(run)],
            f"One small line chart of the score by length for each model of {described(group)}, on the same axes.",
            "Each model by itself, over its own tasks: the mean with its 95 % interval as a band, and dotted the score"
            " that its verdict asks for. All panels have the same axes; the greatest effective length comes first."
            + _faint(group),
        ),
    ]


def models_compared(group: Comparable, width_px: int = 620, height_px: int = 320) -> dict[str, Any]:
    """Mean score by length, one line for each model, told apart by colour, dash and shape.

    The Vega-Lite description holds its data.
    """
    import altair as alt

    names = list(group.names)
    colours, dashes, shapes = series_looks(names)
    legend = legend_of(names, width_px, alt)
    x = axis_of(group, alt)
    base = alt.Chart(alt.Data(values=_rows(group))).encode(
        x=x,
        y=alt.Y("score:Q", title="score, per cent", scale=alt.Scale(domain=[0, 100])),
        color=alt.Color("model:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
    )
    dash = alt.StrokeDash("model:N", scale=alt.Scale(domain=names, range=dashes), legend=legend)
    shape = alt.Shape("model:N", scale=alt.Scale(domain=names, range=shapes), legend=legend)
    layers: list[Any] = [
        *threshold_rule(group.threshold, alt),
        base.mark_line(strokeWidth=2).encode(strokeDash=dash),
        base.mark_point(filled=True, size=60).encode(shape=shape, opacity=_opacity(alt)),
    ]
    return finished(alt.layer(*layers), width_px, height_px)


def model_panels(group: Comparable, width_px: int = 620) -> dict[str, Any]:
    """Score by length of each model in a panel of its own, with its threshold and intervals, on the same axes."""
    panels = tuple(
        Panel(
            f"{name}: {format_effective(run.effective, run.design.shortest, group.k)}",
            (Line(name, _points(run.summary.by_length)),),
            run.effective.threshold if run.effective.no_claim is None else None,
        )
        for name, run in group.named
    )
    return small_multiples((PanelGroup("", panels),), group.lengths, group.k, width_px)


def axis_of(group: Comparable, alt: Any) -> Any:
    """The logarithmic axis of all lengths of the group."""
    return length_axis(replace(group.runs[0].design, lengths=group.lengths, weights={}), alt)


def threshold_rule(threshold: float | None, alt: Any) -> list[Any]:
    """A dotted line at a score in per cent, with the score; nothing where there is none."""
    if threshold is None:
        return []
    base = alt.Chart(alt.Data(values=[{"score": threshold, "label": f"{threshold:g} asked for"}]))
    rule = base.mark_rule(color=INK, strokeDash=[2, 4], opacity=0.7).encode(y=alt.Y("score:Q"))
    text = base.mark_text(align="right", baseline="bottom", dy=-4, fontSize=11, color=INK, opacity=0.75)
    return [rule, text.encode(y=alt.Y("score:Q"), x=alt.value("width"), text="label:N")]


def _opacity(alt: Any) -> Any:
    return alt.condition("datum.complete", alt.value(1), alt.value(_FAINT))


def _points(scores: Sequence[LengthScore]) -> tuple[Point, ...]:
    return tuple(
        Point(score.length, score.score, score.low, score.high, _whole(score))
        for score in scores
        if score.score is not None
    )


def _whole(score: LengthScore) -> bool:
    """Neither incomplete nor stopped early, so that the mean is what it seems."""
    return score.complete and not score.early


def _rows(group: Comparable) -> list[dict[str, Any]]:
    return [
        {"model": name} | _row(score)
        for name, run in group.named
        for score in group.scores(run)
        if score.score is not None
    ]


def _own_rows(run: RunOfSeveral) -> list[dict[str, Any]]:
    """A run's means by length over its own tasks: scores in per cent, lengths in tokens, None where there is none."""
    return [
        _row(score) | {"threshold": run.effective.threshold}
        for score in run.summary.by_length
        if score.score is not None
    ]  # fmt: skip


def _row(score: LengthScore) -> dict[str, Any]:
    return {
        "length": score.length,
        "score": score.score,
        "low": score.low,
        "high": score.high,
        "n": score.n,
        "complete": _whole(score),
    }


def _text(group: Comparable) -> str:
    told = "; ".join(
        f"{name}: " + ", ".join(score_told(score, group.k) for score in group.scores(run)) for name, run in group.named
    )
    return f"Line chart of the mean score in per cent by length, one line for each model. {told}."


def _caption(group: Comparable) -> str:
    over = _over(group)
    dotted = "" if group.threshold is None else " Dotted: the score that every length must reach."
    return f"Mean score by length{over}, in the order of the table.{dotted}{_faint(group)}"


def _over(group: Comparable) -> str:
    """Which tasks the means are over, where that is not each model's all."""
    if all(set(run.tasks) == set(group.tasks) for run in group.runs):
        return ""
    count = len(group.tasks)
    return f" over the {count} task{'s' if count > 1 else ''} that all of them have ({', '.join(group.tasks)})"


def _faint(group: Comparable) -> str:
    scores = [score for run in group.runs for score in run.summary.by_length if score.score is not None]
    whole = all(_whole(score) for score in scores)
    return "" if whole else " Faint or hollow: incomplete, or stopped when it was certain."

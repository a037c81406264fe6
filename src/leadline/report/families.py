"""A family of models by length, each line dashed beyond what its model was trained for (RULER, figure 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leadline.analysis.families import Family, Member, described
from leadline.report.charts import finished
from leadline.report.claimed import format_claim
from leadline.report.compared import axis_of, legend_of, series_looks, threshold_rule
from leadline.report.drawing import Chart

BEYOND = [5, 4]
"""Dash of a line beyond the trained length."""


def family_charts(families: Sequence[Family]) -> list[Chart]:
    """One chart for each family."""
    return [_chart(family, f"family_{number}") for number, family in enumerate(families, start=1)]


def family_by_length(family: Family, width_px: int = 620, height_px: int = 320) -> dict[str, Any]:
    """Mean score by length, one line for each model of the family: solid to its trained length, dashed beyond.

    The Vega-Lite description holds its data.
    """
    import altair as alt

    names = [member_label(member, family.group.k) for member in family.members]
    colours, _, shapes = series_looks(names)
    legend = legend_of(names, width_px, alt)
    encodings: dict[str, Any] = {
        "x": axis_of(family.group, alt),
        "y": alt.Y("score:Q", title="score, per cent", scale=alt.Scale(domain=[0, 100])),
        "color": alt.Color("model:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
    }
    shape = alt.Shape("model:N", scale=alt.Scale(domain=names, range=shapes), legend=legend)
    layers = threshold_rule(family.group.threshold, alt)
    for beyond in (False, True):
        values = [value for member in family.members for value in _part(member, family, beyond=beyond)]
        if values:
            dashed: dict[str, Any] = {"strokeDash": BEYOND} if beyond else {}
            layers.append(alt.Chart(alt.Data(values=values)).mark_line(strokeWidth=2, **dashed).encode(**encodings))
    points = alt.Chart(alt.Data(values=family_rows(family))).mark_point(filled=True, size=60, opacity=1)
    layers.append(points.encode(shape=shape, **encodings))
    return finished(alt.layer(*layers), width_px, height_px)


def member_label(member: Member, k: int) -> str:
    """A model of a family with the length that it was trained for, where that is known."""
    if member.trained_tokens is None:
        return member.name
    return f"{member.name} (trained {format_claim(member.trained_tokens, k)})"


def family_rows(family: Family) -> list[dict[str, Any]]:
    """The chart's values: scores in per cent, lengths in tokens, None where there is none."""
    return [
        {
            "model": member_label(member, family.group.k),
            "length": score.length,
            "score": score.score,
            "low": score.low,
            "high": score.high,
            "trained_tokens": member.trained_tokens,
            "beyond": None if member.trained_tokens is None else score.length > member.trained_tokens,
        }
        for member in family.members
        for score in member.scores
        if score.score is not None
    ]


def _part(member: Member, family: Family, *, beyond: bool) -> list[dict[str, Any]]:
    """The points that a model's solid line joins, or its dashed one, which begins where the solid one ends."""
    scores = [score for score in member.scores if score.score is not None]
    trained = member.trained_tokens
    within = [score for score in scores if trained is None or score.length <= trained]
    after = scores[len(within) :]
    joined = ([*within[-1:], *after] if after else []) if beyond else within
    name = member_label(member, family.group.k)
    return [{"model": name, "length": score.length, "score": score.score} for score in joined]


def _chart(family: Family, name: str) -> Chart:
    unknown = [member.name for member in family.members if member.trained_tokens is None]
    dashes = "Solid up to the greatest asked length that the model was trained for, dashed beyond."
    if len(unknown) == len(family.members):
        dashes = (
            "No trained length is known: give it with  leadline run --trained-length  and lines are dashed beyond it."
        )
    elif unknown:
        dashes += f" Not known, and so solid: {', '.join(unknown)}."
    told = "; ".join(
        f"{member_label(member, family.group.k)}: "
        + ", ".join(f"{score.score:.1f} at {score.length} tokens" for score in member.scores if score.score is not None)
        for member in family.members
    )
    return Chart(
        name,
        lambda width: family_by_length(family, width),
        lambda: family_rows(family),
        f"Line chart of the score by length of the models of {family.name}, as in figure 4 of the RULER paper. {told}.",
        f"{family.name} on {described(family.group)}: mean score by length. {dashes}",
    )

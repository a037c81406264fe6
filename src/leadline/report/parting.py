"""One model by RULER's tasks and by NoLiMa: both as shares of the score where length is no difficulty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leadline.analysis.parting import Parting, Side
from leadline.report.charts import INK, finished
from leadline.report.compared import legend_of, series_looks
from leadline.report.drawing import Chart

EXPLAINED = (
    "RULER's needles share words with their questions, and NoLiMa's share none, so that matching words is no help "
    "there. Scores of the two are never on one axis, because they are of different questions: what is drawn is the "
    "share that a length keeps of the score where length is no difficulty. RULER counts all tokens of a request, "
    "NoLiMa those of the haystack; K is 1,024 in the one and 1,000 in the other, so lengths are in tokens."
)
APART = (
    "nolima and nolima-open have different needles: each stands beside RULER on an axis of its own, and never on one "
    "axis with the other."
)
_FIRST_TICK, _HIGHEST = 250, 100.0


def shares_by_length(parting: Parting, width_px: int = 620, height_px: int = 300) -> dict[str, Any]:
    """Both tests' shares by length in tokens, with the share that each has to keep by its own rule.

    The Vega-Lite description holds its data.
    """
    import altair as alt

    sides = (parting.tasks, parting.needles)
    names = [side.name for side in sides]
    colours, dashes, shapes = series_looks(names)
    legend = legend_of(names, width_px, alt)
    rows = parting_rows(parting)
    highest = max(_HIGHEST, *(row["share"] for row in rows))
    y = alt.Y("share:Q", title="per cent of its score at short lengths", scale=alt.Scale(domain=[0, highest]))
    colour = alt.Color("suite:N", scale=alt.Scale(domain=names, range=colours), legend=legend)
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=_tokens_axis([row["length"] for row in rows], alt), y=y, color=colour
    )
    layers: list[Any] = []
    for side, ink in zip(sides, colours, strict=True):
        if side.must_keep is not None:
            kept = alt.Chart(alt.Data(values=[{"share": side.must_keep}]))
            layers.append(kept.mark_rule(color=ink, strokeDash=[2, 4], strokeWidth=1.5, opacity=0.8).encode(y=y))
    dash = alt.StrokeDash("suite:N", scale=alt.Scale(domain=names, range=dashes), legend=legend)
    shape = alt.Shape("suite:N", scale=alt.Scale(domain=names, range=shapes), legend=legend)
    layers += [
        base.mark_line(strokeWidth=2).encode(strokeDash=dash),
        base.mark_point(filled=True, size=60, opacity=1).encode(shape=shape),
    ]
    return finished(alt.layer(*layers), width_px, height_px)


def parting_rows(parting: Parting) -> list[dict[str, Any]]:
    """The chart's values: shares in per cent, lengths in tokens. Raw scores are left out: they share no axis."""
    return [
        {"suite": side.name, "length": share.length, "share": share.share, "must_keep": side.must_keep}
        for side in (parting.tasks, parting.needles)
        for share in side.shares
    ]


def _tokens_axis(lengths: Sequence[int], alt: Any) -> Any:
    ticks = [_FIRST_TICK]
    while ticks[-1] < max(lengths):
        ticks.append(ticks[-1] * 2)
    shown = [tick for tick in ticks if min(lengths) <= tick * 1.1 and tick <= max(lengths) * 1.1]
    return alt.X(
        "length:Q",
        title="length in tokens",
        scale=alt.Scale(type="log", base=2, domain=[min(lengths) / 1.12, max(lengths) * 1.12], nice=False),
        axis=alt.Axis(values=shown, format=",d", grid=False, labelOverlap=True, labelSeparation=6, domainColor=INK),
    )


def parting_chart(parting: Parting, name: str) -> Chart | None:
    """The chart of a model by two tests; None where one of them has no score to be a share of."""
    if not (parting.tasks.shares and parting.needles.shares):
        return None
    sides = (parting.tasks, parting.needles)
    told = "; ".join(
        f"{side.name}: " + ", ".join(f"{share.share:.0f} % at {share.length} tokens" for share in side.shares)
        for side in sides
    )
    return Chart(
        name,
        lambda width: shares_by_length(parting, width),
        lambda: parting_rows(parting),
        f"Line chart of the share that {parting.model} keeps by length, in two tests. {told}.",
        f"{parting.model}: {'; '.join(map(_of, sides))}. Dotted, in the colour of its test: the share that a length "
        "must keep by that test's own rule.",
    )


def _of(side: Side) -> str:
    best = "nothing" if side.of_score is None else f"{side.of}, {side.of_score:.1f}"
    stopped = any(score.early for score in side.run.summary.by_length)
    return f"{side.name} as per cent of {best}" + (", stopped when it was certain" if stopped else "")

"""Claimed against effective length, of one model or of several, on a logarithmic axis."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analysis.design import Design
from leadline.analysis.effective import Censored
from leadline.analysis.summary import Summary
from leadline.analysis.verdict import format_length
from leadline.report.charts import INK, ROOMY_PX, finished
from leadline.report.drawing import Chart

_FACTS = (
    ("model", "context_tokens", "as its file says"),
    ("model", "trained_context_tokens", "as its server says it was trained for"),
    ("model", "served_context_tokens", "as its server serves it"),
)
"""Facts of a manifest that tell a context, the first that is known counts, with how they are told of."""

EFFECTIVE, AT_LEAST, BELOW, CLAIMED = "effective", "effective, or more", "effective, below the shortest", "claimed"
_SHAPES = {EFFECTIVE: "circle", AT_LEAST: "triangle-right", BELOW: "triangle-left", CLAIMED: "diamond"}
_COLOURS = {EFFECTIVE: "#0072b2", AT_LEAST: "#0072b2", BELOW: "#0072b2", CLAIMED: "#d55e00"}
_HALF_STEP = 2**0.5
"""How far a band reaches beyond an end of the tested lengths where the truth may lie beyond it."""

_ROW_PX, _ONLY_ROW_PX = 46, 84


@dataclass(frozen=True, slots=True)
class ClaimedRow:
    """One model in the chart. Lengths in tokens.

    Attributes:
        name: what the row is called.
        claimed: the context that the model is said to have; None where nothing says.
        effective: the effective length; None where there is none, or none is claimed.
        censored: `below` where every tested length fails, `above` where the greatest tested one passes.
        possible: effective lengths that cannot be excluded; empty where that is not known.
        possible_below: that no tested length passes cannot be excluded either.
        shortest, longest: tested lengths between which it was looked for.
        k: what the suite writes as K, 1024 or 1000.
    """

    name: str
    claimed: int | None
    effective: int | None
    censored: Censored | None
    possible: tuple[int, ...]
    possible_below: bool
    shortest: int
    longest: int
    k: int = 1024

    @property
    def effective_label(self) -> str:
        """The effective length as people write it: ``16K``, ``>32K``, ``<4K``, ``–``."""
        if self.censored == "below":
            return f"<{format_length(self.shortest, self.k)}"
        if self.effective is None:
            return "–"
        return (">" if self.censored == "above" else "") + format_length(self.effective, self.k)

    @property
    def claimed_label(self) -> str:
        """The claimed length as people write it; ``not known`` where nothing says."""
        return "not known" if self.claimed is None else format_claim(self.claimed, self.k)


def format_claim(tokens: int, k: int) -> str:
    """A claimed length as people write it: in the suite's K where that divides it, else in the other K, else tokens."""
    return next((format_length(tokens, unit) for unit in (k, 1024, 1000) if tokens % unit == 0), f"{tokens}")


def claimed_length(manifest: Mapping[str, Any]) -> tuple[int | None, str]:
    """The context that the model of a run is said to have, in tokens, and who says so; None and why where nobody does.

    What the user said of the model comes first.
    """
    for part, fact, said in (("spec", "trained_length", "as --trained-length says"), *_FACTS):
        facts = manifest.get(part)
        tokens = facts.get(fact) if isinstance(facts, Mapping) else None
        if isinstance(tokens, int) and tokens > 0:
            return tokens, said
    return None, "neither the model nor its server tells it, and --trained-length was not given"


def claimed_row(name: str, summary: Summary, design: Design, claimed: int | None) -> ClaimedRow:
    """The row of a run, by the rule that its verdict goes by.

    Args:
        name: what the row is called.
        summary: of the run.
        design: of the run.
        claimed: the claimed length in tokens, or None.

    Raises:
        ValueError: the design has no lengths.
    """
    if not design.lengths:
        raise ValueError("a run without lengths has no effective length to be drawn")
    lengths = summary.effective_length
    main = lengths.absolute if lengths.absolute.no_claim is None else lengths.relative
    return ClaimedRow(
        name=name,
        claimed=claimed,
        effective=main.value,
        censored=main.censored,
        possible=() if main.possible is None else main.possible.lengths,
        possible_below=main.possible is not None and main.possible.below,
        shortest=min(design.shortest, design.lengths[-1]),
        longest=design.lengths[-1],
        k=design.k,
    )


def claimed_against_effective(rows: Sequence[ClaimedRow], width_px: int = 620) -> dict[str, Any]:
    """A row for each model: what it claims, what it can use, what cannot be excluded, and what was tested.

    The Vega-Lite description holds its data. Rows stand in the order in which they are given.

    Raises:
        ValueError: there are no rows.
    """
    import altair as alt

    if not rows:
        raise ValueError("nothing to draw: no rows")
    values = [point for row in rows for point in _points(row)]
    x = _axis(rows, alt)
    y = alt.Y(
        "name:N",
        sort=[row.name for row in rows],
        title=None,
        scale=alt.Scale(domain=[row.name for row in rows]),
        axis=alt.Axis(domain=False, ticks=False, labelLimit=200 if width_px >= ROOMY_PX else 90)
        if len(rows) > 1
        else None,
    )
    tested = alt.Chart(alt.Data(values=[{"name": row.name, "from": row.shortest, "to": row.longest} for row in rows]))
    layers: list[Any] = [
        tested.mark_rule(color=INK, opacity=0.35, strokeWidth=2).encode(
            x=x("from"), x2=alt.X2("to"), y=y
        )
    ]  # fmt: skip
    if bands := [band for row in rows if (band := _band(row)) is not None]:
        drawn = alt.Chart(alt.Data(values=bands)).mark_rule(color="#0072b2", opacity=0.3, strokeWidth=12)
        layers.append(drawn.encode(x=x("from"), x2=alt.X2("to"), y=y))
    layers += _marked(values, x, y, alt, roomy=width_px >= ROOMY_PX)
    height = _ONLY_ROW_PX if len(rows) == 1 else _ROW_PX * len(rows)
    return finished(alt.layer(*layers), width_px, height)


def claimed_chart(summary: Summary, design: Design, manifest: Mapping[str, Any]) -> Chart | None:
    """The chart of one run; None where it has no lengths."""
    if not summary.by_length:
        return None
    claimed, said = claimed_length(manifest)
    rows = [claimed_row(summary.model, summary, design, claimed)]
    sentence = claimed_sentence(rows[0], said)
    band = " Broad: what cannot be excluded at 95 %." if _band(rows[0]) else ""
    return Chart(
        name="claimed_and_effective",
        make=lambda width: claimed_against_effective(rows, width),
        rows=lambda: claimed_values(rows),
        text=claimed_text(rows),
        caption=f"Claimed against effective length: {sentence}. The line spans the tested lengths.{band}",
    )


def claimed_values(rows: Sequence[ClaimedRow]) -> list[dict[str, Any]]:
    """The chart's values, one row for each model; lengths in tokens, None where there is none."""
    return [
        {
            "model": row.name,
            "claimed_tokens": row.claimed,
            "effective_tokens": row.effective,
            "censored": row.censored,
            "effective": row.effective_label,
            "possible_tokens": " ".join([*(["below"] if row.possible_below else []), *map(str, row.possible)]),
            "shortest_tested_tokens": row.shortest,
            "longest_tested_tokens": row.longest,
        }
        for row in rows
    ]


def claimed_text(rows: Sequence[ClaimedRow]) -> str:
    """The chart in words, for those who cannot see it."""
    told = "; ".join(f"{row.name}: claimed {row.claimed_label}, effective {row.effective_label}" for row in rows)
    return f"Claimed and effective length on a logarithmic axis. {told}."


def claimed_sentence(row: ClaimedRow, said: str) -> str:
    """What a model can use of what it claims, in one sentence without a full stop.

    Args:
        row: the model.
        said: who says what it claims, or why nobody does.
    """
    if row.claimed is None:
        return f"its claimed length is not known: {said}"
    told = f"it claims {row.claimed_label} ({said})"
    if row.longest > row.claimed:
        told += f" and was tested to {format_length(row.longest, row.k)}"
    if row.censored == "above" and row.effective is not None and row.claimed > row.longest:
        return f"{told}; beyond {format_length(row.longest, row.k)} nothing was tested"
    if row.censored == "below":
        return f"{told}; below {format_length(row.shortest, row.k)} nothing was tested"
    if row.effective is None:
        return told
    return f"{told}; effective {row.effective_label}, which is {_share(row.effective, row.claimed)} of it"


def _share(effective: int, claimed: int) -> str:
    return f"{100 * effective / claimed:.3g} %"


def _points(row: ClaimedRow) -> list[dict[str, Any]]:
    points: list[dict[str, Any]] = []
    if row.claimed is not None:
        points.append({"name": row.name, "length": row.claimed, "mark": CLAIMED, "label": row.claimed_label})
    mark = {"below": BELOW, "above": AT_LEAST, None: EFFECTIVE}[row.censored]
    place = row.shortest if row.censored == "below" else row.effective
    if place is not None:
        points.append({"name": row.name, "length": place, "mark": mark, "label": row.effective_label})
    return points


def _band(row: ClaimedRow) -> dict[str, Any] | None:
    """From the shortest to the greatest length that cannot be excluded; None where it is one length, or not known."""
    if not row.possible or len(row.possible) + row.possible_below < 2:
        return None
    start = row.shortest / _HALF_STEP if row.possible_below else row.possible[0]
    end = row.possible[-1] * (_HALF_STEP if row.possible[-1] == row.longest else 1)
    return {"name": row.name, "from": start, "to": end}


def _marked(values: list[dict[str, Any]], x: Any, y: Any, alt: Any, *, roomy: bool) -> list[Any]:
    """The points with their labels: effective above its row's line, claimed below it, so that they keep apart."""
    marks = [mark for mark in _SHAPES if any(value["mark"] == mark for value in values)]
    if not marks:
        return []
    legend = alt.Legend(title=None, orient="top", direction="horizontal", columns=2 if roomy else 1, columnPadding=48)
    base = alt.Chart(alt.Data(values=values)).encode(x=x("length"), y=y)
    points = base.mark_point(filled=True, size=130, opacity=1).encode(
        color=alt.Color(
            "mark:N", scale=alt.Scale(domain=marks, range=[_COLOURS[mark] for mark in marks]), legend=legend
        ),
        shape=alt.Shape(
            "mark:N", scale=alt.Scale(domain=marks, range=[_SHAPES[mark] for mark in marks]), legend=legend
        ),
    )
    effective = base.transform_filter(f"datum.mark !== '{CLAIMED}'").mark_text(
        dy=-15, fontSize=13, fontWeight="bold", color=INK
    )
    claimed = base.transform_filter(f"datum.mark === '{CLAIMED}'").mark_text(dy=16, fontSize=12, color=INK)
    return [points, effective.encode(text="label:N"), claimed.encode(text="label:N")]


def _axis(rows: Sequence[ClaimedRow], alt: Any) -> Any:
    """Makes the logarithmic axis for a field, with a tick at each doubling from the shortest length to the greatest."""
    k = rows[0].k
    known = [length for row in rows for length in (row.shortest, row.longest, row.claimed) if length]
    ticks = [min(known)]
    while ticks[-1] * 2 <= max(known) * 1.05:
        ticks.append(ticks[-1] * 2)
    labels = json.dumps({str(tick): format_claim(tick, k) for tick in ticks})
    scale = alt.Scale(type="log", base=2, domain=[min(known) / 1.6, max(known) * 1.6], nice=False)
    axis = alt.Axis(values=ticks, labelExpr=f"({labels})[datum.value]", grid=True, labelOverlap=True, tickSize=4)

    def of(field: str) -> Any:
        return alt.X(f"{field}:Q", title="length in tokens", scale=scale, axis=axis)

    return of

"""NoLiMa's figures for page and console: base score, threshold, effective length and ablations, as texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leadline.analysis.base_score import BaseScore
from leadline.analysis.design import Design
from leadline.analysis.subsets import Subset
from leadline.analysis.summary import Summary
from leadline.analysis.verdict import format_length
from leadline.report.charts import Drawing, draw, finished, length_axis

ALL = "all"
HALF = "†"
"""Marks a score below half of the base."""

NAMES = {
    "onehop": "one hop",
    "twohop": "two hops",
    "twohop2": "two hops, second kind",
    "direct": "direct",
    "default": "name first",
    "inverted": "name last",
    "world_knowledge": "world knowledge",
    "commonsense_knowledge": "commonsense",
}
"""What the values of factors are called."""

METHODS: tuple[tuple[str, str], ...] = (
    (
        "Base score",
        "the mean over the pairs of each pair's best mean at 250, 500 and 1,000 tokens (NoLiMa, section 4.1); with"
        " fewer than 130 trials of a pair at each, the length is chosen on one half of the depths and scored on the"
        " other",
    ),
    (
        "Effective length by the base",
        "the greatest tested length from 1K on that keeps the stated share of the base score",
    ),
    ("Normalised", "a length's score as a share of the base score, in per cent"),
)
"""How the figures of this section are computed."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table, as texts; under all pairs of a task its subsets follow, named by their `factor`."""

    name: str
    base: str
    threshold: str
    effective: str
    scores: tuple[str, ...]
    factor: str

    @property
    def is_task(self) -> bool:
        """Whether it is all pairs of a task."""
        return self.factor == ALL


@dataclass(frozen=True, slots=True)
class Section:
    """The page's section: sentences, the table and the chart of normalised scores."""

    sentences: tuple[str, ...]
    lengths: tuple[str, ...]
    rows: tuple[Row, ...]
    drawing: Drawing | None


def subset_rows(summary: Summary, design: Design) -> list[Row]:
    """One row for each task and subset; empty where the run has no base score."""
    return [_row(subset, design) for subset in summary.subsets]


def base_sentences(summary: Summary, design: Design) -> list[str]:
    """What must be known of the base score, in words."""
    if summary.base is None or design.base is None:
        return []
    base = summary.base
    if base.score is None:
        missing = " and ".join(format_length(length, design.k) for length in base.incomplete)
        return [f"no base score: pairs are missing at {missing}, so that nothing can be said of an effective length"]
    told = [f"base score {base.score:.1f}{_around(base)} over {base.pairs} pairs, {_how(base)}"]
    if any(length.below_half for subset in summary.subsets for length in subset.lengths):
        told.append(f"{HALF} below half of the base score")
    return told


def subsets_section(summary: Summary, design: Design) -> Section | None:
    """The page's section; None where the run has no base score."""
    rows = subset_rows(summary, design)
    if not rows:
        return None
    lengths = tuple(format_length(length, design.k) for length in design.lengths)
    drawing = None
    if normalised_chart(summary, design) is not None:
        drawing = draw(
            lambda width: normalised_chart(summary, design, width_px=width) or {},
            "; ".join(f"{row.name}: base {row.base}, effective length {row.effective}" for row in rows if row.is_task),
            "Score as a share of the base score by length. The dashed rule is the share that a length must keep.",
        )
    return Section(tuple(base_sentences(summary, design)), lengths, tuple(rows), drawing)


def normalised_chart(
    summary: Summary, design: Design, width_px: int = 620, height_px: int = 300
) -> dict[str, Any] | None:
    """Score as a share of the base by length: a line for each task, or for each number of hops where there is one task.

    The Vega-Lite description holds its data. None where there is no base score.
    """
    import altair as alt

    tasks = [subset for subset in summary.subsets if subset.factor == "all"]
    shown = tasks if len(tasks) > 1 else [*tasks, *(one for one in summary.subsets if one.factor == "hops")]
    values = [
        {"length": length.length, "series": _name(subset), "normalised": length.normalised}
        for subset in shown
        for length in subset.lengths
        if length.normalised is not None
    ]
    if not values or design.base is None:
        return None
    x = length_axis(design, alt)
    y = alt.Y("normalised:Q", title="per cent of the base score", scale=alt.Scale(domainMin=0))
    lines = alt.Chart(alt.Data(values=values)).mark_line(point=True)
    legend = alt.Legend(title=None, orient="top", direction="horizontal", columns=2)
    kept = alt.Chart(alt.Data(values=[{"kept": 100 * design.base.times}])).mark_rule(strokeDash=[4, 3])
    encoded = lines.encode(x=x, y=y, color=alt.Color("series:N", legend=legend), strokeDash=alt.StrokeDash("series:N"))
    return finished(alt.layer(kept.encode(y="kept:Q"), encoded), width_px, height_px)


def _row(subset: Subset, design: Design) -> Row:
    by_length = {length.length: length for length in subset.lengths}
    scores = tuple(
        "–" if (found := by_length.get(length)) is None else f"{found.score:.1f}{HALF if found.below_half else ''}"
        for length in design.lengths
    )
    return Row(
        name=_name(subset),
        base="–" if subset.base.score is None else f"{subset.base.score:.1f}",
        threshold="–" if subset.threshold is None else f"{subset.threshold:.1f}",
        effective=_effective(subset, design),
        scores=scores,
        factor=subset.factor,
    )


def _effective(subset: Subset, design: Design) -> str:
    if subset.censored == "below" and design.base is not None:
        return f"<{format_length(design.base.shortest, design.k)}"
    if subset.effective is None:
        return "–"
    return (">" if subset.censored == "above" else "") + format_length(subset.effective, design.k)


def _name(subset: Subset) -> str:
    return subset.task if subset.factor == "all" else _value(subset.factor, subset.value)


def _value(factor: str, value: str) -> str:
    return f"group {value}" if factor == "group" else NAMES.get(value, value)


def _around(base: BaseScore) -> str:
    return "" if base.low is None or base.high is None else f" ({base.low:.1f} to {base.high:.1f})"


def _how(base: BaseScore) -> str:
    trials = f"{base.trials_per_pair} trial{'s' if base.trials_per_pair != 1 else ''} of each at each base length"
    return f"{trials}, cross-fitted" if base.cross_fitted else trials

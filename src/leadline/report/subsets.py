"""NoLiMa's figures for page and console: base score, threshold, effective length and ablations, as texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analysis.base_score import BaseScore
from leadline.analysis.design import Design
from leadline.analysis.subsets import Subset, SubsetLength
from leadline.analysis.summary import Summary
from leadline.analysis.verdict import enumerated, format_length
from leadline.report.drawing import Chart
from leadline.report.panels import Line, Panel, PanelGroup, Point, small_multiples
from leadline.report.stopped import MARK

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

FACTORS = {
    "hops": "by hops",
    "order": "by the order of name and fact",
    "reasoning": "by what must be known",
    "group": "by group",
}
"""What the factors of subsets are called."""

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
    """The page's section: sentences and the table."""

    sentences: tuple[str, ...]
    lengths: tuple[str, ...]
    rows: tuple[Row, ...]


def subset_rows(summary: Summary, design: Design) -> list[Row]:
    """One row for each task and subset; empty where the run has no base score."""
    return [_row(subset, design) for subset in summary.subsets]


def base_sentences(summary: Summary, design: Design) -> list[str]:
    """What must be known of the base score, in words."""
    if summary.base is None or design.base is None:
        return []
    base = summary.base
    if base.score is None:
        missing = enumerated([format_length(length, design.k) for length in base.incomplete], "and")
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
    return Section(tuple(base_sentences(summary, design)), lengths, tuple(rows))


def subsets_chart(summary: Summary, design: Design) -> Chart | None:
    """Scores as shares of the base score: the tasks (variants of one test), then the first task's pairs by each factor.

    None where there is no base score.
    """
    groups = _panels(summary)
    if not groups or design.base is None:
        return None
    shares = [
        100 * point.score / (subset.base.score or 1)
        for subset in summary.subsets
        for point in subset.lengths
        if point.normalised is not None
    ]
    rows = [row for row in subset_rows(summary, design) if row.is_task]
    return Chart(
        name="ablations_by_length",
        make=lambda width: small_multiples(groups, design.lengths, design.k, width, max(100, *shares)),
        rows=lambda: _values(summary),
        text="Line charts of the score as a share of the base score by length. "
        + "; ".join(f"{row.name}: base {row.base}, effective length {row.effective}" for row in rows)
        + ".",
        caption="Score in per cent of the base score by length, with 95 % intervals of the score. The dotted line is"
        f" the share that a length must keep, {100 * design.base.times:g} %."
        + (" Each variant has a base score of its own." if len(rows) > 1 else ""),
    )


def _panels(summary: Summary) -> list[PanelGroup]:
    """One panel for the tasks, then one for each factor of the first task."""
    known = [subset for subset in summary.subsets if subset.base.score]
    tasks = [subset for subset in known if subset.factor == ALL]
    first = tasks[0].task if tasks else ""
    panels = [_panel("variants" if len(tasks) > 1 else "all pairs", tasks)] if tasks else []
    for factor in dict.fromkeys(subset.factor for subset in known if subset.factor != ALL):
        of_factor = [subset for subset in known if (subset.task, subset.factor) == (first, factor)]
        if len(of_factor) > 1:
            title = FACTORS.get(factor, factor)
            panels.append(_panel(f"{first}: {title}" if len(tasks) > 1 else title, of_factor))
    return [PanelGroup("", tuple(panels))] if panels else []


def _panel(title: str, shown: Sequence[Subset]) -> Panel:
    lines = tuple(
        Line(_name(subset), tuple(_share(length, subset.base.score or 1.0) for length in subset.lengths))
        for subset in shown
    )
    kept = next((100 * one.threshold / one.base.score for one in shown if one.threshold and one.base.score), None)
    return Panel(title, lines, kept)


def _share(length: SubsetLength, base: float) -> Point:
    low, high = (None if end is None else 100 * end / base for end in (length.low, length.high))
    return Point(length.length, 100 * length.score / base, low, high)


def _values(summary: Summary) -> list[dict[str, Any]]:
    return [
        {"task": subset.task, "factor": subset.factor, "value": subset.value, "base": subset.base.score}
        | length.as_dict()
        for subset in summary.subsets
        for length in subset.lengths
    ]


def _row(subset: Subset, design: Design) -> Row:
    by_length = {length.length: length for length in subset.lengths}
    scores = tuple(
        "–" if (found := by_length.get(length)) is None else _score(found, early=length in design.stopped_lengths)
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


def _score(found: SubsetLength, *, early: bool) -> str:
    return f"{MARK if early else ''}{found.score:.1f}{HALF if found.below_half else ''}"


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

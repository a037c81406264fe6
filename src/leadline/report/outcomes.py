"""How the trials ended, by length: shares of the outcomes, where anything else than an answer occurred."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.analysis.design import Design
from leadline.analysis.summary import Summary
from leadline.analysis.verdict import format_length
from leadline.records import OUTCOMES, Outcome
from leadline.report.drawing import Chart
from leadline.report.stacked import LIGHT, Part, stacked_bars

COLOURS: Mapping[Outcome, tuple[str, str]] = {
    "answered": ("#9db7c9", "#000000"),
    "truncated_output": ("#e08a2e", "#000000"),
    "truncated_prompt": ("#8e3b1f", LIGHT),
    "refused": ("#6f5aa8", LIGHT),
    "filtered": ("#c46ea0", "#000000"),
    "over_length": ("#2f6fb3", LIGHT),
    "degenerate": ("#477f36", LIGHT),
    "failed": ("#c4402b", LIGHT),
    "does_not_fit": ("#8a8f98", "#000000"),
}
"""Colour of each outcome, the same in every report, and of figures on it."""


def outcome_name(outcome: Outcome) -> str:
    """An outcome as people write it."""
    return outcome.replace("_", " ")


def outcome_counts(summary: Summary, design: Design) -> dict[Outcome, list[int]]:
    """Trials at each of the design's lengths, for the outcomes that occurred, in the order of their definition."""
    counts: dict[Outcome, list[int]] = {
        outcome: [
            sum(cell.outcomes.get(outcome, 0) for cell in summary.cells if cell.length == length)
            for length in design.lengths
        ]
        for outcome in OUTCOMES
    }
    return {outcome: of_lengths for outcome, of_lengths in counts.items() if any(of_lengths)}


def outcomes_chart(summary: Summary, design: Design) -> Chart | None:
    """The chart of a run; None where every trial was answered, or nothing was asked."""
    counts = outcome_counts(summary, design)
    if set(counts) <= {"answered"}:
        return None
    wholes = {length: sum(of[place] for of in counts.values()) for place, length in enumerate(design.lengths)}
    parts = [
        Part(length, outcome_name(outcome), of[place], 100 * of[place] / wholes[length])
        for outcome, of in counts.items()
        for place, length in enumerate(design.lengths)
        if of[place]
    ]
    colours = {outcome_name(outcome): COLOURS[outcome] for outcome in counts}
    return Chart(
        name="outcomes_by_length",
        make=lambda width: stacked_bars(parts, colours, wholes, design, width, "per cent of the trials"),
        rows=lambda: _rows(counts, design),
        text=f"Stacked bars of how the trials ended, in per cent, by length. {_told(parts, design)}.",
        caption="How the trials ended, in per cent of those at each length, whose number stands above its bar.",
    )


def _rows(counts: Mapping[Outcome, list[int]], design: Design) -> list[dict[str, Any]]:
    return [
        {"length": length, "outcome": outcome, "trials": of[place]}
        for place, length in enumerate(design.lengths)
        for outcome, of in counts.items()
    ]


def _told(parts: list[Part], design: Design) -> str:
    return "; ".join(
        f"{format_length(length, design.k)}, "
        + ", ".join(f"{part.kind} {part.rate:.0f}" for part in parts if part.length == length)
        for length in design.lengths
        if any(part.length == length for part in parts)
    )

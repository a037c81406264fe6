"""How a model fails, for the page: failure kinds by length, their rates, and answers of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analysis.design import Design
from leadline.analysis.failures import Excerpt, FailureRate, Failures, shown
from leadline.analysis.verdict import format_length
from leadline.report.drawing import Chart
from leadline.report.stacked import Part, stacked_bars
from leadline.scoring.failures import KINDS

COLOURS: dict[str, tuple[str, str]] = {
    "empty": ("#8a8f98", "#000000"),
    "copied_example": ("#7a5c12", "#ffffff"),
    "copied_context": ("#e08a2e", "#000000"),
    "cut_uuid": ("#c46ea0", "#000000"),
    "other_chain": ("#8e3b1f", "#ffffff"),
    "neighbour": ("#2f6fb3", "#ffffff"),
    "distractor_value": ("#62b0e0", "#000000"),
    "common_words": ("#b5a22c", "#000000"),
    "duplicated": ("#6f5aa8", "#ffffff"),
    "not_in_context": ("#c8452f", "#ffffff"),
    "cut_by_budget": ("#3aa795", "#000000"),
    "partial": ("#477f36", "#ffffff"),
}
"""Colour of each kind, the same in every report, and of figures on it."""

_OTHER_COLOUR = ("#8a8f98", "#000000")
"""Of kinds that another version of the program judged."""


@dataclass(frozen=True, slots=True)
class FailuresSection:
    """What the page shows of failures, as texts.

    Attributes:
        lengths: heads of the columns of `rates`.
        wrong: wrong answers of a known kind, for each length.
        rates: for each kind its name and for each length rate and interval.
        tasks: task, length, number of wrong answers, and its kinds in words, the most frequent first.
        excerpts: for each kind its name and answers: where, what was wanted, what came.
        unjudged: wrong answers whose kind is not known.
    """

    lengths: tuple[str, ...]
    wrong: tuple[int, ...]
    rates: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    tasks: tuple[tuple[str, str, int, str], ...]
    excerpts: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]
    unjudged: int


def failures_section(failures: Failures, design: Design) -> FailuresSection:
    """What the page shows of these failures."""
    lengths = [length for length in design.lengths if any(rate.length == length for rate in failures.by_length)]
    by_cell = {(rate.length, rate.kind): rate for rate in failures.by_length}
    return FailuresSection(
        lengths=tuple(format_length(length, design.k) for length in lengths),
        wrong=tuple(wrong_answers(failures, length) for length in lengths),
        rates=tuple(
            (kind_name(kind), tuple(_rate(by_cell.get((length, kind))) for length in lengths))
            for kind in kinds_of(failures.by_length)
        ),
        tasks=tuple(_tasks(failures, design)),
        excerpts=tuple(
            (kind_name(kind), tuple(_excerpt(excerpt, design) for excerpt in excerpts))
            for kind, excerpts in failures.excerpts.items()
        ),
        unjudged=failures.unjudged,
    )


def kinds_of(rates: Sequence[FailureRate]) -> list[str]:
    """The kinds that occur, in the order in which they are defined, those of other versions last."""
    occurring = {rate.kind for rate in rates}
    known = [kind for kind in KINDS if kind in occurring]
    return [*known, *sorted(occurring - set(known))]


def kind_name(kind: str) -> str:
    """A kind as people write it."""
    return kind.replace("_", " ")


def wrong_answers(failures: Failures, length: int) -> int:
    """Wrong answers of a known kind at a length, over all tasks."""
    return next((rate.of_wrong for rate in failures.by_length if rate.length == length), 0)


def kinds_by_length(failures: Failures, design: Design, width_px: int = 620) -> dict[str, Any]:
    """Stacked bars: the kinds' shares of the wrong answers at each length, over all tasks, in per cent."""
    kinds = kinds_of(failures.by_length)
    parts = [Part(rate.length, kind_name(rate.kind), rate.count, rate.rate) for rate in failures.by_length]
    colours = {kind_name(kind): COLOURS.get(kind, _OTHER_COLOUR) for kind in kinds}
    wholes = {length: wrong_answers(failures, length) for length in design.lengths}
    return stacked_bars(parts, colours, wholes, design, width_px, "per cent of the wrong answers")


def kinds_chart(failures: Failures, design: Design) -> Chart | None:
    """The chart of a run; None where no answer was wrong."""
    told: list[str] = []
    for length in design.lengths:
        rates = [rate for rate in failures.by_length if rate.length == length]
        if rates:
            name = format_length(length, design.k)
            told.append(f"{name}, {_count(rates[0].of_wrong)}: {_in_words(rates)}")
    if not told:
        return None
    return Chart(
        name="kinds_by_length",
        make=lambda width: kinds_by_length(failures, design, width),
        rows=lambda: [
            {
                "length": rate.length,
                "kind": rate.kind,
                "count": rate.count,
                "of_wrong": rate.of_wrong,
                "rate": rate.rate,
                "low": rate.low,
                "high": rate.high,
            }
            for rate in failures.by_length
        ],
        text=f"Stacked bars of the failure kinds in per cent of the wrong answers, by length. {'; '.join(told)}.",
        caption="What went wrong, in per cent of the wrong answers at each length, over all tasks; above each bar the"
        " number of wrong answers. Refusals, loops and echoes of the prompt are outcomes and stand below.",
    )


def _count(wrong: int) -> str:
    return f"{wrong} wrong answer{'' if wrong == 1 else 's'}"


def _in_words(rates: Sequence[FailureRate]) -> str:
    ordered = sorted(rates, key=lambda rate: -rate.count)
    return ", ".join(f"{kind_name(rate.kind)} {rate.rate:.0f} %" for rate in ordered)


def _rate(rate: FailureRate | None) -> tuple[str, str]:
    return ("0", "") if rate is None else (f"{rate.rate:.0f}", f"{rate.low:.0f}–{rate.high:.0f}")


def _tasks(failures: Failures, design: Design) -> list[tuple[str, str, int, str]]:
    rows: list[tuple[str, str, int, str]] = []
    for task in design.tasks:
        for length in design.lengths:
            rates = [rate for rate in failures.rates if (rate.task, rate.length) == (task.name, length)]
            if rates:
                told = ", ".join(
                    f"{kind_name(rate.kind)} {rate.count}" for rate in sorted(rates, key=lambda rate: -rate.count)
                )
                rows.append((task.name, format_length(length, design.k), rates[0].of_wrong, told))
    return rows


def _excerpt(excerpt: Excerpt, design: Design) -> tuple[str, str, str]:
    where = f"{excerpt.task}, {format_length(excerpt.length, design.k)}, sample {excerpt.index}"
    return where, shown(", ".join(excerpt.wanted)), excerpt.text

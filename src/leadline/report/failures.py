"""How a model fails, for the page: failure kinds by length, their rates, and answers of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analysis.design import Design
from leadline.analysis.failures import Excerpt, FailureRate, Failures, shown
from leadline.analysis.verdict import format_length
from leadline.report.charts import INK, ROOMY_PX, Drawing, draw, finished
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

_FIGURE_RATE, _FIGURE_PX, _AXIS_PX, _COUNT_PX = 8.0, 26, 60, 58
"""A figure stands in a part of at least this rate, where a bar has at least this width; a count is written with its
"n = " where a bar has `_COUNT_PX`."""

_BAR_SHARE = 0.78


@dataclass(frozen=True, slots=True)
class FailuresSection:
    """What the page shows of failures, as texts.

    Attributes:
        drawing: kinds by length; None where no answer was wrong.
        lengths: heads of the columns of `rates`.
        wrong: wrong answers of a known kind, for each length.
        rates: for each kind its name and for each length rate and interval.
        tasks: task, length, number of wrong answers, and its kinds in words, the most frequent first.
        excerpts: for each kind its name and answers: where, what was wanted, what came.
        unjudged: wrong answers whose kind is not known.
    """

    drawing: Drawing | None
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
        drawing=_drawn(failures, design) if lengths else None,
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
    import altair as alt

    kinds = kinds_of(failures.by_length)
    colours = [COLOURS.get(kind, _OTHER_COLOUR) for kind in kinds]
    names = [format_length(length, design.k) for length in design.lengths]
    values = _stacked(failures, design, kinds)
    roomy = width_px >= ROOMY_PX
    bar_px = _BAR_SHARE * (width_px - _AXIS_PX) / max(1, len(names))
    x = alt.X(
        "length:O",
        sort=names,
        title="length",
        scale=alt.Scale(domain=names, paddingInner=1 - _BAR_SHARE, paddingOuter=0.1),
        axis=alt.Axis(labelAngle=0, ticks=False, labelOverlap=True),
    )
    y = alt.Scale(domain=[0, 100])
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=[kind_name(kind) for kind in kinds], range=[colour for colour, _ in colours]),
        legend=alt.Legend(
            title=None,
            orient="top",
            direction="horizontal",
            columns=4 if roomy else 2,
            symbolType="square",
            symbolSize=130,
            columnPadding=22,
            rowPadding=5,
            offset=26,
        ),
    )
    base = alt.Chart(alt.Data(values=values)).encode(x=x)
    layers: list[Any] = [
        base.mark_bar().encode(
            y=alt.Y("start:Q", title="per cent of the wrong answers", scale=y), y2=alt.Y2("end"), color=colour
        )
    ]
    if bar_px >= _FIGURE_PX:
        light = [kind_name(kind) for kind, (_, figure) in zip(kinds, colours, strict=True) if figure == "#ffffff"]
        figures = base.transform_filter(f"datum.rate >= {_FIGURE_RATE}").mark_text(fontSize=11)
        layers.append(
            figures.encode(
                y=alt.Y("centre:Q", scale=y),
                text="text:N",
                color=alt.condition(
                    f"indexof({light}, datum.kind) >= 0", alt.value("#ffffff"), alt.value("#000000")
                ),
            )
        )  # fmt: skip
    counts = [
        {"length": name, "count": f"n = {wrong}" if bar_px >= _COUNT_PX else str(wrong)}
        for length, name in zip(design.lengths, names, strict=True)
        if (wrong := wrong_answers(failures, length))
    ]
    above = alt.Chart(alt.Data(values=counts)).mark_text(fontSize=11, color=INK, baseline="bottom", dy=-5)
    layers.append(above.encode(x=x, y=alt.value(0), text="count:N"))
    return finished(alt.layer(*layers), width_px, 280 if roomy else 240)


def _stacked(failures: Failures, design: Design, kinds: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each kind at each length, with the ends of its part of the bar."""
    found = {(rate.length, rate.kind): rate for rate in failures.by_length}
    rows: list[dict[str, Any]] = []
    for length in design.lengths:
        start = 0.0
        for kind in kinds:
            rate = found.get((length, kind))
            if rate is None:
                continue
            rows.append(
                {
                    "length": format_length(length, design.k),
                    "kind": kind_name(kind),
                    "count": rate.count,
                    "rate": rate.rate,
                    "start": start,
                    "end": start + rate.rate,
                    "centre": start + rate.rate / 2,
                    "text": f"{rate.rate:.0f}",
                }
            )
            start += rate.rate
    return rows


def _drawn(failures: Failures, design: Design) -> Drawing:
    told: list[str] = []
    for length in design.lengths:
        rates = [rate for rate in failures.by_length if rate.length == length]
        if rates:
            name = format_length(length, design.k)
            told.append(f"{name}, {_count(rates[0].of_wrong)}: {_in_words(rates)}")
    return draw(
        lambda width: kinds_by_length(failures, design, width),
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

"""The report: one HTML file that needs nothing but itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.analysis.cells import Cell
from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.findings import Findings
from leadline.analysis.lengths import LengthScore
from leadline.analysis.summary import Summary
from leadline.analysis.verdict import format_effective, format_figure, format_length, format_set
from leadline.errors import RunFolderError
from leadline.records import Outcome
from leadline.report.controls import control_sentences
from leadline.report.failures import failures_section
from leadline.report.gallery import charts_of
from leadline.report.names import METHODS as NAMES
from leadline.report.names import names_fragment
from leadline.report.outcomes import outcome_counts, outcome_name
from leadline.report.positions import METHODS, positions_section
from leadline.report.scores import capitalised, template_named
from leadline.report.spent import Cost, counts_sentences, spent_section
from leadline.report.standing import standing_section
from leadline.report.stopped import MARK, MARK_MEANS, stopped_sentences
from leadline.report.subsets import METHODS as SUBSETS
from leadline.report.subsets import subsets_section

WARNED: Mapping[Outcome, str] = {
    "truncated_prompt": "the server did not read the whole prompt; these trials are not scored",
    "truncated_output": "the answer was cut by its budget; it is scored as far as it goes",
    "filtered": "the provider's filter withheld the answer; it scores 0",
    "failed": "no answer came; these trials are not scored",
}
"""Outcomes that a reader must know of before believing a figure that rests on them, with what they mean."""


@dataclass(frozen=True, slots=True)
class _Figure:
    """One cell of the page's table, as texts."""

    score: str
    mark: str = ""
    detail: str = ""
    strict: str = ""
    strict_is_lower: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class _Group:
    """A category of the table: its mean at each length, and its tasks."""

    name: str
    means: tuple[_Figure, ...]
    tasks: tuple[tuple[str, tuple[_Figure, ...]], ...]


def write_page(
    path: Path,
    summary: Summary,
    design: Design,
    manifest: Mapping[str, Any],
    verdict: str,
    findings: Findings | None = None,
    cost: Cost | None = None,
) -> None:
    """Write the report of a run.

    Args:
        path: the HTML file, replaced where it exists.
        summary: the figures.
        design: what was measured.
        manifest: the resolved set-up of the run, shown as it is.
        verdict: the sentence that stands at the top.
        findings: where and how the model fails; None leaves these sections out.
        cost: of the run's tokens, where their price is known.

    Raises:
        RunFolderError: it cannot be written there.
    """
    page = render_page(summary, design, manifest, verdict, findings, cost)
    # A text from a model can hold half a surrogate pair, which UTF-8 cannot write.
    try:
        path.write_bytes(page.encode("utf-8", errors="replace"))
    except OSError as error:
        raise RunFolderError(f"{path} cannot be written ({error.strerror}): name another file with -o") from error


def render_page(
    summary: Summary,
    design: Design,
    manifest: Mapping[str, Any],
    verdict: str,
    findings: Findings | None = None,
    cost: Cost | None = None,
) -> str:
    """The report of a run as HTML. Everything that is put into it is escaped."""
    headline, _, rest = verdict.partition(": ")
    reason, *caveats = rest.split("; ")
    described = charts_of(summary, design, manifest, findings)
    charts = {name: chart.drawing() for name, chart in described.items()}
    return template_named("page.html.j2").render(
        model=summary.model,
        suite=summary.suite,
        protocol=summary.protocol,
        verdict=verdict,
        headline=capitalised(headline),
        reason=capitalised(reason),
        caveats=[capitalised(caveat) for caveat in (*caveats, *counts_sentences(summary.tokens))],
        charts=charts,
        lengths=[format_length(length, design.k) for length in design.lengths],
        groups=_groups(summary, design),
        means=[_mean(score, summary) for score in summary.by_length],
        passing=_passing(summary, design),
        warnings=_warnings(summary, design),
        outcomes=_outcomes(summary, design),
        methods=[
            *_methods(summary, design),
            *(SUBSETS if summary.subsets else ()),
            *(NAMES if summary.names else ()),
            *(METHODS if findings else ()),
        ],
        averages=_averages(summary, design),
        left_out=summary.left_out_tasks,
        has_incomplete=any(not cell.complete for cell in summary.cells),
        has_absent=any(cell.absent for cell in summary.cells),
        stopped=[
            *([f"{MARK} {MARK_MEANS}"] if design.stopped_lengths else []),
            *map(capitalised, [*stopped_sentences(design), *control_sentences(summary, design)]),
        ],
        spent=None if findings is None else spent_section(findings.spending, design.k, cost),
        standing=standing_section(summary, design, manifest),
        subsets=subsets_section(summary, design),
        names=names_fragment(summary, charts.get("score_by_name")),
        positions=None if findings is None else positions_section(findings.positions, design),
        failures=None if findings is None else failures_section(findings.failures, design),
        manifest=json.dumps(manifest, indent=2, ensure_ascii=False, default=str),
    )


def _figure(cell: Cell) -> _Figure:
    if cell.absent:
        return _Figure("–", title="not asked, or does not fit this length")
    if cell.score is None:
        return _Figure("?", mark="*", title="nothing scored yet")
    interval = _range(cell.low, cell.high)
    return _Figure(
        score=f"{cell.score:.1f}",
        mark="" if cell.complete else "*",
        detail=interval,
        strict=_strict(cell.score, cell.strict),
        strict_is_lower=cell.strict is not None and cell.strict < cell.score,
        title=f"n = {cell.n}" + (f", 95 % interval {interval}" if interval else ""),
    )


def _strict(score: float, strict: float | None) -> str:
    """The strict score where the two part by more than rounding."""
    return "" if strict is None or abs(strict - score) < 0.05 else f"strict {strict:.1f}"


def _groups(summary: Summary, design: Design) -> list[_Group]:
    def tasks_of(category: str) -> list[TaskDesign]:
        return [task for task in design.tasks if task.category == category]

    return [
        _Group(
            name=category,
            means=tuple(_category_mean(score, category) for score in summary.by_category.get(category, ())),
            tasks=tuple(
                (task.name, tuple(_figure(summary.cell(task.name, length)) for length in design.lengths))
                for task in tasks_of(category)
            ),
        )
        for category in design.categories
    ]


def _category_mean(score: LengthScore, category: str) -> _Figure:
    if score.score is None:
        return _Figure("–")
    mark = "*" if category in score.incomplete_categories else ""
    return _Figure(f"{score.score:.1f}", mark, detail=_range(score.low, score.high), title=f"n = {score.n}")


def _range(low: float | None, high: float | None) -> str:
    """An interval of a mean, with a decimal where whole numbers would make its ends equal."""
    if low is None or high is None:
        return ""
    decimals = 0 if round(low) < round(high) else 1
    return f"{low:.{decimals}f}–{high:.{decimals}f}"


def _mean(score: LengthScore, summary: Summary) -> _Figure:
    if score.score is None:
        return _Figure("–")
    lengths = summary.effective_length
    bound = (lengths.absolute if lengths.absolute.no_claim is None else lengths.relative).threshold
    return _Figure(
        score=(MARK if score.early else "")
        + (f"{score.score:.1f}" if bound is None else format_figure(score.score, bound, 1)),
        mark="" if score.complete else "*",
        detail=_range(score.low, score.high),
        strict=_strict(score.score, score.strict),
        strict_is_lower=score.strict is not None and score.strict < score.score,
        title=f"n = {score.n}",
    )


def _passing(summary: Summary, design: Design) -> list[tuple[str, list[bool | None]]]:
    lengths = summary.effective_length
    rows: list[tuple[str, list[bool | None]]] = []
    for name, length in (
        (f"reaches {design.threshold_absolute or 0:g}", lengths.absolute),
        (f"keeps {100 * (design.share or 0):g} %", lengths.relative),
    ):
        if length.no_claim is None and length.threshold is not None:
            rows.append((name, [length.passed(score) for score in summary.by_length]))
    return rows


def _warnings(summary: Summary, design: Design) -> list[tuple[str, int, str, str]]:
    """Outcome, trials, meaning and where, for each outcome that a figure rests on and a reader must know of."""
    warnings: list[tuple[str, int, str, str]] = []
    for outcome, meaning in WARNED.items():
        cells = [cell for cell in summary.cells if cell.outcomes.get(outcome)]
        if cells:
            trials = sum(cell.outcomes[outcome] for cell in cells)
            at = ", ".join(format_length(length, design.k) for length in sorted({cell.length for cell in cells}))
            warnings.append((outcome_name(outcome), trials, meaning, at))
    return warnings


def _outcomes(summary: Summary, design: Design) -> list[tuple[str, bool, list[int]]]:
    """Outcome, whether it is warned of, and trials at each length, for the outcomes that occurred."""
    return [
        (outcome_name(outcome), outcome in WARNED, counts)
        for outcome, counts in outcome_counts(summary, design).items()
    ]


def _methods(summary: Summary, design: Design) -> list[tuple[str, str]]:
    counts = sorted({cell.n for cell in summary.cells if cell.score is not None})
    trials = "no trial" if not counts else str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    kept = len(design.tasks) - len(summary.left_out_tasks)
    lengths = summary.effective_length
    methods = [
        ("Trial", "share of the wanted items that the answer contains, case-insensitive, 0 to 1; with one wanted item"
         " and several accepted forms, any of them is enough"),
        ("Strict", "the same at word boundaries, with extra wrong items counting against the answer: F1 for several"
         " wanted items, all or nothing for one. It stands beside a score where the two part"),
        ("Cell", f"100 × the mean of its trials; here n = {trials}"),
        ("Interval", "95 %: Wilson's score interval for a task whose trials score 0 or 1, a betting interval"
         " (Waudby-Smith and Ramdas 2024) for any other. It speaks of more items of the same tasks and lengths"),
        ("Mean at a length", f"the mean of the task means, over the {kept} of {len(design.tasks)} tasks that fit every"
         " length; its interval takes tasks as strata (Korn and Graubard 1998), and so does that of an average, where"
         " an item counts once over all lengths"),
        ("Effective length", "the greatest tested length whose mean reaches the threshold; a length with incomplete"
         " cells neither passes nor fails"),
    ]  # fmt: skip
    if lengths.relative.threshold is not None:
        of = "the base score" if design.base is not None else f"the mean at {format_length(design.shortest, design.k)}"
        share = f"{100 * (design.share or 0):g} % of {of}"
        methods.append(("Relative threshold", f"{share}, which is {lengths.relative.threshold:.1f}"))
    if lengths.absolute.threshold is not None:
        named = f"{design.threshold_name}: Llama2-7B at 4K" if design.threshold_name else "as it was asked for"
        methods.append(("Absolute threshold", f"{lengths.absolute.threshold:g} ({named})"))
    if design.category_thresholds:
        each = ", ".join(f"{name} {score:g}" for name, score in design.category_thresholds.items())
        methods.append(("Category thresholds", f"{each}; they do not add up to the overall one"))
    methods.append(
        (
            "Possible effective lengths",
            "those that cannot be excluded at 95 %, with intervals that hold for all lengths together (Bonferroni)",
        )
    )
    return methods


def _averages(summary: Summary, design: Design) -> list[tuple[str, str]]:
    lengths = summary.effective_length
    shortest = design.shortest
    figures = [
        (name, format_effective(length, shortest, design.k))
        for name, length in (
            ("effective length, absolute", lengths.absolute),
            ("effective length, relative", lengths.relative),
            ("effective length, strict", lengths.strict),
        )
        if length.threshold is not None
    ]
    main = lengths.absolute if lengths.absolute.no_claim is None else lengths.relative
    if main.possible is not None:
        figures.append(("possible at 95 %", format_set(main, shortest, design.lengths[-1], design.k)))
    figures += [
        (f"{category} reaches {length.threshold:g}", format_effective(length, shortest, design.k))
        for category, length in summary.category_effective_length.items()
        if length.threshold is not None and length.no_claim != "not_asked"
    ]
    averages = [
        ("average over lengths", "average", summary.average),
        ("weighted to long (1 … n)", "wavg_inc", summary.wavg_inc),
        ("weighted to short (n … 1)", "wavg_dec", summary.wavg_dec),
    ]
    if design.weights:
        averages.append(("with your weights", "wavg_user", summary.wavg_user))
    for name, key, value in averages:
        around = _range(*summary.intervals.get(key, (None, None)))
        figures.append((name, "–" if value is None else f"{value:.1f}" + (f" ({around})" if around else "")))
    return figures

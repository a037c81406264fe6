"""The scores of a run as rows of texts, and the templates that show them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

from leadline.analysis.cells import Cell
from leadline.analysis.design import Design
from leadline.analysis.effective import EffectiveLength
from leadline.analysis.lengths import LengthScore
from leadline.analysis.summary import Summary
from leadline.analysis.verdict import format_figure, format_length
from leadline.report.stopped import MARK, MARK_MEANS, marked
from leadline.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment, Template

RowKind = Literal["task", "mean", "passes"]


@dataclass(frozen=True, slots=True)
class ScoreText:
    """One figure as it is shown: the score, its interval, and what more there is to know of it."""

    score: str
    interval: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A task, the mean or a threshold, with a figure for each length."""

    name: str
    kind: RowKind
    figures: tuple[ScoreText, ...]


def score_rows(summary: Summary, design: Design) -> tuple[ScoreRow, ...]:
    """Tasks, then the mean, then whether it passes each threshold that is claimed; figures in per cent."""
    rows = [
        ScoreRow(task.name, "task", tuple(_cell(summary.cell(task.name, length)) for length in design.lengths))
        for task in design.tasks
    ]
    absolute, relative = summary.effective_length.absolute, summary.effective_length.relative
    main = absolute if absolute.no_claim is None else relative
    rows.append(ScoreRow("mean", "mean", tuple(_mean(score, main) for score in summary.by_length)))
    for name, length in (
        (f"reaches {absolute.threshold or 0:g}", absolute),
        (f"keeps {100 * (design.share or 0):g} %", relative),
    ):
        if length.no_claim is None and length.threshold is not None:
            answers = [length.passed(score) for score in summary.by_length]
            texts = tuple(ScoreText("open" if answer is None else "yes" if answer else "no") for answer in answers)
            rows.append(ScoreRow(name, "passes", texts))
    return tuple(rows)


def _cell(cell: Cell) -> ScoreText:
    if cell.absent:
        return ScoreText("–", title="not asked, or does not fit this length")
    if cell.score is None:
        return ScoreText("?*", title="nothing scored yet")
    return ScoreText(_marked(f"{cell.score:.1f}", cell.complete), _range(cell.low, cell.high), f"n = {cell.n}")


def _mean(score: LengthScore, main: EffectiveLength) -> ScoreText:
    if score.score is None:
        return ScoreText("–")
    # So many decimals as show on which side of the threshold it is.
    text = f"{score.score:.1f}" if main.threshold is None else format_figure(score.score, main.threshold, 1)
    return ScoreText(marked(text, score), _range(score.low, score.high), f"n = {score.n}")


def _marked(text: str, complete: bool) -> str:
    return text if complete else f"{text}*"


def _range(low: float | None, high: float | None) -> str:
    """An interval, with a decimal where whole numbers would make its ends equal."""
    if low is None or high is None:
        return ""
    decimals = 0 if round(low) < round(high) else 1
    return f"{low:.{decimals}f}–{high:.{decimals}f}"


def shown(summary: Summary, design: Design, verdict: str) -> dict[str, Any]:
    """What the templates show of a run."""
    headline, _, rest = verdict.partition(": ")
    return {
        "model": summary.model,
        "suite": summary.suite,
        "protocol": summary.protocol,
        "headline": capitalised(headline),
        "reason": capitalised(rest),
        "lengths": [format_length(length, design.k) for length in design.lengths],
        "rows": score_rows(summary, design),
        "intervals": any(cell.low is not None for cell in summary.cells),
        "stopped": f"{MARK} {MARK_MEANS}" if design.stopped_lengths else "",
        "incomplete": any(not cell.complete for cell in summary.cells),
        "left_out": summary.left_out_tasks,
    }


def capitalised(text: str) -> str:
    """The text as the beginning of a sentence; a name of a task stays as it is written."""
    first = text.partition(" ")[0]
    return text if "_" in first else text[:1].upper() + text[1:]


def render(template: str, values: Mapping[str, Any]) -> str:
    """A template of this package with these values, every one of them escaped unless it is our own drawing."""
    return template_named(template).render(**values)


def template_named(name: str) -> Template:
    """A template of this package, ready to be given values."""
    return _environment().get_template(name)


def _shown(value: Any) -> Any:
    """A value as a page shows it; drawings of our own, which are marked as safe, stay as they are."""
    return visible(value) if type(value) is str else value


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    folder = resources.files("leadline.report")
    sorting = folder.joinpath("sorting.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(sorting.encode()).digest()).decode()
    environment = Environment(
        loader=FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8")),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Whatever a text should smuggle past the escaping: this one script runs, and nothing is fetched or sent.
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; form-action 'none'"
    shared: dict[str, Any] = environment.globals
    shared |= {"sorting": Markup(sorting), "content_policy": Markup(policy)}  # our own
    return environment

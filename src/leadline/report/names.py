"""NoLiMa's names for page and console: accuracy by name, chance level, and the closed-book check, as texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leadline.analysis.closed_book import ClosedBook
from leadline.analysis.dealing import DEALS
from leadline.analysis.names import DIFFER_BELOW, Names, NameScore
from leadline.analysis.summary import Summary
from leadline.report.charts import INK, ROOMY_PX, Drawing, finished
from leadline.report.drawing import Chart
from leadline.report.scores import template_named

if TYPE_CHECKING:
    from markupsafe import Markup

_ROW_PX = 17
_NAME_LIMIT = 60
"""Names that a chart has room for; the table shows all."""

METHODS: tuple[tuple[str, str], ...] = (
    (
        "Names",
        f"whether they differ is tested by dealing the names of a group's places to these places anew, {DEALS:,} times"
        " (Fisher 1935); intervals take a place as one unit, since all its trials share a name",
    ),
    (
        "Closed book",
        "every question without haystack and needle; p is the probability of as many right answers by guessing, where"
        " those about one place are right or wrong together",
    ),
)
"""How the figures of this section are computed."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A name, as texts."""

    name: str
    score: str
    interval: str
    difference: str
    n: int
    answered_wrongly: int
    tokens: str


def name_sentences(summary: Summary) -> list[str]:
    """What there is to say of names, chance and closed book, in a few sentences; nothing where the run has no names."""
    checks = [_closed_book(check) for check in summary.closed_book]
    if summary.names is None:
        return checks
    return [_differing(summary.names), _chance(summary.names), *checks]


def names_fragment(summary: Summary, drawing: Drawing | None) -> Markup | None:
    """The page's section with its chart; None where the run has no names. Everything put into it is escaped."""
    from markupsafe import Markup

    sentences = name_sentences(summary)
    if not sentences:
        return None
    names = summary.names
    has_tokens = names is not None and all(one.tokens is not None for one in names.by_name)
    heads = ["name", "per cent", "against others", "n", "answered wrongly", *(["tokens"] if has_tokens else [])]
    rendered = template_named("names.html.j2").render(
        sentences=sentences,
        drawing=drawing,
        heads=heads,
        rows=[] if names is None else [_row(one) for one in names.by_name],
        has_tokens=has_tokens,
    )
    return Markup(rendered)  # the template escapes


def names_chart(names: Names, width_px: int = 620) -> dict[str, Any]:
    """Accuracy by name with its 95 % interval, the best at the top; a dotted line marks all names together."""
    import altair as alt

    shown = sorted(names.by_name, key=lambda one: (-one.score, one.name))[:_NAME_LIMIT]
    values = [
        {"name": one.name, "score": one.score, "low": one.low, "high": one.high, "kind": _kind(one)} for one in shown
    ]
    scale, axis = alt.Scale(domain=[0, 100]), alt.Axis(values=[0, 20, 40, 60, 80, 100])
    x = alt.X("score:Q", title="right, per cent", scale=scale, axis=axis)
    y = alt.Y("name:N", title=None, sort=[one.name for one in shown], axis=alt.Axis(ticks=False, domain=False))
    kinds = sorted({_kind(one) for one in shown})
    colour: Any = alt.value("#0072b2")
    if len(kinds) > 1:
        legend = alt.Legend(title=None, orient="top", direction="horizontal")
        colour = alt.Color("kind:N", legend=legend, scale=alt.Scale(domain=kinds, range=["#0072b2", "#b45f06"]))
    base = alt.Chart(alt.Data(values=values)).encode(y=y)
    everybody = alt.Chart(alt.Data(values=[{"mean": _mean(names)}]))
    layers = (
        everybody.mark_rule(color=INK, strokeDash=[2, 4], opacity=0.7).encode(x="mean:Q"),
        base.mark_rule(strokeWidth=1.5, opacity=0.55).encode(x=alt.X("low:Q"), x2="high", color=colour),
        base.mark_point(filled=True, size=55, opacity=1).encode(x=x, color=colour),
    )
    height = max(60, _ROW_PX * len(shown))
    return finished(alt.layer(*layers), width_px if width_px >= ROOMY_PX else width_px - 10, height)


def names_drawn(names: Names) -> Chart:
    """The chart with its words and its data, which hold every name."""
    told = ", ".join(f"{one.name} {one.score:.0f}" for one in names.by_name)
    return Chart(
        name="score_by_name",
        make=lambda width: names_chart(names, width),
        rows=lambda: [
            {
                "name": one.name,
                "n": one.n,
                "score": one.score,
                "low": one.low,
                "high": one.high,
                "difference": one.difference,
                "answered_wrongly": one.answered_wrongly,
                "tokens": one.tokens,
            }
            for one in names.by_name
        ],
        text=f"Right answers in per cent by the name that was to be given. {told}.",
        caption="Right answers in per cent by the name that was to be given, with 95 % intervals, each of which holds"
        " by itself. The dotted line is all names together.",
    )


def _differing(names: Names) -> str:
    scores = sorted(names.by_name, key=lambda one: one.score)
    least, most = scores[0], scores[-1]
    told = f"{len(scores)} name{'s' if len(scores) > 1 else ''} drawn"
    if names.p is None:
        return f"{told}: nothing differs by name"
    spread = f"{told}, {least.score:.0f} % right ({least.name}) to {most.score:.0f} % ({most.name})"
    differ = "they differ by more than chance" if names.p < DIFFER_BELOW else "no more apart than chance puts them"
    told = f"{spread}: {differ} ({_p(names.p)})"
    if not names.by_tokens or names.p_tokens is None:
        return told
    one, several = names.by_tokens
    return f"{told}; names of one token {one.score:.1f} %, of several {several.score:.1f} % ({_p(names.p_tokens)})"


def _chance(names: Names) -> str:
    by_score: dict[tuple[int, float], list[str]] = {}
    for chance in names.chances:
        by_score.setdefault((chance.names, chance.score), []).append(chance.task)
    levels = [
        f"{score:.1f} %" + (f" ({', '.join(tasks)})" if len(by_score) > 1 else f" (one of {count} names)")
        for (count, score), tasks in by_score.items()
    ]
    told = f"chance level {' and '.join(levels)}"
    if not names.wrong:
        return told
    answers = f"{names.wrong} wrong answer{'s' if names.wrong > 1 else ''}"
    told += f"; of {answers} {names.wrong_naming or 'none'} give{'s' if names.wrong_naming < 2 else ''} another name"
    most = max(names.by_name, key=lambda one: one.answered_wrongly)
    return told + (f", most often {most.name} ({most.answered_wrongly})" if most.answered_wrongly else "")


def _closed_book(check: ClosedBook) -> str:
    told = f"closed book, {check.task}: {check.right} of {check.n} right ({check.low:.1f} to {check.high:.1f} %)"
    verdict = "more than guessing explains" if check.above_chance else "no more than guessing explains"
    return f"{told}, chance {check.chance:.1f} %: {verdict} ({_p(check.p)})"


def _row(one: NameScore) -> _Row:
    return _Row(
        one.name,
        f"{one.score:.1f}",
        f"{one.low:.0f}–{one.high:.0f}",
        "0.0" if abs(one.difference) < 0.05 else f"{one.difference:+.1f}".replace("-", "−"),
        one.n,
        one.answered_wrongly,
        "" if one.tokens is None else str(one.tokens),
    )


def _kind(one: NameScore) -> str:
    return "one token" if one.tokens in {1, None} else "several tokens"


def _mean(names: Names) -> float:
    return sum(one.score * one.n for one in names.by_name) / sum(one.n for one in names.by_name)


def _p(value: float) -> str:
    return f"p = {value:.2f}" if value >= 0.095 else f"p = {value:.3f}" if value >= 0.001 else "p < 0.001"

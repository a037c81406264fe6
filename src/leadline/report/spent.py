"""What a run took, for the page: tokens, cache, time and cost, by length, as texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.analysis.spending import Spending
from leadline.analysis.summary import Tokens
from leadline.analysis.verdict import format_length

NOT_TOLD = "not told"

COUNTS_APART = 0.01
"""Share by which counts of a prompt may differ without a word: a template of the server's own adds a few tokens."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What the tokens of a run cost, in US dollars, and whose prices these are."""

    usd: float
    source: str


@dataclass(frozen=True, slots=True)
class SpentSection:
    """What the page shows.

    Attributes:
        figures: names and values of all lengths together.
        rows: for each length, then for all: requests, prompt tokens, from a cache, output tokens, mean latency, speed.
        errors: requests that ended in an error.
        timed: whether any time is known.
    """

    figures: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    errors: int
    timed: bool


def spent_section(spent: Sequence[Spending], k: int, cost: Cost | None) -> SpentSection | None:
    """The section; None where nothing was asked."""
    if not spent:
        return None
    total = spent[-1]
    figures = [
        ("requests", _count(total.requests)),
        ("prompt tokens", _count(total.prompt_tokens)),
        ("of them from a cache", _cached(total)),
        ("output tokens", _count(total.output_tokens)),
    ]
    if cost is not None:
        figures.append((f"cost, by {cost.source}", format_usd(cost.usd)))
    if total.latency_s is not None:
        figures.append(("time of all requests", format_duration(total.latency_s)))
    if total.mean_latency_s is not None:
        figures.append(("a request, on average", format_duration(total.mean_latency_s)))
    if total.output_tokens_per_s is not None:
        figures.append(("output tokens a second", f"{total.output_tokens_per_s:.1f}"))
    return SpentSection(
        figures=tuple(figures),
        rows=tuple(_row(one, k) for one in spent),
        errors=total.errors,
        timed=total.latency_s is not None,
    )


def counts_sentences(tokens: Tokens) -> list[str]:
    """What a reader must know where the server counts other prompt tokens than were counted here; else nothing."""
    least, most = tokens.least_told, tokens.most_told
    if least is None or most is None or (least >= 1 - COUNTS_APART and most <= 1 + COUNTS_APART):
        return []
    return [
        f"by the server's own count prompts took {least:.1%} to {most:.1%} of the tokens that were counted here: "
        "lengths are off by as much"
    ]


def format_duration(seconds: float) -> str:
    """A time as people write it: ``0.42 s``, ``12.3 s``, ``4 min 10 s``, ``2 h 5 min``."""
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 1 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def format_usd(usd: float) -> str:
    """US dollars, with as many decimals as show that something was spent."""
    return f"${usd:,.2f}" if usd >= 0.01 or usd == 0 else f"${usd:.2g}"


def _row(one: Spending, k: int) -> tuple[str, ...]:
    return (
        "all" if one.length is None else format_length(one.length, k),
        _count(one.requests),
        _count(one.prompt_tokens),
        _cached(one),
        _count(one.output_tokens),
        "–" if one.mean_latency_s is None else format_duration(one.mean_latency_s),
        "–" if one.output_tokens_per_s is None else f"{one.output_tokens_per_s:.1f}",
    )


def _cached(one: Spending) -> str:
    share = one.cached_share
    return _count(one.cached_tokens) if share is None else f"{_count(one.cached_tokens)} ({100 * share:.0f} %)"


def _count(value: int | None) -> str:
    return NOT_TOLD if value is None else f"{value:,}".replace(",", "\u202f")

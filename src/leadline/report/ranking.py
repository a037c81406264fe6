"""The leaderboards of a page of several runs: comparable runs among themselves, and runs among the published rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from leadline.analysis.effective import EffectiveLength
from leadline.analysis.entrant import Entrant, make_entrant
from leadline.analysis.leaderboard import Standing, standings
from leadline.analysis.lengths import LengthScore
from leadline.analysis.several import Comparable, RunOfSeveral
from leadline.analysis.verdict import format_effective, format_figure, format_length, format_set
from leadline.errors import UsageError
from leadline.reference.tables import Kind, Table, read_table
from leadline.report.claimed import format_claim
from leadline.report.stopped import marked

NOTHING = "–"
_KINDS: dict[Kind, str] = {"chat": "ruler", "base": "ruler-base"}
"""The published table that a run of each kind belongs into."""

_NEEDLES = (
    "those rows have base scores over 130 trials of each pair and length, and nolima-open has needles of its own; "
    "leadline leaderboard --table nolima  shows them"
)


@dataclass(frozen=True, slots=True)
class RankedCell:
    """A figure as text, and the number that it is sorted by; None stands last."""

    text: str
    sort: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RankedRow:
    """A row; `link` is the place of a run on the page, counted from 1, or None for a published row."""

    name: str
    cells: tuple[RankedCell, ...]
    link: int | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """A table, the greatest effective length first; of equal ones the greater average first."""

    headings: tuple[str, ...]
    rows: tuple[RankedRow, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedRanking:
    """A published table with runs among its rows.

    Attributes:
        standings: in the order of the page.
        notes: what to keep in mind of the runs.
    """

    table: Table
    standings: tuple[Standing, ...]
    notes: tuple[str, ...]


def ranking_of(group: Comparable, places: dict[int, int]) -> Ranking:
    """Comparable runs as a table.

    Args:
        group: the runs.
        places: of each run on the page, by its `id`.
    """
    headings = (
        "model",
        "effective",
        "could be",
        "claimed",
        "average",
        *(_k(length, group) for length in group.lengths),
    )
    rows = tuple(RankedRow(name, _cells(run, group), places[id(run)]) for name, run in group.named)
    return Ranking(headings, rows, _notes(group))


def _cells(run: RunOfSeveral, group: Comparable) -> tuple[RankedCell, ...]:
    effective, design = run.effective, run.design
    possible = NOTHING
    if effective.possible is not None and design.lengths:
        possible = _possible(effective, design.shortest, design.lengths[-1], design.k)
    average = group.average(run)
    claimed = NOTHING if run.claimed_tokens is None else format_claim(run.claimed_tokens, group.k)
    by_length = {score.length: score for score in group.scores(run)}
    return (
        RankedCell(format_effective(effective, design.shortest, design.k), _sorted_by(effective, design.shortest)),
        RankedCell(possible),
        RankedCell(claimed, run.claimed_tokens),
        RankedCell(NOTHING if average is None else f"{average:.1f}", average),
        *(_score(by_length.get(length), effective.threshold) for length in group.lengths),
    )


def _possible(effective: EffectiveLength, shortest: int, greatest: int, k: int) -> str:
    """Both ends of what cannot be excluded, where that is more than two lengths: the whole set is in the verdict."""
    named = re.split(r", | or ", format_set(effective, shortest, greatest, k))
    return " or ".join(named) if len(named) < 3 else f"{named[0]} to {named[-1]}"


def _sorted_by(effective: EffectiveLength, shortest: int) -> float | None:
    """A length to sort by: half a token more where it is that or more, half a token less than the shortest below it."""
    if effective.censored == "below":
        return shortest - 0.5
    if effective.value is None:
        return None
    return effective.value + (0.5 if effective.censored == "above" else 0.0)


def _score(score: LengthScore | None, threshold: float | None) -> RankedCell:
    if score is None or score.score is None:
        return RankedCell(NOTHING)
    text = f"{score.score:.1f}" if threshold is None else format_figure(score.score, threshold, 1)
    around = "" if score.low is None or score.high is None else f"{score.low:.0f}–{score.high:.0f}"
    return RankedCell(marked(text, score), score.score, around)


def _notes(group: Comparable) -> tuple[str, ...]:
    notes: list[str] = []
    partial = [name for name, run in group.named if set(run.tasks) != set(group.tasks)]
    if partial:
        notes.append(
            f"Averages and scores are over the {len(group.tasks)} tasks that all of them have; effective lengths are "
            "over each run's own tasks"
        )
    if group.shared_lengths != group.lengths:
        over = ", ".join(_k(length, group) for length in group.shared_lengths) or "no length"
        notes.append(f"Averages are over what all of them were asked at: {over}")
    rules = {run.effective.threshold for _, run in group.named if run.effective.no_claim is None}
    if len(rules) > 1:
        each = "; ".join(
            f"{name} {run.effective.threshold:.1f}"
            for name, run in group.named
            if run.effective.no_claim is None and run.effective.threshold is not None
        )
        notes.append(f"Each effective length asks for a score of its own: {each}")
    return tuple(notes)


def published_rankings(
    groups: Sequence[Comparable], names: dict[int, str]
) -> tuple[tuple[PublishedRanking, ...], tuple[str, ...]]:
    """The published tables with the runs that are comparable with them, and why others are in none, a sentence each.

    Args:
        groups: of all runs.
        names: of each run on the page, by its `id`.
    """
    entrants: dict[Kind, list[Entrant]] = {}
    reasons: list[str] = []
    needles: list[str] = []
    for run in (run for group in groups for run in group.runs):
        name = names[id(run)]
        if run.design.base is not None:
            needles.append(name)
            continue
        kind: Kind = "base" if run.design.threshold_name == "base" else "chat"
        entrant = _entrant(run, kind, name)
        if isinstance(entrant, str):
            reasons.append(entrant)
        else:
            entrants.setdefault(kind, []).append(entrant)
    if needles:
        reasons.append(f"Runs of NoLiMa are ranked among no published rows ({'; '.join(needles)}): {_NEEDLES}")
    return tuple(_published(kind, of_kind) for kind, of_kind in entrants.items()), tuple(reasons)


def _entrant(run: RunOfSeveral, kind: Kind, name: str) -> Entrant | str:
    """The run as a row of the published table, or why it is none."""
    try:
        entrant = make_entrant(run.summary, run.design, read_table(_KINDS[kind]), name, kind, run.changed)
    except UsageError as error:
        return str(error)
    if entrant.warnings:
        return f"{name} is not among them: {'; '.join(entrant.warnings)}"
    return replace(entrant, model=name, source=str(run.folder))


def _published(kind: Kind, entrants: Sequence[Entrant]) -> PublishedRanking:
    table = read_table(_KINDS[kind])
    rows = sorted(standings(table, entrants, kind=kind), key=_standing_order, reverse=True)
    notes = [f"{entrant.model}: {note}" for entrant in entrants for note in entrant.notes]
    return PublishedRanking(table, tuple(rows), tuple(notes))


def _standing_order(row: Standing) -> tuple[int, bool, float]:
    average = row.figures.average
    return row.effective.value or 0, row.effective.censored == "above", -1.0 if average is None else average


def published_table(published: PublishedRanking, places: dict[str, int]) -> Ranking:
    """A published table with its runs as texts.

    Args:
        published: the table.
        places: of each run on the page, by its folder.
    """
    table, info = published.table, published.table.info
    lengths = [format_length(length, info.k) for length in table.lengths]
    rows = tuple(
        RankedRow(
            row.model,
            (
                RankedCell(
                    format_effective(row.effective, table.lengths[0], info.k),
                    _sorted_by(row.effective, table.lengths[0]),
                ),
                RankedCell(row.claimed or NOTHING, row.claimed_tokens),
                _figure(row.figures.average),
                _figure(row.figures.wavg_inc),
                _figure(row.figures.wavg_dec),
                *(replace(_score(score, row.effective.threshold), detail="") for score in row.scores),
            ),
            places[row.source] if row.is_run else None,
        )
        for row in published.standings
    )
    return Ranking(
        ("model", "effective", "claimed", "average", "to long", "to short", *lengths), rows, published.notes
    )  # fmt: skip


def _figure(value: float | None) -> RankedCell:
    return RankedCell(NOTHING if value is None else f"{value:.1f}", value)


def published_dicts(published: Sequence[PublishedRanking]) -> list[dict[str, Any]]:
    """The published tables as JSON, in the order of the page."""
    return [
        {"table": each.table.info.name, "rows": [row.as_dict(each.table.info.name) for row in each.standings]}
        | {"notes": list(each.notes)}
        for each in published
    ]


def _k(tokens: int, group: Comparable) -> str:
    return format_length(tokens, group.k)

"""A published table with its derived figures recomputed from its scores, and where the print says otherwise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analysis.effective import EffectiveLength, Threshold, all_shorter_pass, greatest_passing
from leadline.analysis.entrant import Entrant, plain_score
from leadline.analysis.lengths import LengthScore, average, weighted_average
from leadline.analysis.verdict import format_effective
from leadline.reference.models import models_named
from leadline.reference.tables import BASE_TIMES, Kind, Row, Table, length_tokens

ROUNDING = 0.1
"""How far a printed figure may lie from the one derived from printed scores, by rounding alone: 0.05 for the scores'
own rounding, as much for the figure's."""

_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Figures:
    """The same model's scores in one figure each way, in per cent; None where a length has no score."""

    average: float | None
    wavg_inc: float | None
    wavg_dec: float | None
    weighted: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    """A row of a leaderboard, all derived figures recomputed.

    Attributes:
        claimed: length in the table's words, or None.
        claimed_tokens: the same in tokens.
        scores: ascending by length.
        base: NoLiMa's base score in per cent, or None.
        rank_inc, rank_dec, rank_weighted: 1 is the greatest, among the rows of the same kind; equal figures share a
            rank.
        effective: by the greatest passing length; `strict` is the variant that asks all shorter ones to pass too.
        remarks: where the print disagrees with its own scores or with itself, one line each.
        source: paper and table, or the run's folder.
        is_run: it is a run, not a published row.
    """

    model: str
    kind: Kind
    claimed: str | None
    claimed_tokens: int | None
    scores: tuple[LengthScore, ...]
    base: float | None
    figures: Figures
    rank_inc: int | None
    rank_dec: int | None
    rank_weighted: int | None
    effective: EffectiveLength
    strict: EffectiveLength
    remarks: tuple[str, ...]
    source: str
    is_run: bool

    def as_dict(self, table: str) -> dict[str, Any]:
        """The row as JSON: scores in per cent, lengths in tokens, null where there is none."""
        return {
            "table": table,
            "model": self.model,
            "claimed": self.claimed_tokens,
            "scores": {str(score.length): score.score for score in self.scores},
            "average": self.figures.average,
            "wavg_inc": self.figures.wavg_inc,
            "wavg_dec": self.figures.wavg_dec,
            "rank_inc": self.rank_inc,
            "rank_dec": self.rank_dec,
            "effective_length": self.effective.as_dict(),
            "source": self.source,
        }


@dataclass(frozen=True, slots=True)
class _Entry:
    """A row before it is ranked."""

    model: str
    kind: Kind
    claimed: str | None
    scores: tuple[LengthScore, ...]
    base: float | None
    threshold: float | None
    row: Row | None
    source: str
    figures: Figures


def standings(
    table: Table, entrants: Sequence[Entrant] = (), weights: Sequence[float] | None = None, kind: Kind | None = None
) -> tuple[Standing, ...]:
    """A table's rows, and runs among them, in the order of their figures.

    Rows of one kind stand together. The order is by the user's weighted average where weights are given, else by the
    base score in NoLiMa's tables and by wAvg (dec) in RULER's, as in print.

    Args:
        table: a published table.
        entrants: runs to put among its rows.
        weights: one for each of the table's lengths, ascending, or None.
        kind: only rows of this kind.
    """
    entries = [_of_row(row, table, weights) for row in table.rows]
    entries += [_of_run(entrant, table, weights) for entrant in entrants]
    kinds = sorted({entry.kind for entry in entries}, reverse=True)
    ranked: list[Standing] = []
    for each in [name for name in kinds if kind is None or name == kind]:
        peers = [entry for entry in entries if entry.kind == each]
        peers.sort(key=lambda entry: _order(entry, weights), reverse=True)
        ranked += [_standing(entry, peers, table) for entry in peers]
    return tuple(ranked)


def _order(entry: _Entry, weights: Sequence[float] | None) -> float:
    figure = entry.figures.wavg_dec if entry.base is None else entry.base
    if weights is not None:
        figure = entry.figures.weighted
    return -math.inf if figure is None else figure


def _of_row(row: Row, table: Table, weights: Sequence[float] | None) -> _Entry:
    scores = tuple(plain_score(length, score, complete=score is not None) for length, score in row.scores.items())
    threshold = table.thresholds.get(row.kind) if row.base is None else BASE_TIMES * row.base
    figures = _figures(scores, weights)
    return _Entry(row.model, row.kind, row.claimed, scores, row.base, threshold, row, table.info.source, figures)


def _of_run(run: Entrant, table: Table, weights: Sequence[float] | None) -> _Entry:
    threshold = table.thresholds.get(run.kind) if run.claims else None
    figures = _figures(run.scores, weights)
    return _Entry(run.model, run.kind, None, run.scores, None, threshold, None, run.source, figures)


def _figures(scores: Sequence[LengthScore], weights: Sequence[float] | None) -> Figures:
    ascending = [float(place) for place in range(1, len(scores) + 1)]
    return Figures(
        average=average(scores),
        wavg_inc=weighted_average(scores, ascending),
        wavg_dec=weighted_average(scores, ascending[::-1]),
        weighted=None if weights is None else weighted_average(scores, weights),
    )


def _standing(entry: _Entry, peers: Sequence[_Entry], table: Table) -> Standing:
    effective, strict = _effective(entry)
    figures = entry.figures
    rank_inc = _rank(figures.wavg_inc, [peer.figures.wavg_inc for peer in peers])
    rank_dec = _rank(figures.wavg_dec, [peer.figures.wavg_dec for peer in peers])
    # Beside runs a published row's rank is another figure than the print's.
    print_ranks = all(peer.row is not None for peer in peers)
    remarks: list[str] = []
    if entry.row is not None:
        label = format_effective(effective, table.lengths[0], table.info.k)
        remarks += _remarks(entry.row, entry, label, (rank_inc, rank_dec) if print_ranks else None)
    if (effective.value, effective.censored) != (strict.value, strict.censored):
        label = format_effective(strict, table.lengths[0], table.info.k)
        remarks.append(f"with every shorter length passing too the effective length is {label}")
    if entry.row is not None and table.info.paper_models:
        remarks += _facts(entry.row)
    return Standing(
        model=entry.model,
        kind=entry.kind,
        claimed=entry.claimed,
        claimed_tokens=None if entry.claimed is None else length_tokens(entry.claimed, table.info.k),
        scores=entry.scores,
        base=entry.base,
        figures=figures,
        rank_inc=rank_inc,
        rank_dec=rank_dec,
        rank_weighted=_rank(figures.weighted, [peer.figures.weighted for peer in peers]),
        effective=effective,
        strict=strict,
        remarks=tuple(remarks),
        source=entry.source,
        is_run=entry.row is None,
    )


def _effective(entry: _Entry) -> tuple[EffectiveLength, EffectiveLength]:
    if entry.threshold is None:
        nothing = EffectiveLength(None, None, None, None, (), "no_threshold")
        return nothing, nothing
    threshold = Threshold(entry.threshold, entry.threshold, entry.threshold)
    return greatest_passing(entry.scores, threshold), all_shorter_pass(entry.scores, threshold)


def _rank(value: float | None, values: Sequence[float | None]) -> int | None:
    if value is None:
        return None
    return 1 + sum(other is not None and other > value + _TIE for other in values)


def _remarks(row: Row, entry: _Entry, effective: str, ranks: tuple[int | None, int | None] | None) -> list[str]:
    """Where the print differs from its own scores by more than rounding."""
    printed = row.printed
    figures: list[tuple[str, float | None, float | None]] = [
        ("average", entry.figures.average, printed.average),
        ("wAvg (inc)", entry.figures.wavg_inc, printed.wavg_inc),
        ("wAvg (dec)", entry.figures.wavg_dec, printed.wavg_dec),
        ("threshold", entry.threshold, printed.threshold),
    ]
    remarks = [
        f"{name} {ours:.1f}, printed {theirs:.1f}"
        for name, ours, theirs in figures
        if ours is not None and theirs is not None and abs(ours - theirs) > ROUNDING + _TIE
    ]
    if entry.figures.average is None and printed.average is not None:
        remarks.append(_partial_average(entry.scores, printed.average))
    if entry.threshold is not None and printed.effective not in (None, effective):
        remarks.append(f"effective length {effective}, printed {printed.effective}")
    for name, ours, theirs in zip(
        ("inc", "dec"), ranks or (None, None), (printed.rank_inc, printed.rank_dec), strict=True
    ):
        if ours is not None and theirs is not None and ours != theirs:
            remarks.append(f"rank by wAvg ({name}) {ours}, printed {theirs}")
    return remarks


def _partial_average(scores: Sequence[LengthScore], printed: float) -> str:
    known = [score.score for score in scores if score.score is not None]
    same = bool(known) and abs(math.fsum(known) / len(known) - printed) <= ROUNDING
    over = f"is over the {len(known)} lengths with a score" if same else "cannot be derived"
    return f"no average, because a length has no score; the printed {printed:.1f} {over}"


def _facts(row: Row) -> list[str]:
    """Where a score table and RULER's table 4 tell two stories of one model."""
    named, size = models_named(row.model)
    same = [model for model in named if model.size == size]
    if named and not same:
        sizes = ", ".join(model.size or "no size" for model in named)
        return [f"table 4 has {row.model.partition(' (')[0]} with {sizes}"]
    if len(same) == 1 and row.claimed not in (None, same[0].context):
        return [f"claimed length {row.claimed}, in table 4 {same[0].context}"]
    return []

"""Where two tests of one model part: the lengths that it can use by RULER's tasks, and by NoLiMa's.

RULER's needles share words with their questions and NoLiMa's do not (NoLiMa, arXiv 2502.05167, section 3), so that a
model which matches words ends earlier in NoLiMa. The scores of the two are never on one axis: their shares of the score
where length is no difficulty are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analysis.several import Comparable, RunOfSeveral
from leadline.analysis.verdict import format_effective, format_length, format_share

_SAME = 1.1
"""Two lengths are one where they differ by less: 4K is 4,000 in one suite and 4,096 in the other, 128K 2.4 % apart."""


@dataclass(frozen=True, slots=True)
class Share:
    """A length's score as a share of the score where length is no difficulty, in per cent."""

    length: int
    score: float
    share: float


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two tests.

    Attributes:
        name: the suite's, with the protocol where that is not the published one.
        of: what the shares are of, in words, and that score in per cent.
        shares: by length; empty where there is nothing to be a share of.
        must_keep: share that a length must keep by this run's own rule, in per cent; None where nothing is claimed.
    """

    name: str
    run: RunOfSeveral
    of: str
    of_score: float | None
    shares: tuple[Share, ...]
    must_keep: float | None


@dataclass(frozen=True, slots=True)
class Parting:
    """A model by two tests: one whose scores are a mean over tasks, and one with a base score."""

    model: str
    tasks: Side
    needles: Side

    @property
    def sentence(self) -> str:
        """Both effective lengths, each by its own rule, and where they part; without a full stop."""
        return f"{_by_rule(self.tasks)}; {_by_rule(self.needles)}: {_part(self.tasks, self.needles)}"

    def as_dict(self) -> dict[str, Any]:
        """The two sides as JSON; scores and shares in per cent, lengths in tokens."""
        return {
            "model": self.model,
            "sentence": self.sentence,
            "sides": [
                {
                    "suite": side.run.summary.suite,
                    "protocol": side.run.summary.protocol,
                    "folder": str(side.run.folder),
                    "k": side.run.design.k,
                    "share_of": side.of,
                    "share_of_score": side.of_score,
                    "must_keep": side.must_keep,
                    "effective_length": side.run.effective.as_dict(),
                    "shares": [
                        {"length": share.length, "score": share.score, "share": share.share} for share in side.shares
                    ],
                }
                for side in (self.tasks, self.needles)
            ],
        }


def partings_of(groups: Sequence[Comparable]) -> tuple[Parting, ...]:
    """Each pair of a run with a base score and a run without one, of the same model and label, in the runs' order.

    Two runs with base scores (`nolima` and `nolima-open`) are no pair: their needles differ.
    """
    placed = [(group, run) for group in groups for run in group.runs]
    return tuple(
        Parting(run.summary.model, _side(group, run), _side(other_group, other))
        for group, run in placed
        if run.design.base is None
        for other_group, other in placed
        if other.design.base is not None
        and (other.summary.model, other.label) == (run.summary.model, run.label)
    )  # fmt: skip


def _side(group: Comparable, run: RunOfSeveral) -> Side:
    scores = run.summary.by_length
    known = [(score.length, score.score) for score in scores if score.score is not None]
    base = None if run.summary.base is None else run.summary.base.score
    if base is not None:
        of, of_score = "its base score", base
    elif known:
        of, of_score = f"its score at {format_length(known[0][0], group.k)}", known[0][1]
    else:
        of, of_score = "its score at the shortest length", None
    shares = tuple(Share(length, score, 100 * score / of_score) for length, score in known) if of_score else ()
    threshold = run.effective.threshold if run.effective.no_claim is None else None
    return Side(
        name=group.suite if group.protocol == "published" else f"{group.suite} ({group.protocol})",
        run=run,
        of=of,
        of_score=of_score,
        shares=shares,
        must_keep=None if threshold is None or not of_score else 100 * threshold / of_score,
    )


def _by_rule(side: Side) -> str:
    effective, design = side.run.effective, side.run.design
    if effective.no_claim is not None or effective.threshold is None:
        return f"by {side.name} no effective length is claimed"
    label = format_effective(effective, design.shortest, design.k)
    absolute = effective is side.run.summary.effective_length.absolute
    rule = f"a score of {effective.threshold:g}" if absolute else f"{format_share(design)}, {effective.threshold:.1f}"
    return f"by {side.name} it is {label} ({_tokens(side)}; {rule})"


def _tokens(side: Side) -> str:
    effective, design = side.run.effective, side.run.design
    if effective.value is None:
        return f"less than {design.shortest:,} tokens"
    return f"{effective.value:,} tokens" + (" or more" if effective.censored == "above" else "")


def _part(first: Side, second: Side) -> str:
    """Where the two end: at one length, one before the other, or beyond what was asked."""
    shorter, longer = sorted((first, second), key=_end)
    unsaid = _unsaid(shorter, longer)
    if unsaid is not None:
        return f"where they part cannot be said{unsaid}"
    if _end(longer) == 0:
        return "neither passes at any length that it was asked at"
    if shorter.run.effective.censored == "above":
        return f"they do not part up to {_greatest(shorter):,} tokens, the greatest that {shorter.name} was asked at"
    if _end(shorter) and _end(longer) <= _SAME * _end(shorter):
        return "they end at the same length"
    side, end = ("above", _end(shorter)) if _end(shorter) else ("below", shorter.run.design.shortest)
    told = f"they part {side} {end:,} tokens, where {shorter.name} ends and {longer.name} goes on"
    return f"{told}; the lengths that cannot be excluded overlap, so ask more" if _overlap(shorter, longer) else told


def _unsaid(shorter: Side, longer: Side) -> str | None:
    """Why nothing can be said of where the two part, as the end of a sentence; None where something can."""
    if any(side.run.effective.no_claim is not None for side in (shorter, longer)):
        return ""
    shortest = shorter.run.design.shortest
    # One that fails everywhere ends somewhere below its shortest length.
    if _end(shorter) == 0 and 0 < _SAME * _end(longer) < shortest:
        return f", because {shorter.name} was asked from {shortest:,} tokens on alone"
    near = 0 < _end(longer) <= _SAME * _end(shorter)
    if near and longer.run.effective.censored == "above" and shorter.run.effective.censored != "above":
        return f", because {longer.name} was asked up to {_greatest(longer):,} tokens alone"
    return None


def _greatest(side: Side) -> int:
    return side.run.design.lengths[-1]


def _end(side: Side) -> int:
    return side.run.effective.value or 0


def _overlap(shorter: Side, longer: Side) -> bool:
    """Whether the two may end at one length; not where the possible lengths of one are not known."""
    first, second = shorter.run.effective.possible, longer.run.effective.possible
    if first is None or second is None:
        return False
    # The greatest tested length stands for itself and all beyond it.
    open_above = _greatest(shorter) in first.lengths
    return second.below or open_above or _SAME * max(first.lengths, default=0) >= min(second.lengths, default=0)

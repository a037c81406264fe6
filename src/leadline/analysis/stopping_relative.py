"""Stopping against a share of another score that is itself still being measured.

The verdict asks whether the mean of the test is at least `share` times the reference: 85 % of the score at the shortest
length, or of NoLiMa's base. Trial by trial the difference test - share x reference lies between -share and 1; moved and
scaled to [0, 1] it is a score like any other, whose threshold is share / (1 + share). The pair is one observation, so
an item that is asked at both lengths may do equally well or badly at both, and what they have in common cancels.

- A reference that was asked in full is a number: take share x reference as the threshold of a plain rule. Exact.
- The score at the shortest length, not asked in full: pairs of the same item. Exact, since the mean of the differences
  is the difference of the means.
- NoLiMa's base is the greatest of three means, and no mean of anything: its lengths, which take about 1 % of the
  tokens, are asked in full, and it is a number. Trials there that have no usable answer leave it between two ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from leadline.analysis.base_score import BaseRule, Observation, base_score
from leadline.analysis.stopping import UNKNOWN, Bounds, Round, StopRule

_FILLED_IN = 6
"""Trials without an answer of which all scores are tried in turn, where a base is cross-fitted."""


def relative_rule(
    items: Mapping[str, int],
    share: float,
    margin: float | None = None,
    error_above: float = 0.05,
    error_below: float = 0.05,
    weights: Mapping[str, float] | None = None,
) -> StopRule:
    """The rule for rounds of pairs; `margin` is in the test's own score, 0 to 1."""
    scaled = None if margin is None else margin / (1 + share)
    return StopRule(items, share / (1 + share), scaled, error_above, error_below, weights or {})


def paired(test: Round, reference: Round, share: float) -> Round:
    """A round of pairs: the tasks that both have, and for each the scaled difference, both ends 0 to 1."""
    return {task: _difference(test[task], reference[task], share) for task in test if task in reference}


def base_ends(known: Sequence[Observation], unknown: Sequence[Observation], rule: BaseRule) -> Bounds | None:
    """Between which ends, 0 to 1, the base score lies when all its trials have been asked; None where some lack.

    Args:
        known: trials with a score.
        unknown: trials without a usable answer, whose scores are not read: each may be 0 or 1, as in every task whose
            answer is one name.
        rule: how the base score is taken.
    """
    if len(unknown) <= _FILLED_IN:
        filled = product((0.0, 1.0), repeat=len(unknown))
    elif not base_score([*known, *unknown], rule).cross_fitted:
        # The greatest mean grows with every score.
        filled = ((end,) * len(unknown) for end in (0.0, 1.0))
    else:
        return UNKNOWN
    found = [
        base_score(
            [*known, *(one._replace(score=score) for one, score in zip(unknown, scores, strict=True))], rule
        ).score
        for scores in filled
    ]
    ends = [score / 100 for score in found if score is not None]
    return (min(ends), max(ends)) if ends else None


def _difference(test: Bounds, reference: Bounds, share: float) -> Bounds:
    low = (test[0] - share * reference[1] + share) / (1 + share)
    high = (test[1] - share * reference[0] + share) / (1 + share)
    return min(1.0, max(0.0, low)), min(1.0, max(0.0, high))

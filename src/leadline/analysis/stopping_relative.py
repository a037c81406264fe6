"""Stopping against a share of another score that is itself still being measured.

The verdict asks whether the mean of the test is at least `share` times the reference: 85 % of the score at the shortest
length, or of NoLiMa's base. Trial by trial the difference test - share x reference lies between -share and 1; moved and
scaled to [0, 1] it is a score like any other, whose threshold is share / (1 + share). The pair is one observation, so
an item that is asked at both lengths may do equally well or badly at both, and what they have in common cancels.

- A reference that was asked in full is a number: take share x reference as the threshold of a plain rule. Exact.
- The score at the shortest length, not asked in full: pairs of the same item. Exact, since the mean of the differences
  is the difference of the means.
- NoLiMa's base, not asked in full: each pair's greatest mean over three lengths. It is at least the mean of the three
  trials' mean, and at most the mean of their maximum; the reference is that interval. `below` holds for the lower and
  `above` for the upper end, so both are valid, and conservative by what the interval is too wide: a base asked in
  full, which costs little at such lengths, decides far sooner.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from leadline.analysis.stopping import Bounds, Round, StopRule


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


def base_bounds(trials: Sequence[Bounds]) -> Bounds:
    """What a pair's trials at the base lengths, at one place of one book, say of its greatest mean.

    Raises:
        ValueError: no trial.
    """
    if not trials:
        raise ValueError("a base needs a trial at each base length")
    return math.fsum(low for low, _ in trials) / len(trials), max(high for _, high in trials)


def _difference(test: Bounds, reference: Bounds, share: float) -> Bounds:
    low = (test[0] - share * reference[1] + share) / (1 + share)
    high = (test[1] - share * reference[0] + share) / (1 + share)
    return min(1.0, max(0.0, low)), min(1.0, max(0.0, high))

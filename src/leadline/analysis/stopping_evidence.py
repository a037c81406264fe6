"""Evidence, valid at every look, that the mean of a run's own full protocol is greater than a bound.

The population is finite: task k has N_k items, each with the score that it gets when it is asked; its mean is mu_k, and
the claim is about mu, the mean of mu_1 ... mu_K with weights c_k that add up to 1 (1 / K each, as a rule). Each task's
items are asked in a random order of its own, drawn from the seed independently of the scores and of the other tasks'
orders. Round t is the t-th item of every task that still has one.

*Filtration.* F_t holds all scores of rounds 1 ... t of this length, item by item. Given F_(t-1) the items of round t
are independent of each other, and that of task k is equally likely to be any of the R_k items that are left, so that
its expected score is r_k, the mean of those. (Items of one balanced round are therefore no sample of the mean one by
one: task k's item has the mean r_k, which the hypothesis does not tell. Bets must be placed on rounds as a whole.)

*Hypothesis* mu <= b. With w_k = c_k R_k / N_k and S_k the sum of the scores seen, c_k mu_k = c_k S_k / N_k + w_k r_k,
so it says

    sum of w_k r_k  <=  b - sum of c_k S_k / N_k  =  A          (known before round t)

*The bet.* Before the round, choose centres h_k in [0, 1] with sum of w_k h_k = A, and a stake v >= 0; with w the mean
of w_k over the tasks that take part and v w_k h_k / w < 1, the capital is multiplied by

    product over k of  1 + v (w_k / w) (x_k - h_k)

Every factor is positive. Given F_(t-1) they are independent, so the product's expectation is the product of
1 + v (w_k / w) (r_k - h_k); by the inequality of the arithmetic and the geometric mean that is at most the power of
1 + v (sum of w_k r_k - A) / (sum of w_k), which is at most 1 under the hypothesis. The capital is thus a non-negative
supermartingale that begins at 1, whatever the centres and stakes are, as long as they rest on earlier rounds; so is the
mean of several such capitals. By Ville's inequality it ever reaches 1 / error with probability at most `error`.

With one task this is the bet for sampling without replacement of Waudby-Smith and Ramdas ("Estimating means of bounded
random variables by betting", JRSS B 2024, section 5). With several it stands between a bet on the round's mean, whose
stake is held down by a round of zeros that never comes, and the stratified bets of Spertus, Sridhar and Stark (2024),
which take the least favourable of all splits of the bound over the strata: one common stake with free centres needs no
search, since the split that helps the hypothesis most is the one that the inequality already grants. Only the spread
within tasks costs rounds.

*Choice.* Centres are the tasks' means so far, all moved by the same amount to meet the hypothesis, which is best to the
second order. The stake is a mixture over multiples of two, and grows as the items run out, as the distance between what
is left and what the hypothesis says does.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

STAKES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
"""The best stake is the distance from the bound over the items' variance within tasks: 0.1 is for one point at RULER's
usual spread, the greatest ones for a single stratum whose rounds hardly differ."""

GREATEST_LOSS = 0.8
"""Share of the capital that one item may cost."""

PRIOR_ITEMS = 2.0
"""The bound counts as so many items when a task's mean is guessed."""

_ROUNDING = 1e-9


def log_evidence(scores: Floats, items: npt.NDArray[np.int64], shares: Floats, bound: float) -> Floats:
    """Logarithm of the greatest capital so far, after each round, against "the mean is at most `bound`".

    For the other side give 1 - scores and 1 - bound.

    Args:
        scores: 0 to 1, shape (..., rounds, tasks); anything where a task has no item left.
        items: of each task in the full protocol, shape (tasks,).
        shares: of each task in the mean, adding up to 1, shape (tasks,).
        bound: 0 to 1.

    Returns:
        Shape (..., rounds), not falling; infinite where the items seen settle it for certain.
    """
    asked = np.arange(scores.shape[-2])[:, None]
    weights = shares * np.maximum(items - asked, 0) / items
    known = np.where(weights > 0, scores, 0.0)
    after = np.cumsum(known, axis=-2)
    before = after - known
    allowed = bound - (shares * before / items).sum(-1)
    left = weights.sum(-1)
    centres = _centres((before + PRIOR_ITEMS * bound) / (asked + PRIOR_ITEMS), weights, allowed)
    taking_part = (weights > 0).sum(-1)
    scale = weights * (taking_part / left)[:, None]
    limit = GREATEST_LOSS / np.maximum((scale * centres).max(-1), _ROUNDING)
    distances = scale * (known - centres)
    capitals: list[Floats] = []
    for stake in STAKES:
        stakes = np.minimum(stake / left, limit)
        capitals.append(np.cumsum(np.log(np.prod(1 + stakes[..., None] * distances, axis=-1)), axis=-1))
    mixed = np.logaddexp.reduce(np.stack(capitals), axis=0) - np.log(len(STAKES))
    certain = bound - (shares * after / items).sum(-1) < -_ROUNDING
    return np.maximum.accumulate(np.where(certain, np.inf, mixed), axis=-1)


def _centres(means: Floats, weights: Floats, allowed: Floats) -> Floats:
    """The means, all moved by the same amount so that their weighted sum is what is allowed, and kept in [0, 1].

    What the ends cut off is shared out in proportion to the room that is left. Where more is allowed than there can be
    all centres are 1, and where less than nothing is, 0: there the hypothesis is certain, or impossible.
    """
    total = weights.sum(-1)
    allowed = np.clip(allowed, 0.0, total)
    moved = means - (((weights * means).sum(-1) - allowed) / total)[..., None]
    moved = np.clip(moved, 0.0, 1.0)
    found = (weights * moved).sum(-1)
    raise_by = np.clip((allowed - found) / np.maximum(total - found, _ROUNDING), 0.0, 1.0)
    lower_to = np.clip(allowed / np.maximum(found, _ROUNDING), 0.0, 1.0)
    return (moved + (1 - moved) * raise_by[..., None]) * np.where(allowed < found, lower_to, 1.0)[..., None]

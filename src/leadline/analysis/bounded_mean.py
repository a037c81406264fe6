"""Interval of the mean of scores between 0 and 1, by betting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from leadline.analysis.intervals import CONFIDENCE

LARGEST_BET = 0.75
"""Share of the capital that one bet may lose; the authors propose 1/2 or 3/4."""

_SHUFFLE_SEED = 0
_HALVINGS = 40
"""Halvings of [0, 1] when an end is looked for: far below what any score resolves."""


def betting_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Interval of the mean of independent values in [0, 1], both ends 0 to 1.

    Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 2024, the
    hedged capital interval with predictable plug-in bets. For a candidate mean m a gambler bets on the values being
    greater than m, another on their being less; a candidate is excluded where half of one of their capitals has
    reached 1 / (1 - confidence). The guarantee holds for every n and every distribution on [0, 1], and the interval
    does not collapse when all values are equal.

    The bets depend on the order. It is that of the argument, shuffled by a fixed seed: it must not depend on the
    values, and the shuffle breaks a drift along the items.

    Raises:
        ValueError: no value, or one outside [0, 1].
    """
    import numpy

    if not values or not all(0 <= value <= 1 for value in values):
        raise ValueError("a bounded mean needs at least one value, each from 0 to 1")
    order = numpy.random.default_rng(_SHUFFLE_SEED).permutation(len(values))
    shuffled = numpy.asarray(values, dtype=float)[order]
    needed = math.log(2 / (1 - confidence))
    return _lower_end(shuffled, needed), 1 - _lower_end(1 - shuffled, needed)


def _lower_end(values: Any, needed: float) -> float:
    """The smallest mean that the gambler who bets on more has not excluded.

    Each factor of the capital falls with m, and so does its maximum over time: the end is found by halving.

    Args:
        values: array of shape (n,).
        needed: logarithm of the capital that excludes a candidate.
    """
    import numpy

    bets = _bets(values, needed)
    low, high = 0.0, float(values.mean())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle <= 0:
            break
        stakes = numpy.minimum(bets, LARGEST_BET / middle)
        if numpy.cumsum(numpy.log1p(stakes * (values - middle))).max() >= needed:
            low = middle
        else:
            high = middle
    return low


def _bets(values: Any, needed: float) -> Any:
    """The bet on each value, from the values before it alone: sqrt(2 log(2 / alpha) / (n x their variance))."""
    import numpy

    count = len(values)
    seen = numpy.arange(1, count + 1)
    means = (0.5 + numpy.cumsum(values)) / (seen + 1)
    variances = (0.25 + numpy.cumsum((values - means) ** 2)) / (seen + 1)
    before = numpy.concatenate([[0.25], variances[:-1]])
    return numpy.sqrt(2 * needed / (count * before))

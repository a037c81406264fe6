"""Where NoLiMa's distractor stands: away from the needle and from both ends (arXiv 2502.05167)."""

from __future__ import annotations

from leadline.items import Fit

SHORT = 500
"""Below so many tokens a distractor stands at a fixed depth."""

AWAY, OUTER = 0.2, 0.2
"""A distractor stands at least this share of the haystack away from the needle, and not in the outer share of it."""

CHARACTER_SLACK = 0.05


def misplaced(fit: Fit) -> tuple[str, ...]:
    """What must be known of a distractor that no line or sentence end let keep its distances.

    A fit knows characters, and shares of characters are those of tokens to within `CHARACTER_SLACK`.
    """
    if fit.window is None:
        return ()
    start, end = fit.window
    needle, *others = ((place - start) / (end - start) for place in fit.places)
    return tuple(
        f"the distractor stands at {100 * other:.0f} % of the haystack and the needle at {100 * needle:.0f} %: "
        "no line or sentence ends where it would keep its distances"
        for other in others
        if not OUTER - CHARACTER_SLACK <= other <= 1 - OUTER + CHARACTER_SLACK
        or abs(other - needle) < AWAY - CHARACTER_SLACK
    )


def distractor_depth(depth: float, length: int, spread: float) -> float:
    """Where the distractor stands, 0 to 1, by a draw `spread` in [0, 1).

    At least 20 % of the haystack away from the needle and not in its outer 20 %; below 500 tokens at a fixed depth.
    """
    if length < SHORT:
        return 0.6 if depth > 0.75 else 0.7 if depth <= 0.5 else 0.5
    ranges = [
        (low, high)
        for low, high in ((OUTER, min(1 - OUTER, depth - AWAY)), (max(OUTER, depth + AWAY), 1 - OUTER))
        if high > low
    ]
    remaining = spread * sum(high - low for low, high in ranges)
    for low, high in ranges:
        if remaining < high - low:
            return low + remaining
        remaining -= high - low
    return ranges[-1][1]

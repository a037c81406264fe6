"""The middle against the ends: how often its interval holds the truth."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.analysis.middle import MiddleAgainstEnds, middle_against_ends
from leadline.analysis.placed import Placed

RUNS = 150


def made_up(seed: int, items: int, tasks: int, needles: int, effect: float) -> list[Placed]:
    """Places of items at two lengths; an item keeps half of its luck over lengths and needles."""
    draws = np.random.default_rng(seed)
    placed: list[Placed] = []
    for task in range(tasks):
        for item in range(items):
            places = draws.uniform(0, 100, needles)
            own_luck = draws.uniform()
            for length in range(2):
                for place in places:
                    luck = own_luck if draws.uniform() < 0.5 else draws.uniform()
                    right = luck < 0.9 - 0.1 * length - (effect if 100 / 3 <= place < 200 / 3 else 0)
                    placed.append(Placed((task, length), (task, item), float(place), float(right)))
    return placed


@pytest.mark.parametrize(
    ("items", "tasks", "needles", "effect"),
    [(25, 1, 1, 0.0), (25, 1, 1, 0.3), (25, 1, 4, 0.0), (25, 1, 4, 0.3), (5, 5, 1, 0.3), (5, 5, 4, 0.0)],
)
def test_the_interval_holds_the_truth(items: int, tasks: int, needles: int, effect: float) -> None:
    found = [middle_against_ends(made_up(seed, items, tasks, needles, effect)) for seed in range(RUNS)]
    known = [one for one in found if one is not None]
    assert len(known) > 0.95 * RUNS
    held = sum(one.low <= -100 * effect <= one.high for one in known) / len(known)
    assert held >= 0.93


def test_more_items_make_it_shorter() -> None:
    widths: list[float] = []
    for items in (5, 25, 125):
        found = middle_against_ends(made_up(3, items, 3, 1, 0.2))
        assert found is not None
        widths.append(found.high - found.low)
    assert widths[0] > 1.5 * widths[1] > 2.25 * widths[2]


def test_all_lengths_together_ask_for_more() -> None:
    placed = made_up(3, 25, 3, 1, 0.2)
    one, six = middle_against_ends(placed), middle_against_ends(placed, comparisons=6)
    assert one is not None
    assert six is not None
    assert (one.low, one.high) == (six.low, six.high)
    assert one.simultaneous == (one.low, one.high)
    assert six.simultaneous[0] < six.low < six.high < six.simultaneous[1]


def test_nothing_to_compare() -> None:
    assert middle_against_ends([]) is None
    assert middle_against_ends([Placed("a", 1, 50.0, 1.0), Placed("b", 1, 10.0, 0.0)]) is None


def test_an_item_that_is_half_in_the_middle_is_paired_with_itself() -> None:
    """Items all right or all wrong: the parts rise and fall together, and the interval is shorter for it."""
    paired = [Placed("a", item, place, float(item % 2)) for item in range(40) for place in (50.0, 10.0)]
    apart = [Placed("a", (item, place), place, float(item % 2)) for item in range(40) for place in (50.0, 10.0)]
    one, other = middle_against_ends(paired), middle_against_ends(apart)
    assert one is not None
    assert other is not None
    assert one.difference == other.difference == 0
    assert one.high - one.low < 0.5 * (other.high - other.low)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (-20.2, -4.1, "in the middle 12.3 points worse (4.1 to 20.2)"),
        (4.1, 20.2, "in the middle 12.3 points better (4.1 to 20.2)"),
        (-0.01, 20.2, "no difference to be seen between the middle and the ends (0.0 to +20.2 points)"),
    ],
)
def test_sentence(low: float, high: float, words: str) -> None:
    difference = -12.3 if high < 0 else 12.3
    assert MiddleAgainstEnds(50, 60, difference, low, high, (low, high), 9, 18).sentence() == words

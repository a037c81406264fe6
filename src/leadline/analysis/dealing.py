"""Whether names matter to a model, by dealing them anew: the randomisation test that NoLiMa's design allows.

All questions about one place (a depth of a book, in a group of needles) have the same name, drawn at random. So names
that do not matter could have been dealt to a group's places in any other order: the test deals them anew, many times,
and counts how often they then differ as much as they did. No trial need be independent of another for it, nor need
pairs, lengths and variants be alike. Source: Fisher, "The design of experiments", 1935, chapter 3.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from leadline.seeds import rng_for

DEALS = 1_999
"""Times that the names are dealt anew; the smallest p is 1 / (DEALS + 1)."""


class Place(NamedTuple):
    """All trials about one name at one place.

    Attributes:
        group: of needles, within which every place draws its name in the same way.
        scores: of each trial, 0 to 1.
        above: sum over the trials of what each is above the mean of those of the same task, length and group.
    """

    group: str
    name: str
    scores: tuple[float, ...]
    above: float


def p_of_labels(places: Sequence[Place], labels: Mapping[str, str]) -> float | None:
    """Probability that labels without any influence differ at least as much; None where nothing can differ.

    It is the share of all deals, the one that was made included, in which they do. How much they differ is the sum over
    the labels of n x (mean above the average)^2, n being a label's trials. A deal gives the names of a group's places
    to these places in another order.

    Args:
        places: what the scores stand on.
        labels: the label of each name: itself, or what it has in common with others.
    """
    import numpy as np

    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels.values()))}
    if len(numbers) < 2:
        return None
    of_group: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        of_group[place.group].append(place)
    shape = DEALS + 1, len(numbers)
    above, trials = np.zeros(shape), np.zeros(shape)
    rows = np.arange(DEALS + 1)[:, None] * len(numbers)
    for group, members in of_group.items():
        own = np.array([numbers[labels[place.name]] for place in members])
        draws = rng_for(0, "names", "deal", group).fractions(DEALS * len(own)).reshape(DEALS, len(own))
        dealt = (np.vstack([own, own[np.argsort(draws, axis=1, kind="stable")]]) + rows).ravel()
        of_places = np.tile([(place.above, float(len(place.scores))) for place in members], (DEALS + 1, 1))
        above += np.bincount(dealt, of_places[:, 0], minlength=above.size).reshape(shape)
        trials += np.bincount(dealt, of_places[:, 1], minlength=trials.size).reshape(shape)
    differing = (above**2 / np.maximum(trials, 1)).sum(axis=1)
    if np.ptp(differing) < 1e-9:
        return None
    return float((differing >= differing[0] - 1e-9).mean())

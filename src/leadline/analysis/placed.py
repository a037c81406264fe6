"""Where in the context what was asked for stood, and how it was answered: one observation for each place."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from leadline.analysis.design import Metric
from leadline.records import Record
from leadline.scoring.matching import THINK, ReasoningMarkers, clean, recall
from leadline.scoring.policy import POLICY
from leadline.scoring.trials import Scored

DEEPEST = 100.0
"""Places are in per cent of the context: 0 is its beginning."""


class Place(NamedTuple):
    """A place, 0 to 100, and the score, 0 to 1, of what was asked for there."""

    place: float
    score: float


class Placed(NamedTuple):
    """A place of an item at a length.

    Attributes:
        stratum: what it may be compared within: a task at a length.
        item: the same at every length; the unit of sampling.
        place: 0 to 100.
        score: 0 to 1.
    """

    stratum: Hashable
    item: Hashable
    place: float
    score: float


def depths_of(record: Record, scored: Scored, metric: Metric) -> tuple[Place, ...]:
    """Depths of what a record's question asks for, each with its score; empty where the plan has no depth.

    An item with several targets whose own places its facts hold (needles, the variables of a chain) has one depth for
    each target, and the target's own score: 1 where the answer contains it, else 0. Any other item has the depth that
    its plan names (a needle's; a golden document's, the first where there are two) and the trial's score.
    """
    targets = record.answers
    if len(targets) > 1 and (places := _places_by_form(record.facts)):
        own = [next((places[form] for form in forms if form in places), None) for forms in targets]
        if None not in own:
            found = _found(record)
            return tuple(
                Place(DEEPEST * place, score) for place, score in zip(own, found, strict=True) if place is not None
            )
    depth = _percent(record.factors.get("depth"))
    return () if depth is None else (Place(depth, _score(scored, metric)),)


def spread_of(record: Record, scored: Scored, metric: Metric) -> Place | None:
    """How much of the context a chain of assignments spans, first line to last, with the trial's score."""
    spread = _percent(record.factors.get("spread"))
    return None if spread is None else Place(spread, _score(scored, metric))


def _score(scored: Scored, metric: Metric) -> float:
    return scored.recall if metric == "recall" else scored.strict


def _found(record: Record, reasoning_markers: ReasoningMarkers = THINK) -> list[float]:
    """For each target whether the answer contains it."""
    if POLICY[record.outcome] != "as_it_is" or record.response is None:
        return [0.0] * len(record.answers)
    answer = clean(record.response.text or "", reasoning_markers)
    return [recall(answer, (forms,)) for forms in record.answers]


def _places_by_form(facts: Mapping[str, Any]) -> dict[str, float]:
    """Places, 0 to 1, by what stands there: the needles' values, or the variables of the chain that is asked for."""
    places: dict[str, float] = {}
    for needle in _mappings(facts.get("needles")):
        _put(places, needle.get("value"), needle.get("place"))
    for chain in _mappings(facts.get("chains"))[:1]:
        for name, place in zip(_list(chain.get("names")), _list(chain.get("places")), strict=False):
            _put(places, name, place)
    return places


def _put(places: dict[str, float], form: object, place: object) -> None:
    if isinstance(form, str) and isinstance(place, int | float) and 0 <= place <= 1:
        places[form] = float(place)


def _percent(factor: object) -> float | None:
    if isinstance(factor, bool) or not isinstance(factor, int | float):
        return None
    return float(factor) if 0 <= factor <= DEEPEST else None


def _list(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()


def _mappings(value: object) -> list[Mapping[str, object]]:
    return [cast("Mapping[str, object]", entry) for entry in _list(value) if isinstance(entry, dict)]

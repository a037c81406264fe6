"""Score by position, with made-up readers whose truth is known."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.findings import findings
from leadline.analysis.positions import Positions, positions
from leadline.items import ItemKey, TrialKey
from leadline.records import Outcome, Record
from leadline.requests import Response

LENGTHS = (1024, 4096)
Chance = Callable[[float, int], float]
"""Chance of a right answer at a depth and a length."""

DESIGN = Design(
    suite="quick",
    model="a-model",
    protocol="published",
    lengths=LENGTHS,
    tasks=(
        TaskDesign("niah", "retrieval", binary=True),
        TaskDesign("many", "retrieval", binary=False),
        TaskDesign("vt", "tracing", binary=False),
        TaskDesign("cwe", "aggregation", binary=False),
    ),
    samples=60,
)


def record_of(
    task: str,
    length: int,
    index: int,
    said: str,
    answers: tuple[str, ...] = ("yes",),
    factors: dict[str, Any] | None = None,
    facts: dict[str, Any] | None = None,
    outcome: Outcome = "answered",
) -> Record:
    key = TrialKey(ItemKey(task, 1, "{}", 42, index), length)
    forms = tuple((answer,) for answer in answers)
    response = Response(said, prompt_tokens=length, output_tokens=2)
    return Record(key, None, None, None, length, factors or {}, forms, facts or {}, response, outcome)


def single(index: int, length: int, chance: Chance, draws: random.Random, task: str = "niah") -> Record:
    """One needle, at a depth that is the same at every length."""
    depth = (index * 61.8) % 100
    said = "yes" if draws.random() < chance(depth, length) else "no"
    return record_of(task, length, index, said, factors={"depth": depth})


def several(index: int, length: int, chance: Chance, draws: random.Random) -> Record:
    """Three needles, one in each third; the first one's depth is the item's."""
    needles = [{"key": "k", "value": f"v{number}", "place": place} for number, place in enumerate((0.1, 0.5, 0.9))]
    said = [str(needle["value"]) for needle in needles if draws.random() < chance(100 * float(needle["place"]), length)]
    values = tuple(str(needle["value"]) for needle in needles)
    return record_of("many", length, index, ", ".join(said), values, {"depth": 10.0}, {"needles": needles})


def run_of(chance: Chance, samples: int = 60) -> list[Record]:
    draws = random.Random(7)
    return [
        make(index, length, chance, draws)
        for make in (single, several)
        for length in LENGTHS
        for index in range(samples)
    ]


def forgets_the_middle(depth: float, length: int) -> float:
    return 0.4 if length == 4096 and 33 < depth < 67 else 0.97


def flat(depth: float, length: int) -> float:
    return 0.8


@pytest.fixture(scope="module")
def forgetful() -> Positions:
    return positions(run_of(forgets_the_middle), DESIGN)


def test_a_reader_that_forgets_the_middle_shows_it(forgetful: Positions) -> None:
    curve = forgetful.curve(None, 4096)
    assert curve is not None
    assert curve.middle is not None
    assert curve.middle.low <= -57 <= curve.middle.high < 0
    assert curve.middle.seen
    assert curve.middle.sentence().startswith(f"in the middle {-curve.middle.difference:.1f} points worse (")
    short = forgetful.curve(None, 1024)
    assert short is not None
    assert short.middle is not None
    assert not short.middle.seen


def test_the_bins_show_where(forgetful: Positions) -> None:
    curve = forgetful.curve("niah", 4096)
    assert curve is not None
    assert len(curve.bins) == 10
    scores = [one.score for one in curve.bins]
    assert all(score is not None for score in scores)
    assert max(score or 0 for score in scores[4:6]) < 80 <= min(score or 0 for score in (*scores[:3], *scores[7:]))
    assert all(one.low is not None and one.high is not None and one.low < one.high for one in curve.bins)


def test_a_flat_reader_does_not() -> None:
    found = positions(run_of(flat), DESIGN)
    for curve in found.curves:
        assert curve.middle is not None
        assert not curve.middle.seen
    overall = found.curve()
    assert overall is not None
    assert overall.middle is not None
    assert "no difference to be seen" in overall.middle.sentence()


@pytest.mark.parametrize("samples", [1, 3, 20])
def test_intervals_do_not_collapse_where_all_is_right(samples: int) -> None:
    found = positions(run_of(lambda depth, length: 1.0, samples), DESIGN)
    for curve in found.curves:
        for one in curve.bins:
            assert one.low is None or one.low < 100
        if curve.middle is not None:
            assert curve.middle.difference == 0
            assert curve.middle.low < -1
            assert curve.middle.high > 1
            assert "no difference" in curve.middle.sentence()


def test_a_middle_that_is_better_is_told_too() -> None:
    found = positions(run_of(lambda depth, length: 0.97 if 33 < depth < 67 else 0.3), DESIGN).curve()
    assert found is not None
    assert found.middle is not None
    assert "points better" in found.middle.sentence()


def test_an_easy_task_in_the_middle_is_no_difference() -> None:
    """A task at 100 with most of its needles in the middle, another at 0 with most at the ends."""
    records = [
        record_of(task, 1024, index, said, factors={"depth": depth})
        for task, said, depths in (("niah", "yes", (50, 50, 50, 10)), ("many", "no", (10, 90, 95, 50)))
        for index in range(40)
        for depth in [float(depths[index % 4])]
    ]
    middle = next(curve.middle for curve in positions(records, DESIGN).curves)
    assert middle is not None
    assert middle.difference == pytest.approx(0)


def test_each_needle_has_its_own_place_and_score() -> None:
    always_the_last = [
        several(index, 1024, lambda depth, length: float(depth > 70), random.Random(0)) for index in range(8)
    ]
    found = positions(always_the_last, DESIGN).curve("many", 1024)
    assert found is not None
    assert [(one.n, one.items, one.score) for one in found.bins if one.n] == [(8, 8, 0), (8, 8, 0), (8, 8, 100)]


def test_variables_of_a_chain_have_their_places_and_chains_a_spread() -> None:
    chains = [{"value": "1", "names": ["AA", "BB"], "places": [0.05, 0.95]}]
    records = [
        record_of("vt", 1024, index, "AA", ("AA", "BB"), {"depth": 50.0, "spread": 90.0}, {"chains": chains})
        for index in range(6)
    ]
    found = positions(records, DESIGN)
    depth, spread = found.curve("vt"), found.curve("vt", axis="spread")
    assert depth is not None
    assert spread is not None
    assert [one.score for one in depth.bins] == [100, None, 0]
    assert [(one.n, one.score) for one in spread.bins] == [(0, None), (0, None), (6, 50)]
    assert spread.middle is None


@pytest.mark.parametrize("facts", [{"needles": "none"}, {"needles": [{"value": "a", "place": 7}, 3]}, {"chains": [1]}])
def test_facts_of_another_shape_leave_the_depth_of_the_item(facts: dict[str, Any]) -> None:
    found = positions([record_of("many", 1024, 0, "a", ("a", "b"), {"depth": 40.0}, facts)], DESIGN).curve("many")
    assert found is not None
    assert [one.score for one in found.bins] == [None, 50, None]


def test_a_task_without_depth_has_no_curve_but_both_scores() -> None:
    found = positions([record_of("cwe", 1024, 0, "yes")], DESIGN)
    assert found.curves == ()
    assert [(one.task, one.n) for one in found.inflations] == [("cwe", 1)]


def test_the_newest_record_of_a_key_counts_and_others_designs_do_not() -> None:
    right, wrong = (record_of("niah", 1024, 0, said, factors={"depth": 5}) for said in ("yes", "no"))
    failed = record_of("niah", 4096, 0, "", factors={"depth": 5}, outcome="failed")
    elsewhere = record_of("niah", 2048, 0, "yes", factors={"depth": 5})
    stranger = record_of("nobody", 1024, 0, "yes", factors={"depth": 5})
    found = positions([right, wrong, failed, elsewhere, stranger], DESIGN).curve()
    assert found is not None
    assert [(one.n, one.score) for one in found.bins] == [(1, 0), (0, None), (0, None)]


def test_bins_of_a_grid_have_the_same_ends_and_few_places_make_wide_ones(forgetful: Positions) -> None:
    assert len({tuple(one.end for one in curve.bins) for curve in forgetful.grid()}) == 1
    few = positions(run_of(flat, samples=4), DESIGN)
    assert [len(curve.bins) for curve in few.grid("niah")] == [3, 3]


def test_strict_against_recall() -> None:
    said = ["yes"] * 6 + ["yesterday"] * 2 + ["no"] * 2
    records = [
        record_of("niah", 1024, index, text, facts={"item_pattern": "[a-z]+"}) for index, text in enumerate(said)
    ]
    records += [record_of("many", 1024, 0, "a", ("a", "b", "c", "d"))]
    niah, many = positions(records, DESIGN).inflations
    assert (niah.recall, niah.strict, niah.points) == (80, 60, pytest.approx(20))
    assert (niah.n, niah.inflated, niah.rate) == (10, 2, 20)
    assert niah.low < 20 < niah.high
    assert niah.matters
    assert (many.points, many.matters) == (pytest.approx(-15), False)
    assert positions(records, DESIGN).mattering == (niah,)


def test_aggregates_alone_are_written(forgetful: Positions) -> None:
    text = json.dumps(forgetful.as_dict(), allow_nan=False)
    written = json.loads(text)
    assert len(text) < 40_000
    assert {"curves", "grid", "strict_against_recall", "matters", "matters_points"} == set(written)
    assert len(written["grid"]) == 10 * len(LENGTHS) * 3
    assert {"task", "length", "start", "end", "n", "score", "low", "high"} <= set(written["grid"][0])


def test_findings_take_one_pass() -> None:
    def once() -> Iterator[Record]:
        yield from run_of(flat, samples=5)

    found = findings(once(), DESIGN)
    assert found.positions == positions(run_of(flat, samples=5), DESIGN)
    assert found.failures.unjudged > 0
    assert found.excerpts == {}
    assert json.dumps(found.as_dict(), allow_nan=False)


def test_nothing_measured() -> None:
    found = findings([], DESIGN)
    assert found.positions.curves == ()
    assert found.positions.curve() is None
    assert found.failures.rates == ()

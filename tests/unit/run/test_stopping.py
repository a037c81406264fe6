"""What a run that stops when it is certain asks next."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import pytest

from leadline.items import ItemKey, TrialKey
from leadline.records import Outcome, Record
from leadline.requests import Response
from leadline.run.stopping import Scores, StopDriver, Stratum

TASKS = ("needle", "chain")
LENGTHS = (1024, 2048, 4096)
ITEMS = 60


def record(task: str, length: int, index: int, right: bool, outcome: Outcome = "answered") -> Record:
    key = TrialKey(ItemKey(task, 1, "{}", 42, index), length)
    return Record(key, None, None, None, length, {}, (("yes",),), {}, Response("yes" if right else "no"), outcome)


def new_scores(records: Iterable[Record] = ()) -> Scores:
    scores = Scores(dict.fromkeys(TASKS, "recall"))
    for made in records:
        scores.add(made)
    return scores


def driver(**settings: object) -> StopDriver:
    strata = tuple(stratum for task in TASKS for stratum in Stratum.of_task(42, task, ITEMS))
    return StopDriver(strata=dict.fromkeys(LENGTHS, strata), **({"threshold": 0.7} | settings))  # pyright: ignore[reportArgumentType]


def right_up_to(longest: int) -> Callable[[str, int, int], bool]:
    """Nearly always right up to a length, mostly wrong beyond it."""
    return lambda task, length, index: (index % 25 != 3) if length <= longest else index % 3 == 0


def finish(
    stopping: StopDriver, answer: Callable[[str, int, int], bool], scores: Scores, stop_after: int | None = None
) -> list[Record]:
    """Ask until nothing is left to ask, each batch in an arbitrary order; the records that were made."""
    made: list[Record] = []
    while asked := stopping.ask(scores):
        batch = [
            (task, length, index)
            for length, rounds in asked.items()
            for number in rounds
            for task, indices in stopping.items(length, number, scores).items()
            for index in indices
            if index not in scores.known[task, length]
        ]
        random.Random(len(made)).shuffle(batch)
        for task, length, index in batch:
            if stop_after is not None and len(made) >= stop_after:
                return made
            made.append(record(task, length, index, answer(task, length, index)))
            scores.add(made[-1])
    return made


def test_each_length_is_asked_until_it_is_decided() -> None:
    stopping, scores = driver(), new_scores()
    made = finish(stopping, right_up_to(2048), scores)
    decisions = stopping.decide(scores)
    assert {length: decision.passes for length, decision in decisions.items()} == {1024: True, 2048: True, 4096: False}
    assert len(made) < len(TASKS) * len(LENGTHS) * ITEMS / 2
    assert stopping.effective(decisions).possible == (2048,)


def test_the_effective_length_asks_from_the_greatest_down() -> None:
    stopping, scores = driver(claim="effective"), new_scores()
    made = finish(stopping, right_up_to(2048), scores)
    assert {key.length for key in (entry.key for entry in made)} == {2048, 4096}
    claim = stopping.effective(stopping.decide(scores))
    assert (claim.possible, claim.settled) == ((2048,), True)


@pytest.mark.parametrize("lot", [1, 4, 9])
@pytest.mark.parametrize("killed_after", [0, 1, 17, 40])
def test_a_killed_run_goes_on_to_the_same_decisions(lot: int, killed_after: int) -> None:
    answer = right_up_to(1024)
    whole = new_scores()
    finish(driver(), answer, whole)
    early = finish(driver(lot=lot), answer, new_scores(), stop_after=killed_after)
    resumed = new_scores()
    random.Random(5).shuffle(early)
    resumed.add_earlier(early)
    finish(driver(lot=lot), answer, resumed)
    assert driver().decide(resumed) == driver().decide(whole)


def test_late_answers_of_later_rounds_are_left_out() -> None:
    stopping, scores = driver(), new_scores()
    finish(stopping, right_up_to(4096), scores)
    before = stopping.decide(scores)
    for task in TASKS:
        for index in range(ITEMS):
            if index not in scores.known[task, 4096]:
                scores.add(record(task, 4096, index, right=False))
    assert stopping.decide(scores) == before
    assert stopping.ask(scores) == {}


def test_failed_trials_are_intervals_and_are_asked_again_by_the_next_run() -> None:
    stopping, scores = driver(), new_scores()
    first = stopping.items(1024, 0, scores)
    failed = [record(task, 1024, index, True, "failed") for task, indices in first.items() for index in indices]
    for entry in failed:
        scores.add(entry)
    assert stopping.rounds(1024, scores) == [dict.fromkeys(TASKS, (0.0, 1.0))]
    later = new_scores()
    later.add_earlier(failed)
    assert stopping.ask(later)[1024] == range(0, 1)


def test_a_length_that_the_model_refuses_fails_without_being_asked_on() -> None:
    stopping, scores = driver(), new_scores()
    for task in TASKS:
        scores.add(record(task, 4096, stopping.items(4096, 0, scores)[task][0], False, "over_length"))
    assert 4096 not in stopping.ask(scores)
    assert stopping.decide(scores)[4096].verdict == "below"


def test_trials_of_a_closed_cell_that_were_not_asked_are_unknown() -> None:
    stopping, closed = driver(), {("chain", 1024)}
    scores = Scores(dict.fromkeys(TASKS, "recall"), closed)
    for index in stopping.items(1024, 0, scores)["needle"]:
        scores.add(record("needle", 1024, index, right=True))
    assert stopping.rounds(1024, scores) == [{"needle": (1.0, 1.0), "chain": (0.0, 1.0)}]
    for index in range(ITEMS):
        scores.add(record("needle", 1024, index, right=True))
    decision = stopping.decide(scores)[1024]
    assert (decision.verdict, decision.passes, decision.mean) == ("exhausted", None, (0.5, 1.0))


def test_a_task_that_does_not_fit_somewhere_counts_nowhere() -> None:
    stopping, scores = driver(), new_scores()
    scores.add(record("chain", 1024, 0, False, "does_not_fit"))
    assert set(stopping.items(4096, 0, scores)) == {"needle"}
    scores.add(record("needle", 1024, 0, False, "does_not_fit"))
    assert stopping.ask(scores) == {}


def test_a_share_of_the_shortest_length_is_judged_on_pairs() -> None:
    stopping, scores = driver(threshold=None, reference=1024), new_scores()
    finish(stopping, right_up_to(2048), scores)
    decisions = stopping.decide(scores)
    assert {length: decision.passes for length, decision in decisions.items()} == {2048: True, 4096: False}
    assert len(scores.known["needle", 1024]) <= max(decision.rounds for decision in decisions.values())


def test_orders_are_random_and_belong_to_the_task() -> None:
    one, other = (Stratum.of_task(42, task, ITEMS)[0].groups for task in TASKS)
    assert sorted(one) == sorted(other) == [(index,) for index in range(ITEMS)]
    assert one != other
    assert one != tuple(sorted(one))


def test_a_group_scores_its_mean_when_all_of_it_is_done() -> None:
    scores = new_scores([record("needle", 1024, 0, True), record("needle", 1024, 1, False)])
    assert scores.of_group("needle", 1024, (0, 1)) == (0.5, 0.5)
    assert scores.of_group("needle", 1024, (0, 1, 2)) is None
    with pytest.raises(ValueError, match="equally many"):
        Stratum.shuffled(42, "needle", "needle", [(0, 1), (2,)])


def test_a_driver_needs_something_to_reach() -> None:
    with pytest.raises(ValueError, match="threshold"):
        driver(threshold=None)


def test_strata_of_one_task_have_orders_of_their_own_and_weigh_what_they_hold() -> None:
    many = Stratum.shuffled(42, "first", "needle", [(2 * place, 2 * place + 1) for place in range(20)], weight=2)
    few = Stratum.shuffled(42, "second", "needle", [(40 + place,) for place in range(20)])
    stopping = StopDriver({1024: (many, few)}, threshold=0.5)
    scores = new_scores()
    assert stopping.items(1024, 3, scores) == {"needle": (*many.groups[3], *few.groups[3])}
    for number in range(20):
        for index in stopping.items(1024, number, scores)["needle"]:
            scores.add(record("needle", 1024, index, right=index < 40))
    decision = stopping.decide(scores)[1024]
    assert decision.passes is True
    assert decision.mean == (pytest.approx(2 / 3), pytest.approx(2 / 3))


def test_neighbours_that_share_a_text_are_one_observation() -> None:
    strata = Stratum.of_task(42, "nolima", 20, (2, 3))
    assert sorted(stratum.name for stratum in strata) == ["nolima:0", "nolima:1"]
    pair, triple = sorted(strata, key=lambda stratum: stratum.name)
    assert sorted(pair.groups) == [(0, 1), (5, 6), (10, 11), (15, 16)]
    assert sorted(triple.groups) == [(2, 3, 4), (7, 8, 9), (12, 13, 14), (17, 18, 19)]
    assert (pair.weight, triple.weight) == (0.4, 0.6)
    assert Stratum.of_task(42, "vt", 5)[0].weight == 1


def test_a_cut_bundle_is_a_stratum_of_its_own() -> None:
    strata = {stratum.name: stratum for stratum in Stratum.of_task(42, "nolima", 9, (2, 3))}
    assert set(strata) == {"nolima:0", "nolima:1", "nolima:1:2"}
    assert strata["nolima:1:2"].groups == ((7, 8),)
    assert sum(stratum.weight for stratum in strata.values()) == pytest.approx(1)
    asked = sorted(index for stratum in strata.values() for group in stratum.groups for index in group)
    assert asked == list(range(9))

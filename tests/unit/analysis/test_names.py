"""Accuracy by name, against readers whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from leadline.analysis.names import NameCount, Names
from leadline.items import NO_CONTEXT, ItemKey, TrialKey
from leadline.records import Outcome, Record
from leadline.requests import Response
from leadline.scoring.trials import score
from leadline.seeds import rng_for

SET = ("Ada", "Berthold", "Cleo", "Dora", "Emil", "Friederike", "Gustav", "Hedi")
LONG = {"Berthold", "Friederike", "Gustav"}
GROUPS, DEPTHS, NEEDLES, LENGTHS = 4, 26, 4, (250, 1000)

Answers = Callable[[str, int, int], str]
"""What a reader says, by the right name, the number of the group and that of the trial."""


def record(
    name: str,
    answer: str | None,
    index: int = 0,
    *,
    length: int = 250,
    outcome: Outcome = "answered",
    wording: str = "default",
    factors: Mapping[str, Any] | None = None,
) -> Record:
    key = TrialKey(ItemKey("names", 1, "{}", 1, index), length, wording)
    facts = {"name": name, "names": list(SET), "case_sensitive": True}
    response = None if answer is None else Response(answer)
    return Record(key, None, None, None, 1, factors or {}, ((name,),), facts, response, outcome)


def counted(records: list[Record]) -> Names:
    count = NameCount()
    for one in records:
        count.add(one, score(one))
    found = count.result()
    assert found is not None
    return found


def world(says: Answers, seed: int = 1) -> Names:
    """A design like NoLiMa's: one name at each depth of each group, and several needles there at two lengths."""
    records: list[Record] = []
    for group in range(GROUPS):
        for depth in range(DEPTHS):
            name = SET[rng_for(seed, "world", group, depth).below(len(SET))]
            factors = {"group": f"{group}", "book": "b", "depth": depth, "variant": "default"}
            for needle in range(NEEDLES):
                for length in LENGTHS:
                    index = (group * DEPTHS + depth) * NEEDLES + needle
                    records.append(record(name, says(name, group, index), index, length=length, factors=factors))
    return counted(records)


def test_names_that_a_reader_never_finds_are_found_out() -> None:
    found = world(lambda name, group, index: "nobody" if name in {"Cleo", "Emil"} else name)
    by_name = {one.name: one for one in found.by_name}
    assert list(by_name) == list(SET)
    assert {name for name, one in by_name.items() if one.score == 0} == {"Cleo", "Emil"}
    assert all(by_name[name].score == 100 for name in SET if name not in {"Cleo", "Emil"})
    assert by_name["Cleo"].difference < -50 < 0 < by_name["Ada"].difference
    assert sum(one.n for one in found.by_name) == GROUPS * DEPTHS * NEEDLES * len(LENGTHS)
    assert found.p is not None
    assert found.p <= 0.001
    assert (found.wrong, found.wrong_naming) == (by_name["Cleo"].n + by_name["Emil"].n, 0)


@pytest.mark.slow
def test_names_that_do_not_matter_are_called_different_as_often_as_it_says() -> None:
    """Groups differ, and what stands at one place stands or falls together; neither may pass for a name's doing."""
    found = []
    for seed in range(200):
        lucky = rng_for(seed, "lucky").fractions(GROUPS * DEPTHS)
        shares = (0.1, 0.4, 0.7, 0.95)
        told = world(lambda name, group, index: name if lucky[index // NEEDLES] < shares[group] else "nobody", seed)  # noqa: B023
        assert told.p is not None
        found.append(told.p)
    assert 0.02 <= np.mean(np.array(found) <= 0.05) <= 0.09
    assert 0.4 <= np.mean(np.array(found) <= 0.5) <= 0.6


def test_intervals_count_places_and_not_trials() -> None:
    found = world(lambda name, group, index: name if index // NEEDLES % 2 else "nobody")
    for one in found.by_name:
        places = one.n / NEEDLES / len(LENGTHS)
        assert one.low < one.score < one.high
        assert one.high - one.low > 100 / places**0.5, "as wide as that of so many places, not of eight times as many"


def test_names_of_several_tokens_are_told_from_those_of_one() -> None:
    tokens = {name: 2 if name in LONG else 1 for name in SET}
    missed = world(lambda name, group, index: "nobody" if name in LONG and index % 2 else name).with_tokens(tokens)
    assert [one.name for one in missed.by_tokens] == ["one token", "several tokens"]
    assert [one.score for one in missed.by_tokens] == [100, 50]
    assert missed.p_tokens is not None
    assert missed.p_tokens <= 0.001
    assert [one.tokens for one in missed.by_name] == [tokens[name] for name in SET]
    alike = world(lambda name, group, index: "nobody" if index % 3 else name).with_tokens(tokens)
    assert alike.p_tokens is not None
    assert alike.p_tokens > 0.01
    assert world(lambda name, group, index: name).with_tokens(dict.fromkeys(SET, 1)).by_tokens == ()
    assert alike.with_tokens({"Ada": 1}) == alike, "a name without a count leaves all out"


def test_wrong_answers_count_for_the_names_that_they_hold() -> None:
    answers = {"Ada": "Cleo", "Berthold": "Cleo or Dora", "Cleo": "Cleo", "Dora": "no idea", "Emil": "emil, Cleo"}
    found = counted([record(name, answer, index) for index, (name, answer) in enumerate(answers.items())])
    assert (found.wrong, found.wrong_naming) == (4, 3)
    assert {one.name: one.answered_wrongly for one in found.by_name} == {
        "Ada": 0, "Berthold": 0, "Cleo": 3, "Dora": 1, "Emil": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("variant", "names", "chance"), [("default", 8, 12.5), ("direct", 8, 12.5), ("choices", 4, 25)]
)
def test_chance_is_one_of_the_names_that_could_be_the_answer(variant: str, names: int, chance: float) -> None:
    (found,) = counted([record("Ada", "Ada", factors={"variant": variant})]).chances
    assert (found.task, found.names, found.score) == ("names", names, chance)


def test_where_nothing_can_differ_there_is_no_p() -> None:
    assert world(lambda name, group, index: name).p is None
    assert world(lambda name, group, index: "").p is None
    assert counted([record("Ada", "Ada")]).p is None


def test_only_scored_trials_of_the_run_itself_count_and_the_newest_of_each() -> None:
    found = counted(
        [
            record("Ada", "Cleo", 0),
            record("Ada", "Ada", 0),
            record("Cleo", "Cleo", 1),
            record("Cleo", None, 1, outcome="failed"),
            record("Dora", "Dora", 2, wording=NO_CONTEXT),
            record("Emil", "", 3, outcome="over_length"),
            record("Hedi", None, 4, outcome="filtered"),
            record("Gustav", "", 5, outcome="filtered"),
        ]
    )
    assert {one.name: (one.n, one.score) for one in found.by_name} == {"Ada": (1, 100), "Gustav": (1, 0)}


def test_the_order_of_records_changes_nothing() -> None:
    lucky = rng_for(5, "lucky").fractions(200)
    records: list[Record] = []
    for index in range(200):
        place = index // 4
        name = SET[rng_for(5, "order", place).below(len(SET))]
        factors = {"group": f"{place % 3}", "book": "b", "depth": place}
        records.append(record(name, name if lucky[index] < 0.5 else "nobody", index, factors=factors))
    found = counted(records)
    assert found.p is not None
    assert 0.01 < found.p < 0.99
    assert counted(records[::-1]) == found


def test_a_test_without_names_has_none() -> None:
    count = NameCount()
    key = TrialKey(ItemKey("t", 1, "{}", 1, 0), 250)
    plain = Record(key, None, None, None, 1, {}, (("yes",),), {}, Response("yes"), "answered")
    count.add(plain, score(plain))
    assert count.result() is None

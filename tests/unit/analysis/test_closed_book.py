"""The closed-book check, against models whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from leadline.analysis.closed_book import ClosedBook, ClosedBookCount
from leadline.items import NO_CONTEXT, ItemKey, TrialKey
from leadline.records import Record
from leadline.requests import Response
from leadline.seeds import rng_for

SET = tuple(f"{start}{end}" for start in ("Ada", "Bert", "Cle", "Dor") for end in ("lin", "mar", "nos", "pia", "rik"))
PLACES, QUESTIONS = 40, 2


def record(name: str, answer: str, index: int, variant: str = "default") -> Record:
    key = TrialKey(ItemKey("names", 1, "{}", 1, index), 250, NO_CONTEXT)
    factors = {"group": "1", "book": "b", "depth": index // QUESTIONS, "variant": variant}
    facts = {"name": name, "names": list(SET), "case_sensitive": True}
    return Record(key, None, None, None, 1, factors, ((name,),), facts, Response(answer), "answered")


def checked(records: list[Record]) -> ClosedBook:
    count = ClosedBookCount()
    for one in records:
        count.add(one)
    (found,) = count.result()
    return found


def asked(says: Callable[[str, int], str], seed: int = 1, variant: str = "default") -> ClosedBook:
    """A check of questions two by two about one name; `says` gives the answer by right name and index."""
    names = [SET[rng_for(seed, "closed", place).below(len(SET))] for place in range(PLACES)]
    return checked(
        [
            record(names[index // QUESTIONS], says(names[index // QUESTIONS], index), index, variant)
            for index in range(PLACES * QUESTIONS)
        ]
    )


def test_who_knows_the_names_without_reading_is_above_chance() -> None:
    found = asked(lambda name, index: name)
    assert (found.right, found.n, found.chance) == (80, 80, 5)
    assert found.high == 100
    assert found.low > 85
    assert found.above_chance
    some = asked(lambda name, index: name if index % 8 < 2 else "nobody")
    assert some.right == 20
    assert some.above_chance
    assert some.as_dict()["score"] == 25


def test_who_says_nothing_is_not() -> None:
    found = asked(lambda name, index: "I do not know")
    assert (found.right, found.low, found.p, found.above_chance) == (0, 0, pytest.approx(1), False)
    assert found.high < 10


@pytest.mark.slow
@pytest.mark.parametrize("favourite", [True, False])
def test_guessing_is_seldom_taken_for_knowing(favourite: bool) -> None:
    """A model that always says the same name has both questions of a place right, or neither."""
    found = []
    for seed in range(400):
        guess = rng_for(seed, "guess")
        guesses = [SET[0] if favourite else SET[guess.below(len(SET))] for _ in range(PLACES * QUESTIONS)]
        found.append(asked(lambda name, index: guesses[index], seed))  # noqa: B023
    assert np.mean([one.right / one.n for one in found]) == pytest.approx(0.05, abs=0.008)
    assert np.mean([one.p <= 0.05 for one in found]) <= 0.07
    assert np.mean([one.above_chance for one in found]) <= 0.02
    assert np.mean([one.low <= 5 <= one.high for one in found]) >= 0.93


def test_of_four_choices_a_quarter_is_chance() -> None:
    found = asked(lambda name, index: name if index % 4 == 0 else "nobody", variant="choices")
    assert (found.chance, found.right) == (25, 20)
    assert not found.above_chance


def test_only_the_newest_controls_without_a_text_count() -> None:
    kept = record("Adalin", "Adalin", 0)
    of_run = replace(kept, key=replace(kept.key, wording="default"))
    failed = replace(record("Adamar", "Adamar", 2), response=None, outcome="failed")
    found = checked([record("Adalin", "no", 0), kept, of_run, record("Adamar", "Adamar", 2), failed])
    assert (found.right, found.n) == (1, 1)
    count = ClosedBookCount()
    count.add(of_run)
    assert count.result() == ()

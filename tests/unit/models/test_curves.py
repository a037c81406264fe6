"""Readers that are right with a known probability, and two that are wrong in a known way."""

from __future__ import annotations

import pytest

from leadline.errors import UsageError
from leadline.items import Sample
from leadline.models.curves import chance_at, chance_in_the_middle, places_of, right_of_hundred
from leadline.models.readers import open_reader
from leadline.prompt import request_for
from leadline.sampler import Sampler
from leadline.scoring.matching import clean, recall, strict
from leadline.tasks.registry import RULER_TASKS, make_task
from leadline.tokenizers.base import Tokenizer

LENGTHS = (256, 512, 1024, 2048)


def make(sampler: Sampler, name: str, index: int = 0, length: int = 2048) -> Sample | None:
    task = make_task(name).at_length(length)
    plan = sampler.plan(task, index)
    fit = sampler.fit(task, plan, length)
    return None if fit is None else sampler.sample(task, plan, fit, length)


async def ask(sampler: Sampler, tokenizer: Tokenizer, name: str, sample: Sample, **options: str) -> str:
    response = await open_reader(name, options, tokenizer).answer(request_for(sample, sampler.frame))
    assert response.text is not None
    return clean(response.text)


async def right(sampler: Sampler, tokenizer: Tokenizer, name: str, sample: Sample, **options: str) -> float:
    return recall(await ask(sampler, tokenizer, name, sample, **options), sample.plan.answers)


async def test_an_item_that_the_logistic_has_lost_stays_lost(sampler: Sampler, tokenizer: Tokenizer) -> None:
    lost_at: list[int] = []
    for index in range(200):
        scores = [
            await right(sampler, tokenizer, "logistic", sample, half="512")
            for length in LENGTHS
            if (sample := make(sampler, "niah_single_1", index, length)) is not None
        ]
        assert set(scores) <= {0.0, 1.0}
        assert scores == sorted(scores, reverse=True)
        lost_at.append(scores.count(1.0))
    shares = [sum(count > place for count in lost_at) / 200 for place in range(len(LENGTHS))]
    assert shares == pytest.approx([chance_at(length, 512) for length in LENGTHS], abs=0.11)


async def test_a_greater_half_is_right_wherever_a_lesser_one_is(sampler: Sampler, tokenizer: Tokenizer) -> None:
    won = 0
    for index in range(40):
        sample = make(sampler, "niah_multiquery", index)
        assert sample is not None
        lesser = await right(sampler, tokenizer, "logistic", sample, half="1024")
        greater = await right(sampler, tokenizer, "logistic", sample, half="4096")
        assert lesser <= greater
        won += lesser < greater
    assert won > 0


def test_the_logistic_is_a_half_at_half() -> None:
    assert chance_at(3000, 3000) == 0.5
    assert chance_at(1500, 3000) == pytest.approx(0.8)
    assert chance_at(6000, 3000) == pytest.approx(0.2)


async def test_the_middle_is_lost_and_the_ends_are_found(sampler: Sampler, tokenizer: Tokenizer) -> None:
    for index in range(60):
        sample = make(sampler, "niah_single_1", index)
        assert sample is not None
        (place,) = places_of(sample)
        assert place is not None
        score = await right(sampler, tokenizer, "middle", sample, dip="100")
        if place in {0.0, 1.0}:
            assert score == 1
        if place == 0.5:
            assert score == 0


def test_the_dip_is_deepest_half_way() -> None:
    assert chance_in_the_middle(0, 0.6) == 1
    assert chance_in_the_middle(0.5, 0.6) == pytest.approx(0.4)
    assert chance_in_the_middle(1, 0.6) == pytest.approx(1)


async def test_each_target_of_the_middle_is_found_or_lost_alone(sampler: Sampler, tokenizer: Tokenizer) -> None:
    seen: set[float] = set()
    for index in range(30):
        sample = make(sampler, "niah_multivalue", index)
        assert sample is not None
        told = await ask(sampler, tokenizer, "middle", sample, dip="60")
        assert len(told.split(", ")) == len(sample.plan.answers)
        seen.add(recall(told, sample.plan.answers))
    assert len(seen) > 2


async def test_a_tie_is_exact(sampler: Sampler, tokenizer: Tokenizer) -> None:
    assert [sum(right_of_hundred(index, percent) for index in range(100)) for percent in (1, 50, 85, 100)] == [
        1,
        50,
        85,
        100,
    ]
    scores: list[float] = []
    for index in range(20):
        sample = make(sampler, "niah_single_1", index)
        assert sample is not None
        scores.append(await right(sampler, tokenizer, "tie", sample, at="85"))
    assert sum(scores) == 17


@pytest.mark.parametrize("name", [*RULER_TASKS, "vt_chains_2", "qa_1_no_context"])
async def test_copier_and_neighbour_say_something_that_is_never_right(
    sampler: Sampler, tokenizer: Tokenizer, name: str
) -> None:
    said = 0
    for index in range(4):
        sample = make(sampler, name, index)
        if sample is None:
            continue
        for reader in ("copier", "neighbour"):
            told = await ask(sampler, tokenizer, reader, sample)
            assert recall(told, sample.plan.answers) == strict(told, sample.plan.answers) == 0
            said += bool(told)
    assert said or name.endswith("no_context")


@pytest.mark.parametrize(("name", "option"), [("middle", "dip"), ("tie", "at")])
def test_more_than_all_of_it_is_refused(tokenizer: Tokenizer, name: str, option: str) -> None:
    with pytest.raises(UsageError, match=f"{option}=101"):
        open_reader(name, {option: "101"}, tokenizer)

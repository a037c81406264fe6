"""How much of a NoLiMa run a prefix cache can save, by the forecast and by the texts that are sent."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from leadline.data.loading import load_tokenizer
from leadline.data.sources import Sources
from leadline.prompt import FrameCounter, named_frame
from leadline.run.forecast import forecast
from leadline.run.schedule import Schedule, Trial, lanes
from leadline.sampler import Sampler
from leadline.tasks.base import Task
from leadline.tasks.registry import make_task
from leadline.tokenizers.counting import Counter

LENGTHS = (1_000, 2_000)
AT_MOST = 0.30
"""Share of the prompt tokens that need computing in prefix order."""


@pytest.fixture(scope="module")
def sampler() -> Sampler:
    tokenizer = load_tokenizer("cl100k_base")
    frame = named_frame("base", tokenizer)
    return Sampler(frame, FrameCounter(Counter(tokenizer), frame), Sources(), 42)


@pytest.fixture(scope="module")
def task() -> Task:
    """Our own needles on the grid of 6 depths: 2,400 items at each length."""
    return make_task("nolima_open", {"depths": "6"})


def texts_of(sampler: Sampler, trials: Sequence[Trial]) -> list[str]:
    plans = [sampler.plan(trial.task, trial.key.item.index) for trial in trials]
    return [
        sampler.sample(trial.task, plan, trial.fit, trial.key.length).text
        for trial, plan in zip(trials, plans, strict=True)
    ]


def shared(one: str, other: str) -> int:
    """Characters at the beginning that two texts have in common."""
    shorter = min(len(one), len(other))
    return next((place for place in range(shorter) if one[place] != other[place]), shorter)


def computed(texts: Sequence[str]) -> int:
    """Characters of texts in a row that the text before does not begin with."""
    return sum(len(text) - shared(before, text) for before, text in zip(["", *texts], texts, strict=False))


@pytest.fixture(scope="module")
def first_round(sampler: Sampler, task: Task) -> list[Trial]:
    schedule = Schedule(sampler, [task], LENGTHS, 2_400, (0, 1), True, None, frozenset())
    return next(schedule.rounds()).trials


@pytest.mark.parametrize("count", [1, 8])
def test_three_tenths_of_the_whole_design_need_computing(
    sampler: Sampler, task: Task, first_round: list[Trial], count: int
) -> None:
    made = forecast(sampler, [task], LENGTHS, 2_400, None, count)
    assert made.trials == 4_800
    share = 1 - made.saved_tokens / made.prompt_tokens
    assert 0.2 < share <= AT_MOST
    parts = [texts_of(sampler, lane) for lane in lanes(first_round, count)]
    really = sum(map(computed, parts)) / sum(len(text) for part in parts for text in part)
    assert really <= AT_MOST
    assert share == pytest.approx(really, abs=0.02), "the forecast is what the texts themselves share"


def test_in_a_random_order_hardly_anything_is_shared(sampler: Sampler, first_round: list[Trial]) -> None:
    shuffled = random.Random(1).sample(first_round, len(first_round))
    texts = texts_of(sampler, shuffled)
    assert computed(texts) / sum(map(len, texts)) > 0.93

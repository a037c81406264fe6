"""Rounds, prefix order, lanes, and the check of the sums."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.items import Fit, ItemKey, TrialKey
from leadline.run.schedule import Trial, audit, lanes
from leadline.tasks.base import ROUND_ITEMS
from leadline.tasks.registry import make_task

from .conftest import Bench, MergingTokenizer, make_sampler

TASK = make_task("niah_single_1")


def trial(index: int, tokens: int) -> Trial:
    return Trial(TASK, TrialKey(ItemKey(TASK.name, 1, "{}", 42, index), 1024), Fit(1, tokens), "", 0)


@given(st.lists(st.integers(100, 100_000), max_size=60), st.integers(1, 12))
def test_lanes_are_contiguous_complete_and_balanced(tokens: list[int], count: int) -> None:
    trials = [trial(index, size) for index, size in enumerate(tokens)]
    parts = lanes(trials, count)
    assert [entry for part in parts for entry in part] == trials
    assert len(parts) <= count
    assert all(parts)
    fair = sum(tokens) / count
    for part in parts:
        # A lane ends at the first trial that reaches its share: it is over by less than two trials.
        assert sum(entry.fit.prompt_tokens for entry in part) < fair + 2 * max(tokens)


def test_equal_trials_make_equal_lanes() -> None:
    parts = lanes([trial(index, 1000) for index in range(24)], 4)
    assert [len(part) for part in parts] == [6, 6, 6, 6]


def test_neighbours_share_the_longest_beginning(bench: Bench) -> None:
    made = next(bench.schedule([1024, 2048], 25).rounds())
    assert len({entry.group for entry in made.trials}) == 1
    for before, after in pairwise(made.trials):
        assert before.shared_tokens >= after.shared_tokens


def test_groups_stay_together_and_the_given_order_is_kept_when_asked(bench: Bench) -> None:
    bench.tasks = [make_task("niah_single_1"), make_task("vt"), make_task("niah_multikey_2")]
    in_order = [entry.task.name for entry in next(bench.schedule(samples=3, in_prefix_order=False).rounds()).trials]
    assert in_order == ["niah_single_1"] * 3 + ["vt"] * 3 + ["niah_multikey_2"] * 3
    groups = [entry.group for entry in next(bench.schedule(samples=3).rounds()).trials]
    assert len([1 for before, after in pairwise(groups) if before != after]) == len(set(groups)) - 1


def test_rounds_hold_a_balanced_share_of_every_task_and_length(bench: Bench) -> None:
    bench.tasks = [make_task("niah_single_1"), make_task("vt")]
    rounds = list(bench.schedule([1024, 2048], 2 * ROUND_ITEMS + 3).rounds())
    assert [len(made.trials) for made in rounds] == [100, 100, 12]
    for made in rounds:
        cells = [(entry.task.name, entry.key.length) for entry in made.trials]
        assert len({cells.count(cell) for cell in cells}) == 1


@pytest.mark.parametrize("shards", [1, 3, 4])
def test_shards_divide_the_items(bench: Bench, shards: int) -> None:
    asked = [
        entry.key
        for number in range(shards)
        for made in bench.schedule(samples=10, shard=(number, shards)).rounds()
        for entry in made.trials
    ]
    assert len(asked) == len(set(asked)) == 10


def test_the_estimate_knows_what_is_done(bench: Bench) -> None:
    whole = bench.schedule([1024, 2048], 10)
    trials, tokens = whole.estimate()
    assert trials == 20
    asked = sum(made.prompt_tokens for made in whole.rounds())
    assert 0.9 * tokens < asked <= tokens
    done = frozenset(entry.key for made in bench.schedule([1024], 4).rounds() for entry in made.trials)
    assert bench.schedule([1024, 2048], 10, done=done).estimate()[0] == 16


@pytest.mark.parametrize("name", ["niah_single_1", "niah_multikey_2", "vt"])
def test_a_tokenizer_whose_sums_do_not_add_up_is_counted_whole(name: str) -> None:
    sampler, task = make_sampler(MergingTokenizer()), make_task(name)
    said: list[str] = []
    audit(sampler, [task], [1500, 4096], said.append)
    assert len(said) >= 1
    assert name in said[0] and "whole text" in said[0]
    for length in (1500, 4096):
        for index in range(3):
            plan = sampler.plan(task, index)
            fit = sampler.fit(task, plan, length)
            assert fit is not None
            sample = sampler.sample(task, plan, fit, length)
            assert sampler.counter.whole(sample.text, sample.answer_prefix) == fit.prompt_tokens
            assert fit.prompt_tokens + task.params.output_tokens <= length
            more = sampler.sample(task, plan, Fit(fit.size + 1, 0), length)
            assert sampler.counter.whole(more.text, more.answer_prefix) + task.params.output_tokens > length


def test_a_tokenizer_whose_sums_add_up_is_trusted(bench: Bench) -> None:
    said: list[str] = []
    audit(bench.sampler, [make_task("niah_single_1"), make_task("vt")], [1024, 8192], said.append)
    assert said == []

"""Budgets, nesting and places, over random tasks, lengths and tokenizers."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from leadline.data.loading import load_local_model_path, load_tokenizer
from leadline.data.sources import Sources
from leadline.items import Fit, Sample, SpanKind
from leadline.prompt import FrameCounter, named_frame
from leadline.sampler import Sampler
from leadline.tasks.registry import TASKS, make_task
from leadline.tokenizers.counting import Counter

TOKENIZERS = ["cl100k_base", "o200k_base", "gguf/local"]
NIAH_AND_VT = [name for name, (family, _) in TASKS.items() if family in ("niah", "vt")]
TEMPLATES = {"cl100k_base": "base", "o200k_base": "llama2", "gguf/local": "chatml"}

names = st.sampled_from(NIAH_AND_VT)
lengths = st.integers(600, 20_000)
indices = st.integers(0, 10_000)


@functools.cache
def sampler_of(tokenizer: str) -> Sampler:
    loaded = load_tokenizer(f"gguf/{load_local_model_path()}" if tokenizer == "gguf/local" else tokenizer)
    frame = named_frame(TEMPLATES[tokenizer], loaded)
    return Sampler(frame, FrameCounter(Counter(loaded), frame), Sources(), 42)


def sample_of(sampler: Sampler, name: str, index: int, length: int) -> Sample:
    task = make_task(name)
    plan = sampler.plan(task, index)
    fit = sampler.fit(task, plan, length)
    assert fit is not None
    return sampler.sample(task, plan, fit, length)


def whole(sampler: Sampler, sample: Sample) -> int:
    return sampler.counter.whole(sample.text, sample.answer_prefix)


@settings(max_examples=40, deadline=None)
@given(names, lengths, indices, st.sampled_from(["cl100k_base", "gguf/local"]))
def test_a_prompt_fills_its_budget_and_never_passes_it(name: str, length: int, index: int, tokenizer: str) -> None:
    sampler, task = sampler_of(tokenizer), make_task(name)
    plan = sampler.plan(task, index)
    fit = sampler.fit(task, plan, length)
    if fit is None:
        assert sampler.smallest_length(task, index) > length
        return
    sample = sampler.sample(task, plan, fit, length)
    budget = length - task.params.output_tokens
    assert fit.prompt_tokens == whole(sampler, sample) <= budget
    more = sampler.sample(task, plan, Fit(fit.size + 1, 0), length)
    assert whole(sampler, more) > budget


@settings(max_examples=15, deadline=None)
@given(names, lengths, indices)
def test_the_smallest_length_is_the_smallest(name: str, length: int, index: int) -> None:
    sampler, task = sampler_of("cl100k_base"), make_task(name)
    smallest = sampler.smallest_length(task, index)
    plan = sampler.plan(task, index)
    assert sampler.fit(task, plan, smallest - 1) is None
    fit = sampler.fit(task, plan, smallest)
    assert fit is not None
    assert fit.size == 1


@settings(max_examples=15, deadline=None)
@given(names, lengths, indices)
def test_a_sample_is_made_twice_the_same(name: str, length: int, index: int) -> None:
    length = max(length, 1200)
    sampler = sampler_of("cl100k_base")
    first = sample_of(sampler, name, index, length)
    assert sample_of(sampler, name, index, length) == first
    assert sampler.remake(make_task(name), first.key, first.fit, first.prompt_hash) == first


@settings(max_examples=20, deadline=None)
@given(names, lengths, lengths, indices)
def test_a_longer_sample_holds_the_shorter_one(name: str, one: int, other: int, index: int) -> None:
    sampler = sampler_of("cl100k_base")
    short, long = sorted((max(one, 1200), max(other, 1200)))
    small, large = sample_of(sampler, name, index, short), sample_of(sampler, name, index, long)
    assert small.key.item == large.key.item
    assert small.plan == large.plan
    kinds: tuple[SpanKind, ...] = ("needle", "question", "example")
    for kind in kinds:
        assert small.span_texts(kind) == large.span_texts(kind)
    noise = [" ".join(sample.span_texts("haystack")).split() for sample in (small, large)]
    assert noise[1][: len(noise[0])] == noise[0]
    planted = [
        [line for text in sample.span_texts("distractor") for line in text.split("\n")] for sample in (small, large)
    ]
    rest = iter(planted[1])
    assert all(line in rest for line in planted[0]), "the shorter sample's distractors keep their order"


@pytest.mark.parametrize("name", ["niah_single_1", "niah_single_2"])
def test_needles_stand_everywhere_alike(name: str) -> None:
    """Places of 500 needles: chi-square over the bins at the level of 0.1 %, which the fixed seed passes or not."""
    sampler = sampler_of("cl100k_base")
    task = make_task(name)
    places = np.array([sampler.plan(task, index).facts["needles"][0]["place"] for index in range(500)])
    assert places.min() >= 0
    assert places.max() <= 1
    bins = 40 if name == "niah_single_2" else 20
    spots = np.round(places * 39).astype(int) if name == "niah_single_2" else (places * bins).astype(int)
    counts = np.bincount(spots, minlength=bins)
    assert len(counts) == bins
    expected = 500 / bins
    assert float(((counts - expected) ** 2 / expected).sum()) < chi2.ppf(0.999, bins - 1)


@pytest.mark.parametrize("name", ["niah_single_1", "niah_single_2"])
def test_needles_stand_in_the_text_where_the_plan_says(name: str) -> None:
    sampler = sampler_of("cl100k_base")
    for index in range(20):
        sample = sample_of(sampler, name, index, 4096)
        needle = next(span for span in sample.spans if span.kind == "needle")
        haystack = [span for span in sample.spans if span.kind == "haystack"]
        before = sum(span.end - span.start for span in haystack if span.end <= needle.start)
        share = before / sum(span.end - span.start for span in haystack)
        assert share == pytest.approx(sample.plan.facts["needles"][0]["place"], abs=0.1)  # depth is by sentence


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("name", [name for name in NIAH_AND_VT if name != "niah"])
def test_4096_tokens_are_filled(tokenizer: str, name: str) -> None:
    sampler, task = sampler_of(tokenizer), make_task(name)
    fills: list[float] = []
    for index in range(8):
        sample = sample_of(sampler, name, index, 4096)
        tokens = whole(sampler, sample) + task.params.output_tokens
        assert tokens <= 4096
        fills.append(tokens / 4096)
    assert float(np.mean(fills)) >= 0.98

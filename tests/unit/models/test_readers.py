"""Readers whose true effective length is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leadline.errors import UsageError
from leadline.items import Sample
from leadline.models.base import Backend
from leadline.models.readers import READERS, open_reader
from leadline.models.registry import ModelOptions, open_model
from leadline.prompt import request_for
from leadline.requests import Request, Response
from leadline.sampler import Sampler
from leadline.scoring.matching import recall, strict
from leadline.tasks.registry import make_task
from leadline.tokenizers.base import Tokenizer

TASKS = ["niah_single_1", "niah_multikey_2", "niah_multikey_3", "niah_multiquery", "vt"]


def make(sampler: Sampler, name: str, index: int = 0, length: int = 2048) -> Sample:
    task = make_task(name)
    plan = sampler.plan(task, index)
    fit = sampler.fit(task, plan, length)
    assert fit is not None
    return sampler.sample(task, plan, fit, length)


async def ask(sampler: Sampler, reader: Backend, sample: Sample) -> str:
    response = await reader.answer(request_for(sample, sampler.frame))
    assert response.error is None
    assert response.text is not None
    return response.text


@pytest.mark.parametrize("name", TASKS)
async def test_oracle_is_right_and_empty_and_wrong_are_not(sampler: Sampler, tokenizer: Tokenizer, name: str) -> None:
    for index in range(5):
        sample = make(sampler, name, index)
        answers = sample.plan.answers
        told = await ask(sampler, open_reader("oracle", {}, tokenizer), sample)
        assert recall(told, answers) == strict(told, answers) == 1
        assert await ask(sampler, open_reader("empty", {}, tokenizer), sample) == ""
        wrong = await ask(sampler, open_reader("wrong", {}, tokenizer), sample)
        assert recall(wrong, answers) == 0
        assert len(wrong.split(", ")) == len(answers)
        assert not any(item in sample.text for item in wrong.strip().split(", "))


async def test_echo_gives_the_message_back(sampler: Sampler, tokenizer: Tokenizer) -> None:
    sample = make(sampler, "vt")
    assert await ask(sampler, open_reader("echo", {}, tokenizer), sample) == sample.text


async def test_a_window_sees_the_last_tokens_and_no_others(sampler: Sampler, tokenizer: Tokenizer) -> None:
    seen = 0
    for index in range(20):
        sample = make(sampler, "niah_single_1", index)
        text = sampler.frame.render(sample.text, sample.answer_prefix)
        answer = sample.plan.answers[0][0]
        told = await ask(sampler, open_reader("window", {"tokens": "700"}, tokenizer), sample)
        inside = answer in text[int(tokenizer.offsets(text)[-700]) :]
        assert (answer in told) is inside
        assert inside or told == ""
        seen += inside
    assert 0 < seen < 20


async def test_a_window_as_long_as_the_request_sees_all(sampler: Sampler, tokenizer: Tokenizer) -> None:
    sample = make(sampler, "niah_multiquery")
    told = await ask(sampler, open_reader("window", {"tokens": "2048"}, tokenizer), sample)
    assert recall(told, sample.plan.answers) == 1


async def test_a_limit_counts_the_answer_too(sampler: Sampler, tokenizer: Tokenizer) -> None:
    sample = make(sampler, "niah_single_1")
    whole = sample.fit.prompt_tokens + sample.max_tokens
    assert await ask(sampler, open_reader("limit", {"tokens": str(whole)}, tokenizer), sample)
    assert await ask(sampler, open_reader("limit", {"tokens": str(whole - 1)}, tokenizer), sample) == ""


@pytest.mark.parametrize(
    ("name", "length", "least", "most"),
    [
        ("nolima_open_direct", 2_000, 95, 100),
        ("nolima_open", 2_000, 0, 15),
        ("nolima_open_distractor", 2_000, 0, 15),
        ("niah_single_2", 2048, 95, 100),
        ("niah_multikey_3", 2048, 95, 100),
    ],
)
async def test_a_reader_that_finds_words_finds_direct_needles_alone(
    sampler: Sampler, tokenizer: Tokenizer, name: str, length: int, least: int, most: int
) -> None:
    reader, count = open_reader("literal", {}, tokenizer), 40
    right = 0.0
    for index in range(count):
        sample = make(sampler, name, index, length)
        case = sample.plan.facts.get("case_sensitive") is True
        right += recall(await ask(sampler, reader, sample), sample.plan.answers, case_sensitive=case)
    assert least <= 100 * right / count <= most


async def test_a_literal_reader_sees_the_message_alone(sampler: Sampler, tokenizer: Tokenizer) -> None:
    sample = make(sampler, "niah_single_1")
    blind = replace(sample, plan=replace(sample.plan, answers=(("?",),), facts={}, factors={}), spans=())
    told = await ask(sampler, open_reader("literal", {}, tokenizer), blind)
    assert told.strip() == sample.plan.answers[0][0]
    silent = replace(blind, messages=({"role": "user", "content": "Nothing is said here.\nWho was it?"},))
    assert await ask(sampler, open_reader("literal", {}, tokenizer), silent) == ""


async def test_a_literal_reader_takes_no_small_word_for_a_name(sampler: Sampler, tokenizer: Tokenizer) -> None:
    text = (
        "The ship was out. Before supper, Malik would often play In the Hall of the Mountain King from memory.\n"
        "Which character would often play In the Hall of the Mountain King from memory?"
    )
    sample = replace(make(sampler, "niah_single_1"), messages=({"role": "user", "content": text},))
    assert (await ask(sampler, open_reader("literal", {}, tokenizer), sample)).strip() == "Malik"


async def test_a_reader_answers_twice_the_same(sampler: Sampler, tokenizer: Tokenizer) -> None:
    sample = make(sampler, "vt", 3)
    for name, kind in READERS.items():
        reader = open_reader(name, dict.fromkeys(kind.options, "90"), tokenizer)
        first: Response = await reader.answer(request_for(sample, sampler.frame))
        assert await reader.answer(request_for(sample, sampler.frame)) == first


async def test_a_reader_needs_the_sample(tokenizer: Tokenizer) -> None:
    with pytest.raises(ValueError, match="sample"):
        await open_reader("oracle", {}, tokenizer).answer(Request(10, text="a"))


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("reader/orakel", "'orakel'"),
        ("reader/window", "tokens=N"),
        ("reader/window?tokens=0", "'0'"),
        ("reader/window?tokens=²", "'²'"),
        ("reader/window?tokens=", "''"),
        ("reader/window?tokens=-5", "'-5'"),
        ("reader/window?tokens=5&depth=1", "'depth'"),
        ("reader/oracle?tokens=5", "no options"),
        ("reader/", "'reader/'"),
        ("reader", "'reader'"),
        ("", "''"),
        ("gpt-9", "'gpt-9'"),
    ],
)
def test_a_name_that_cannot_be_opened_is_named(name: str, named: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_model(name, ModelOptions(offline=True))
    assert named in str(caught.value)


def test_a_readers_options_are_part_of_its_name() -> None:
    reader = open_model("reader/window?tokens=0700", ModelOptions(offline=True))
    assert reader.facts().name == "reader/window?tokens=700"

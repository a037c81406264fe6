"""Readers that fail in one way: every wrong trial of theirs is judged as just that."""

from __future__ import annotations

import pytest

from leadline.items import Sample
from leadline.models.failing import FAILING
from leadline.models.readers import open_reader
from leadline.prompt import request_for
from leadline.sampler import Sampler
from leadline.scoring.failures import KINDS, failure_kind
from leadline.scoring.matching import clean, recall
from leadline.scoring.outcomes import judge
from leadline.tasks.registry import RULER_TASKS, make_task
from leadline.tokenizers.base import Tokenizer

SAMPLES = 8
LENGTH = 4096
MADE: dict[str, list[Sample]] = {}
"""Samples by task: made once for all readers."""
NEEDLES = {name for name in RULER_TASKS if name.startswith("niah")}
SEVERAL = {"niah_multivalue", "niah_multiquery", "vt", "cwe", "fwe"}
FAILS_ON = {
    "distractor_value": {"niah_multikey_1", "niah_multikey_2", "niah_multikey_3", "cwe", "fwe", "qa_1", "qa_2"},
    "neighbour": {"niah_multikey_2", "niah_multikey_3", "qa_1", "qa_2"},
    "partial": SEVERAL,
    "duplicated": SEVERAL,
    "copied_context": set(RULER_TASKS),
    "copied_example": {"vt", "cwe"},
    "other_chain": {"vt_chains_2", "vt_chains_5"},
    "empty": set(RULER_TASKS),
    "common_words": {"cwe", "fwe"},
    "not_in_context": set(RULER_TASKS),
    "cut_uuid": {"niah_single_3", "niah_multikey_3"},
    "cut_by_budget": SEVERAL,
}


def made(sampler: Sampler, name: str) -> list[Sample]:
    if name not in MADE:
        task = make_task(name).at_length(LENGTH)
        for index in range(SAMPLES):
            plan = sampler.plan(task, index)
            fit = sampler.fit(task, plan, LENGTH)
            assert fit is not None
            MADE.setdefault(name, []).append(sampler.sample(task, plan, fit, LENGTH))
    return MADE[name]


async def kinds_of(sampler: Sampler, tokenizer: Tokenizer, kind: str, name: str) -> list[tuple[str | None, str]]:
    """Kind and answer of every wrong trial."""
    reader = open_reader(f"fails-{kind.replace('_', '-')}", {}, tokenizer)
    found: list[tuple[str | None, str]] = []
    for sample in made(sampler, name):
        request = request_for(sample, sampler.frame)
        response = await reader.answer(request)
        outcome, _ = judge(
            response,
            expected_prompt_tokens=sample.fit.prompt_tokens,
            exact_tokenizer=True,
            prompt_text=sample.text,
            budget_tokens=request.max_tokens,
            answers=sample.plan.answers,
        )
        judged = failure_kind(sample, response.text, outcome)
        if recall(clean(response.text or ""), sample.plan.answers) == 1:
            assert judged is None
        else:
            found.append((judged, response.text or ""))
    return found


def test_there_is_a_reader_for_each_kind() -> None:
    assert sorted(reader.kind for reader in FAILING) == sorted(KINDS) == sorted(FAILS_ON)


@pytest.mark.parametrize("kind", FAILS_ON)
async def test_every_wrong_trial_is_judged_as_the_readers_kind(
    sampler: Sampler, tokenizer: Tokenizer, kind: str
) -> None:
    for name in FAILS_ON[kind]:
        wrong = await kinds_of(sampler, tokenizer, kind, name)
        assert wrong, f"{kind} never fails on {name}"
        others = [(judged, text) for judged, text in wrong if judged != kind]
        assert not others, f"{kind} on {name}"


@pytest.mark.parametrize("kind", FAILS_ON)
async def test_elsewhere_it_answers_right(sampler: Sampler, tokenizer: Tokenizer, kind: str) -> None:
    for name in set(RULER_TASKS) - FAILS_ON[kind]:
        assert await kinds_of(sampler, tokenizer, kind, name) == [], f"{kind} on {name}"

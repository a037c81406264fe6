"""The contracts of tasks, tokenizers and backends as checks that raise AssertionError with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

from leadline.items import Fit, Sample
from leadline.models.base import Backend
from leadline.records import Record
from leadline.requests import Request, Response
from leadline.sampler import Sampler
from leadline.scoring.trials import score
from leadline.sizing.haystack import is_windowed
from leadline.sizing.request import budget_for
from leadline.tasks.base import BudgetTask, Task
from leadline.tokenizers.base import Tokenizer

TEXTS: tuple[str, ...] = (
    "One of the special magic numbers for wise-infinite is: 6900743.",
    "VAR HAGKA = 22629\nVAR VEQHL = VAR HAGKA\n",
    "1. apple 2. pear 3. apple 4. plum",
    "Document 1:\nThe “quoted” text — with dashes, naïve café, 100 % and €5.\n\nDocument 2:\nMore.",
    "f8b162c8-3031-4ec5-b876-7071b24f346c ... kqzxwv ... kqzxwv",
    "数字は 12345 です。 Привет, мир! 🙂🙃",
    "tabs\tand  two spaces",
)


def check_tokenizer(tokenizer: Tokenizer, texts: Iterable[str] = TEXTS) -> None:
    """A tokenizer's counts, ids and offsets agree with one another, and in-place counts add up."""
    assert tokenizer.id, "a tokenizer has a name"
    assert tokenizer.bos_tokens in (0, 1), "0 or 1 BOS tokens"
    assert tokenizer.count("") == 0, "no text, no tokens"
    for text in texts:
        ids = tokenizer.encode(text)
        assert tokenizer.count(text) == len(ids), f"count and encode disagree on {text!r}"
        offsets = tokenizer.offsets(text)
        assert len(offsets) == len(ids), f"one offset for each token of {text!r}"
        assert offsets[0] == 0, f"the first token of {text!r} begins at 0"
        assert (offsets[1:] >= offsets[:-1]).all(), f"offsets of {text!r} never decrease"
        assert offsets[-1] < len(text), f"the last token of {text!r} begins inside it"
        before, after = "He said:\n", "\nAnd then"
        placed = int(tokenizer.count_in_place([text], before, after)[0])
        expected = tokenizer.count(before + text + after) - tokenizer.count(before + after)
        assert placed == expected, f"in place, {text!r} takes {expected} tokens, not {placed}"


def check_task(task: Task, sampler: Sampler, lengths: Sequence[int], indices: Iterable[int] = range(3)) -> None:
    """A task's samples keep every promise that the engine and the analysis rely on."""
    for index in indices:
        samples: list[Sample] = []
        for length in lengths:
            variant = task.at_length(length)
            plan = sampler.plan(variant, index)
            fit = sampler.fit(variant, plan, length)
            if fit is None:
                assert sampler.smallest_length(variant, index) > length, f"{task.name} at {length} fits, yet has no fit"
                continue
            sample = sampler.sample(variant, plan, fit, length)
            samples.append(sample)
            _check_again(variant, sampler, sample)
            _check_budget(variant, sampler, sample, length)
            _check_answers(variant, sample)
            _check_scores(variant, sample)
        kinds = {sample.key.item.params for sample in samples}
        items = {(str(sample.plan.answers), str(sample.plan.factors)) for sample in samples}
        assert len(items) <= len(kinds), f"{task.name} item {index} is another item at another length"


def _check_again(task: Task, sampler: Sampler, sample: Sample) -> None:
    again = sampler.remake(task, sample.key, sample.fit, sample.prompt_hash)
    assert again == sample, f"{task.name}: the same key and fit make another sample"


def _check_budget(task: Task, sampler: Sampler, sample: Sample, length: int) -> None:
    whole = sampler.counter.whole(sample.text, sample.answer_prefix, sample.turns, sample.system)
    assert whole == sample.fit.prompt_tokens, f"{task.name}: {whole} tokens, counted as {sample.fit.prompt_tokens}"
    if is_windowed(task):
        return
    budget = budget_for(task, length)
    assert whole <= budget, f"{task.name}: {whole} tokens of {budget}"
    _, greatest = cast("BudgetTask", task).sizes(sample.plan, sampler.sources)
    if greatest is None or sample.fit.size < greatest:
        larger = sampler.sample(task, sample.plan, Fit(sample.fit.size + 1, 0), length)
        more = sampler.counter.whole(larger.text, larger.answer_prefix, larger.turns, larger.system)
        assert more > budget, f"{task.name}: one unit more fits too, {more} of {budget} tokens"


def _check_answers(task: Task, sample: Sample) -> None:
    ends = 0
    for span in sample.spans:
        assert ends <= span.start < span.end <= len(sample.text), f"{task.name}: spans overlap or leave the message"
        ends = span.end
    homes = " ".join(sample.span_texts("needle", "gold", "haystack"))
    if not homes:
        return  # a baseline without its context
    for forms in sample.plan.answers:
        if forms[0].lower() in ("yes", "no"):
            continue  # a question of a data set that the text answers without saying so
        assert any(form in homes for form in forms), f"{task.name}: {forms} stands in no span that holds answers"
        if task.answer_unique:
            inside = " ".join(sample.span_texts("needle", "gold")).count(forms[0])
            everywhere = sample.text.lower().count(forms[0].lower())
            assert inside == everywhere > 0, f"{task.name}: {forms[0]} stands {everywhere - inside} times elsewhere"


def _check_scores(task: Task, sample: Sample) -> None:
    right = " " + ", ".join(forms[0] for forms in sample.plan.answers)
    for answer, expected in ((right, 1.0), ("", 0.0)):
        scored = score(Record.of(sample, Response(answer), "answered"))
        assert scored is not None, f"{task.name}: an answer is not scored"
        assert scored.recall == expected, f"{task.name}: {answer!r} scores {scored.recall}, not {expected}"
        assert scored.strict == expected, f"{task.name}: {answer!r} scores {scored.strict} strictly, not {expected}"


async def check_backend(backend: Backend, request: Request) -> Response:
    """A backend describes itself, answers a rendered request the same way twice, and closes twice without harm."""
    abilities = backend.abilities()
    assert abilities.max_concurrency >= 1, "a backend takes at least one request"
    assert abilities.template in ("local", "server"), "somebody renders the chat template"
    facts = backend.facts()
    assert facts.name, "a model has a name"
    check_tokenizer(backend.tokenizer())
    first = await backend.answer(request)
    second = await backend.answer(request)
    assert first.error is None, f"the request failed: {first.error_message}"
    assert replace(first, latency_s=0.0, cached_tokens=None) == replace(second, latency_s=0.0, cached_tokens=None), (
        "greedy answers to one request differ"
    )
    if first.output_tokens is not None:
        assert first.output_tokens <= request.max_tokens, "the answer is longer than it may be"
    await backend.aclose()
    await backend.aclose()
    return first

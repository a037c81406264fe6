"""``leadline sample``: look at what is asked."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from leadline.cli import options as opt
from leadline.data.sources import Sources
from leadline.errors import UsageError
from leadline.items import Sample, SpanKind
from leadline.sampler import Sampler
from leadline.spec import DEFAULT_SUITE, RunSpec, parse_length
from leadline.tasks.base import Task
from leadline.tasks.registry import make_task

app = typer.Typer(add_completion=False, rich_markup_mode=None)

STYLES: dict[SpanKind, str] = {
    "haystack": "dim",
    "needle": "bold green",
    "gold": "bold green",
    "distractor": "yellow",
    "example": "cyan",
    "question": "bold",
}
SHOWN_OF_A_HAYSTACK = 240


@app.command(epilog="Example: leadline sample niah_multikey_1 --length 1k --index 3")
def sample(
    task: Annotated[str, typer.Argument(help="A task's name.", show_default=False)],
    length: Annotated[str, typer.Option(help="Length in tokens.")] = "4k",
    index: Annotated[int, typer.Option(min=0, help="Which item.")] = 0,
    count: Annotated[int | None, typer.Option(min=1, help="Items 0 to N-1 instead, one JSON object a line.")] = None,
    model: Annotated[str | None, typer.Option(help="Use this model's tokenizer and chat template.")] = None,
    seed: opt.Seed = None,
    tokenizer: opt.TokenizerOption = None,
    set_options: opt.SetOption = None,
    protocol: opt.Protocol = None,
    template: opt.Template = None,
    max_tokens: opt.MaxTokens = None,
    offline: opt.Offline = False,
    full: Annotated[bool, typer.Option("--full", help="Show the whole haystack, not its ends.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Show a sample with its needles marked; without --model for the base template and cl100k_base."""
    spec = opt.resolved(
        DEFAULT_SUITE,
        None,
        set_options,
        model=model or "reader/oracle",
        tasks=task,
        lengths=length,
        seed=seed,
        tokenizer=tokenizer,
        protocol=protocol,
        template=template,
        max_tokens=max_tokens,
        offline=offline,
    )
    tokens = parse_length(length, spec.k)
    made = make_task(task, spec.changes(task)).at_length(tokens)
    sampler = asyncio.run(_sampler(spec))
    if count is not None:
        for number in range(count):
            print(json.dumps(_as_dict(made, sampler, number, tokens)))
    elif as_json:
        print(json.dumps(_as_dict(made, sampler, index, tokens)))
    else:
        _show(made, sampler, index, tokens, full)


async def _sampler(spec: RunSpec) -> Sampler:
    from leadline.models.registry import ModelOptions, open_model
    from leadline.run.runner import open_sampler

    backend = open_model(spec.model, ModelOptions(spec.tokenizer, spec.offline))
    try:
        return open_sampler(spec, backend, Sources(offline=spec.offline))
    finally:
        await backend.aclose()


def _make(task: Task, sampler: Sampler, index: int, length: int) -> Sample:
    plan = sampler.plan(task, index)
    fit = sampler.fit(task, plan, length)
    if fit is None:
        smallest = sampler.smallest_length(task, index)
        raise UsageError(
            f"{task.name} item {index} does not fit {length} tokens: its smallest sample takes {smallest}, answer "
            f"included; ask for --length {smallest} or more"
        )
    return sampler.sample(task, plan, fit, length)


def _as_dict(task: Task, sampler: Sampler, index: int, length: int) -> dict[str, Any]:
    sample = _make(task, sampler, index, length)
    prompt = sampler.frame.render(sample.text, sample.answer_prefix, sample.turns)
    return {
        "task": task.name,
        "task_version": task.version,
        "length": length,
        "index": index,
        "seed": sampler.seed,
        "messages": [dict(message) for message in sample.messages],
        "answer_prefix": sample.answer_prefix,
        "prompt": prompt,
        "answers": [list(forms) for forms in sample.plan.answers],
        "spans": [{"kind": span.kind, "start": span.start, "end": span.end} for span in sample.spans],
        "tokens": _tokens(task, sample, length),
        "prompt_sha256": hashlib.sha256(prompt.encode()).hexdigest(),
    }


def _tokens(task: Task, sample: Sample, length: int) -> dict[str, int]:
    return {"prompt": sample.fit.prompt_tokens, "output": task.params.output_tokens, "budget": length}


def _show(task: Task, sampler: Sampler, index: int, length: int, full: bool) -> None:
    sample = _make(task, sampler, index, length)
    text = Text()
    position = 0
    for span in sample.spans:
        text.append(sample.text[position : span.start])
        part = sample.text[span.start : span.end]
        if not full and span.kind in ("haystack", "distractor") and len(part) > 2 * SHOWN_OF_A_HAYSTACK:
            left_out = len(part) - 2 * SHOWN_OF_A_HAYSTACK
            part = f"{part[:SHOWN_OF_A_HAYSTACK]} [... {left_out:,} characters ...] {part[-SHOWN_OF_A_HAYSTACK:]}"
        text.append(part, STYLES[span.kind])
        position = span.end
    text.append(sample.text[position:])
    text.append(sample.answer_prefix, "italic")
    console = Console(soft_wrap=True, highlight=False)
    console.print(text)
    counts = _tokens(task, sample, length)
    answers = ", ".join(" | ".join(forms) for forms in sample.plan.answers)
    console.print(f"\nanswers: {answers}", markup=False)
    console.print(
        f"tokens: {counts['prompt']} prompt + {counts['output']} output of {length} "
        f"({sampler.counter.counter.tokenizer.id}, template {sampler.frame.name}); marks: "
        + ", ".join(dict.fromkeys(span.kind for span in sample.spans)),
        markup=False,
    )

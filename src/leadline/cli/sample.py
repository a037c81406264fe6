"""``leadline sample``: look at what is asked."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from leadline.api import NO_MODEL, Samples, open_samples
from leadline.cli import options as opt
from leadline.items import Sample, SpanKind
from leadline.spec import home_suite
from leadline.visible import visible

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
    sweep: opt.Sweep = None,
    needles: opt.Needles = None,
    haystack: opt.HaystackFolder = None,
    template: opt.Template = None,
    max_tokens: opt.MaxTokens = None,
    base_url: opt.BaseUrl = None,
    endpoint: opt.Endpoint = None,
    api_key_env: opt.ApiKeyEnv = None,
    reasoning_tokens: opt.ReasoningTokens = None,
    timeout_s: opt.TimeoutS = None,
    offline: opt.Offline = False,
    full: Annotated[bool, typer.Option("--full", help="Show the whole haystack, not its ends.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Show a sample with its needles marked; without --model for the base template and cl100k_base."""
    spec = opt.resolved(
        home_suite(task),
        None,
        set_options,
        model=model or NO_MODEL,
        tasks=task,
        lengths=length,
        seed=seed,
        tokenizer=tokenizer,
        protocol=protocol,
        sweep=sweep,
        needles=needles,
        haystack=haystack,
        template=template,
        max_tokens=max_tokens,
        base_url=base_url,
        endpoint=endpoint,
        api_key_env=api_key_env,
        reasoning_tokens=reasoning_tokens,
        timeout_s=timeout_s,
        offline=offline,
    )
    samples = open_samples(spec)
    if count is not None:
        for number in range(count):
            print(json.dumps(_as_dict(samples, number)))
    elif as_json:
        print(json.dumps(_as_dict(samples, index)))
    else:
        _show(samples, index, full)


def _as_dict(samples: Samples, index: int) -> dict[str, Any]:
    sample = samples.make(index)
    prompt = samples.prompt(sample)
    return {
        "task": samples.task.name,
        "task_version": samples.task.version,
        "length": samples.length,
        "index": index,
        "seed": samples.sampler.seed,
        "messages": [dict(message) for message in sample.messages],
        "answer_prefix": sample.answer_prefix,
        "prompt": prompt if samples.sampler.frame.template == "local" else None,
        "answers": [list(forms) for forms in sample.plan.answers],
        "spans": [{"kind": span.kind, "start": span.start, "end": span.end} for span in sample.spans],
        "tokens": _tokens(samples, sample),
        "prompt_sha256": hashlib.sha256(prompt.encode()).hexdigest(),
    }


def _tokens(samples: Samples, sample: Sample) -> dict[str, int]:
    output = samples.task.params.output_tokens
    return {"prompt": sample.fit.prompt_tokens, "output": output, "budget": samples.length}


def _show(samples: Samples, index: int, full: bool) -> None:
    sample = samples.make(index)
    text = Text()
    position = 0
    for span in sample.spans:
        text.append(visible(sample.text[position : span.start]))
        part = sample.text[span.start : span.end]
        if not full and span.kind in ("haystack", "distractor") and len(part) > 2 * SHOWN_OF_A_HAYSTACK:
            left_out = len(part) - 2 * SHOWN_OF_A_HAYSTACK
            part = f"{part[:SHOWN_OF_A_HAYSTACK]} [... {left_out:,} characters ...] {part[-SHOWN_OF_A_HAYSTACK:]}"
        text.append(visible(part), STYLES[span.kind])
        position = span.end
    text.append(visible(sample.text[position:]))
    text.append(visible(sample.answer_prefix), "italic")
    console = Console(soft_wrap=True, highlight=False)
    console.print(text)
    counts = _tokens(samples, sample)
    answers = ", ".join(" | ".join(forms) for forms in sample.plan.answers)
    console.print(f"\nanswers: {visible(answers)}", markup=False)
    console.print(
        f"tokens: {counts['prompt']} prompt + {counts['output']} output of {counts['budget']} "
        f"({samples.sampler.counter.counter.tokenizer.id}, template {samples.sampler.frame.name}); marks: "
        + ", ".join(dict.fromkeys(span.kind for span in sample.spans)),
        markup=False,
    )

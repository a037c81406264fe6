"""``leadline doctor``: what a model's endpoint is, what it truly accepts, and what will go wrong."""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
from typing import TYPE_CHECKING, Annotated

import typer

from leadline.cli import options as opt
from leadline.visible import visible

if TYPE_CHECKING:
    from leadline.run.examination.findings import Examination

app = typer.Typer(add_completion=False, rich_markup_mode=None)

PROBLEM_FOUND = 1
INDENT = " " * 25
WIDTH = 120


@app.command(epilog="Example: leadline doctor --model openai/NAME --base-url http://localhost:8000/v1")
def doctor(
    model: opt.Model = None,
    base_url: opt.BaseUrl = None,
    endpoint: opt.Endpoint = None,
    api_key_env: opt.ApiKeyEnv = None,
    tokenizer: opt.TokenizerOption = None,
    template: opt.Template = None,
    reasoning_tokens: opt.ReasoningTokens = None,
    concurrency: opt.Concurrency = None,
    timeout_s: opt.TimeoutS = None,
    offline: opt.Offline = False,
    max_length: Annotated[
        str | None,
        typer.Option(help="Longest request to try, for example 16k.", show_default="the context it claims, else 32k"),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Examine a model's endpoint with a few requests; exits with 1 where a problem is found."""
    from leadline.run.examination import examine
    from leadline.values import parse_length

    spec = opt.resolved(
        None,
        None,
        None,
        model=model,
        base_url=base_url,
        endpoint=endpoint,
        api_key_env=api_key_env,
        tokenizer=tokenizer,
        template=template,
        reasoning_tokens=reasoning_tokens,
        concurrency=concurrency,
        timeout_s=timeout_s,
        offline=offline,
    )
    longest = None if max_length is None else parse_length(max_length, spec.k)
    examined = asyncio.run(examine(spec, longest, _say))
    if as_json:
        print(json.dumps(examined.as_dict()))
    else:
        _print(examined)
    raise typer.Exit(PROBLEM_FOUND if examined.problems else 0)


def _say(check: str) -> None:
    """What is looked at now, where somebody may be waiting."""
    if sys.stderr.isatty():
        print(f"looking at: {check}", file=sys.stderr)


def _print(examined: Examination) -> None:
    print(visible(examined.model))
    for finding in examined.findings:
        head = f"{finding.severity:<9}{finding.check:<16}"
        print(textwrap.fill(visible(finding.what), WIDTH, initial_indent=head, subsequent_indent=INDENT))
        if finding.remedy is not None:
            remedy = visible(finding.remedy)
            print(textwrap.fill(remedy, WIDTH, initial_indent=f"{INDENT}-> ", subsequent_indent=f"{INDENT}   "))
    spent, problems = examined.spent, examined.problems
    found = "no problem" if not problems else "1 problem" if problems == 1 else f"{problems} problems"
    print(
        f"{found}; {spent.calls} calls, {spent.prompt_tokens:,} prompt tokens, {spent.output_tokens:,} answer tokens, "
        f"{spent.seconds:.1f} s"
    )

"""``leadline plan``: what a run would take, asking nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from leadline.cli import options as opt
from leadline.cli.results import load_run
from leadline.cli.tables import print_table
from leadline.data.sources import Sources
from leadline.errors import UsageError
from leadline.run.certain import bundles_of, target_of
from leadline.run.closed_book import closed_book_controls
from leadline.run.controls import controls_of
from leadline.run.forecast import CellForecast, Forecast, forecast
from leadline.run.prices import PAID, price_of_run
from leadline.run.saving import StoppingForecast, stopping_forecast
from leadline.spec import RunSpec

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog="Example: leadline plan ruler --model reader/oracle --lengths 4k,32k")
def plan(
    suite: opt.Suite = None,
    model: opt.Model = None,
    tasks: opt.Tasks = None,
    lengths: opt.Lengths = None,
    samples: opt.Samples = None,
    seed: opt.Seed = None,
    tokenizer: opt.TokenizerOption = None,
    set_options: opt.SetOption = None,
    protocol: opt.Protocol = None,
    variant: opt.Variant = None,
    sweep: opt.Sweep = None,
    needles: opt.Needles = None,
    haystack: opt.HaystackFolder = None,
    closed_book: opt.ClosedBook = None,
    template: opt.Template = None,
    max_tokens: opt.MaxTokens = None,
    base_url: opt.BaseUrl = None,
    endpoint: opt.Endpoint = None,
    api_key_env: opt.ApiKeyEnv = None,
    reasoning_tokens: opt.ReasoningTokens = None,
    timeout_s: opt.TimeoutS = None,
    concurrency: opt.Concurrency = None,
    price: opt.Price = None,
    stop: opt.Stop = None,
    no_control: opt.NoControl = False,
    claim: opt.Claim = None,
    confidence: opt.Confidence = None,
    margin: opt.Margin = None,
    earlier: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="A run's folder: the forecast of --stop certain is for a model that scores as in it.",
            show_default="the papers' models",
        ),
    ] = None,
    threshold: opt.Threshold = None,
    exhaust: opt.Exhaust = None,
    offline: opt.Offline = False,
    spec_file: opt.SpecFile = None,
    as_json: opt.Json = False,
) -> None:
    """Count trials and tokens, tokens that a prefix cache can save, and what does not fit where."""
    spec = opt.resolved(
        suite,
        spec_file,
        set_options,
        model=model,
        tasks=tasks,
        lengths=lengths,
        samples=samples,
        seed=seed,
        tokenizer=tokenizer,
        protocol=protocol,
        variant=variant,
        sweep=sweep,
        needles=needles,
        haystack=haystack,
        closed_book=closed_book,
        template=template,
        max_tokens=max_tokens,
        base_url=base_url,
        endpoint=endpoint,
        api_key_env=api_key_env,
        reasoning_tokens=reasoning_tokens,
        timeout_s=timeout_s,
        concurrency=concurrency,
        price=price,
        stop=stop,
        no_control=no_control,
        claim=claim,
        confidence=confidence,
        margin=margin,
        threshold=threshold,
        exhaust=exhaust,
        offline=offline,
    )
    if earlier is not None and spec.stop != "certain":
        raise UsageError(f"--from {earlier} is for the forecast of --stop certain: give that too, or leave it out")
    pilot = None if earlier is None else load_run(earlier).summary
    made, bundles = asyncio.run(_forecast(spec))
    stopping = stopping_forecast(spec, made, bundles, pilot) if spec.stop == "certain" else None
    if as_json:
        told = {} if stopping is None else {"stopping": stopping.as_dict()}
        print(json.dumps({**made.as_dict(), **_priced(made, spec), **told}))
        return
    _show(made, spec)
    if stopping is not None:
        print(
            f"with --stop certain probably about {stopping.prompt_tokens:,} prompt tokens ({stopping.share:.0%}), "
            f"if it scores as {stopping.source}: {_shares(stopping, spec)}"
        )


def _shares(stopping: StoppingForecast, spec: RunSpec) -> str:
    from leadline.analysis.verdict import format_length

    return ", ".join(f"{share:.0%} at {format_length(length, spec.k)}" for length, share in stopping.shares.items())


async def _forecast(spec: RunSpec) -> tuple[Forecast, dict[str, tuple[int, ...]]]:
    """The full protocol, and which neighbours share a text."""
    from leadline.models.registry import ModelOptions, open_model
    from leadline.run.framing import check_lengths, open_sampler

    if spec.stop == "certain":
        target_of(spec)
    backend = open_model(spec.model, ModelOptions.of(spec, asking=False))
    try:
        abilities = backend.abilities()
        tasks = spec.make_tasks()
        sampler = open_sampler(spec, backend, Sources(offline=spec.offline))
        check_lengths(spec, tasks, sampler)
        lanes = min(spec.concurrency or abilities.max_concurrency, abilities.max_concurrency)
        beside = controls_of(spec, tasks), closed_book_controls(spec, tasks, sampler.sources)
        made = forecast(sampler, tasks, spec.lengths, spec.samples, abilities.context_tokens, lanes, *beside)
        return made, bundles_of(spec, sampler.sources)
    finally:
        await backend.aclose()


def _show(made: Forecast, spec: RunSpec) -> None:
    from leadline.analysis.verdict import format_length

    table = Table(title=f"prompt tokens of {spec.samples} samples", title_justify="left", box=None, pad_edge=False)
    table.add_column("task")
    for length in spec.lengths:
        table.add_column(format_length(length, spec.k), justify="right")
    for task in spec.tasks:
        table.add_row(task, *(_figure(cell) for cell in made.cells if cell.task == task))
    print_table(table)
    share = made.saved_tokens / made.prompt_tokens if made.prompt_tokens else 0.0
    print(f"trials: {made.trials:,}")
    print(f"prompt tokens: {made.prompt_tokens:,}; at most {made.output_tokens:,} output tokens")
    _show_beside(made.controls, "are controls beside the lengths; --no-control leaves them out")
    _show_beside(made.closed_book, "are questions without a text (--closed-book)")
    _show_price(made, spec)
    print(f"a prefix cache can save {made.saved_tokens:,} prompt tokens ({share:.0%})")
    if any(cell.absent for cell in made.cells):
        print("absent: an item does not fit this length, so the cell is left out")
    if any(cell.beyond for cell in made.cells):
        print("too long: beyond the model's context; scores 0")
    for note in dict.fromkeys(note for cell in made.cells for note in cell.notes):
        print(f"* {note}")


def _show_beside(cells: Sequence[CellForecast], what: str) -> None:
    if cells:
        trials, tokens = sum(cell.trials for cell in cells), sum(cell.prompt_tokens for cell in cells)
        print(f"of these {trials:,} trials and {tokens:,} prompt tokens {what}")


def _output_tokens(made: Forecast, spec: RunSpec) -> int:
    """Output tokens at most, reasoning included."""
    return made.output_tokens + made.trials * spec.reasoning_tokens


def _priced(made: Forecast, spec: RunSpec) -> dict[str, Any]:
    price = price_of_run(spec)
    if price is None:
        return {"price": None, "cost_usd": None}
    return {"price": price.as_dict(), "cost_usd": price.cost_usd(made.prompt_tokens, _output_tokens(made, spec))}


def _show_price(made: Forecast, spec: RunSpec) -> None:
    price = price_of_run(spec)
    if price is not None:
        cost_usd = price.cost_usd(made.prompt_tokens, _output_tokens(made, spec))
        print(
            f"price: at most ${cost_usd:,.2f}, nothing cached (${price.prompt_usd:g} and ${price.output_usd:g} per "
            f"million prompt and output tokens; {price.source})"
        )
    elif spec.model.partition("/")[0] in PAID:
        print(f"price: not known for {spec.model}: give --price IN,OUT")


def _figure(cell: CellForecast) -> str:
    if cell.absent:
        return "absent"
    if cell.beyond:
        return "too long"
    return f"{cell.prompt_tokens:,}" + ("*" if cell.notes else "")

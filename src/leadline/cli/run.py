"""``leadline run``: measure."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from typing import Annotated

import typer

from leadline.api import Run
from leadline.cli import options as opt
from leadline.cli.progress import ConsoleProgress
from leadline.cli.results import load_run, print_run

app = typer.Typer(add_completion=False, rich_markup_mode=None)

CONDITION_NOT_MET = 1
TRIALS_FAILED = 3


@app.command(epilog="Example: leadline run quick --model local --samples 2 --lengths 1k,2k")
def run(
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
    label: opt.Label = None,
    trained_length: opt.TrainedLength = None,
    order: opt.Order = None,
    concurrency: opt.Concurrency = None,
    limit_tokens: opt.LimitTokens = None,
    limit_cost: opt.LimitCost = None,
    price: opt.Price = None,
    reasoning_markers: opt.ReasoningMarkers = None,
    shard: opt.Shard = None,
    stop: opt.Stop = None,
    no_control: opt.NoControl = False,
    claim: opt.Claim = None,
    confidence: opt.Confidence = None,
    margin: opt.Margin = None,
    out: opt.Out = None,
    exhaust: opt.Exhaust = None,
    offline: opt.Offline = False,
    skip_damaged: opt.SkipDamaged = False,
    threshold: opt.Threshold = None,
    weights: opt.Weights = None,
    spec_file: opt.SpecFile = None,
    fail_under: Annotated[
        str | None, typer.Option(help="Exit with 1 where the effective length is below this one, for example 4k.")
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Ask a suite of a model, print the table, write the report; a run that is there already goes on."""
    from leadline.report.tally import Tally
    from leadline.run.prices import Bill, price_of_run
    from leadline.run.runner import run as measure
    from leadline.values import parse_length

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
        label=label,
        trained_length=trained_length,
        order=order,
        concurrency=concurrency,
        limit_tokens=limit_tokens,
        limit_cost=limit_cost,
        price=price,
        reasoning_markers=reasoning_markers,
        shard=shard,
        stop=stop,
        no_control=no_control,
        claim=claim,
        confidence=confidence,
        margin=margin,
        out=out,
        exhaust=exhaust,
        offline=offline,
        skip_damaged=skip_damaged,
        threshold=threshold,
        weights=weights,
    )
    wanted = None if fail_under is None else parse_length(fail_under, spec.k)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    tally = Tally(Bill(price_of_run(spec)), at_most=spec.stop == "certain", k=spec.k)
    with ConsoleProgress(tally) as progress:
        try:
            ended = asyncio.run(measure(spec, progress))
        except KeyboardInterrupt:
            progress.say("interrupted: every answer so far is kept; start the same command again to go on")
            raise
    done = load_run(ended.folder, skip_damaged=spec.skip_damaged)
    done.write()
    if as_json:
        print(json.dumps(done.summary.as_dict()))
    else:
        print_run(done)
    raise typer.Exit(_exit_code(done, wanted))


def _exit_code(run: Run, wanted: int | None) -> int:
    if wanted is not None:
        lengths = run.summary.effective_length
        claimed = lengths.absolute if lengths.absolute.no_claim is None else lengths.relative
        if (claimed.value or 0) < wanted:
            print(f"leadline: the effective length is below {wanted} tokens (--fail-under)", file=sys.stderr)
            return CONDITION_NOT_MET
    failed = sum(cell.outcomes.get("failed", 0) for cell in run.summary.cells)
    if failed:
        print(f"leadline: {failed} trials failed; start the same command again to ask them again", file=sys.stderr)
        return TRIALS_FAILED
    return 0

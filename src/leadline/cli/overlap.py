"""``leadline overlap``: how many of a question's words stand in the text that answers it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from leadline.analysis.overlap import OverlapRow, overlap_row, published_rows, published_source
from leadline.api import NO_MODEL, open_samples
from leadline.cli import options as opt
from leadline.cli.tables import print_table
from leadline.items import Sample
from leadline.spec import RunSpec
from leadline.tasks.base import Task
from leadline.tasks.nolima import Nolima

if TYPE_CHECKING:
    from leadline.sampler import Sampler

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog="Example: leadline overlap ruler nolima-open")
def overlap(
    suites: Annotated[list[str], typer.Argument(metavar="SUITE...", help="Suites to look at.", show_default=False)],
    samples: Annotated[int, typer.Option(min=1, help="Samples of each task.")] = 200,
    tasks: opt.Tasks = None,
    variant: opt.Variant = None,
    needles: opt.Needles = None,
    haystack: opt.HaystackFolder = None,
    seed: opt.Seed = None,
    offline: opt.Offline = False,
    as_json: opt.Json = False,
) -> None:
    """ROUGE precision of a suite's questions against the text that answers them, beside the article's rows."""
    rows: list[OverlapRow] = []
    for suite in dict.fromkeys(suites):
        spec = opt.resolved(
            suite,
            None,
            None,
            model=NO_MODEL,
            tasks=tasks,
            variant=variant,
            needles=needles,
            haystack=haystack,
            seed=seed,
            offline=offline,
        )
        rows += _rows(spec, samples)
    rows += published_rows()
    if as_json:
        print(json.dumps([row.as_dict() for row in rows]))
    else:
        _show(rows)


def _rows(spec: RunSpec, samples: int) -> list[OverlapRow]:
    sampler = open_samples(spec).sampler
    return [
        overlap_row(
            spec.suite,
            task.name,
            [
                (" ".join(sample.span_texts("question")), sample.span_texts("needle", "gold"))
                for sample in _samples(sampler, task, spec.lengths, samples)
            ],
        )
        for task in spec.make_tasks()
    ]


def _samples(sampler: Sampler, task: Task, lengths: Sequence[int], count: int) -> Iterator[Sample]:
    """The first samples of a task, each at the shortest length that it fits: what is compared is the same at all."""
    if isinstance(task, Nolima):
        # Whole runs over the pairs, so that each weighs the same.
        pairs = len(sampler.sources.needles(task.params.needles, task.params.variant).pairs)
        count = min(max(count // pairs * pairs, min(count, pairs)), task.items(sampler.sources))
    for index in range(count):
        for length in lengths:
            variant = task.at_length(length)
            plan = sampler.plan(variant, index)
            fit = sampler.fit(variant, plan, length)
            if fit is not None:
                yield sampler.sample(variant, plan, fit, length)
                break


def _show(rows: Sequence[OverlapRow]) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("suite", "task"):
        table.add_column(column)
    for column in ("n", "ROUGE-1", "ROUGE-2", "ROUGE-L", "from the published"):
        table.add_column(column, justify="right")
    for row in rows:
        distance: float | None = row.as_dict()["distance"]
        near = "" if distance is None else f"{distance:.3f} ({row.counterpart})"
        n = "" if row.n is None else str(row.n)
        table.add_row(row.suite, row.task, n, *(_figure(figure) for figure in row.figures), near)
    print_table(table)
    print("precision of the question's words, word pairs and longest common order, stemmed, stop words counted")
    print(f"published: {published_source()}")
    if any(row.n == 0 for row in rows):
        print("-: no stretch of the text answers the question")


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"

"""Readers that end at a number of tokens: the tool must find their length in every suite, whatever its measure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from leadline.analysis.verdict import format_effective, format_length
from leadline.calibration.checks import Check, equal
from leadline.calibration.measuring import Bench, Measured
from leadline.items import Counts
from leadline.spec import RunSpec, resolve

LENGTHS_OF: Mapping[Counts, int] = {"request": 3, "haystack": 5, "units": 3}
"""How many of a suite's lengths are asked: NoLiMa's base takes three by itself."""

SHORT_LENGTHS = (1024, 2048, 4096)
"""Asked instead of lengths of 4K and more, where the request is what counts: a limit is found the same way at any."""

HAYSTACK_SAMPLES = 80
"""Samples of a suite that counts the haystack: its base score needs every pair at each base length."""

NEEDLES = "retrieval"
"""Category of the tasks whose answers stand in the text as they are."""

Sizes = Mapping[tuple[str, int], Sequence[int]]
"""Tokens of each request, its answer's budget included, by task and length."""


def suite_checks(bench: Bench, suite: str, samples: int) -> Iterator[Check]:
    """Oracle, limit and, where requests are counted, window through one suite.

    The oracle's requests tell how long each is, so that what a limit of so many tokens must score is known exactly.
    """
    spec = resolve(suite, {})
    counts = spec.make_tasks()[0].counts
    lengths = _lengths(spec, counts)
    options: dict[str, Any] = {"lengths": lengths, "samples": HAYSTACK_SAMPLES if counts == "haystack" else samples}
    where = f"{suite} at {', '.join(format_length(length, spec.k) for length in lengths)}"
    oracle = bench.measure(suite, "oracle", **options)
    scores = [cell.score for cell in oracle.run.summary.cells if cell.score is not None]
    yield equal("suites", "oracle", where, "lowest score of a cell", true=100.0, found=min(scores), n=_trials(oracle))
    sizes = _sizes(oracle)
    limits = [lengths[-2]] if counts == "request" else [_greatest(sizes, lengths[-2])]
    if counts == "haystack":
        limits.append(_smallest(sizes, lengths[-2]) - 1)
    for limit in limits:
        yield from _limit_checks(bench.measure(suite, f"limit?tokens={limit}", **options), sizes, limit, where)
    if counts == "request":
        window = bench.measure(suite, f"window?tokens={limits[0]}", **options)
        yield from _window_checks(window, limits[0], where)


def _lengths(spec: RunSpec, counts: Counts) -> tuple[int, ...]:
    if counts == "request" and spec.lengths[0] > SHORT_LENGTHS[0]:
        return SHORT_LENGTHS
    return spec.lengths[: LENGTHS_OF[counts]] if counts != "request" else spec.lengths[-LENGTHS_OF[counts] :]


def _sizes(measured: Measured) -> Sizes:
    sizes: dict[tuple[str, int], list[int]] = defaultdict(list)
    tasks = {task.name: task for task in measured.spec.make_tasks()}
    for record in measured.run.records:
        name, length = record.key.item.task, record.key.length
        if record.prompt_tokens is not None:
            sizes[name, length].append(record.prompt_tokens + tasks[name].at_length(length).params.output_tokens)
    return sizes


def _greatest(sizes: Sizes, length: int) -> int:
    return max(max(of_cell) for (_, at), of_cell in sizes.items() if at == length)


def _smallest(sizes: Sizes, length: int) -> int:
    return min(min(of_cell) for (_, at), of_cell in sizes.items() if at == length)


def _limit_checks(measured: Measured, sizes: Sizes, limit: int, where: str) -> Iterator[Check]:
    """Every score, and the effective length, by counting requests that are within the limit."""
    summary, design, reader = measured.run.summary, measured.run.design, f"limit?tokens={limit}"
    kept = [task.name for task in design.tasks if task.name not in summary.left_out_tasks]
    true = [math.fsum(_share(sizes[task, length], limit) for task in kept) / len(kept) for length in summary.lengths]
    found = [score.score or 0.0 for score in summary.by_length]
    n = _trials(measured)
    yield equal("suites", reader, where, "scores", true=_listed(true), found=_listed(found), n=n)
    own = 100.0 if design.base is not None else true[0]
    asked = (design.share or 0.0) * own - 1e-9
    passing = [
        length
        for length, score in zip(summary.lengths, true, strict=True)
        if length >= design.shortest and score >= asked
    ]
    greatest = passing[-1] if passing else None
    label = f"<{format_length(design.shortest, design.k)}" if greatest is None else format_length(greatest, design.k)
    label = f">{label}" if greatest == summary.lengths[-1] else label
    effective = format_effective(summary.effective_length.relative, design.shortest, design.k)
    yield equal("effective length", reader, where, "effective length", true=label, found=effective, n=n)


def _window_checks(measured: Measured, tokens: int, where: str) -> Iterator[Check]:
    """A window of a tested length: everything up to it is seen whole, and too little of what is twice as long.

    Needles are looked at alone: the answer to a question may stand nowhere (yes, no), and then the window has none.
    """
    summary, design = measured.run.summary, measured.run.design
    needles = {task.name for task in design.tasks if task.category == NEEDLES}
    cells = [cell for cell in summary.cells if cell.task in needles and cell.length <= tokens]
    seen = [cell.score for cell in cells if cell.score is not None]
    reader, n = f"window?tokens={tokens}", _trials(measured)
    if seen:
        yield equal("suites", reader, where, "lowest needle score up to it", true=100.0, found=min(seen), n=n)
    effective = format_effective(summary.effective_length.relative, design.shortest, design.k)
    true = format_length(tokens, design.k)
    yield equal("effective length", reader, where, "effective length", true=true, found=effective, n=n)


def _share(sizes: Sequence[int], limit: int) -> float:
    return 100 * sum(size <= limit for size in sizes) / len(sizes)


def _listed(scores: Sequence[float]) -> str:
    return " / ".join(f"{score:.1f}" for score in scores)


def _trials(measured: Measured) -> int:
    return sum(cell.n for cell in measured.run.summary.cells)

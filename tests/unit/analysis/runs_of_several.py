"""Runs made by hand, to stand beside one another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from leadline.analysis.base_score import BaseRule
from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.several import RunOfSeveral
from leadline.analysis.summary import summarise
from leadline.analysis.verdict import verdict
from leadline.items import ItemKey, TrialKey
from leadline.records import Record
from leadline.requests import Response

SAMPLES = 40
RULER = {4096: 40, 8192: 40, 16384: 40}
NOLIMA = {250: 40, 500: 40, 1000: 40, 2000: 40, 4000: 40, 8000: 40}


def run_of(
    right: Mapping[int, int],
    model: str = "a-model",
    *,
    suite: str = "ruler",
    protocol: str = "published",
    tasks: tuple[str, ...] = ("niah", "vt"),
    threshold: float | None = 85.6,
    threshold_name: str | None = None,
    label: str | None = None,
    claimed: int | None = None,
    variants: Mapping[str, str] | None = None,
    folder: str | None = None,
    changed: tuple[str, ...] = (),
) -> RunOfSeveral:
    """A run with so many right answers of forty at each length, by each task."""
    base = suite.startswith("nolima")
    names = (suite.replace("-", "_"),) if base else tasks
    design = Design(
        suite=suite,
        model=model,
        protocol=protocol,
        lengths=tuple(sorted(right)),
        tasks=tuple(TaskDesign(name, name, binary=True) for name in names),
        samples=SAMPLES,
        k=1000 if base else 1024,
        threshold_absolute=None if base else threshold,
        threshold_name=threshold_name,
        claims_tasks=() if base else names,
        base=BaseRule(0.85, (250, 500, 1000)) if base else None,
    )
    summary = summarise(
        [_record(name, length, index, right) for name in names for length in right for index in range(SAMPLES)], design
    )
    return RunOfSeveral(
        folder=Path(folder or f"runs/{model}/{suite}-{protocol}-{label}"),
        summary=summary,
        design=design,
        verdict=verdict(summary, design),
        label=label,
        variants=dict(variants) if variants is not None else dict.fromkeys(names, "1"),
        claimed_tokens=claimed,
        changed=changed,
    )


def _record(task: str, length: int, index: int, right: Mapping[int, int]) -> Record:
    text = "yes" if index < right[length] else "no"
    key = TrialKey(ItemKey(task, 1, "{}", 42, index), length)
    factors = {"pair": f"p{index % 2}", "depth": float(index)}
    return Record(key, None, None, None, length, factors, (("yes",),), {}, Response(text), "answered")

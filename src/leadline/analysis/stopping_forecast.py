"""What stopping will probably cost, from models whose scores are known.

Each model's items are drawn at random with its tasks' means, a score being the share of the task's targets that were
found, and the rule is let loose on them. The published models are RULER's 17 aligned ones with the means of their
categories (tables 13 to 16; they give table 3's scores to 0.1); an earlier run's own means do as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from leadline.analysis.stopping import Decision, StopRule
from leadline.analysis.stopping_evidence import Floats
from leadline.analysis.stopping_joint import Claim, EffectiveRule
from leadline.reference.tables import AGGREGATION, QA, RETRIEVAL, THIRTEEN, TRACING, read_table

TaskMeans = Mapping[str, float]
"""A model's mean at one length, 0 to 1, by task."""

TARGETS: Mapping[str, int] = {"niah_multivalue": 4, "niah_multiquery": 4, "vt": 5, "cwe": 10, "fwe": 3}
"""Wanted parts of an answer, of the thirteen tasks that want more than one."""

_CATEGORIES = {"niah": RETRIEVAL, "vt": TRACING, "aggregation": AGGREGATION, "qa": QA}
_OTHER_LABELS = {"Gemini-1.5-Pro": "Gemini-1.5"}
"""Labels of table 3 that the tables of the categories write otherwise."""

_FIRST_LOOK = 48
"""Most lengths are decided by then, so that the rest need not be computed for them."""


def printed_means() -> dict[str, dict[int, TaskMeans]]:
    """The published models' means by length and task, without the lengths at which all are 0."""
    of_task = {
        task: {row.model: row.scores for row in read_table(table).rows}
        for table, tasks in _CATEGORIES.items()
        for task in tasks
    }
    models: dict[str, dict[int, TaskMeans]] = {}
    for row in read_table("ruler").rows:
        label = _OTHER_LABELS.get(row.model, row.model)
        cells = {
            length: {task: (of_task[task][label][length] or 0.0) / 100 for task in THIRTEEN} for length in row.scores
        }
        models[row.model] = {length: means for length, means in cells.items() if any(means.values())}
    return models


def draw_items(
    draws: np.random.Generator, means: TaskMeans, runs: int, items: int, targets: Mapping[str, int] = TARGETS
) -> Floats:
    """Scores of made-up items in the order in which they are asked, shape (runs, items, tasks)."""
    parts = np.array([targets.get(task, 1) for task in means])
    return draws.binomial(parts, np.array(list(means.values())), (runs, items, len(means))) / parts


def decide_many(rule: StopRule, scores: Floats) -> list[Decision]:
    """What the rule says of each of many runs of which every item is known.

    Args:
        rule: its tasks all have the same number of items.
        scores: shape (runs, items, tasks).
    """
    decisions: dict[int, Decision] = {}
    everything = range(len(scores))
    for rounds in (min(_FIRST_LOOK, rule.rounds), rule.rounds):
        left = [run for run in everything if run not in decisions]
        if not left:
            break
        asked = scores[left, :rounds]
        times = rule.look_times(asked, asked)
        for place, run in enumerate(left):
            time, verdict, passes = times.first(place)
            if time < rule.rounds and time < times.never:
                mean = float(scores[run, :time].mean())
                decisions[run] = Decision(verdict, passes, time, rule.rounds, (mean, mean))
            elif rounds == rule.rounds:
                mean = float(scores[run].mean())
                passes = mean >= rule.threshold - 1e-9
                decisions[run] = Decision("exhausted", passes, rounds, rounds, (mean, mean))
    return [decisions[run] for run in everything]


def settle_many(
    joint: EffectiveRule, decisions: Mapping[int, Sequence[Decision]], run: int
) -> tuple[dict[int, Decision], tuple[int, ...], bool]:
    """One run's claim of the effective length, asked from the greatest length down.

    Lengths without decisions are known to fail: the model refuses them.

    Returns:
        The decisions that it took, the lengths that are possible, and whether none passing is possible too.
    """
    known = {
        length: Decision("below", False, 0, 1, (0.0, 0.0))
        for length in joint.lengths
        if length not in decisions and length != joint.given
    }
    claim = joint.settle(known)
    while not claim.settled:
        known |= {length: decisions[length][run] for length in claim.ask}
        claim = joint.settle(known)
    return known, claim.possible, claim.below


def nearest(measured: Mapping[int, TaskMeans], length: int) -> TaskMeans:
    """A model's means at a length; where it was not measured there, at the nearest one (by ratio)."""
    return measured[min(measured, key=lambda other: abs(math.log(other / length)))]


def expected_shares(
    lengths: Sequence[int],
    items: int | Mapping[int, int],
    threshold: float | Mapping[str, float],
    margin: float | None = None,
    confidence: float = 0.95,
    claim: Claim = "lengths",
    models: Mapping[str, Mapping[int, TaskMeans]] | None = None,
    runs: int = 2,
    seed: int = 1,
    targets: Mapping[str, int] = TARGETS,
    given: int | None = None,
) -> dict[int, float]:
    """The share of the full protocol's rounds that each length will take, on average over models and runs.

    Args:
        lengths: in tokens, ascending.
        items: of each task, at every length or by length.
        threshold: 0 to 1, of every model or by model.
        margin: 0 to 1, or None.
        confidence: of the claim.
        claim: what is claimed.
        models: means by model, length and task; None for the published ones. Tasks may be any strata.
        runs: of each model.
        seed: of the made-up items.
        targets: parts of an item's answer that are right or wrong each for itself, by task; 1 where it is not told.
        given: a length that passes by definition, and is asked as far as the one of the others that takes longest.
    """
    draws = np.random.default_rng(seed)
    joint = EffectiveRule(tuple(lengths), confidence, given)
    shares: dict[int, list[float]] = {length: [] for length in lengths}
    for name, measured in (printed_means() if models is None else models).items():
        asked = threshold if isinstance(threshold, float | int) else threshold[name]
        decisions: dict[int, list[Decision]] = {}
        for length in (length for length in lengths if length != given):
            means = nearest(measured, length)
            of = items if isinstance(items, int) else items[length]
            errors = joint.errors(length) if claim == "effective" else (1 - confidence, 1 - confidence)
            rule = StopRule(dict.fromkeys(means, of), asked, margin, *errors)
            decisions[length] = decide_many(rule, draw_items(draws, means, runs, of, targets))
        for run in range(runs):
            known = {length: decided[run] for length, decided in decisions.items()}
            if claim == "effective":
                known = settle_many(joint, decisions, run)[0]
            taken = {length: decision.rounds / decision.of for length, decision in known.items()}
            if given is not None:
                taken[given] = max(taken.values(), default=0.0)
            for length in lengths:
                shares[length].append(taken.get(length, 0.0))
    return {length: math.fsum(found) / len(found) for length, found in shares.items()}

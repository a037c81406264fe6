"""What ``--stop certain`` means for a run: against which threshold, in which order, and what a folder's records say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from leadline.analysis.design import Design, Metric
from leadline.analysis.stopped import RuleName, StoppedLength, StoppedRun
from leadline.analysis.stopping import Decision
from leadline.analysis.thresholds import RULER_THRESHOLDS
from leadline.errors import UsageError
from leadline.records import Record
from leadline.run.schedule import Cell
from leadline.run.stopping import Scores, StopDriver, Stratum
from leadline.spec import RunSpec
from leadline.tasks.registry import RULER_TASKS, make_task
from leadline.values import parse_markers

_GREATEST_LOT = 8
_LOTS = 50
"""Rounds that are asked together at most, and lots of a whole run at least: greater lots save little time and cost
trials."""

Items = Mapping[Cell, int]
"""How many items there are of each task and length."""


@dataclass(frozen=True, slots=True)
class Target:
    """What each length is judged against.

    Attributes:
        rule: by the suite's score, or by a share of the score at the shortest length.
        threshold: 0 to 1; None for a share.
        share: of the score at the shortest length.
    """

    rule: RuleName
    threshold: float | None
    share: float


def target_of(spec: RunSpec) -> Target:
    """The threshold that a run stops by: the suite's where all its tasks are asked, else a share of its own score.

    Raises:
        UsageError: the run has no such threshold, or none that a stop rule can test.
    """
    rule = spec.verdict
    if rule.base_times is not None or any(make_task(name, {}).counts == "haystack" for name in spec.tasks):
        raise UsageError(
            f"--stop certain is for suites whose lengths count the whole request, and {spec.suite} counts the "
            "haystack: leave it out, or run ruler"
        )
    asked = rule.threshold
    share = rule.relative or 0.0
    if isinstance(asked, str) and set(RULER_TASKS) <= set(spec.tasks):
        return Target("absolute", RULER_THRESHOLDS[asked].score / 100, share)
    if asked is not None and not isinstance(asked, str):
        return Target("absolute", asked / 100, share)
    if rule.relative is None:
        raise UsageError("--stop certain needs a threshold to be certain of: give one with --threshold")
    if len(spec.lengths) == 1:
        raise UsageError(
            "--stop certain with one length has nothing to compare it with: give more --lengths, or a --threshold"
        )
    return Target("relative", None, share)


def driver_of(spec: RunSpec, items: Items, concurrency: int = 1) -> StopDriver:
    """What decides which rounds a run asks.

    Args:
        spec: of the run.
        items: of each of its tasks and lengths.
        concurrency: requests in flight, which a lot of rounds is to keep busy. Changes no decision.

    Raises:
        UsageError: see `target_of`.
    """
    target = target_of(spec)
    orders = {
        (task, count): Stratum.of_task(spec.seed, task, count)
        for task in spec.tasks
        for count in {items[task, length] for length in spec.lengths}
    }
    return StopDriver(
        strata={length: [orders[task, items[task, length]] for task in spec.tasks] for length in spec.lengths},
        threshold=target.threshold,
        confidence=spec.confidence,
        margin=spec.margin / 100 or None,
        share=target.share,
        reference=min(spec.lengths) if target.threshold is None else None,
        lot=min(_GREATEST_LOT, -(-concurrency // len(spec.tasks)), max(1, spec.samples // _LOTS)),
    )


@dataclass(frozen=True, slots=True)
class Asking:
    """A run's trials as its rule files them, and the lots that it asks next."""

    driver: StopDriver
    scores: Scores
    items: Items

    @classmethod
    def of(cls, spec: RunSpec, items: Items, closed: Collection[Cell], concurrency: int = 1) -> Asking:
        """Nothing filed yet; `closed` is the set that the run keeps up to date."""
        metrics: dict[str, Metric] = dict.fromkeys(spec.tasks, "recall")
        scores = Scores(metrics, closed=closed, reasoning_markers=parse_markers(spec.reasoning_markers))
        return cls(driver_of(spec, items, concurrency), scores, items)

    def file(self, record: Record) -> None:
        """File a record, unless it is a control, or of another task, length or item than the run asks."""
        item = record.key.item
        if not record.key.is_control and item.index < self.items.get((item.task, record.key.length), 0):
            self.scores.add(record)

    def lots(self) -> Iterator[dict[Cell, list[int]]]:
        """Indices to ask next, by task and length, until all is settled; each lot is filed before the next is taken."""
        while asked := self.driver.ask(self.scores):
            lot: dict[Cell, list[int]] = defaultdict(list)
            for length, rounds in asked.items():
                for number in rounds:
                    for task, indices in self.driver.items(length, number, self.scores).items():
                        lot[task, length] += indices
            yield dict(lot)


def check_same_design(asked: Mapping[str, Mapping[str, int]], items: Items) -> None:
    """Refuse to stop a run by part of what was once asked for in its folder: its figures are over all of it.

    Raises:
        UsageError: more was asked for before.
    """
    for task, samples in asked.items():
        for length, count in samples.items():
            if count > items.get((task, int(length)), 0):
                raise UsageError(
                    f"--stop certain: this run was asked for more before ({count} samples of {task} at {length} "
                    "tokens): ask for all its tasks, lengths and samples, or give another --label"
                )


def with_decisions(design: Design, manifest: Mapping[str, Any], records: Iterable[Record]) -> Design:
    """The design with what the stop rule says of these records; as it is where the run has none."""
    spec = RunSpec.model_validate(manifest["spec"])
    if spec.stop != "certain":
        return design
    items = {(task, length): design.samples_of(task, length) for task in spec.tasks for length in spec.lengths}
    asking = Asking.of(spec, items, frozenset())
    tokens: dict[Cell, dict[int, int]] = defaultdict(dict)
    scored: dict[int, set[tuple[str, int]]] = defaultdict(set)
    for record in records:
        if record.key.is_control:
            continue
        item, length = record.key.item, record.key.length
        asking.file(record)
        if (item.task, length) in items and record.prompt_tokens is not None and record.response is not None:
            tokens[item.task, length][item.index] = record.prompt_tokens
            scored[length].add((item.task, item.index))
    lengths = _lengths(asking)
    counted = {
        cell: indices
        for length, stopped in lengths.items()
        if stopped.early
        for cell, indices in _counted(asking, length, stopped.used).items()
    }
    late = {
        length: sum((task, length) in counted and index not in counted[task, length] for task, index in trials)
        for length, trials in scored.items()
    }
    run = StoppedRun(
        rule=target_of(spec).rule,
        confidence=spec.confidence,
        margin=spec.margin or None,
        lengths={length: replace(stopped, late=late.get(length, 0)) for length, stopped in lengths.items()},
        counted=counted,
        asked_tokens=sum(sum(of_item.values()) for of_item in tokens.values()),
        protocol_tokens=round(
            sum(sum(of_item.values()) / len(of_item) * items[cell] for cell, of_item in tokens.items())
        ),
    )
    early = frozenset(length for length, stopped in lengths.items() if stopped.early)
    return replace(design, stopped=run, stopped_lengths=early)


def _lengths(asking: Asking) -> dict[int, StoppedLength]:
    driver, scores = asking.driver, asking.scores
    decisions = driver.decide(scores)
    lengths = {length: _of_decision(decision) for length, decision in decisions.items()}
    reference = driver.reference
    if reference is not None and decisions:
        # It keeps all of its own score by definition, and counts as far as the last of the others needs it.
        of = max(decision.of for decision in decisions.values())
        settled = not any(decision.open for decision in decisions.values())
        furthest = max(decision.rounds for decision in decisions.values())
        used = furthest if settled else driver.completed(reference, scores)
        verdict = "exhausted" if used >= of else "above" if settled else "open"
        lengths[reference] = StoppedLength(used, of, verdict, True if settled or used >= of else None)
    return dict(sorted(lengths.items()))


def _of_decision(decision: Decision) -> StoppedLength:
    return StoppedLength(decision.rounds, decision.of, decision.verdict, decision.passes)


def _counted(asking: Asking, length: int, used: int) -> dict[Cell, frozenset[int]]:
    counted: dict[Cell, set[int]] = defaultdict(set)
    for number in range(used):
        for task, indices in asking.driver.items(length, number, asking.scores).items():
            counted[task, length].update(indices)
    return {cell: frozenset(indices) for cell, indices in counted.items()}

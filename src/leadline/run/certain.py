"""What ``--stop certain`` means for a run: against which threshold its lengths are judged, and what it asks next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from leadline.analysis.base_score import BaseRule
from leadline.analysis.design import Metric
from leadline.analysis.stopped import RuleName
from leadline.analysis.thresholds import RULER_THRESHOLDS
from leadline.errors import UsageError
from leadline.records import Record
from leadline.run.base_first import BaseTrials
from leadline.run.schedule import Cell
from leadline.run.stopping import Scores, StopDriver, Stratum
from leadline.spec import RunSpec
from leadline.tasks.base import Sources
from leadline.tasks.registry import RULER_TASKS, make_task
from leadline.values import parse_markers

_GREATEST_LOT = 8
_LOTS = 50
"""Rounds that are asked together at most, and lots of a whole run at least: greater lots save little time and cost
trials."""

Items = Mapping[Cell, int]
"""How many items there are of each task and length."""

Bundles = Mapping[str, Sequence[int]]
"""Of each task whose neighbouring items share a text: how many do."""


@dataclass(frozen=True, slots=True)
class Target:
    """What each length is judged against.

    Attributes:
        rule: by the suite's score, or by a share of the score at the shortest length.
        threshold: 0 to 1; None for a share.
        share: of the score at the shortest length, or of the base score.
        base: how the base score is taken, where the share is of one.
    """

    rule: RuleName
    threshold: float | None
    share: float
    base: BaseRule | None = None


def target_of(spec: RunSpec) -> Target:
    """The threshold that a run stops by: the suite's where all its tasks are asked, else a share of its own score.

    Raises:
        UsageError: the run has no such threshold, or none that a stop rule can test.
    """
    rule = spec.verdict
    share = rule.relative or 0.0
    if rule.base_times is not None:
        return _base_target(spec, rule.base_times)
    if any(make_task(name, {}).counts == "haystack" for name in spec.tasks):
        raise UsageError(
            f"--stop certain: {spec.suite} counts the haystack's tokens and its verdict has no base score: give "
            "base_times in the spec's verdict, or leave --stop certain out"
        )
    asked = rule.threshold
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


def _base_target(spec: RunSpec, share: float) -> Target:
    """A share of the base score, for a run that asks one test at all base lengths and beyond them."""
    base = BaseRule(share, spec.verdict.base_lengths)
    if spec.verdict.threshold is not None:
        raise UsageError(
            f"--stop certain judges {spec.suite} by {share:.0%} of its base score: leave --threshold out, and give it "
            "to  leadline report  afterwards"
        )
    if len(spec.tasks) > 1:
        raise UsageError(
            f"--stop certain is certain of one verdict, and {len(spec.tasks)} tests with a base score each were asked "
            f"for ({', '.join(spec.tasks)}): give one --variant, and run the others after it with another --label"
        )
    missing = ",".join(str(length) for length in base.lengths if length not in spec.lengths)
    if missing:
        raise UsageError(f"--stop certain asks the base lengths in full, and {missing} is missing: add it to --lengths")
    if not judged_lengths(spec.lengths, base):
        raise UsageError(
            f"--stop certain asks everything up to {max(base.lengths)} tokens: give a greater length to stop at"
        )
    return Target("relative", None, share, base)


def judged_lengths(lengths: Iterable[int], base: BaseRule | None) -> list[int]:
    """The lengths that a stop rule judges: all, or those beyond what the base score is taken from."""
    return [length for length in lengths if base is None or (length >= base.shortest and length not in base.lengths)]


@dataclass(frozen=True, slots=True)
class Asking:
    """A run's trials as its rule files them, and the lots that it asks next.

    Attributes:
        bundles: of the tasks whose neighbouring items share a text.
        base: what is known at the base lengths, where there are any.
        concurrency: requests in flight, which a lot of rounds is to keep busy. Changes no decision.
    """

    spec: RunSpec
    target: Target
    items: Items
    bundles: Bundles
    scores: Scores
    base: BaseTrials | None
    concurrency: int

    @classmethod
    def of(
        cls,
        spec: RunSpec,
        items: Items,
        closed: Collection[Cell],
        concurrency: int = 1,
        bundles: Bundles | None = None,
    ) -> Asking:
        """Nothing filed yet; `closed` is the set that the run keeps up to date.

        Raises:
            UsageError: see `target_of`.
        """
        target, bundles = target_of(spec), bundles or {}
        metrics: dict[str, Metric] = dict.fromkeys(spec.tasks, "recall")
        scores = Scores(metrics, closed=closed, reasoning_markers=parse_markers(spec.reasoning_markers))
        base = None
        if target.base is not None:
            (task,) = spec.tasks
            counts = {length: items[task, length] for length in target.base.lengths}
            base = BaseTrials(target.base, task, counts, sum(bundles.get(task, (1,))))
        return cls(spec, target, items, bundles, scores, base, concurrency)

    @property
    def judged(self) -> list[int]:
        """The lengths that a stop rule judges."""
        return judged_lengths(self.spec.lengths, self.target.base)

    @property
    def in_full(self) -> list[int]:
        """The lengths that are asked in full before those that are judged."""
        return [length for length in self.spec.lengths if length not in self.judged]

    def file(self, record: Record) -> None:
        """File a record, unless it is a control, or of another task, length or item than the run asks."""
        item = record.key.item
        if not record.key.is_control and item.index < self.items.get((item.task, record.key.length), 0):
            self.scores.add(record)
            if self.base is not None:
                self.base.file(record)

    def driver(self) -> StopDriver | None:
        """What decides which rounds to ask; None where the base score is not known yet, or 0."""
        spec, threshold, slack = self.spec, self.target.threshold, 0.0
        if self.base is not None:
            ends = self.base.ends(self.scores)
            if ends is None or not ends[1]:
                return None
            threshold, slack = self.target.share * ends[0], self.target.share * (ends[1] - ends[0])
        strata = {length: self._strata(length) for length in self.judged}
        rounds, trials = (max(map(figure, strata.values())) for figure in (_rounds_of, _trials_of))
        return StopDriver(
            strata=strata,
            threshold=threshold,
            confidence=spec.confidence,
            margin=spec.margin / 100 or None,
            claim=spec.claim,
            share=self.target.share,
            reference=min(spec.lengths) if threshold is None else None,
            lot=min(_GREATEST_LOT, -(-self.concurrency // trials), max(1, rounds // _LOTS)),
            slack=slack,
        )

    def lots(self) -> Iterator[dict[Cell, list[int]]]:
        """Indices to ask next, by task and length, until all is settled; each lot is filed before the next is taken.

        The lengths that are asked in full must have been.
        """
        driver = self.driver()
        while driver is not None and (asked := driver.ask(self.scores)):
            lot: dict[Cell, list[int]] = defaultdict(list)
            for length, rounds in asked.items():
                for number in rounds:
                    for task, indices in driver.items(length, number, self.scores).items():
                        lot[task, length] += indices
            yield dict(lot)

    def _strata(self, length: int) -> list[Stratum]:
        return [
            stratum
            for task in self.spec.tasks
            for stratum in Stratum.of_task(self.spec.seed, task, self.items[task, length], self.bundles.get(task, (1,)))
        ]


def _rounds_of(strata: Sequence[Stratum]) -> int:
    return max(len(stratum.groups) for stratum in strata)


def _trials_of(strata: Sequence[Stratum]) -> int:
    """Trials of the first round."""
    return sum(len(stratum.groups[0]) for stratum in strata)


def bundles_of(spec: RunSpec, sources: Sources) -> dict[str, tuple[int, ...]]:
    """Of the tasks whose neighbouring items share a text, how many do."""
    found = {task.name: task.bundles(spec.seed, sources) for task in spec.make_tasks()}
    return {name: bundles for name, bundles in found.items() if bundles != (1,)}


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

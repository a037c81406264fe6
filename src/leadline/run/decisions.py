"""What a stop rule says of a run, from its records alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from leadline.analysis.design import Design
from leadline.analysis.stopped import LengthVerdict, StoppedLength, StoppedRun
from leadline.analysis.stopping import Bounds, StopRule
from leadline.analysis.stopping_joint import EffectiveDecision
from leadline.records import Record
from leadline.run.certain import Asking, Items
from leadline.run.schedule import Cell
from leadline.run.stopping import StopDriver
from leadline.spec import RunSpec

Counted = dict[Cell, frozenset[int]]


def with_decisions(design: Design, manifest: Mapping[str, Any], records: Iterable[Record]) -> Design:
    """The design with what the stop rule says of these records; as it is where the run has none."""
    spec = RunSpec.model_validate(manifest["spec"])
    if spec.stop != "certain":
        return design
    items = {(task, length): design.samples_of(task, length) for task in spec.tasks for length in spec.lengths}
    asking = Asking.of(spec, items, frozenset(), bundles=manifest.get("bundles"))
    taken = _Taken(items)
    for record in records:
        if not record.key.is_control:
            asking.file(record)
            taken.add(record)
    driver = asking.driver()
    told = _Told(asking)
    effective = None
    if driver is not None:
        effective = told.judge(driver)
    told.rest(driver)
    early = {length: stopped for length, stopped in told.lengths.items() if stopped.early}
    counted = {cell: indices for cell, indices in told.counted.items() if cell[1] in early}
    lengths = {
        length: replace(stopped, late=taken.late(length, counted)) for length, stopped in sorted(told.lengths.items())
    }
    run = StoppedRun(
        rule=asking.target.rule,
        claim=spec.claim,
        confidence=spec.confidence,
        margin=spec.margin or None,
        lengths=lengths,
        counted=counted,
        asked_tokens=taken.asked,
        protocol_tokens=taken.of_protocol,
        references=_references(asking, driver),
        effective=effective if spec.claim == "effective" else None,
    )
    return replace(design, stopped=run, stopped_lengths=frozenset(early))


def _references(asking: Asking, driver: StopDriver | None) -> frozenset[int]:
    """The lengths that the others are compared with."""
    if asking.base is not None:
        return frozenset(asking.base.items)
    return frozenset() if driver is None or driver.reference is None else frozenset({driver.reference})


@dataclass(frozen=True, slots=True)
class _Told:
    """What is said of each length, and the items that it rests on."""

    asking: Asking
    lengths: dict[int, StoppedLength] = field(default_factory=dict[int, StoppedLength])
    counted: Counted = field(default_factory=Counted)

    def judge(self, driver: StopDriver) -> EffectiveDecision:
        """The lengths that the rule judges, and the effective lengths that they leave possible."""
        scores, decisions = self.asking.scores, driver.decide(self.asking.scores)
        effective = driver.effective(decisions)
        for length, decision in decisions.items():
            unneeded = driver.claim == "effective" and effective.settled and decision.open
            verdict: LengthVerdict = "unneeded" if unneeded else decision.verdict
            self._tell(driver, length, 0 if unneeded else decision.rounds, verdict, decision.passes)
        reference = driver.reference
        if reference is not None and decisions:
            # It keeps all of its own score by definition, and counts as far as the last of the others needs it.
            needed = [decision for length, decision in decisions.items() if self.lengths[length].verdict != "unneeded"]
            settled = not any(decision.open for decision in needed)
            furthest = max((decision.rounds for decision in needed), default=0)
            used = furthest if settled else driver.completed(reference, scores)
            self._tell(driver, reference, used, "above" if settled else "open", True if settled else None)
            if self.lengths[reference].used >= self.lengths[reference].of:
                self.lengths[reference] = replace(self.lengths[reference], verdict="exhausted", passes=True)
        return self._with_base(driver, effective)

    def rest(self, driver: StopDriver | None) -> None:
        """The lengths that are asked in full, and those of which nothing can be said yet."""
        for length in self.asking.spec.lengths:
            if length not in self.lengths:
                known = sum(len(self.asking.scores.known.get(cell, ())) for cell in self._cells(length)[:1])
                mean = self._mean(length)
                passes = None if driver is None or mean is None else _rule(driver).passes(mean)
                full = mean is not None and length in self.asking.in_full
                self.lengths[length] = StoppedLength(known, self._of(length), "exhausted" if full else "open", passes)

    def _tell(self, driver: StopDriver, length: int, rounds: int, verdict: LengthVerdict, passes: bool | None) -> None:
        counted: dict[Cell, set[int]] = defaultdict(set)
        for number in range(rounds):
            for task, indices in driver.items(length, number, self.asking.scores).items():
                counted[task, length].update(indices)
        self.counted.update({cell: frozenset(counted[cell]) for cell in self._cells(length)})
        used = max(map(len, counted.values()), default=0)
        self.lengths[length] = StoppedLength(used, self._of(length), verdict, passes)

    def _with_base(self, driver: StopDriver, effective: EffectiveDecision) -> EffectiveDecision:
        """The claim with the base lengths that can be effective: they were asked in full, so that they are certain."""
        base = self.asking.target.base
        if base is None or not effective.below:
            return effective
        possible, below = list(effective.possible), True
        for length in sorted((length for length in base.lengths if length >= base.shortest), reverse=True):
            mean = self._mean(length)
            passes = None if mean is None else _rule(driver).passes(mean)
            if passes is not False:
                possible.insert(0, length)
            if passes:
                below = False
                break
        return replace(effective, possible=tuple(possible), below=below)

    def _mean(self, length: int) -> Bounds | None:
        """Of all items of a length that is asked in full, both ends; None while some are to be asked."""
        means = [
            self.asking.scores.of_group(task, length, range(self.asking.items[task, length]))
            for task, _ in self._cells(length)
        ]
        known = [mean for mean in means if mean is not None]
        if not known or len(known) < len(means):
            return None
        return fmean(low for low, _ in known), fmean(high for _, high in known)

    def _of(self, length: int) -> int:
        return max((self.asking.items[cell] for cell in self._cells(length)), default=0)

    def _cells(self, length: int) -> list[Cell]:
        absent = self.asking.scores.absent
        return [(task, length) for task in self.asking.spec.tasks if task not in absent]


def _rule(driver: StopDriver) -> StopRule:
    """The threshold alone, for lengths of which nothing is left to ask."""
    return StopRule({"all": 1}, driver.threshold or 0.0, slack=driver.slack)


@dataclass(frozen=True, slots=True)
class _Taken:
    """Prompt tokens of a run's trials, each counted once, and what the full protocol would take."""

    items: Items
    tokens: dict[Cell, dict[int, int]] = field(default_factory=lambda: defaultdict[Cell, dict[int, int]](dict))

    def add(self, record: Record) -> None:
        """Note a trial that was asked."""
        cell = record.key.item.task, record.key.length
        if cell in self.items and record.prompt_tokens is not None and record.response is not None:
            self.tokens[cell][record.key.item.index] = record.prompt_tokens

    def late(self, length: int, counted: Counted) -> int:
        """Answers at a length that no figure counts."""
        return sum(
            index not in counted[cell]
            for cell, trials in self.tokens.items()
            if cell[1] == length and cell in counted
            for index in trials
        )

    @property
    def asked(self) -> int:
        """Tokens that were asked."""
        return sum(sum(trials.values()) for trials in self.tokens.values())

    @property
    def of_protocol(self) -> int:
        """About how many the full protocol takes: a cell's mean is its own, or that of its task's nearest length."""
        means = {cell: fmean(trials.values()) for cell, trials in self.tokens.items() if trials}
        total = 0.0
        for (task, length), count in self.items.items():
            nearest = min(
                (other for name, other in means if name == task), key=lambda other: abs(other - length), default=None
            )
            if nearest is not None:
                total += count * means[task, nearest] * (length / nearest)
        return round(total)

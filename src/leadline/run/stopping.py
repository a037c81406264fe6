"""Which lengths a run that stops when it is certain must ask on, from its records alone.

Nothing here remembers how the records came: scores are filed by task, length and index, the completed rounds are read
off in the order of asking, and the rule decides. A run that was killed and goes on, or that has other requests in
flight, comes to the same decisions. Answers of rounds beyond the one that decided are kept and left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from leadline.analysis.design import Metric
from leadline.analysis.stopping import UNKNOWN, Bounds, Decision, Round, StopRule
from leadline.analysis.stopping_joint import Claim, EffectiveDecision, EffectiveRule
from leadline.analysis.stopping_relative import paired, relative_rule
from leadline.records import ASK_AGAIN, Record
from leadline.scoring.matching import THINK, ReasoningMarkers
from leadline.scoring.policy import POLICY
from leadline.scoring.trials import score
from leadline.seeds import rng_for

ZERO: Bounds = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Stratum:
    """Items in the order in which they are asked.

    Attributes:
        name: a task's, or of a part of one that has an order of its own.
        task: the task's name.
        groups: indices; what is asked in one round is one group, whose score is the mean over its items. All groups of
            a stratum hold equally many items.
        weight: of the stratum in a length's score, in any unit.
    """

    name: str
    task: str
    groups: tuple[tuple[int, ...], ...]
    weight: float = 1.0

    @classmethod
    def of_task(cls, seed: int, task: str, items: int, bundles: Sequence[int] = (1,)) -> list[Stratum]:
        """A task's strata, which weigh 1 together: for each place in its pattern of bundles, the bundles there.

        Args:
            seed: of the run.
            task: its name.
            items: how many it has.
            bundles: see `leadline.tasks.base.Task.bundles`. A bundle that the last item cuts is a stratum of its own.
        """
        groups: dict[tuple[int, int], list[range]] = defaultdict(list)
        ends = list(accumulate(bundles))
        for start in range(0, items, ends[-1]):
            for place, (size, end) in enumerate(zip(bundles, ends, strict=True)):
                group = range(start + end - size, min(start + end, items))
                if group:
                    groups[place, len(group)].append(group)
        return [
            cls.shuffled(seed, _name(task, place, size, bundles), task, of_place, size * len(of_place) / items)
            for (place, size), of_place in groups.items()
        ]

    @classmethod
    def shuffled(cls, seed: int, name: str, task: str, groups: Iterable[Sequence[int]], weight: float = 1.0) -> Stratum:
        """The groups in the stratum's own random order: the same at every length, independent of other strata's.

        Items that share a text (NoLiMa: all questions of a needle, at one depth of one book) are a group, and stay
        neighbours; each needle is a stratum that weighs as many as it has questions. Larger groups would share more
        and be decided later: a group is one observation, whose evidence is bounded however many items it holds.

        Raises:
            ValueError: groups of different sizes, or none.
        """
        listed = [tuple(group) for group in groups]
        if len({len(group) for group in listed}) != 1 or not listed[0]:
            raise ValueError(f"{name}: the groups of a stratum must hold equally many items")
        order = rng_for(seed, "asking order", name).order(len(listed))
        return cls(name, task, tuple(listed[place] for place in order), weight)


def _name(task: str, place: int, size: int, bundles: Sequence[int]) -> str:
    if len(bundles) == 1:
        return task
    return f"{task}:{place}" if size == bundles[place] else f"{task}:{place}:{size}"


@dataclass(slots=True)
class Scores:
    """What is known of every trial.

    Attributes:
        metrics: which score is a task's, by task.
        closed: cells of which nothing more is asked, as the schedule keeps them: what was not asked is unknown.
        reasoning_markers: what encloses a model's reasoning.
        known: by (task, length), the score of each index.
        refused: cells of which a trial was refused as too long: trials that were not asked score 0.
        absent: tasks that have a length which an item does not fit.
    """

    metrics: Mapping[str, Metric]
    closed: Collection[tuple[str, int]] = ()
    reasoning_markers: ReasoningMarkers = THINK
    known: dict[tuple[str, int], dict[int, Bounds]] = field(
        default_factory=lambda: defaultdict[tuple[str, int], dict[int, Bounds]](dict)
    )
    refused: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    absent: set[str] = field(default_factory=set[str])

    def add(self, record: Record) -> None:
        """File a record; the last one of a trial counts."""
        item, length = record.key.item, record.key.length
        if POLICY[record.outcome] == "absent":
            self.absent.add(item.task)
            return
        if record.outcome == "over_length":
            self.refused.add((item.task, length))
        scored = score(record, self.reasoning_markers)
        value = None if scored is None else getattr(scored, self.metrics[item.task])
        self.known[item.task, length][item.index] = UNKNOWN if value is None else (value, value)

    def add_earlier(self, records: Iterable[Record]) -> None:
        """File the records of earlier runs, without those that are asked again."""
        for record in records:
            if record.outcome not in ASK_AGAIN:
                self.add(record)

    def of_group(self, task: str, length: int, group: Sequence[int]) -> Bounds | None:
        """The mean over a group; None where a trial is still to be asked."""
        cell = (task, length)
        known = self.known.get(cell, {})
        unasked = ZERO if cell in self.refused else UNKNOWN if cell in self.closed else None
        ends = [known.get(index, unasked) for index in group]
        done = [end for end in ends if end is not None]
        if len(done) < len(ends):
            return None
        if len(done) == 1:
            return done[0]
        return float(np.mean([low for low, _ in done])), float(np.mean([high for _, high in done]))


@dataclass(frozen=True, slots=True)
class StopDriver:
    """A run's stopping: which rounds of which lengths to ask next.

    Attributes:
        strata: of each length that the verdict is about, and of the reference.
        threshold: 0 to 1; None where a share of the score at `reference` is asked for. A base that was asked in full
            (NoLiMa's) is a number, and a share of it a threshold; its lengths are then none of these.
        slack: how much greater the threshold may be, where trials without a usable answer leave it open.
        confidence, margin: of the claim; the margin is a share of 1, or None.
        claim: what is claimed at that confidence.
        share: of the score at `reference` that a length must keep; used without a threshold only.
        reference: the shortest length.
        lot: rounds that are asked together before the rule looks again.

    Raises:
        ValueError: neither a threshold nor a reference.
    """

    strata: Mapping[int, Sequence[Stratum]]
    threshold: float | None
    confidence: float = 0.95
    margin: float | None = None
    claim: Claim = "lengths"
    share: float = 0.85
    reference: int | None = None
    lot: int = 1
    slack: float = 0.0

    def __post_init__(self) -> None:
        if self.threshold is None and self.reference is None:
            raise ValueError("a stop rule needs a threshold, or a length whose score it is a share of")

    @property
    def joint(self) -> EffectiveRule:
        """How the lengths make one claim."""
        return EffectiveRule(tuple(sorted(self.strata)), self.confidence, self._given)

    def decide(self, scores: Scores) -> dict[int, Decision]:
        """The decision of every length but the reference."""
        return {
            length: self._rule(length, scores).decide(self.rounds(length, scores))
            for length in sorted(self.strata)
            if length != self._given and self._present(length, scores)
        }

    def effective(self, decisions: Mapping[int, Decision]) -> EffectiveDecision:
        """The claim of the effective length; it holds at the confidence only where that is what the run claims."""
        return self.joint.settle(decisions)

    def ask(self, scores: Scores) -> dict[int, range]:
        """Rounds to ask next, by length, numbered from 0; empty where all is settled.

        A round may have been asked in part; its trials that are done are not asked again.
        """
        decisions = self.decide(scores)
        if self.claim == "effective":
            wanted = set(self.effective(decisions).ask)
        else:
            wanted = {length for length, decision in decisions.items() if decision.open}
        done = {length: len(self._completed(length, scores)) for length in self.strata}
        asked = {length: self._next(length, done[length], scores) for length in wanted}
        if self._given is not None and asked:
            # A pair is complete when both its trials are.
            furthest = max(rounds.stop for rounds in asked.values())
            reference = range(done[self._given], min(furthest, self._count(self._given, scores)))
            if reference:
                asked[self._given] = reference
        return {length: rounds for length, rounds in asked.items() if rounds}

    def items(self, length: int, number: int, scores: Scores) -> dict[str, tuple[int, ...]]:
        """The indices that a round asks, by task."""
        asked: dict[str, tuple[int, ...]] = {}
        for stratum in self._in_round(length, number, scores):
            asked[stratum.task] = (*asked.get(stratum.task, ()), *stratum.groups[number])
        return asked

    def rounds(self, length: int, scores: Scores) -> list[Round]:
        """The completed rounds of a length, in order, as its rule sees them."""
        completed = self._completed(length, scores)
        if self._given is None:
            return completed
        reference = self._completed(self._given, scores)
        return [paired(test, other, self.share) for test, other in zip(completed, reference, strict=False)]

    def completed(self, length: int, scores: Scores) -> int:
        """How many rounds of a length are complete, from the first one on."""
        return len(self._completed(length, scores))

    @property
    def _given(self) -> int | None:
        return self.reference if self.threshold is None else None

    def _rule(self, length: int, scores: Scores) -> StopRule:
        error = 1 - self.confidence
        above, below = self.joint.errors(length) if self.claim == "effective" else (error, error)
        present = self._present(length, scores)
        items = {stratum.name: len(stratum.groups) for stratum in present}
        weights = {stratum.name: stratum.weight for stratum in present}
        if self._given is not None:
            others = {stratum.name: len(stratum.groups) for stratum in self._present(self._given, scores)}
            pairs = {name: min(count, others[name]) for name, count in items.items() if name in others}
            return relative_rule(pairs, self.share, self.margin, above, below, {name: weights[name] for name in pairs})
        if self.threshold is None:
            raise ValueError("a stop rule needs a threshold")
        return StopRule(items, self.threshold, self.margin, above, below, weights, self.slack)

    def _in_round(self, length: int, number: int, scores: Scores) -> list[Stratum]:
        return [stratum for stratum in self._present(length, scores) if number < len(stratum.groups)]

    def _present(self, length: int, scores: Scores) -> list[Stratum]:
        """Without the tasks that are absent somewhere: a length's score is over the tasks that all lengths have."""
        return [stratum for stratum in self.strata[length] if stratum.task not in scores.absent]

    def _count(self, length: int, scores: Scores) -> int:
        return max((len(stratum.groups) for stratum in self._present(length, scores)), default=0)

    def _next(self, length: int, done: int, scores: Scores) -> range:
        return range(done, min(done + self.lot, self._count(length, scores)))

    def _completed(self, length: int, scores: Scores) -> list[Round]:
        completed: list[Round] = []
        for number in range(self._count(length, scores)):
            found = {
                stratum.name: scores.of_group(stratum.task, length, stratum.groups[number])
                for stratum in self._in_round(length, number, scores)
            }
            known = {name: ends for name, ends in found.items() if ends is not None}
            if len(known) < len(found):
                break
            completed.append(known)
        return completed

"""The base lengths of a NoLiMa run: asked in full before any other, so that the base score is a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from leadline.analysis.base_score import BaseRule, Observation
from leadline.analysis.stopping import Bounds
from leadline.analysis.stopping_relative import base_ends
from leadline.records import Record
from leadline.run.stopping import Scores


@dataclass(frozen=True, slots=True)
class BaseTrials:
    """A run's trials at its base lengths.

    Attributes:
        rule: how the base score is taken.
        task: whose base it is.
        items: how many there are at each base length.
        pairs: of the design; the pattern of pairs repeats over the indices.
        depths: of each trial that was filed, by length and index.
    """

    rule: BaseRule
    task: str
    items: Mapping[int, int]
    pairs: int
    depths: dict[tuple[int, int], float] = field(default_factory=dict[tuple[int, int], float])

    def file(self, record: Record) -> None:
        """Note where a trial's needle stands."""
        place = record.factors.get("depth", record.factors.get("from_end"))
        if record.key.length in self.items and isinstance(place, int | float):
            self.depths[record.key.length, record.key.item.index] = float(place)

    def ends(self, scores: Scores) -> Bounds | None:
        """Between which ends, 0 to 1, the base score of the full protocol lies; None while trials are to be asked."""
        known: list[Observation] = []
        unknown: list[Observation] = []
        for length, count in self.items.items():
            for index in range(count):
                score = scores.of_group(self.task, length, (index,))
                if score is None:
                    return None
                depth = self.depths.get((length, index), 0.0)
                trial = Observation(str(index % self.pairs), depth, length, index, score[0])
                (known if score[0] == score[1] else unknown).append(trial)
        return base_ends(known, unknown, self.rule)

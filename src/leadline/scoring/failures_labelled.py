"""Wrong answers whose failure kind was decided by reading them, and how far the rules agree with that."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from leadline.items import Fit, TrialKey
from leadline.records import OUTCOMES, Outcome
from leadline.scoring.failures import KINDS, FailureKind


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """One wrong answer and its label.

    Attributes:
        key, fit: from which the sample is made again; its text is not stored.
        item_hash: of that sample, so that a label is never held against another item.
        answer: what the model said.
        outcome: whether its budget cut it.
        label: the failure kind, by the definitions of ``docs/failures.md``.
        reason: why, in words.
    """

    key: TrialKey
    fit: Fit
    item_hash: str
    answer: str
    outcome: Outcome
    label: FailureKind
    reason: str

    @classmethod
    def from_json(cls, line: str) -> LabelledAnswer:
        """The labelled answer of a line of JSON.

        Raises:
            ValueError: the line is none, or names an unknown outcome or kind.
        """
        try:
            data = json.loads(line)
            outcomes: dict[str, Outcome] = {outcome: outcome for outcome in OUTCOMES}
            kinds: dict[str, FailureKind] = {kind: kind for kind in KINDS}
            return cls(
                key=TrialKey.from_dict(data["key"]),
                fit=Fit.from_dict(data["fit"]),
                item_hash=data["item_hash"],
                answer=data["answer"],
                outcome=outcomes[data["outcome"]],
                label=kinds[data["label"]],
                reason=data["reason"],
            )
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(f"not a labelled answer: {error!r}") from error


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often the rules say what the labels say.

    `counts` maps (label, kind by the rules) to a number of answers; that kind is None where they find nothing wrong.
    """

    counts: Mapping[tuple[FailureKind, FailureKind | None], int]

    @classmethod
    def of(cls, pairs: Iterable[tuple[FailureKind, FailureKind | None]]) -> Agreement:
        """The agreement of pairs of label and kind by the rules."""
        return cls(Counter(pairs))

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return sum(self.counts.values())

    @property
    def agreed(self) -> int:
        """How many the rules judge as they are labelled."""
        return sum(count for (label, kind), count in self.counts.items() if label == kind)

    def labelled(self, kind: FailureKind) -> int:
        """How many are labelled so."""
        return sum(count for (label, _), count in self.counts.items() if label == kind)

    def judged(self, kind: FailureKind | None) -> int:
        """How many the rules judge so."""
        return sum(count for (_, by_rule), count in self.counts.items() if by_rule == kind)

    def both(self, kind: FailureKind) -> int:
        """How many are labelled and judged so."""
        return self.counts.get((kind, kind), 0)

    def chance(self) -> float:
        """The share, 0 to 1, on which two judges with these totals agree by chance."""
        return sum(self.labelled(kind) * self.judged(kind) for kind in KINDS) / self.answers**2

    def kappa(self) -> float:
        """Agreement beyond chance: 0 what chance gives, 1 full.

        Source: Cohen, "A coefficient of agreement for nominal scales", 1960. Undefined where all answers have one kind.
        """
        chance = self.chance()
        return (self.agreed / self.answers - chance) / (1 - chance)

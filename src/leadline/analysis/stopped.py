"""What a stop rule said of a run's lengths, as the summary and the reports need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from leadline.analysis.stopping import Verdict
from leadline.analysis.stopping_joint import Claim, EffectiveDecision

RuleName = Literal["absolute", "relative"]
"""By which of the effective lengths a run stops."""

LengthVerdict = Verdict | Literal["unneeded"]
"""`unneeded`: not asked, since a greater length passes and the claim is of the effective length."""


@dataclass(frozen=True, slots=True)
class StoppedLength:
    """One length.

    Attributes:
        used: samples of each task that the verdict rests on.
        of: those of the full protocol.
        verdict: of the rule.
        passes: whether the full protocol's mean reaches the threshold; None where that is not decided.
        late: answers to later rounds, which are kept and left out.
    """

    used: int
    of: int
    verdict: LengthVerdict
    passes: bool | None
    late: int = 0

    @property
    def early(self) -> bool:
        """Decided before everything was asked."""
        return self.verdict != "open" and self.used < self.of

    def as_dict(self) -> dict[str, Any]:
        """What stopping adds to a length of the summary."""
        return {
            "used": self.used,
            "of": self.of,
            "decided": self.passes is not None,
            "decision": self.verdict,
            "late": self.late,
        }


@dataclass(frozen=True, slots=True)
class StoppedRun:
    """A run that stops when it is certain.

    Attributes:
        rule: which threshold its verdicts are about.
        claim: what is claimed: each length's verdict, or the effective length.
        confidence: of the claim, at every look.
        margin: points around the threshold within which a length may be left undecided, or None.
        lengths: in tokens, each with its verdict.
        counted: indices of the items that the figures of a length rest on, by task and length, where it was decided
            early; answers to others are left out.
        asked_tokens: prompt tokens of all trials, each counted once.
        protocol_tokens: what the full protocol would take, from the means of the cells that were asked.
        references: lengths that the others are compared with.
        effective: the effective lengths that are possible, where that is the claim.
    """

    rule: RuleName
    claim: Claim
    confidence: float
    margin: float | None
    lengths: Mapping[int, StoppedLength]
    counted: Mapping[tuple[str, int], frozenset[int]]
    asked_tokens: int
    protocol_tokens: int
    references: frozenset[int] = frozenset()
    effective: EffectiveDecision | None = None

    def passes(self, rule: RuleName) -> dict[int, bool | None]:
        """Whether each length that is decided, or within the margin, passes by this rule; empty for the other rule."""
        if rule != self.rule:
            return {}
        return {length: stopped.passes for length, stopped in self.lengths.items() if stopped.early}

    def needs(self, length: int) -> bool:
        """Whether the claim needs to know of a length."""
        return length not in self.lengths or self.lengths[length].verdict != "unneeded"

    def counts(self, task: str, length: int, index: int) -> bool:
        """Whether an item's answer counts at a length."""
        counted = self.counted.get((task, length))
        return counted is None or index in counted

    @property
    def saved_share(self) -> float:
        """Share of the full protocol's prompt tokens that was not asked."""
        return 1 - self.asked_tokens / self.protocol_tokens if self.protocol_tokens else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The rule as it stands in the summary."""
        return {
            "rule": self.rule,
            "claim": self.claim,
            "confidence": self.confidence,
            "margin": self.margin,
            "asked_tokens": self.asked_tokens,
            "protocol_tokens": self.protocol_tokens,
        }

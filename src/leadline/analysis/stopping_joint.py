"""The effective length as one claim: which lengths must be decided, how surely, and what follows.

Let L be the length that the full protocol would name, j-th from the greatest. A claim that leaves it out has said
`below` of L, or `above` of one of the j - 1 greater ones, which all fail. So with the errors a_i for `above` and b_i
for `below` of the i-th length from the greatest it is wrong with probability at most

    b_j + a_1 + ... + a_(j-1)        and, where no length passes,        a_1 + ... + a_n

The claim "at most L" alone needs no correction, because the lengths are judged from the greatest down and only the
first one that truly passes can be wronged. The claim "at least L" needs one: every greater length has a chance of its
own to pass by mistake. Each a_i is 1 / (n + 2) of the error and b_i what the greater lengths leave of it; that keeps
both sums, and no length's share becomes so small that it must be asked much longer.

The evidence at each length is a supermartingale of its own, so that the sum holds however the lengths depend on each
other (they share items) and in whatever order they are asked. What a claim needs is the same in every order: every
length greater than L and L itself. So the greatest undecided length is asked first, and a shorter one is asked only
where no greater one passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from leadline.analysis.stopping import Decision

Claim = Literal["lengths", "effective"]
"""What is claimed at the confidence: each length's verdict by itself, or the effective length."""


@dataclass(frozen=True, slots=True)
class EffectiveDecision:
    """What is known of the effective length.

    Attributes:
        possible: the lengths that it can be, ascending. One, or more where a length lies within the margin.
        below: that no tested length passes is possible too.
        ask: the lengths that more must be asked of now; empty where the claim is settled.
        confidence: with which the set holds what the full protocol would name.
    """

    possible: tuple[int, ...]
    below: bool
    ask: tuple[int, ...]
    confidence: float

    @property
    def settled(self) -> bool:
        """Nothing more must be asked."""
        return not self.ask


@dataclass(frozen=True, slots=True)
class EffectiveRule:
    """How sure each length must be, and what the decisions say together.

    Attributes:
        lengths: ascending.
        confidence: of the claim.
        given: a length that passes by definition and is not judged: the shortest, by its own score.

    Raises:
        ValueError: no length, they do not ascend, or the confidence is not between 0 and 1.
    """

    lengths: tuple[int, ...]
    confidence: float = 0.95
    given: int | None = None

    def __post_init__(self) -> None:
        if not self.lengths or list(self.lengths) != sorted(set(self.lengths)):
            raise ValueError(f"lengths must ascend: {self.lengths}")
        if not 0 < self.confidence < 1:
            raise ValueError(f"a confidence is between 0 and 1: {self.confidence}")

    def errors(self, length: int) -> tuple[float, float]:
        """The errors of `above` and of `below` that this length may have."""
        error = 1 - self.confidence
        above = error / (len(self.lengths) + 2)
        return above, error - above * self._greater(length)

    def settle(self, decisions: Mapping[int, Decision]) -> EffectiveDecision:
        """The claim, from the decisions so far; a length without one has not been asked."""
        possible: list[int] = []
        ask: list[int] = []
        passed = False
        for length in reversed(self.lengths):
            decision = decisions.get(length)
            passed = length == self.given or (decision is not None and decision.passes is True)
            if passed:
                possible.append(length)
                break
            if decision is None or decision.open:
                ask.append(length)
            if decision is None or decision.passes is None:
                possible.append(length)
        return EffectiveDecision(tuple(reversed(possible)), not passed, tuple(ask[:1]), self.confidence)

    def _greater(self, length: int) -> int:
        if length not in self.lengths:
            raise ValueError(f"{length} is none of the lengths {self.lengths}")
        return len(self.lengths) - 1 - self.lengths.index(length)

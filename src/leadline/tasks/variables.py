"""Variable tracking: RULER's multi-hop tracing (paper section 3.2, tables 5 and 8)."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypedDict

from pydantic import Field

from leadline.haystacks.noise import NOISE
from leadline.items import Draft, Fit, ItemKey, Piece, Plan, Prefix
from leadline.seeds import Draws
from leadline.tasks.base import Cost, PlainTask, PromptCounter, Sources, TaskParams, item_draws
from leadline.tasks.costs import LinearCost

TASK = (
    "Memorize and track the chain(s) of variable assignment hidden in the following text.\n\n",
    "Question: Find all variables that are assigned the value {value} in the text above.",
    " Answer: According to the chain(s) of variable assignment in the text above, {count} variables are assigned the "
    "value {value}, they are: ",
)
# With these lines of noise the example of the standard configuration has about 500 tokens (cl100k_base: 483).
EXAMPLE_LINES = 12
EXAMPLE_NAME_LENGTH = 3
_FIXED_TEXT = (NOISE + "".join(TASK)).lower()


class Chain(TypedDict):
    """A chain of assignments: its value, its variables in order and the places of its lines (0 to 1)."""

    value: str
    names: list[str]
    places: list[float]


class VariablesParams(TaskParams):
    """Parameters of variable tracking (paper table 5)."""

    num_chains: int = Field(1, ge=1, le=100, description="chains; only the first one's value is asked for")
    num_hops: int = Field(4, ge=1, le=100, description="name bindings after the first assignment of a chain")
    name_length: int = Field(5, ge=4, le=20, description="letters of a variable's name")
    examples: Literal["prompt", "turns", "none"] = Field(
        "prompt", description="a worked example before the task, as turns of its own, or none"
    )
    output_tokens: int = Field(30, ge=1, description="tokens the answer may take")


@dataclass(frozen=True, slots=True)
class VariableTracking(PlainTask):
    """One configuration of variable tracking."""

    name: str
    params: VariablesParams

    family: ClassVar[str] = "vt"
    version: ClassVar[int] = 1
    category: ClassVar[str] = "tracing"
    metric: ClassVar[str] = "recall"
    answer_unique: ClassVar[bool] = True

    @property
    def targets(self) -> int:
        """Every variable of the chain that is asked for."""
        return self.params.num_hops + 1

    def plan(self, item: ItemKey, sources: Sources) -> Plan:
        """Chains of names and values with the places of their lines, and a worked example of the same shape."""
        params = self.params
        chains = _chains(
            lambda *names: item_draws(item, *names), params.num_chains, params.num_hops, params.name_length
        )
        example = None
        if params.examples != "none":
            taken = [chain["value"] for chain in chains]
            example = _chains(
                lambda *names: item_draws(item, "example", *names),
                params.num_chains,
                params.num_hops,
                EXAMPLE_NAME_LENGTH,
                taken,
            )
        target = chains[0]
        places = target["places"]
        return Plan(
            item,
            factors={
                "depth": round(100 * sum(places) / len(places), 2),
                "spread": round(100 * (places[-1] - places[0]), 2),
                "hops": params.num_hops,
            },
            answers=tuple((name,) for name in target["names"]),
            facts={
                "value": target["value"],
                "distractors": [name for chain in chains[1:] for name in chain["names"]],
                "chains": chains,
                "example": example,
                "item_pattern": rf"[A-Z]{{{params.name_length}}}",
            },
            prefix=None if example else Prefix("vt", min(min(chain["places"]) for chain in chains)),
        )

    def sizes(self, plan: Plan, sources: Sources) -> tuple[int, int | None]:
        """From one line of noise on."""
        return 1, None

    def cost(self, plan: Plan, sources: Sources, counter: PromptCounter, upto: int) -> Cost:
        """Equal lines of noise beside the chains' lines."""
        head, tail, prefix = self._texts(plan)
        tokens = counter.counter
        planted = sum(tokens.text(line + "\n") for _, line, _ in _lines(plan.facts["chains"]))
        return LinearCost(
            counter.fixed(head, tail, prefix, self._turns(plan)) + planted, tokens.text(NOISE + "\n"), upto
        )

    def draft(self, plan: Plan, fit: Fit, sources: Sources) -> Draft:
        """The chains' lines at their places among `fit.size` lines of noise."""
        head, tail, prefix = self._texts(plan)
        example = "".join(self._example(plan)) if self.params.examples == "prompt" else ""
        pieces = [Piece(example, "example"), Piece(head[len(example) :])] if example else [Piece(head)]
        pieces += _haystack(plan.facts["chains"], fit.size)
        return Draft((*pieces, Piece(tail, "question")), prefix, turns=self._turns(plan))

    def _turns(self, plan: Plan) -> tuple[tuple[str, str], ...]:
        return (self._example(plan),) if self.params.examples == "turns" else ()

    def _texts(self, plan: Plan) -> tuple[str, str, str]:
        """Head, tail and answer prefix."""
        head, question, answer = TASK
        asked = {"value": plan.facts["value"], "count": self.targets}
        if self.params.examples == "prompt":
            head = "".join(self._example(plan)) + "\n\n" + head
        return head, question.format(**asked), answer.format(**asked)

    def _example(self, plan: Plan) -> tuple[str, str]:
        """The worked example: a question with chains of its own, and its answer, the names joined by spaces."""
        chains: list[Chain] = plan.facts["example"]
        head, question, answer = TASK
        asked = {"value": chains[0]["value"], "count": self.targets}
        text = "".join(piece.text for piece in _haystack(chains, EXAMPLE_LINES))
        return head + text + question.format(**asked), answer.format(**asked) + " ".join(chains[0]["names"])


def _chains(
    draws: Callable[..., Draws], num_chains: int, num_hops: int, name_length: int, taken: Sequence[str] = ()
) -> list[Chain]:
    """Chains with distinct names and values; the places of each chain's lines are in its own order."""
    names = _names(draws("names"), num_chains * (num_hops + 1), name_length)
    values = _values(draws("values"), num_chains, taken)
    return [
        {
            "value": values[chain],
            "names": names[chain * (num_hops + 1) : (chain + 1) * (num_hops + 1)],
            "places": sorted(draws("places", chain).fractions(num_hops + 1).tolist()),
        }
        for chain in range(num_chains)
    ]


def _names(draws: Draws, count: int, length: int) -> list[str]:
    """Distinct names of random capitals, none of which stands in the noise or the template in any case."""
    names: list[str] = []
    while len(names) < count:
        name = "".join(string.ascii_uppercase[draws.below(26)] for _ in range(length))
        if name not in names and name.lower() not in _FIXED_TEXT:
            names.append(name)
    return names


def _values(draws: Draws, count: int, taken: Sequence[str]) -> list[str]:
    """Distinct five-digit values, none of them in `taken`."""
    values: list[str] = []
    while len(values) < count:
        value = str(10_000 + draws.below(90_000))
        if value not in values and value not in taken:
            values.append(value)
    return values


def _lines(chains: Sequence[Chain]) -> list[tuple[float, str, int]]:
    """Every assignment as (place, line, chain), by place."""
    lines: list[tuple[float, str, int]] = []
    for number, chain in enumerate(chains):
        previous = chain["value"]
        for name, place in zip(chain["names"], chain["places"], strict=True):
            lines.append((place, f"VAR {name} = {previous}", number))
            previous = f"VAR {name}"
    return sorted(lines)


def _haystack(chains: Sequence[Chain], size: int) -> list[Piece]:
    """Lines of noise with the assignments planted among them, each with its newline."""
    pieces: list[Piece] = []
    done = 0
    for place, line, chain in _lines(chains):
        slot = int(place * (size + 1))
        if slot > done:
            pieces += [Piece("\n".join([NOISE] * (slot - done)), "haystack"), Piece("\n")]
            done = slot
        pieces += [Piece(line, "distractor" if chain else "needle"), Piece("\n")]
    if done < size:
        pieces += [Piece("\n".join([NOISE] * (size - done)), "haystack"), Piece("\n")]
    return pieces

"""Needles in a haystack: RULER's retrieval tasks (paper section 3.1, tables 5, 7 and 8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypedDict

import numpy as np
import numpy.typing as npt
from pydantic import Field

from leadline.haystacks.noise import NOISE
from leadline.haystacks.pools import Pool
from leadline.items import Draft, Fit, ItemKey, Piece, Plan, Prefix
from leadline.seeds import rng_for
from leadline.tasks.base import Cost, Kind, PromptCounter, Sources, TaskParams, item_draws, joined_names
from leadline.tasks.costs import LinearCost, ProseCost, RunningCost, grown, running_sum

Role = Literal["key", "value"]

DEPTHS = 40
STARTS = 5
PLURAL = {"word": "words", "number": "numbers", "uuid": "uuids"}
PATTERNS = {
    "word": r"[a-z]+-[a-z]+",
    "number": r"\d{7}",
    "uuid": r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
}


class Needle(TypedDict):
    """A planted key-value sentence and its place (0 to 1)."""

    key: str
    value: str
    place: float


class NiahParams(TaskParams):
    """Parameters of the needle tasks (paper table 5; every one is free)."""

    type_haystack: Literal["repeat", "essay", "needle"] = Field(
        "essay", description="repeated noise sentences, essays, or nothing but needles with other keys"
    )
    type_key: Kind = Field("word", description="what a key is")
    type_value: Kind = Field("number", description="what a value is")
    haystack_start: Literal["first", "random"] = Field(
        "first", description="essays from their first sentence, or from one of five places named by the seed"
    )
    num_keys: int = Field(1, ge=1, le=1000, description="planted keys; those not asked for are distractors")
    num_values: int = Field(1, ge=1, le=1000, description="values of each key")
    num_queries: int = Field(1, ge=1, le=1000, description="keys asked for")
    output_tokens: int = Field(128, ge=1, description="tokens the answer may take")


@dataclass(frozen=True, slots=True)
class Niah:
    """One configuration of the needle tasks."""

    name: str
    params: NiahParams

    family: ClassVar[str] = "niah"
    version: ClassVar[int] = 1
    category: ClassVar[str] = "retrieval"
    metric: ClassVar[str] = "recall"
    answer_unique: ClassVar[bool] = True

    @property
    def targets(self) -> int:
        """Queries times values."""
        return self.params.num_queries * self.params.num_values

    def at_length(self, length: int) -> Niah:
        """The same task at every length."""
        return self

    @property
    def remark(self) -> str | None:
        """Nothing to say."""
        return None

    def supply(self, sources: Sources) -> int | None:
        """The sentences of the essays; noise repeats by design and needles do not."""
        return len(sources.prose("essays")) if self.params.type_haystack == "essay" else None

    def plan(self, item: ItemKey, sources: Sources) -> Plan:
        """Keys, values and places; the first `num_queries` keys are asked for."""
        params = self.params
        num_keys = max(params.num_keys, params.num_queries)
        keys = self._elements(item, sources, "key", 0, num_keys)
        values = self._elements(item, sources, "value", 0, num_keys * params.num_values)
        places = self._places(item, num_keys * params.num_values)
        needles: list[Needle] = [
            {"key": keys[number // params.num_values], "value": value, "place": place}
            for number, (value, place) in enumerate(zip(values, places, strict=True))
        ]
        asked = needles[: self.targets]
        start = self._start(item, sources)
        prefix = None
        if params.type_haystack != "needle":
            wording = f"{params.type_haystack}:{start}:{PLURAL[params.type_value]}:{self.targets == 1}"
            prefix = Prefix(f"niah:{wording}", min(places))
        return Plan(
            item,
            factors={"depth": round(100 * asked[0]["place"], 2), "haystack": params.type_haystack},
            answers=tuple((needle["value"],) for needle in asked),
            facts={
                "query": keys[: params.num_queries],
                "given": keys[: params.num_queries],
                "distractors": [needle["value"] for needle in needles[self.targets :]],
                "needles": needles,
                "start": start,
                "item_pattern": PATTERNS[params.type_value],
            },
            prefix=prefix,
        )

    def sizes(self, plan: Plan, sources: Sources) -> tuple[int, int | None]:
        """From one unit on; a haystack of needles ends where the pools of keys and values do."""
        if self.params.type_haystack != "needle":
            return 1, None
        planted = len(plan.facts["needles"])
        if self.params.type_key == self.params.type_value:
            return 1, sources.pool(self.params.type_key).size // 2 - planted
        return 1, min(sources.pool(kind).size for kind in (self.params.type_key, self.params.type_value)) - planted

    def cost(self, plan: Plan, sources: Sources, counter: PromptCounter, upto: int) -> Cost:
        """Sentences of the essays, equal lines of noise, or needles, each counted where it stands."""
        head, tail, prefix = self._texts(plan)
        fixed = counter.fixed(head, tail, prefix)
        needles = tuple(self._needle(needle["key"], needle["value"]) for needle in plan.facts["needles"])
        tokens = counter.counter
        if self.params.type_haystack == "essay":
            prose = sources.prose("essays")
            fixed += sum(tokens.text(" " + needle) for needle in needles)
            start: int = plan.facts["start"]
            running = grown(lambda units: prose.running(tokens, units, start), upto, None)
            places = tuple(needle["place"] for needle in plan.facts["needles"])
            return ProseCost(fixed, running, prose, start, places, needles, tokens)
        fixed += sum(tokens.text(needle + "\n") for needle in needles)
        if self.params.type_haystack == "repeat":
            return LinearCost(fixed, tokens.text(NOISE + "\n"), upto)
        bare = tokens.text(self._needle("", "").partition("  ")[0]) + tokens.text(" is:")
        key_pool, value_pool = (sources.pool(kind) for kind in (self.params.type_key, self.params.type_value))

        def running_lines(units: int) -> npt.NDArray[np.int64]:
            keys, values = self._distractors(plan, sources, units)
            lines = key_pool.counts(tokens, keys, " {}") + value_pool.counts(tokens, values, " {}.\n")
            return running_sum(lines.astype(np.int64) + bare)

        return RunningCost(fixed, grown(running_lines, upto, self.sizes(plan, sources)[1]))

    def draft(self, plan: Plan, fit: Fit, sources: Sources) -> Draft:
        """Needles at their places among `fit.size` units of haystack."""
        head, tail, prefix = self._texts(plan)
        size = fit.size
        essay = self.params.type_haystack == "essay"
        joint = " " if essay else "\n"
        units = self._units(plan, sources, size)
        asked = set(plan.facts["query"])
        planted = sorted(
            (int(needle["place"] * (size if essay else size + 1)), needle["place"], number)
            for number, needle in enumerate(plan.facts["needles"])
        )
        pieces = [Piece(head)]
        done = 0
        for slot, _, number in planted:
            if slot > done:
                pieces += [Piece(units(done, slot), self._unit_kind), Piece(joint)]
                done = slot
            needle = plan.facts["needles"][number]
            kind = "needle" if needle["key"] in asked else "distractor"
            pieces += [Piece(self._needle(needle["key"], needle["value"]), kind), Piece(joint)]
        if done < size:
            pieces += [Piece(units(done, size), self._unit_kind), Piece(joint)]
        pieces[-1:] = [Piece("\n"), Piece(tail, "question")]
        return Draft(tuple(pieces), prefix)

    @property
    def _unit_kind(self) -> Literal["haystack", "distractor"]:
        return "distractor" if self.params.type_haystack == "needle" else "haystack"

    def _texts(self, plan: Plan) -> tuple[str, str, str]:
        """Head, tail and answer prefix. The singular form is a template of its own (paper table 7)."""
        query = joined_names(plan.facts["query"])
        kind = self.params.type_value
        if self.targets == 1:
            return (
                f"A special magic {kind} is hidden within the following text. Make sure to memorize it. "
                f"I will quiz you about the {kind} afterwards.\n",
                f"What is the special magic {kind} for {query} mentioned in the provided text?",
                f" The special magic {kind} for {query} mentioned in the provided text is",
            )
        kinds = PLURAL[kind]
        return (
            f"Some special magic {kinds} are hidden within the following text. Make sure to memorize it. "
            f"I will quiz you about the {kinds} afterwards.\n",
            f"What are all the special magic {kinds} for {query} mentioned in the provided text?",
            f" The special magic {kinds} for {query} mentioned in the provided text are",
        )

    def _needle(self, key: str, value: str) -> str:
        return f"One of the special magic {PLURAL[self.params.type_value]} for {key} is: {value}."

    def _places(self, item: ItemKey, count: int) -> list[float]:
        """Depths 0 to 1: for essays drawn without replacement from evenly spaced ones, else anywhere."""
        draws = item_draws(item, "places")
        if self.params.type_haystack != "essay":
            return draws.fractions(count).tolist()
        depths = max(DEPTHS, count)
        return (draws.order(depths)[:count] / (depths - 1)).tolist()

    def _start(self, item: ItemKey, sources: Sources) -> int:
        """The sentence that the essays begin with: a place that the seed names, whatever the length."""
        if self.params.type_haystack != "essay" or self.params.haystack_start == "first":
            return 0
        which = item_draws(item, "haystack start").below(STARTS)
        return rng_for(item.seed, "haystack start", which).below(len(sources.prose("essays")))

    def _elements(self, item: ItemKey, sources: Sources, role: Role, first: int, count: int) -> list[str]:
        kind = self.params.type_key if role == "key" else self.params.type_value
        pool = sources.pool(kind)
        return pool.take(self._indices(item, role, pool, first, count))

    def _indices(self, item: ItemKey, role: Role, pool: Pool, first: int, count: int) -> npt.NDArray[np.int64]:
        """Places in the pool of keys or values first, first + 1, ... of an item; no two of an item are the same.

        Where keys and values come from one pool, keys take the even elements of its permutation and values the odd.
        """
        kind = self.params.type_key if role == "key" else self.params.type_value
        permutation = item_draws(item, "elements", kind).permutation(pool.size)
        if self.params.type_key != self.params.type_value:
            return permutation.take(first, count)
        both = permutation.take(2 * first, 2 * count)
        return both[0::2] if role == "key" else both[1::2]

    def _distractors(
        self, plan: Plan, sources: Sources, count: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        needles = len(plan.facts["needles"])
        keys, values = sources.pool(self.params.type_key), sources.pool(self.params.type_value)
        return (
            self._indices(plan.item, "key", keys, needles, count),
            self._indices(plan.item, "value", values, needles, count),
        )

    def _units(self, plan: Plan, sources: Sources, size: int) -> Callable[[int, int], str]:
        """A function from a range of units to their text."""
        if self.params.type_haystack == "essay":
            prose = sources.prose("essays")
            begin: int = plan.facts["start"]
            return lambda start, end: prose.slice(begin + start, end - start)
        if self.params.type_haystack == "repeat":
            return lambda start, end: "\n".join([NOISE] * (end - start))
        keys, values = self._distractors(plan, sources, size)
        opening = self._needle("", "").removesuffix(" is: .")
        lines = [opening, "", " is: ", "", ".\n"] * size
        lines[1::5] = sources.pool(self.params.type_key).take(keys)
        lines[3::5] = sources.pool(self.params.type_value).take(values)
        return lambda start, end: "".join(lines[5 * start : 5 * end - 1]) + "."

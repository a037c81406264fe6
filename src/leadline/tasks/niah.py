"""Needles in a haystack: RULER's retrieval tasks (paper section 3.1, tables 5, 7 and 8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal, TypedDict

from pydantic import Field

from leadline.haystacks.lines import BLOCK_LINES, LineDeck, block_order, line_deck
from leadline.haystacks.noise import NOISE
from leadline.haystacks.pools import Indices, Selection
from leadline.items import Draft, Fit, ItemKey, Piece, Plan, Prefix
from leadline.seeds import rng_for
from leadline.tasks.base import Cost, Kind, PlainTask, PromptCounter, Sources, TaskParams, item_draws, joined_names
from leadline.tasks.costs import LinearCost, ProseCost, RunningCost, grown

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
class Niah(PlainTask):
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

    def supply(self, sources: Sources) -> int | None:
        """The sentences of the essays; noise repeats by design and needles do not."""
        return len(sources.prose("essays")) if self.params.type_haystack == "essay" else None

    def plan(self, item: ItemKey, sources: Sources) -> Plan:
        """Keys, values and places; the first `num_queries` keys are asked for."""
        params = self.params
        num_keys = max(params.num_keys, params.num_queries)
        num_needles = num_keys * params.num_values
        keys = sources.pool(params.type_key).take(self._indices(item, sources, "key", 0, num_keys))
        values = sources.pool(params.type_value).take(self._indices(item, sources, "value", 0, num_needles))
        places = self._places(item, num_needles)
        needles: list[Needle] = [
            {"key": keys[number // params.num_values], "value": value, "place": place}
            for number, (value, place) in enumerate(zip(values, places, strict=True))
        ]
        asked, start = needles[: self.targets], self._start(item, sources)
        wording = f"{params.type_haystack}:{start}:{PLURAL[params.type_value]}:{self.targets == 1}"
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
            prefix=None if params.type_haystack == "needle" else Prefix(f"niah:{wording}", min(places)),
        )

    def sizes(self, plan: Plan, sources: Sources) -> tuple[int, int | None]:
        """From one unit on; a haystack of needles ends where the pools of keys and values do."""
        if self.params.type_haystack != "needle":
            return 1, None
        return 1, BLOCK_LINES * len(self._blocks(plan.item, sources))

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
        deck, order = self._deck(sources), self._blocks(plan.item, sources)
        limit = BLOCK_LINES * len(order)
        return RunningCost(fixed, grown(lambda lines: deck.running(tokens, order, lines), upto - fixed, limit))

    def draft(self, plan: Plan, fit: Fit, sources: Sources) -> Draft:
        """Needles at their places among `fit.size` units of haystack."""
        head, tail, prefix = self._texts(plan)
        size = fit.size
        essay = self.params.type_haystack == "essay"
        joint = " " if essay else "\n"
        units = self._units(plan, sources, size)
        unit_kind = "distractor" if self.params.type_haystack == "needle" else "haystack"
        asked = set(plan.facts["query"])
        planted = sorted(
            (int(needle["place"] * (size if essay else size + 1)), needle["place"], number)
            for number, needle in enumerate(plan.facts["needles"])
        )
        pieces = [Piece(head)]
        done = 0
        for slot, _, number in planted:
            if slot > done:
                pieces += [Piece(units(done, slot), unit_kind), Piece(joint)]
                done = slot
            needle = plan.facts["needles"][number]
            kind = "needle" if needle["key"] in asked else "distractor"
            pieces += [Piece(self._needle(needle["key"], needle["value"]), kind), Piece(joint)]
        if done < size:
            pieces += [Piece(units(done, size), unit_kind), Piece(joint)]
        pieces[-1:] = [Piece("\n"), Piece(tail, "question")]
        return Draft(tuple(pieces), prefix)

    def _texts(self, plan: Plan) -> tuple[str, str, str]:
        """Head, tail and answer prefix, in the singular where one answer is asked for (paper table 7)."""
        query = joined_names(plan.facts["query"])
        if self.targets == 1:
            kinds, opening, verb, question = self.params.type_value, "A", "is", "is"
        else:
            kinds, opening, verb, question = PLURAL[self.params.type_value], "Some", "are", "are all"
        return (
            f"{opening} special magic {kinds} {verb} hidden within the following text. Make sure to memorize it. "
            f"I will quiz you about the {kinds} afterwards.\n",
            f"What {question} the special magic {kinds} for {query} mentioned in the provided text?",
            f" The special magic {kinds} for {query} mentioned in the provided text {verb}",
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

    def _indices(self, item: ItemKey, sources: Sources, role: Role, first: int, count: int) -> Indices:
        """Places in the pool of keys or values first, first + 1, ... of an item; no two of an item are the same.

        Where keys and values come from one pool, keys take the even elements of its permutation and values the odd.
        """
        kind = self.params.type_key if role == "key" else self.params.type_value
        selection = _selection(item, kind, sources.pool(kind).size)
        if self.params.type_key != self.params.type_value:
            return selection.take(first, count)
        return selection.take(2 * first, 2 * count)[0 if role == "key" else 1 :: 2]

    def _deck(self, sources: Sources) -> LineDeck:
        """All lines that a haystack of needles may have."""
        opening, _, middle = self._needle("", "").removesuffix(".").partition("  ")
        pools = (sources.pool(kind) for kind in (self.params.type_key, self.params.type_value))
        return line_deck(*pools, opening + " ", " " + middle)

    def _blocks(self, item: ItemKey, sources: Sources) -> Indices:
        """The blocks of lines in the item's order, those left out that hold one of its own needles."""
        num_keys = max(self.params.num_keys, self.params.num_queries)
        keys = self._indices(item, sources, "key", 0, num_keys)
        values = self._indices(item, sources, "value", 0, num_keys * self.params.num_values)
        deck = self._deck(sources)
        return _block_order(item, deck, deck.blocks_with(keys, values))

    def _units(self, plan: Plan, sources: Sources, size: int) -> Callable[[int, int], str]:
        """A function from a range of units to their text."""
        if self.params.type_haystack == "essay":
            prose = sources.prose("essays")
            begin: int = plan.facts["start"]
            return lambda start, end: prose.slice(begin + start, end - start)
        if self.params.type_haystack == "repeat":
            return lambda start, end: "\n".join([NOISE] * (end - start))
        deck, order = self._deck(sources), self._blocks(plan.item, sources)
        return lambda start, end: deck.text(order, start, end)


# An item is planned, sized and drafted in a row, often at several lengths: what it has taken is used again by then.
@lru_cache(maxsize=8)
def _selection(item: ItemKey, kind: Kind, size: int) -> Selection:
    return Selection(item_draws(item, "elements", kind), size)


@lru_cache(maxsize=8)
def _block_order(item: ItemKey, deck: LineDeck, taken: frozenset[int]) -> Indices:
    return block_order(item_draws(item, "lines"), deck, taken)

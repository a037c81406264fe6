"""Needles that share no word with their question: NoLiMa (arXiv 2502.05167, sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, groupby, islice
from math import gcd
from typing import ClassVar, Literal, NamedTuple

from pydantic import Field

from leadline.haystacks.books import Book
from leadline.items import Counts, Draft, Fit, ItemKey, Piece, Plan, Prefix, SpanKind
from leadline.needles.placeholders import fill
from leadline.needles.sets import NeedleSet, Pair
from leadline.needles.templates import CLOSED_BOOK, CLOSED_BOOK_CHOICES, SYSTEM_PROMPT, TEMPLATES
from leadline.seeds import rng_for
from leadline.sizing.haystack import Planted
from leadline.tasks.base import PlainTask, Sources, TaskParams
from leadline.tasks.distractor import AWAY, OUTER, SHORT, distractor_depth, misplaced

Grid = Literal["26", "11", "6"]

COARSE_FROM = 64_000
"""Lengths from here on have 11 depths instead of 26."""

LAST_TOKENS = 2_000
"""The stretch at the end over which `sweep: last-2k` moves the needle."""

CHOICES = 4
ROUND_ITEMS = 1_000
ROUND_CELLS = 13

GOLDEN = 0.618
HAYSTACK, QUESTION = "{haystack}", "{question}"


class NolimaParams(TaskParams):
    """Parameters of the NoLiMa tasks."""

    needles: str = Field("open", description="open, official, or a needle file in the official format")
    haystack: str = Field("open", description="open, official, or a folder of text files")
    variant: Literal["default", "direct", "choices", "cot", "distractor", "hard"] = Field(
        "default",
        description="how the same pairs are asked: as they are, by the needle's keyword, with four names to "
        "choose from, with reasoning first, with a misleading sentence, or the hardest pairs only",
    )
    sweep: Literal["full", "last-2k"] = Field(
        "full", description="depths over all of the haystack or its last 2,000 tokens"
    )
    depths: Grid = Field("26", description="how many depths: 26, 11 (64K and more), or the 6 that both grids share")
    context: Literal["book", "none"] = Field(
        "book", description="with haystack and needle, or the question alone: what guessing scores"
    )
    output_tokens: int = Field(192, ge=1, description="tokens the answer may take")


class Cell(NamedTuple):
    """Where a needle is planted: step of the depth grid (0 to 1) and number of the book."""

    depth: float
    book: int


@dataclass(frozen=True, slots=True)
class Nolima(PlainTask):
    """One variant of the test on one needle set.

    An item's index enumerates the design: pairs, depths and books. Each run of as many items as there are pairs asks
    every pair once, each needle at another depth and book, with all its questions one after the other; so the first n
    items are balanced, whatever n is.
    """

    name: str
    params: NolimaParams

    family: ClassVar[str] = "nolima"
    version: ClassVar[int] = 1
    category: ClassVar[str] = "association"
    metric: ClassVar[str] = "recall"
    answer_unique: ClassVar[bool] = False
    """A book of the user's may hold the name, and four choices do."""

    @property
    def counts(self) -> Counts:
        """The haystack alone."""
        return "haystack"

    @property
    def targets(self) -> int:
        """One name."""
        return 1

    def at_length(self, length: int) -> Nolima:
        """The same with 11 depths at 64K and more."""
        if length < COARSE_FROM or self.params.depths != "26":
            return self
        return replace(self, params=self.params.model_copy(update={"depths": "11"}))

    def without_context(self) -> Nolima | None:
        """The question alone, with neither haystack nor needle (closed book)."""
        if self.params.context == "none":
            return None
        return replace(self, params=self.params.model_copy(update={"context": "none"}))

    def pairs(self, sources: Sources) -> int:
        """How many pairs there are; so many items in a row ask each of them once."""
        return len(self._needles(sources).pairs)

    def names(self, sources: Sources) -> tuple[str, ...]:
        """The names that may be drawn."""
        return self._needles(sources).characters

    def items(self, sources: Sources) -> int:
        """Pairs times depths times books."""
        design = self._design(sources, 0)
        return len(design.pairs) * design.cells

    def rounds(self, samples: int, sources: Sources) -> Iterator[Sequence[int]]:
        """Large shares, since neighbours share what a cache can save; the whole design cell by cell.

        All pairs at one depth of one book share the text up to the needle, so the whole design comes in rounds of
        some cells that are spread over depths and books.
        """
        design = self._design(sources, 0)
        pairs = len(design.pairs)
        if samples < pairs * design.cells:
            for start in range(0, samples, ROUND_ITEMS):
                yield range(start, min(start + ROUND_ITEMS, samples))
            return
        spread = [(number * design.step) % design.cells for number in range(design.cells)]
        for start in range(0, design.cells, ROUND_CELLS):
            yield [design.index(slot, cell) for cell in spread[start : start + ROUND_CELLS] for slot in range(pairs)]

    def bundles(self, seed: int, sources: Sources) -> tuple[int, ...]:
        """How many questions each needle has: they are asked of the same text."""
        needles = groupby(self._design(sources, seed).pairs, key=lambda pair: pair.needle_id)
        return tuple(sum(1 for _ in pairs) for _, pairs in needles)

    def plan(self, item: ItemKey, sources: Sources) -> Plan:
        """Which pair, where, and the name; a group's conditions have the same name at the same place."""
        needles, books = self._needles(sources), sources.books(self.params.haystack)
        pair, cell = self._design(sources, item.seed).at(item.index, self._grid())
        book = books[cell.book]
        place = (pair.group, book.name, round(100 * cell.depth, 2))
        draws = rng_for(item.seed, "nolima", needles.name, "name", *place)
        # A needle without a place for a name has its own answers, and may have no names either.
        names = pair.characters or needles.characters or ("",)
        name = names[draws.below(len(names))]
        spread = rng_for(item.seed, "nolima", needles.name, "distractor", *place).fractions(1)[0]
        head = self._template(pair).partition(HAYSTACK)[0]
        depth = (
            {"depth": place[2]} if self.params.sweep == "full" else {"from_end": round(LAST_TOKENS * (1 - cell.depth))}
        )
        distracted = f"{pair.id}+" if pair.distractor_template is not None else ""
        return Plan(
            item,
            factors={
                **depth,
                "pair": pair.id,
                "needle": pair.needle_id,
                "group": pair.group,
                "order": pair.order,
                "hops": pair.hops,
                "reasoning": pair.reasoning,
                "book": book.name,
                "variant": self.params.variant,
            },
            answers=(pair.gold(name),),
            facts={
                "set": needles.name,
                "question": pair.question(name),
                "name": name,
                "names": list(needles.characters),
                "needle_keywords": list(pair.needle_keywords),
                "question_keywords": list(pair.question_keywords),
                "case_sensitive": True,
                "cell_depth": cell.depth,
                "distractor_spread": float(spread),
            },
            prefix=None
            if QUESTION in head or self.params.context == "none"
            else Prefix(f"nolima:{needles.name}:{head}:{place[1]}:{place[2]}", cell.depth, distracted + pair.needle_id),
        )

    def book(self, plan: Plan, sources: Sources) -> Book:
        """The book of the plan's cell."""
        books = sources.books(self.params.haystack)
        return next(book for book in books if book.name == plan.factors["book"])

    def depths(self, plan: Plan, length: int) -> tuple[float, ...]:
        """The needle's depth, then the distractor's where there is one; none where there is no haystack."""
        if self.params.context == "none":
            return ()
        depth: float = plan.facts["cell_depth"]
        if self.params.sweep == "last-2k":
            depth = 1 - (1 - depth) * min(LAST_TOKENS, length) / length
        if self.params.variant != "distractor":
            return (depth,)
        return depth, distractor_depth(depth, length, plan.facts["distractor_spread"])

    def spacing(self, length: int) -> tuple[float, float]:
        """The distractor's distances; below 500 tokens there is no room for any."""
        return (AWAY, OUTER) if length >= SHORT else (0.0, 0.0)

    def planted(self, plan: Plan, fit: Fit, sources: Sources) -> list[Planted]:
        """The needle, and the distractor where there is one, in the order of the text."""
        pair, name = self._pair(plan, sources), plan.facts["name"]
        place = fit.places[0]
        lines: list[Planted] = [(place, pair.needle(name) + "\n", "needle")]
        distractor = pair.distractor(name)
        if distractor is not None:
            for place in fit.places[1:]:
                lines.append((place, distractor + "\n", "distractor"))
        return sorted(lines, key=lambda line: line[0])

    def edges(self, plan: Plan, haystack: str, sources: Sources) -> tuple[str, str]:
        """The template before and after the haystack, with question and choices filled in."""
        head, tail = self._surroundings(plan, haystack, sources)
        return "".join([piece.text for piece in head]), "".join([piece.text for piece in tail])

    def system(self, plan: Plan, sources: Sources) -> str | None:
        """What the needle set says, or one line."""
        return self._pair(plan, sources).system_prompt or SYSTEM_PROMPT

    def draft(self, plan: Plan, fit: Fit, sources: Sources) -> Draft:
        """The window of the book with the needle planted in it, or the question alone."""
        if self.params.context == "none":
            head, tail = self._surroundings(plan, "", sources)
            kept = tuple(piece for piece in (*head, *tail) if piece.text)
            return Draft(kept, "", system=self.system(plan, sources))
        if fit.window is None:
            raise ValueError("a NoLiMa sample needs the window of its book")
        book = self.book(plan, sources)
        position, end = fit.window
        head, tail = self._surroundings(plan, book.text[position:end], sources)
        pieces = [*head]
        kind: SpanKind
        for place, line, kind in self.planted(plan, fit, sources):
            pieces += [Piece(book.text[position:place], "haystack"), Piece(line[:-1], kind), Piece("\n")]
            position = place
        pieces += [Piece(book.text[position:end], "haystack"), *tail]
        kept = tuple(piece for piece in pieces if piece.text)
        return Draft(kept, "", system=self.system(plan, sources))

    def _surroundings(self, plan: Plan, haystack: str, sources: Sources) -> tuple[list[Piece], list[Piece]]:
        """What stands before and after the haystack, the question a piece of its own."""
        pair, name = self._pair(plan, sources), plan.facts["name"]
        question = pair.question(name)
        template = self._template(pair)
        values = {"question": question}
        if "{choices}" in template:
            values["choices"] = ", ".join(self._choices(plan, pair, haystack, sources))
        head, _, tail = template.partition(HAYSTACK)
        return _marked(head, question, values), _marked(tail, question, values)

    def notes(self, plan: Plan, fit: Fit, sources: Sources) -> tuple[str, ...]:
        """Wrong choices that do not occur in the haystack, and a distractor that stands where it should not."""
        pair = self._pair(plan, sources)
        if fit.window is None:
            return ()
        if "{choices}" not in self._template(pair):
            return misplaced(fit) if fit.size >= SHORT else ()
        haystack = self.book(plan, sources).text[slice(*fit.window)]
        offered = self._choices(plan, pair, haystack, sources)
        absent = sum(name != plan.facts["name"] and name not in haystack for name in offered)
        return (f"{absent} of the wrong choices do not occur in the haystack",) if absent else ()

    def _choices(self, plan: Plan, pair: Pair, haystack: str, sources: Sources) -> tuple[str, ...]:
        """The gold name among three that occur in the haystack, in a random order; the set's own fill up."""
        name: str = plan.facts["name"]
        draws = rng_for(plan.item.seed, "nolima", plan.facts["set"], "choices", pair.id, plan.item.index)
        in_book = self.book(plan, sources).names
        own = [other for other in pair.characters if other not in in_book]
        told, fillers = ([names[rank] for rank in draws.order(len(names)).tolist()] for names in (in_book, own))
        # Looking through a long haystack takes long, so no more names are looked for than are shown.
        present = islice((other for other in told if other != name and other in haystack), CHOICES - 1)
        wrong = islice(chain(present, (other for other in fillers if other != name)), CHOICES - 1)
        shown = [name, *wrong]
        return tuple(shown[place] for place in draws.order(len(shown)).tolist())

    def _needles(self, sources: Sources) -> NeedleSet:
        return sources.needles(self.params.needles, self.params.variant)

    def _pair(self, plan: Plan, sources: Sources) -> Pair:
        return self._needles(sources).by_id[str(plan.factors["pair"])]

    def _template(self, pair: Pair) -> str:
        """The set's own wording; where it has none, and without a haystack, ours."""
        if self.params.context == "none":
            return CLOSED_BOOK_CHOICES if self.params.variant == "choices" else CLOSED_BOOK
        variant = "default" if self.params.variant == "hard" else self.params.variant
        return pair.task_template or TEMPLATES[variant]

    def _grid(self) -> int:
        return int(self.params.depths)

    def _design(self, sources: Sources, seed: int) -> Design:
        books = sources.books(self.params.haystack)
        return _design(self._needles(sources), self._grid(), len(books), seed)


def _marked(template: str, question: str, values: Mapping[str, str]) -> list[Piece]:
    """The pieces of one side of the template; the first place of the question is marked."""
    before, place, after = template.partition(QUESTION)
    if not place:
        return [Piece(fill(template, values))]
    return [Piece(fill(before, values)), Piece(question, "question"), Piece(fill(after, values))]


@dataclass(frozen=True, slots=True)
class Design:
    """The order of a design: which pair and cell an index is.

    Attributes:
        pairs: needle by needle, each needle with all its questions.
        starts: for each pair, the cell of its needle in the first run over all pairs.
        step: from one run to the next each needle moves on by so many cells; it has no divisor in common with `cells`.
        cells: depths times books.
        books: how many there are.
    """

    pairs: tuple[Pair, ...]
    starts: tuple[int, ...]
    step: int
    cells: int
    books: int

    def at(self, index: int, depths: int) -> tuple[Pair, Cell]:
        """The pair and the cell of an index."""
        run, slot = divmod(index, len(self.pairs))
        cell = (self.starts[slot] + run * self.step) % self.cells
        row, step = divmod(cell, depths)
        return self.pairs[slot], Cell(step / (depths - 1), (row + step) % self.books)

    def index(self, slot: int, cell: int) -> int:
        """The index of a pair, by its slot, at a cell."""
        run = (cell - self.starts[slot]) * pow(self.step, -1, self.cells) % self.cells
        return run * len(self.pairs) + slot


@lru_cache(maxsize=16)
def _design(needles: NeedleSet, depths: int, books: int, seed: int) -> Design:
    by_needle: dict[str, list[Pair]] = {}
    for pair in needles.pairs:
        by_needle.setdefault(pair.needle_id, []).append(pair)
    cells = depths * books
    order = rng_for(seed, "nolima", needles.name, "needles").order(len(by_needle)).tolist()
    groups = list(by_needle.values())
    coprime = [step for step in range(1, cells + 1) if gcd(step, cells) == 1]
    # Needle by needle, and run by run, the walk over the cells goes on with equal strides, so that any beginning of the
    # design meets each cell about as often as any other; a stride of a golden share of the depths spreads the first
    # few evenly too, and so does what a needle's own stride from run to run makes of it.
    onward = next(step for step in range(len(groups), len(groups) + cells) if gcd(step, cells) == 1)
    stride = min(coprime, key=lambda step: (_unevenness(step, depths) + _unevenness(step * onward, depths), -step))
    pairs: list[Pair] = []
    starts: list[int] = []
    for rank, number in enumerate(order):
        pairs += groups[number]
        starts += [rank * stride % cells] * len(groups[number])
    return Design(tuple(pairs), tuple(starts), stride * onward % cells, cells, books)


def _unevenness(stride: int, depths: int) -> float:
    """How far a stride, forward or backward on a ring of depths, is from a golden share of it."""
    return abs(min(stride % depths, -stride % depths) - (1 - GOLDEN) * depths)

"""What a task is: it plans items, prices sizes and drafts samples. It is pure and knows neither models nor runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict

from leadline.haystacks.books import Book
from leadline.haystacks.coded_words import CodedWordPool
from leadline.haystacks.documents import QuestionSet
from leadline.haystacks.pools import Pool
from leadline.haystacks.prose import Prose
from leadline.haystacks.vocabulary import Vocabulary
from leadline.items import Counts, Draft, Fit, ItemKey, Plan, canonical_json
from leadline.needles.sets import NeedleSet
from leadline.seeds import Draws, rng_for
from leadline.tokenizers.counting import Counter

ROUND_ITEMS = 25
"""Items of each task and length in a round where nothing asks for another number."""

Kind = Literal["word", "number", "uuid"]
"""What a planted key or value is."""


class Sources(Protocol):
    """The texts and word lists that tasks draw on, loaded when first asked for."""

    def books(self, name: str) -> tuple[Book, ...]:
        """Haystacks of lines: ``open``, or a folder of the user's."""
        ...

    def needles(self, name: str, variant: str) -> NeedleSet:
        """A set of needles and questions: ``open``, or a file in the official format."""
        ...

    def prose(self, name: str) -> Prose:
        """A text split into sentences, by its name in the catalogue."""
        ...

    def questions(self, name: str) -> QuestionSet:
        """Questions and the documents that they are on: a data set of the catalogue, or one that the user has added."""
        ...

    def vocabulary(self) -> Vocabulary:
        """The words of numbered lists."""
        ...

    def coded_words(self, length: int) -> CodedWordPool:
        """Random words of this many letters."""
        ...

    def pool(self, kind: Kind) -> Pool:
        """The fixed pool of "word", "number" or "uuid" elements."""
        ...


class PromptCounter(Protocol):
    """Counts the tokens of a whole request from the counts of its parts, each taken where it stands."""

    @property
    def counter(self) -> Counter:
        """Counts of chunks by the model's tokenizer."""
        ...

    def fixed(
        self,
        head: str,
        tail: str,
        answer_prefix: str,
        turns: Sequence[tuple[str, str]] = (),
        system: str | None = None,
    ) -> int:
        """Tokens of the frame (chat template, BOS), system message, earlier turns, head and tail, answer prefix.

        `head` ends and `tail` begins at a place where every tokenizer cuts: what stands between them is counted apart.
        """
        ...

    def whole(
        self, message: str, answer_prefix: str, turns: Sequence[tuple[str, str]] = (), system: str | None = None
    ) -> int:
        """Tokens of a finished request, counted as one text."""
        ...


class Cost(Protocol):
    """Tokens of the whole request at each size; non-decreasing and cheap to read."""

    @property
    def largest(self) -> int:
        """The greatest size that this cost knows: beyond it the budget is passed or there is nothing more."""
        ...

    def __getitem__(self, size: int) -> int:
        """Tokens of the whole request with `size` units."""
        ...


class TaskParams(BaseModel):
    """Base of every task's parameters: unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    output_tokens: int


class Task(Protocol):
    """One kind of question over a haystack of any size.

    Class attributes: `family` names the generator, `category` the paper's category, `metric` how an answer scores,
    `answer_unique` whether an answer stands nowhere in a message but inside its needle or gold spans.
    """

    family: ClassVar[str]
    version: ClassVar[int]
    category: ClassVar[str]
    metric: ClassVar[str]
    answer_unique: ClassVar[bool]

    @property
    def name(self) -> str:
        """Name of the configuration, for example ``niah_single_2``."""
        ...

    @property
    def params(self) -> TaskParams:
        """Its parameters, validated."""
        ...

    @property
    def counts(self) -> Counts:
        """What a length counts: the whole request, or the haystack alone."""
        ...

    @property
    def targets(self) -> int:
        """How many answers an item has."""
        ...

    def rounds(self, samples: int, sources: Sources) -> Iterator[Sequence[int]]:
        """The indices of the first `samples` items, or of all there are, in shares that keep the design balanced."""
        ...

    def at_length(self, length: int) -> Task:
        """The task as it is asked at this length: itself, but where a paper asks another one at short lengths."""
        ...

    def bundles(self, seed: int, sources: Sources) -> tuple[int, ...]:
        """Sizes of neighbouring items that share all of their text; the pattern repeats over the indices."""
        ...

    def without_context(self) -> Task | None:
        """The same questions without any text that could answer them; None where there is nothing to ask then."""
        ...

    @property
    def remark(self) -> str | None:
        """What a reader of this task's figures must know, or None."""
        ...

    def supply(self, sources: Sources) -> int | None:
        """Units of haystack that there are before they repeat; None where they never do."""
        ...

    def plan(self, item: ItemKey, sources: Sources) -> Plan:
        """All the randomness of an item."""
        ...

    def draft(self, plan: Plan, fit: Fit, sources: Sources) -> Draft:
        """The sample as pieces of text at the size of the fit."""
        ...


class BudgetTask(Task, Protocol):
    """A task whose length counts the whole request: it grows unit by unit until the budget is spent."""

    def sizes(self, plan: Plan, sources: Sources) -> tuple[int, int | None]:
        """The smallest and the greatest possible number of units; None where there is no greatest."""
        ...

    def cost(self, plan: Plan, sources: Sources, counter: PromptCounter, upto: int) -> Cost:
        """Tokens of the whole request at every size, at least as far as `upto` tokens."""
        ...


class PlainTask:
    """What most tasks have in common: the same at every length, nothing to say of it, and no end of its haystack.

    Where documents or words run out, `sizes` tells; `supply` is for texts that would begin again.
    """

    __slots__ = ()

    @property
    def counts(self) -> Counts:
        """The whole request."""
        return "request"

    def rounds(self, samples: int, sources: Sources) -> Iterator[Sequence[int]]:
        """Shares of equal size: there is no end of items."""
        for start in range(0, samples, ROUND_ITEMS):
            yield range(start, min(start + ROUND_ITEMS, samples))

    def at_length(self, length: int) -> Self:
        """The task itself."""
        return self

    def bundles(self, seed: int, sources: Sources) -> tuple[int, ...]:
        """Each item has a text of its own."""
        return (1,)

    def without_context(self) -> Task | None:
        """Nothing: its questions speak of the text alone."""
        return None

    @property
    def remark(self) -> str | None:
        """Nothing."""
        return None

    def supply(self, sources: Sources) -> int | None:
        """No end."""
        return None


def item_key(task: Task, seed: int, index: int) -> ItemKey:
    """The key of a task's item number `index`."""
    params = task.params.model_dump(exclude={"output_tokens"})
    return ItemKey(task.name, task.version, canonical_json(params), seed, index)


def item_draws(item: ItemKey, *names: object) -> Draws:
    """The draw of this name that belongs to this item alone."""
    return rng_for(item.seed, item.task, item.index, *names)


def joined_names(names: Sequence[str]) -> str:
    """Keys as a query lists them: ``a``, ``a, and b``, ``a, b, c, and d``."""
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])}, and {names[-1]}"


def describe(params: type[TaskParams]) -> list[dict[str, Any]]:
    """Each parameter's name, allowed values, default and meaning."""
    rows: list[dict[str, Any]] = []
    schema = params.model_json_schema()["properties"]
    for name, field in params.model_fields.items():
        entry = schema[name]
        allowed = "|".join(str(value) for value in entry["enum"]) if "enum" in entry else entry.get("type", "")
        rows.append({"name": name, "values": allowed, "default": field.default, "about": field.description})
    return rows

"""A needle set: pairs of a needle and a question that is answered by the name in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Literal

from leadline.items import canonical_json, digest
from leadline.needles.placeholders import CHARACTER, fill, has

QuestionType = Literal["onehop", "twohop", "twohop2", "direct"]
Order = Literal["default", "inverted"]
Reasoning = Literal["world_knowledge", "commonsense_knowledge"]


@dataclass(frozen=True, slots=True)
class Pair:
    """One needle with one question. All texts are filled in but for ``{CHAR}``, the name that is drawn.

    Attributes:
        entry: id of the entry of the file it comes from ("0401", "0401Inv").
        test: id of the entry's test: one fact in the entry's wording.
        hops: question type; `direct` names the needle's keyword.
        order: `default` where the name comes before the keyword, `inverted` where it comes after.
        gold_answers: accepted answers of a needle without a name; None where the gold answer is the drawn name.
        system_prompt: None where the file gives none.
        task_template: text with ``{haystack}`` and ``{question}``, and ``{choices}`` where names are offered; None
            where the file gives none.
        distractor_template: sentence that holds the question's keyword and answers nothing.
        characters: the names that may be drawn.
        needle_keywords: what the test puts into the needle (the article's Wn).
        question_keywords: what the test puts into the question (the article's Wq).
    """

    entry: str
    test: str
    hops: QuestionType
    order: Order
    reasoning: Reasoning
    needle_template: str
    question_template: str
    gold_answers: tuple[str, ...] | None
    system_prompt: str | None
    task_template: str | None
    distractor_template: str | None
    characters: tuple[str, ...]
    needle_keywords: tuple[str, ...]
    question_keywords: tuple[str, ...]

    @property
    def id(self) -> str:
        """Entry, test and question type: unique in its set."""
        return f"{self.needle_id}/{self.hops}"

    @property
    def needle_id(self) -> str:
        """Entry and test: the same for all questions about one needle."""
        return f"{self.entry}/{self.test}"

    @property
    def group(self) -> str:
        """The first four characters of the entry's id; all pairs of a group see the same name at the same place."""
        return self.entry[:4]

    @property
    def draws_a_name(self) -> bool:
        """Whether the needle has a place for a name."""
        return has(self.needle_template, CHARACTER)

    def needle(self, name: str) -> str:
        """The needle with this name."""
        return fill(self.needle_template, {CHARACTER: name})

    def question(self, name: str) -> str:
        """The question; a name stands in it only where the file says so."""
        return fill(self.question_template, {CHARACTER: name})

    def distractor(self, name: str) -> str | None:
        """The distractor sentence, or None; a name stands in it only where the file says so."""
        return None if self.distractor_template is None else fill(self.distractor_template, {CHARACTER: name})

    def gold(self, name: str) -> tuple[str, ...]:
        """Accepted answers: the drawn name, or the answers that the file gives."""
        return (name,) if self.gold_answers is None else self.gold_answers


@dataclass(frozen=True, eq=False)
class NeedleSet:
    """Distinct pairs, in the order of their file.

    Attributes:
        name: what it is called in records and messages.
        pairs: one for each distinct (needle, question, template).
        duplicates: (left out, the same as) by pair id; the published sets hold two.
    """

    name: str
    pairs: tuple[Pair, ...]
    duplicates: tuple[tuple[str, str], ...] = ()

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups, in order."""
        return _distinct(pair.group for pair in self.pairs)

    @cached_property
    def characters(self) -> tuple[str, ...]:
        """All names that may be drawn, in order, each once."""
        return _distinct(name for pair in self.pairs for name in pair.characters)

    @cached_property
    def by_id(self) -> Mapping[str, Pair]:
        """The pairs by their ids."""
        return {pair.id: pair for pair in self.pairs}

    @property
    def digest(self) -> str:
        """A hash of everything in the set but its name."""
        return digest(*(canonical_json(astuple(pair)) for pair in self.pairs))

    def characters_of(self, group: str) -> tuple[str, ...]:
        """The names that may be drawn for a group, in order, each once."""
        return _distinct(name for pair in self.pairs if pair.group == group for name in pair.characters)


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))

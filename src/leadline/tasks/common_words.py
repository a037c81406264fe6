"""Common words: RULER's aggregation over a numbered list of words (paper section 3.3, tables 5 and 8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypedDict

import numpy as np
import numpy.typing as npt
from pydantic import Field, ValidationInfo, field_validator

from leadline.errors import DataError
from leadline.haystacks.coded_words import LABELS, Vocabulary
from leadline.haystacks.pools import Indices
from leadline.items import Draft, Fit, ItemKey, Piece, Plan
from leadline.seeds import Draws
from leadline.tasks.base import Cost, PromptCounter, Sources, TaskParams, item_draws
from leadline.tasks.costs import RunningCost, grown, running_sum
from leadline.tokenizers.counting import Counter

TASK = (
    "Below is a numbered list of words. In these words, some appear more often than others. Memorize the ones that "
    "appear most often.\n",
    "Question: What are the {count} most common words in the above list?",
    " Answer: The top {count} words that appear most often in the list are:",
)
_FIXED_TEXT = "".join(TASK).lower()

SHORT_FORM_BELOW = 4096
"""Tokens: a shorter length has the task in its short form (published generator)."""

_SHORT_FREQUENCIES = {"freq_cw": 6, "freq_ucw": 1}
_BLOCK = 128


class Example(TypedDict):
    """Words of the worked example's list, the common ones in the order of its answer."""

    common: list[str]
    uncommon: list[str]


@dataclass(frozen=True, slots=True)
class ExampleForm:
    """How often the words of the worked example's list occur, and how many of them are not common."""

    freq_cw: int
    freq_ucw: int
    uncommon: int


EXAMPLE_FORMS: Mapping[str, ExampleForm] = {"full": ExampleForm(10, 3, 30), "short": ExampleForm(3, 1, 10)}
"""With ten common words these are lists of 40 and of 20 words (published generator)."""


class CommonWordsParams(TaskParams):
    """Parameters of the common words task (paper table 5)."""

    num_cw: int = Field(10, ge=1, le=100, description="common words, all of them asked for")
    freq_cw: int = Field(30, ge=2, le=1000, description="how often each common word occurs")
    freq_ucw: int = Field(3, ge=1, le=999, description="how often every other word occurs, fewer than freq_cw")
    examples: Literal["prompt", "none"] = Field("prompt", description="worked example before the task, or none")
    example: Literal["full", "short"] = Field("full", description="list of the worked example: 40 words, or 20")
    vocabulary_size: int | None = Field(None, ge=2, description="most distinct words a list may have, or no limit")
    output_tokens: int = Field(120, ge=1, description="tokens the answer may take")

    @field_validator("freq_ucw")
    @classmethod
    def _fewer_than_common(cls, value: int, info: ValidationInfo) -> int:
        if value >= info.data.get("freq_cw", value + 1):
            raise ValueError(f"other words must occur less often than common ones (freq_cw = {info.data['freq_cw']})")
        return value

    @field_validator("vocabulary_size")
    @classmethod
    def _more_than_common(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is not None and value <= info.data.get("num_cw", 0):
            raise ValueError(f"the list needs more words than the common ones (num_cw = {info.data['num_cw']})")
        return value


@dataclass(frozen=True, slots=True)
class CommonWords:
    """One configuration of the common words task.

    The words of an item stand in an order of its own: the common words, those of the worked example, then candidates
    for all further words. A unit is one candidate with its `freq_ucw` occurrences. A candidate that holds an answer,
    or is part of one, is a unit without occurrences: which words are in a list never depends on where it ends.
    """

    name: str
    params: CommonWordsParams

    family: ClassVar[str] = "cwe"
    version: ClassVar[int] = 1
    category: ClassVar[str] = "aggregation"
    metric: ClassVar[str] = "recall"
    answer_unique: ClassVar[bool] = False

    @property
    def targets(self) -> int:
        """Every common word."""
        return self.params.num_cw

    def at_length(self, length: int) -> CommonWords:
        """The task to ask at this length: below 4096 tokens its short form, whose scores are not comparable.

        The short form has frequencies 6 and 1 and a worked example of 20 words; what was set by hand stays as it is.
        """
        if length >= SHORT_FORM_BELOW:
            return self
        given = self.params.model_fields_set
        changes: dict[str, int | str] = {} if given & _SHORT_FREQUENCIES.keys() else {**_SHORT_FREQUENCIES}
        if "example" not in given:
            changes["example"] = "short"
        return replace(self, params=self.params.model_copy(update=changes))

    def plan(self, item: ItemKey, sources: Sources) -> Plan:
        """The common words, the words of the worked example, and where the candidates for the others begin."""
        params = self.params
        form = EXAMPLE_FORMS[params.example]
        wanted = params.num_cw + form.uncommon if params.examples == "prompt" else 0
        common: list[str] = []
        shown: list[str] = []
        start = 0
        for start, word in _familiar(item, sources.vocabulary()):
            if len(common) == params.num_cw and len(shown) == wanted:
                break
            if any(word in answer or answer in word for answer in common):
                continue
            if len(common) < params.num_cw:
                if word not in _FIXED_TEXT:
                    common.append(word)
            else:
                shown.append(word)
        else:
            raise DataError(
                f"the word lists have only {sources.vocabulary().familiar} words, too few for num_cw = {params.num_cw}: "
                "ask for fewer common words"
            )
        example: Example | None = None
        if wanted:
            example = {"common": shown[: params.num_cw], "uncommon": shown[params.num_cw :]}
        return Plan(
            item,
            factors={},
            answers=tuple((word,) for word in common),
            facts={
                "example": example,
                "distractors": example["common"] if example else [],
                "first_candidate": start,
                # A word that the answer lists: after a number, or after a comma.
                "item_pattern": r"(?<=\d\. )[a-z]+|(?<=, )[a-z]+",
            },
        )

    def sizes(self, plan: Plan, sources: Sources) -> tuple[int, int | None]:
        """From one candidate on; the word lists, the limit on distinct words or the numbering end it."""
        params = self.params
        vocabulary = sources.vocabulary()
        left = vocabulary.size - plan.facts["first_candidate"]
        greatest = min(left, (LABELS - params.num_cw * params.freq_cw) // params.freq_ucw)
        if params.vocabulary_size is None:
            return 1, greatest
        wanted = params.vocabulary_size - params.num_cw
        asked = min(wanted, greatest)
        while True:
            listed = np.flatnonzero(self._candidates(plan, vocabulary, asked)[1])
            if len(listed) >= wanted:
                return 1, int(listed[wanted - 1]) + 1
            if asked == greatest:
                return 1, greatest
            asked = min(greatest, asked + wanted)

    def cost(self, plan: Plan, sources: Sources, counter: PromptCounter, upto: int) -> Cost:
        """Labels and words, each counted where it stands, and the newline behind the word that is last at each size."""
        tokens = counter.counter
        head, tail, prefix = self._texts()
        fixed = counter.fixed(head, tail, prefix) + self._example_tokens(plan, tokens, sources.vocabulary())
        _, greatest = self.sizes(plan, sources)
        return RunningCost(
            fixed, grown(lambda units: self._running(plan, tokens, sources.vocabulary(), units), upto, greatest)
        )

    def draft(self, plan: Plan, fit: Fit, sources: Sources) -> Draft:
        """The worked example, and the list with the common words and `fit.size` candidates."""
        params = self.params
        vocabulary = sources.vocabulary()
        head, tail, prefix = self._texts()
        indices, listed = self._candidates(plan, vocabulary, fit.size)
        common = [forms[0] for forms in plan.answers]
        words = _shuffled(
            item_draws(plan.item, "list"),
            [*common, *vocabulary.take(indices)],
            _owners(params.num_cw, params.freq_cw, fit.size, params.freq_ucw),
            np.concatenate([np.ones(params.num_cw, dtype=np.bool_), listed]),
        )
        pieces = [Piece(head), Piece(_numbered(words, vocabulary), "haystack"), Piece("\n"), Piece(tail, "question")]
        if plan.facts["example"] is not None:
            pieces[:0] = [Piece(self._example(plan, vocabulary), "example"), Piece("\n")]
        return Draft(tuple(pieces), prefix)

    def _texts(self) -> tuple[str, str, str]:
        """Head, tail and answer prefix."""
        head, question, answer = TASK
        return head, question.format(count=self.targets), answer.format(count=self.targets)

    def _candidates(self, plan: Plan, vocabulary: Vocabulary, count: int) -> tuple[Indices, npt.NDArray[np.bool_]]:
        """The first `count` candidates and whether each is listed, shapes (count,)."""
        indices = _order(plan.item, vocabulary, plan.facts["first_candidate"], count)
        words = vocabulary.take(indices)
        answers = [forms[0] for forms in plan.answers]
        inside = "\n".join(answers).__contains__
        listed = ~np.fromiter(map(inside, words), dtype=np.bool_, count=count)
        text = "\n".join(words)
        ends = np.cumsum(np.fromiter(map(len, words), dtype=np.int64, count=count) + 1)
        for answer in answers:
            at = text.find(answer)
            while at >= 0:
                holder = int(np.searchsorted(ends, at, side="right"))
                listed[holder] = False
                at = text.find(answer, int(ends[holder]))
        return indices, listed

    def _running(self, plan: Plan, tokens: Counter, vocabulary: Vocabulary, units: int) -> npt.NDArray[np.int64]:
        """Tokens of the list with the first 0, 1, ... `units` candidates, its newline included, shape (units + 1,)."""
        params = self.params
        indices, listed = self._candidates(plan, vocabulary, units)
        common = [" " + forms[0] for forms in plan.answers]
        entries = params.num_cw * params.freq_cw + params.freq_ucw * running_sum(listed)
        each = np.zeros(units, dtype=np.int64)
        each[listed] = vocabulary.counts(tokens, indices[listed])
        words = params.freq_cw * int(tokens.chunk_counts(common).sum()) + params.freq_ucw * running_sum(each)
        labels = vocabulary.labels.running(tokens, int(entries[-1]))[entries]
        return words + labels + self._newlines(plan, tokens, vocabulary.take(indices), listed)

    def _newlines(
        self, plan: Plan, tokens: Counter, candidates: Sequence[str], listed: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.int64]:
        """Tokens of the newline behind the last word of the list at each size, shape (len(candidates) + 1,)."""
        params = self.params
        owners = _owners(params.num_cw, params.freq_cw, len(candidates), params.freq_ucw)
        shown = np.concatenate([np.ones(params.num_cw, dtype=np.bool_), listed])[owners]
        order = item_draws(plan.item, "list").order(len(owners))
        places = np.empty(len(owners), dtype=np.int64)
        places[order] = np.arange(len(owners))
        last_places = np.maximum.accumulate(np.where(shown, places, -1))
        first = params.num_cw * params.freq_cw
        last_owners = owners[order[last_places[first - 1 :: params.freq_ucw]]]
        different, which = np.unique(last_owners, return_inverse=True)
        words = [*(forms[0] for forms in plan.answers), *candidates]
        last_words = [" " + words[owner] for owner in different.tolist()]
        return (tokens.chunk_counts([word + "\n" for word in last_words]) - tokens.chunk_counts(last_words))[
            which
        ].astype(np.int64)

    def _example_words(self, plan: Plan) -> list[str]:
        """The list of the worked example, in order."""
        example, form = plan.facts["example"], EXAMPLE_FORMS[self.params.example]
        words = [*example["common"], *example["uncommon"]]
        owners = _owners(self.params.num_cw, form.freq_cw, form.uncommon, form.freq_ucw)
        return _shuffled(item_draws(plan.item, "example list"), words, owners, np.ones(len(words), dtype=np.bool_))

    def _example_answer(self, plan: Plan, vocabulary: Vocabulary) -> str:
        """Question and answer of the worked example.

        The answer follows the colon without a space, as the published generator has it.
        """
        _, tail, prefix = self._texts()
        return f"{tail}{prefix}{_numbered(plan.facts['example']['common'], vocabulary)}"

    def _example(self, plan: Plan, vocabulary: Vocabulary) -> str:
        words = _numbered(self._example_words(plan), vocabulary)
        return f"{TASK[0]}{words}\n{self._example_answer(plan, vocabulary)}"

    def _example_tokens(self, plan: Plan, tokens: Counter, vocabulary: Vocabulary) -> int:
        """Tokens that the worked example and the newline behind it add."""
        if plan.facts["example"] is None:
            return 0
        words = [" " + word for word in self._example_words(plan)]
        last = words.pop() + "\n"
        labels = vocabulary.labels.running(tokens, len(words) + 1)[-1]
        answer = tokens.text(f"{self._example_answer(plan, vocabulary)}\n{TASK[0]}")
        return int(labels) + int(tokens.chunk_counts([*words, last]).sum()) + answer


def _order(item: ItemKey, vocabulary: Vocabulary, first: int, count: int) -> Indices:
    """Places first, first + 1, ... of the item's order of all words: the familiar, then those of the larger list."""
    familiar = vocabulary.familiar
    from_familiar = max(0, min(count, familiar - first))
    taken = item_draws(item, "familiar words").permutation(familiar).take(first, from_familiar)
    if from_familiar == count:
        return taken
    rare = item_draws(item, "rare words").permutation(vocabulary.size - familiar)
    more = rare.take(max(0, first - familiar), count - from_familiar)
    return np.concatenate([taken, more + familiar])


def _familiar(item: ItemKey, vocabulary: Vocabulary) -> Iterator[tuple[int, str]]:
    """Places and words of the item's order from its beginning on, as far as the familiar words go."""
    for first in range(0, vocabulary.familiar, _BLOCK):
        count = min(_BLOCK, vocabulary.familiar - first)
        yield from enumerate(vocabulary.take(_order(item, vocabulary, first, count)), start=first)


def _owners(num_cw: int, freq_cw: int, others: int, freq_ucw: int) -> npt.NDArray[np.int64]:
    """The word of each occurrence, the common words' before the others'; shape (occurrences,)."""
    common = np.repeat(np.arange(num_cw), freq_cw)
    return np.concatenate([common, np.repeat(np.arange(num_cw, num_cw + others), freq_ucw)])


def _shuffled(
    draws: Draws, words: Sequence[str], owners: npt.NDArray[np.int64], listed: npt.NDArray[np.bool_]
) -> list[str]:
    """The occurrences of the listed words, each at the place that its own key gives it."""
    shown = owners[draws.order(len(owners))]
    if not listed.all():
        shown = shown[listed[shown]]
    return np.array(words, dtype=object)[shown].tolist()


def _numbered(words: Sequence[str], vocabulary: Vocabulary) -> str:
    """``1. word 2. word ...``."""
    parts = [""] * (2 * len(words))
    parts[0::2] = vocabulary.labels.first(len(words))
    parts[1::2] = words
    return " ".join(parts)

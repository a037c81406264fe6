"""Common words: RULER's aggregation over a numbered list of words (paper section 3.3, tables 5 and 8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Literal, TypedDict

import numpy as np
import numpy.typing as npt
from pydantic import Field, ValidationInfo, field_validator

from leadline.errors import DataError
from leadline.haystacks.coded_words import LABELS, DisplayOrder, Vocabulary, changes_of_the_last
from leadline.haystacks.pools import Indices
from leadline.items import Draft, Fit, ItemKey, Piece, Plan
from leadline.tasks.base import Cost, PromptCounter, Sources, TaskParams, item_draws
from leadline.tasks.costs import RunningCost, running_sum
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

_TOKENS_OF_AN_ENTRY = 7
_TOKENS_OF_A_WORD = 1.3
"""Where sizing begins: an entry takes rather fewer tokens and a word rather more (cl100k_base 5.3 and 1.4 at 128K)."""


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
    examples: Literal["prompt", "turns", "none"] = Field(
        "prompt", description="a worked example before the task, as turns of its own, or none"
    )
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

    @property
    def remark(self) -> str | None:
        """Below 4,096 tokens this is another, easier task."""
        if self.params.example == "short":
            return "cwe below 4,096 tokens is another, easier task: not comparable with cwe at longer lengths"
        return None

    def supply(self, sources: Sources) -> int | None:
        """No end: words are never repeated beyond their frequency."""
        return None

    def plan(self, item: ItemKey, sources: Sources) -> Plan:
        """The common words, the words of the worked example, and where the candidates for the others begin."""
        params = self.params
        form = EXAMPLE_FORMS[params.example]
        wanted = 0 if params.examples == "none" else params.num_cw + form.uncommon
        common: list[str] = []
        shown: list[str] = []
        first_candidate = 0
        for place, word in enumerate(_familiar(item, sources.vocabulary())):
            if len(common) == params.num_cw and len(shown) == wanted:
                first_candidate = place
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
                f"{sources.vocabulary().familiar} familiar words are too few for num_cw = {params.num_cw}: "
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
                "first_candidate": first_candidate,
                # A word that the answer lists: after a number, or after a comma.
                "item_pattern": r"(?<=\d\. )[a-z]+|(?<=, )[a-z]+",
            },
        )

    def sizes(self, plan: Plan, sources: Sources) -> tuple[int, int | None]:
        """From one candidate on; the word lists, the limit on distinct words or the numbering end it."""
        return 1, self._greatest(plan, sources)

    def cost(self, plan: Plan, sources: Sources, counter: PromptCounter, upto: int) -> Cost:
        """Labels and words, each counted where it stands, and the newline behind the word that is last at each size."""
        params = self.params
        tokens = counter.counter
        head, tail, prefix = self._texts()
        fixed = counter.fixed(head, tail, prefix, self._turns(plan, sources.vocabulary()))
        if params.examples == "prompt":
            fixed += self._example_tokens(plan, tokens, sources.vocabulary())
        greatest = self._greatest(plan, sources)
        left = upto - fixed
        entries = min(LABELS, max(1, left // _TOKENS_OF_AN_ENTRY))
        while True:
            labels = sources.vocabulary().labels.running(tokens, entries)
            estimates = labels + _TOKENS_OF_A_WORD * np.arange(len(labels))
            if estimates[-1] > left or entries == LABELS:
                break
            entries = min(LABELS, entries * 3 // 2 + 1)
        entries = int(np.searchsorted(estimates, left))
        units = max(1, (entries - params.num_cw * params.freq_cw) // params.freq_ucw + 1)
        while True:
            units = min(units, greatest)
            running = self._running(plan, tokens, sources, units)
            if running[-1] > left or units == greatest:
                return RunningCost(fixed, running)
            units = units * 5 // 4 + 16

    def draft(self, plan: Plan, fit: Fit, sources: Sources) -> Draft:
        """The worked example, and the list with the common words and `fit.size` candidates."""
        vocabulary = sources.vocabulary()
        head, tail, prefix = self._texts()
        _, candidates, listed = _candidates(plan, sources).first(fit.size)
        owners = self._owners(fit.size)
        shown = owners[_display(plan.item).first(len(owners))]
        shown = shown[np.concatenate([np.ones(self.params.num_cw, dtype=np.bool_), listed])[shown]]
        words = np.array([*_common(plan), *candidates], dtype=object)[shown].tolist()
        pieces = [Piece(head), Piece(_numbered(words, vocabulary), "haystack"), Piece("\n"), Piece(tail, "question")]
        if self.params.examples == "prompt":
            pieces[:0] = [Piece("".join(self._example(plan, vocabulary)), "example"), Piece("\n")]
        return Draft(tuple(pieces), prefix, turns=self._turns(plan, vocabulary))

    def _turns(self, plan: Plan, vocabulary: Vocabulary) -> tuple[tuple[str, str], ...]:
        return (self._example(plan, vocabulary),) if self.params.examples == "turns" else ()

    def _texts(self) -> tuple[str, str, str]:
        """Head, tail and answer prefix."""
        head, question, answer = TASK
        return head, question.format(count=self.targets), answer.format(count=self.targets)

    def _greatest(self, plan: Plan, sources: Sources) -> int:
        params = self.params
        candidates = _candidates(plan, sources)
        greatest = min(candidates.size, (LABELS - params.num_cw * params.freq_cw) // params.freq_ucw)
        if params.vocabulary_size is None:
            return greatest
        wanted = params.vocabulary_size - params.num_cw
        asked = min(wanted, greatest)
        while True:
            listed = np.flatnonzero(candidates.first(asked)[2])
            if len(listed) >= wanted:
                return int(listed[wanted - 1]) + 1
            if asked == greatest:
                return greatest
            asked = min(greatest, asked + wanted)

    def _owners(self, candidates: int) -> Indices:
        """The word of each occurrence, the common words' before the candidates'."""
        return _owners(self.params.num_cw, self.params.freq_cw, candidates, self.params.freq_ucw)

    def _running(self, plan: Plan, tokens: Counter, sources: Sources, units: int) -> npt.NDArray[np.int64]:
        """Tokens of the list with the first 0, 1, ... `units` candidates, its newline included, shape (units + 1,)."""
        params = self.params
        vocabulary = sources.vocabulary()
        indices, candidates, listed = _candidates(plan, sources).first(units)
        common = _common(plan)
        occurrences = params.num_cw * params.freq_cw + params.freq_ucw * np.arange(units + 1)
        entries = params.num_cw * params.freq_cw + params.freq_ucw * running_sum(listed.astype(np.int64))
        each = params.freq_ucw * np.where(listed, vocabulary.counts(tokens, indices), 0)
        running = running_sum(each) + vocabulary.labels.running(tokens, int(entries[-1]))[entries]
        running += params.freq_cw * int(tokens.chunk_counts([" " + word for word in common]).sum())
        # The newline behind the word that stands last.
        owners = self._owners(units)
        order = _display(plan.item).first(len(owners))
        shown = np.concatenate([np.ones(params.num_cw, dtype=np.bool_), listed])[owners]
        lasts = changes_of_the_last(order[shown[order]])
        last_owners = owners[lasts].tolist()
        last_words = [
            " " + (common[owner] if owner < len(common) else candidates[owner - len(common)]) for owner in last_owners
        ]
        newlines = tokens.chunk_counts([word + "\n" for word in last_words]) - tokens.chunk_counts(last_words)
        return running + newlines[np.searchsorted(lasts, occurrences) - 1]

    def _example_words(self, plan: Plan) -> list[str]:
        """The list of the worked example, in order."""
        example, form = plan.facts["example"], EXAMPLE_FORMS[self.params.example]
        words = [*example["common"], *example["uncommon"]]
        owners = _owners(self.params.num_cw, form.freq_cw, form.uncommon, form.freq_ucw)
        order = item_draws(plan.item, "example list").order(len(owners))
        return [words[owner] for owner in owners[order].tolist()]

    def _example(self, plan: Plan, vocabulary: Vocabulary) -> tuple[str, str]:
        """The worked example: a question with a list of its own, and its answer."""
        head, _, _ = self._texts()
        question, answer = self._example_end(plan, vocabulary)
        return f"{head}{_numbered(self._example_words(plan), vocabulary)}\n{question}", answer

    def _example_end(self, plan: Plan, vocabulary: Vocabulary) -> tuple[str, str]:
        """What stands behind the list of the worked example: the question proper, and the answer.

        The words follow the colon without a space, as the published generator has it.
        """
        _, tail, prefix = self._texts()
        return tail, prefix + _numbered(plan.facts["example"]["common"], vocabulary)

    def _example_tokens(self, plan: Plan, tokens: Counter, vocabulary: Vocabulary) -> int:
        """Tokens that the worked example and the newline behind it add."""
        words = [" " + word for word in self._example_words(plan)]
        last = words.pop() + "\n"
        labels = vocabulary.labels.running(tokens, len(words) + 1)[-1]
        answer = tokens.text("".join(self._example_end(plan, vocabulary)) + "\n" + TASK[0])
        return int(labels) + int(tokens.chunk_counts([*words, last]).sum()) + answer


class Candidates:
    """The words that may follow the common ones in the list of an item, in its order; what was asked for is kept."""

    def __init__(self, item: ItemKey, answers: Sequence[str], start: int, vocabulary: Vocabulary) -> None:
        self._item = item
        self._answers = answers
        self._start = start
        self._vocabulary = vocabulary
        self._kept: tuple[Indices, list[str], npt.NDArray[np.bool_]] | None = None

    @property
    def size(self) -> int:
        """Number of candidates."""
        return self._vocabulary.size - self._start

    def first(self, count: int) -> tuple[Indices, list[str], npt.NDArray[np.bool_]]:
        """The first `count`: their indices in the vocabulary, the words, and whether each may stand in the list.

        A word that holds an answer or is part of one may not.
        """
        kept = self._kept
        if kept is None or count > len(kept[1]):
            self._kept = kept = self._make(count)
        indices, words, listed = kept
        return indices[:count], words[:count], listed[:count]

    def _make(self, count: int) -> tuple[Indices, list[str], npt.NDArray[np.bool_]]:
        indices = _order(self._item, self._vocabulary, self._start, count)
        words = self._vocabulary.take(indices)
        parts = {
            answer[start:end]
            for answer in self._answers
            for start in range(len(answer))
            for end in range(start + 2, len(answer) + 1)
        }
        listed = ~np.fromiter(map(parts.__contains__, words), dtype=np.bool_, count=count)
        # All words are searched as one text, in which a newline stands between them.
        text = "\n".join(words)
        ends = np.cumsum(self._vocabulary.lengths[indices] + 1)
        for answer in self._answers:
            at = text.find(answer)
            while at >= 0:
                holder = int(np.searchsorted(ends, at, side="right"))
                listed[holder] = False
                at = text.find(answer, int(ends[holder]))
        return indices, words, listed


# An item is planned, sized and drafted in a row, often at several lengths: what these make is used again by then.
_KEPT_ITEMS = 8


def _candidates(plan: Plan, sources: Sources) -> Candidates:
    return _kept_candidates(plan.item, tuple(_common(plan)), plan.facts["first_candidate"], sources.vocabulary())


_kept_candidates = lru_cache(maxsize=_KEPT_ITEMS)(Candidates)


@lru_cache(maxsize=_KEPT_ITEMS)
def _display(item: ItemKey) -> DisplayOrder:
    return DisplayOrder(lambda: item_draws(item, "list"))


@lru_cache(maxsize=_KEPT_ITEMS)
def _familiar_order(item: ItemKey, familiar: int) -> Indices:
    return item_draws(item, "familiar words").order(familiar)


def _common(plan: Plan) -> list[str]:
    return [forms[0] for forms in plan.answers]


def _order(item: ItemKey, vocabulary: Vocabulary, first: int, count: int) -> Indices:
    """Places first, first + 1, ... of the item's order of all words: the familiar, then those of the larger list."""
    taken = _familiar_order(item, vocabulary.familiar)[first : first + count]
    if len(taken) == count:
        return taken
    rare = item_draws(item, "rare words").permutation(vocabulary.size - vocabulary.familiar)
    more = rare.take(max(0, first - vocabulary.familiar), count - len(taken))
    return np.concatenate([taken, more + vocabulary.familiar])


def _familiar(item: ItemKey, vocabulary: Vocabulary) -> Iterator[str]:
    """The familiar words in the item's order, looked up as they are needed."""
    order = _familiar_order(item, vocabulary.familiar)
    for first in range(0, vocabulary.familiar, _BLOCK):
        yield from vocabulary.take(order[first : first + _BLOCK])


def _owners(num_cw: int, freq_cw: int, others: int, freq_ucw: int) -> Indices:
    """The word of each occurrence, the common words' before the others'; shape (occurrences,)."""
    common = np.repeat(np.arange(num_cw), freq_cw)
    return np.concatenate([common, np.repeat(np.arange(num_cw, num_cw + others), freq_ucw)])


def _numbered(words: Sequence[str], vocabulary: Vocabulary) -> str:
    """``1. word 2. word ...``."""
    parts = [""] * (2 * len(words))
    parts[0::2] = vocabulary.labels.first(len(words))
    parts[1::2] = words
    return " ".join(parts)

"""Common words: RULER's aggregation over a numbered list of words (paper section 3.3, tables 5 and 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from leadline.errors import DataError
from leadline.haystacks.pools import DisplayOrder
from leadline.haystacks.vocabulary import LABELS, Candidates, NumberedList, Vocabulary, WordOrder, owners_of
from leadline.items import Draft, Fit, ItemKey, Piece, Plan
from leadline.tasks.base import Cost, PlainTask, PromptCounter, Sources, TaskParams, item_draws
from leadline.tasks.costs import RunningCost, grown
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
_LEAST_TOKENS_OF_AN_ENTRY = 4
_TOKENS_OF_A_WORD = 1.3
"""Where sizing begins: an entry and a word take rather more tokens (cl100k_base 5.3 and 1.4 at 128K)."""


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
class CommonWords(PlainTask):
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
        params, form = self.params, EXAMPLE_FORMS[self.params.example]
        wanted = 0 if params.examples == "none" else params.num_cw + form.uncommon
        common: list[str] = []
        shown: list[str] = []
        first_candidate = 0
        for place, word in enumerate(_order(item, sources.vocabulary()).familiar_words()):
            if len(common) == params.num_cw and len(shown) == wanted:
                first_candidate = place
                break
            if _overlaps(word, common):
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
        # Those that are common there come first, in the order of its answer.
        example = {"common": shown[: params.num_cw], "uncommon": shown[params.num_cw :]} if wanted else None
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
        return 1, self._list(plan, sources).candidates(self.params.vocabulary_size)

    def cost(self, plan: Plan, sources: Sources, counter: PromptCounter, upto: int) -> Cost:
        """Labels and words, each counted where it stands, and the newline behind the word that is last at each size."""
        params, tokens = self.params, counter.counter
        head, tail, prefix = self._texts()
        fixed = counter.fixed(head, tail, prefix, self._turns(plan, sources.vocabulary()))
        if params.examples == "prompt":
            fixed += self._example_tokens(plan, tokens, sources.vocabulary())
        numbered = self._list(plan, sources)
        left = upto - fixed
        labels = sources.vocabulary().labels.running(tokens, min(LABELS, max(1, left // _LEAST_TOKENS_OF_AN_ENTRY)))
        entries = int(np.searchsorted(labels + _TOKENS_OF_A_WORD * np.arange(len(labels)), left))
        guess = max(1, (entries - params.num_cw * params.freq_cw) // params.freq_ucw + 1)
        return RunningCost(
            fixed, grown(lambda units: numbered.running(tokens, units), left, self.sizes(plan, sources)[1], guess)
        )

    def draft(self, plan: Plan, fit: Fit, sources: Sources) -> Draft:
        """The worked example, and the list with the common words and `fit.size` candidates."""
        vocabulary = sources.vocabulary()
        head, tail, prefix = self._texts()
        listed = vocabulary.labels.numbered(self._list(plan, sources).words(fit.size))
        pieces = [Piece(head), Piece(listed, "haystack"), Piece("\n"), Piece(tail, "question")]
        if self.params.examples == "prompt":
            pieces[:0] = [Piece("".join(self._example(plan, vocabulary)), "example"), Piece("\n")]
        return Draft(tuple(pieces), prefix, turns=self._turns(plan, vocabulary))

    def _list(self, plan: Plan, sources: Sources) -> NumberedList:
        common = tuple(forms[0] for forms in plan.answers)
        first_candidate: int = plan.facts["first_candidate"]
        often, seldom = self.params.freq_cw, self.params.freq_ucw
        return _kept_list(plan.item, sources.vocabulary(), common, often, first_candidate, seldom)

    def _turns(self, plan: Plan, vocabulary: Vocabulary) -> tuple[tuple[str, str], ...]:
        return (self._example(plan, vocabulary),) if self.params.examples == "turns" else ()

    def _texts(self) -> tuple[str, str, str]:
        """Head, tail and answer prefix."""
        head, question, answer = TASK
        return head, question.format(count=self.targets), answer.format(count=self.targets)

    def _example_words(self, plan: Plan) -> list[str]:
        """The list of the worked example, in order."""
        example, form = plan.facts["example"], EXAMPLE_FORMS[self.params.example]
        words = [*example["common"], *example["uncommon"]]
        return [words[owner] for owner in _example_order(plan.item, self.params.num_cw, form)]

    def _example(self, plan: Plan, vocabulary: Vocabulary) -> tuple[str, str]:
        """The worked example: a question with a list of its own, and its answer."""
        question, answer = self._example_end(plan, vocabulary)
        return f"{TASK[0]}{vocabulary.labels.numbered(self._example_words(plan))}\n{question}", answer

    def _example_end(self, plan: Plan, vocabulary: Vocabulary) -> tuple[str, str]:
        """What stands behind the list of the worked example: the question proper, and the answer.

        The words follow the colon without a space, as the published generator has it.
        """
        _, tail, prefix = self._texts()
        return tail, prefix + vocabulary.labels.numbered(plan.facts["example"]["common"])

    def _example_tokens(self, plan: Plan, tokens: Counter, vocabulary: Vocabulary) -> int:
        """Tokens that the worked example and the newline behind it add."""
        words = [" " + word for word in self._example_words(plan)]
        last = words.pop() + "\n"
        labels = vocabulary.labels.running(tokens, len(words) + 1)[-1]
        answer = tokens.text("".join(self._example_end(plan, vocabulary)) + "\n" + TASK[0])
        return int(labels) + int(tokens.chunk_counts([*words, last]).sum()) + answer


def _overlaps(word: str, answers: list[str]) -> bool:
    """Whether the word holds an answer or is part of one. Asked of every word: a plain loop is the fastest."""
    for answer in answers:  # noqa: SIM110
        if word in answer or answer in word:
            return True
    return False


# An item is planned, sized and drafted in a row, often at several lengths: what these make is used again by then.
@lru_cache(maxsize=8)
def _order(item: ItemKey, vocabulary: Vocabulary) -> WordOrder:
    return WordOrder(vocabulary, item_draws(item, "familiar words"), item_draws(item, "rare words"))


@lru_cache(maxsize=8)
def _example_order(item: ItemKey, common: int, form: ExampleForm) -> list[int]:
    owners = owners_of(common, form.freq_cw, form.uncommon, form.freq_ucw)
    return owners[item_draws(item, "example list").order(len(owners))].tolist()


@lru_cache(maxsize=8)
def _kept_list(
    item: ItemKey, vocabulary: Vocabulary, common: tuple[str, ...], often: int, first_candidate: int, seldom: int
) -> NumberedList:
    candidates = Candidates(vocabulary, _order(item, vocabulary), first_candidate, common)
    return NumberedList(common, often, candidates, seldom, DisplayOrder(lambda: item_draws(item, "list")))

"""Frequent words: RULER's aggregation over coded text with Zeta frequencies (paper section 3.3, tables 5 and 8)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field, ValidationInfo, field_validator

from leadline.haystacks.coded_words import CodedWordPool, Events, RankedWords, events_until
from leadline.haystacks.pools import DisplayOrder, changes_of_the_last
from leadline.items import Draft, Fit, ItemKey, Piece, Plan
from leadline.tasks.base import Cost, PlainTask, PromptCounter, Sources, TaskParams, item_draws
from leadline.tasks.costs import RunningCost
from leadline.tokenizers.counting import Counter

TASK = (
    "Read the following coded text and track the frequency of each coded word. "
    "Find the {count} most frequently appeared coded words. ",
    "Question: Do not provide any explanation. Please ignore the dots '....'. "
    "What are the {count} most frequently appeared words in the above coded text?",
    " Answer: According to the coded text above, the {count} most frequently appeared words are:",
)
NOISE = "..."
"""The word of rank 1, which is not asked for."""

_NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)

_TOKENS_PER_TIME = 4.0
"""Where sizing begins: tokens by which a text grows while rank 1 occurs once, at alpha = 2."""

_MARGIN = 16.0
"""Time beyond the estimate, for short texts that do not grow evenly."""


class FrequentWordsParams(TaskParams):
    """Parameters of the frequent words task (paper table 5)."""

    alpha: float = Field(2.0, gt=1.0, le=5.0, description="exponent of the Zeta distribution; greater is easier")
    top_k: int = Field(3, ge=1, le=20, description="words asked for, from the second most frequent on")
    word_length: int = Field(6, ge=3, le=12, description="letters of a coded word")
    vocabulary_size: int | None = Field(None, ge=2, description="most distinct words, noise included, or no limit")
    output_tokens: int = Field(50, ge=1, description="tokens the answer may take")

    @field_validator("vocabulary_size")
    @classmethod
    def _holds_the_answers(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is not None and value <= info.data.get("top_k", 0):
            raise ValueError(f"the text needs the noise and all answers (top_k = {info.data['top_k']})")
        return value


@dataclass(frozen=True, slots=True)
class FrequentWords(PlainTask):
    """One configuration of the frequent words task.

    In a text of n words rank k occurs floor(n k^-alpha / zeta(alpha)) times, so that its occurrence j comes at
    n = j zeta(alpha) k^alpha. A unit is all that comes at one such n (ranks 1 and 2 at n = 4 zeta(2), say), together
    with what came since the last n at which the least frequent answer was more frequent than the next rank.
    """

    name: str
    params: FrequentWordsParams

    family: ClassVar[str] = "fwe"
    version: ClassVar[int] = 1
    category: ClassVar[str] = "aggregation"
    metric: ClassVar[str] = "recall"
    answer_unique: ClassVar[bool] = False

    @property
    def targets(self) -> int:
        """The words of ranks 2 to top_k + 1."""
        return self.params.top_k

    def plan(self, item: ItemKey, sources: Sources) -> Plan:
        """The coded words that are asked for; those of further ranks follow in the same order."""
        length = self.params.word_length
        head, tail, prefix = self._texts()
        pool = sources.coded_words(length)
        answers = _ranked(item, pool).words(self.targets + 1)
        prompt = {word.strip("'.:?,") for word in f"{head}{tail}{prefix}".split()}
        return Plan(
            item,
            factors={},
            answers=tuple((word,) for word in answers),
            facts={
                "given": sorted(word for word in prompt if len(word) == length and word.islower()),
                "item_pattern": rf"[a-z]{{{length}}}",
            },
        )

    def sizes(self, plan: Plan, sources: Sources) -> tuple[int, int | None]:
        """From the first text in which every answer occurs; ranks beyond the pool of words stay away."""
        return 1, None

    def cost(self, plan: Plan, sources: Sources, counter: PromptCounter, upto: int) -> Cost:
        """Words counted with the space before each, and the newline behind the word that is last at each size."""
        tokens = counter.counter
        pool = sources.coded_words(self.params.word_length)
        head, tail, prefix = self._texts()
        fixed = counter.fixed(head.removesuffix(" "), tail, prefix)
        left = upto - fixed
        horizon = max(self._first_time, left / _TOKENS_PER_TIME)
        # The text grows by nearly as many tokens in every unit of time.
        guess = self._tokens_until(plan, tokens, pool, horizon)
        horizon = max(self._first_time, 1.01 * horizon * left / guess + _MARGIN)
        while True:
            running = self._running(plan, tokens, pool, horizon)
            if running[-1] > left:
                return RunningCost(fixed, running)
            horizon *= 1.25

    def draft(self, plan: Plan, fit: Fit, sources: Sources) -> Draft:
        """The coded text of this size."""
        pool = sources.coded_words(self.params.word_length)
        head, tail, prefix = self._texts()
        events = self._events_of_size(fit.size, pool)
        ranks = events.ranks[: int(events.ends[fit.size])]
        shown = ranks[_display(plan.item).first(len(ranks))]
        words = ["", NOISE, *_ranked(plan.item, pool).words(int(ranks.max()))]
        text = " ".join(np.array(words, dtype=object)[shown].tolist())
        return Draft((Piece(head), Piece(text, "haystack"), Piece("\n"), Piece(tail, "question")), prefix)

    def _texts(self) -> tuple[str, str, str]:
        """Head, tail and answer prefix."""
        count = _NUMBERS.split()[self.targets - 1]
        head, tail, prefix = (text.format(count=count) for text in TASK)
        return head, tail, prefix

    @property
    def _first_time(self) -> float:
        """When the least frequent answer first occurs."""
        return float(self.targets + 1) ** self.params.alpha

    def _highest_rank(self, pool: CodedWordPool) -> int:
        return min(self.params.vocabulary_size or pool.size + 1, pool.size + 1)

    def _events_until(self, horizon: float, pool: CodedWordPool) -> Events:
        """All events up to this time at least."""
        doublings = max(8, int(np.ceil(np.log2(horizon + 1))))
        return events_until(self.params.alpha, self.targets, self._highest_rank(pool), doublings)

    def _events_of_size(self, size: int, pool: CodedWordPool) -> Events:
        horizon = self._first_time
        while True:
            events = self._events_until(horizon, pool)
            if len(events.ends) > size:
                return events
            horizon = 2 * max(horizon, float(events.times[-1]))

    def _rank_tokens(self, plan: Plan, tokens: Counter, pool: CodedWordPool, highest: int) -> npt.NDArray[np.int64]:
        """Tokens of an occurrence of rank 0 (which there is not), 1, ... highest; shape (highest + 1,)."""
        counts = np.zeros(highest + 1, dtype=np.int64)
        counts[1] = tokens.chunk_counts([" " + NOISE])[0]
        if highest > 1:
            counts[2:] = pool.counts(tokens, _ranked(plan.item, pool).indices(highest))
        return counts

    def _tokens_until(self, plan: Plan, tokens: Counter, pool: CodedWordPool, horizon: float) -> int:
        """About how many tokens the text has at this time."""
        highest = min(self._highest_rank(pool), int(horizon ** (1 / self.params.alpha)))
        often = horizon // np.arange(1, highest + 1, dtype=np.float64) ** self.params.alpha
        return int(often @ self._rank_tokens(plan, tokens, pool, highest)[1:])

    def _running(self, plan: Plan, tokens: Counter, pool: CodedWordPool, horizon: float) -> npt.NDArray[np.int64]:
        """Tokens of the text and the newline behind it at size 0, 1, ... as far as this time; shape (sizes + 1,)."""
        known = self._events_until(horizon, pool)
        within = int(np.searchsorted(known.times, horizon, side="right"))
        sizes = max(1, int(np.searchsorted(known.ends, within, side="right")) - 1)
        ends = known.ends[1 : sizes + 1]
        ranks = known.ranks[: int(ends[-1])]
        words = np.cumsum(self._rank_tokens(plan, tokens, pool, int(ranks.max()))[ranks])[ends - 1]
        running = np.zeros(sizes + 1, dtype=np.int64)
        running[1:] = words + self._newlines(plan, tokens, pool, ranks, ends)
        return running

    def _newlines(
        self,
        plan: Plan,
        tokens: Counter,
        pool: CodedWordPool,
        ranks: npt.NDArray[np.int32],
        ends: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int64]:
        """Tokens of the newline behind the last word of the text at each of these ends, shape (len(ends),)."""
        lasts = changes_of_the_last(_display(plan.item).first(len(ranks)))
        words = ["", NOISE, *_ranked(plan.item, pool).words(int(ranks.max()))]
        last_words = [" " + words[rank] for rank in ranks[lasts].tolist()]
        newlines = tokens.chunk_counts([word + "\n" for word in last_words]) - tokens.chunk_counts(last_words)
        return newlines[np.searchsorted(lasts, ends) - 1].astype(np.int64)


# An item is planned, sized and drafted in a row, often at several lengths: what these make is used again by then.
_KEPT_ITEMS = 8


@lru_cache(maxsize=_KEPT_ITEMS)
def _ranked(item: ItemKey, pool: CodedWordPool) -> RankedWords:
    return RankedWords(item_draws(item, "coded words"), pool)


@lru_cache(maxsize=_KEPT_ITEMS)
def _display(item: ItemKey) -> DisplayOrder:
    return DisplayOrder(lambda: item_draws(item, "text"))

"""Questions on documents: RULER's question answering (paper section 3.4, tables 5 and 8)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from leadline.haystacks.documents import SEPARATOR, Documents, Ids, drawn, label
from leadline.items import Draft, Fit, ItemKey, Piece, Plan
from leadline.seeds import rng_for
from leadline.tasks.base import Cost, PlainTask, PromptCounter, Sources, TaskParams, item_draws
from leadline.tasks.costs import RunningCost, grown, running_sum

INSTRUCTION = (
    "Answer the question based on the given documents. Only give me the answer and do not output any other words.\n\n"
)
HEAD = f"{INSTRUCTION}The following are given documents.\n\n"
BARE_HEAD = "Answer the question. Only give me the answer and do not output any other words.\n\n"
"""The instruction of the baseline without documents."""

ANSWER_PREFIX = " Answer:"

_BYTES_PER_TOKEN = 5
"""Rather more than a token of English has, so that the first guess at the number of documents is seldom too small."""


class QuestionsParams(TaskParams):
    """Parameters of question answering (paper table 5)."""

    dataset: str = Field("squad", description="squad, hotpotqa, or the name of an added file of questions")
    distractors: Literal["same_article_first", "uniform"] = Field(
        "same_article_first", description="other documents: those of the gold one's article first, or any"
    )
    questions: Literal["file_order", "shuffled"] = Field(
        "file_order", description="questions from the first on, or in a random order over the whole set"
    )
    context: Literal["documents", "none"] = Field(
        "documents", description="with documents, or the question alone: what the model knows without them"
    )
    output_tokens: int = Field(32, ge=1, description="tokens the answer may take")


@dataclass(frozen=True, slots=True)
class QuestionAnswering(PlainTask):
    """One configuration of question answering."""

    name: str
    params: QuestionsParams

    family: ClassVar[str] = "qa"
    version: ClassVar[int] = 1
    category: ClassVar[str] = "qa"
    metric: ClassVar[str] = "recall"
    answer_unique: ClassVar[bool] = False

    @property
    def targets(self) -> int:
        """One answer, in any form that an annotator gave."""
        return 1

    def plan(self, item: ItemKey, sources: Sources) -> Plan:
        """The question, the documents that come with it, and their places among the others.

        Items go round: after the last question comes the first again, with other distractors and places.
        """
        params = self.params
        known = sources.questions(params.dataset)
        index = item.index % len(known)
        if params.questions == "shuffled":
            index = int(_shuffled(item.seed, params.dataset, len(known))[index])
        question = known.question(index)
        facts = {
            "dataset": params.dataset,
            "question": question.text,
            "question_index": index,
            "gold": list(question.gold),
            "doc_count": len(known.documents),
        }
        answers = (question.answers,)
        if params.context == "none":
            return Plan(item, factors={}, answers=answers, facts=facts)
        places: list[float] = item_draws(item, "places").fractions(len(question.own)).tolist()
        golds = [
            round(100 * place, 2)
            for document, place in zip(question.own, places, strict=True)
            if document in question.gold
        ]
        return Plan(
            item,
            factors={"depth": min(golds)},
            answers=answers,
            facts={**facts, "golds": golds, "own": list(question.own), "places": places},
        )

    def without_context(self) -> QuestionAnswering | None:
        """The question alone, which shows what the model knows by itself; None where it is asked so already."""
        if self.params.context == "none":
            return None
        return replace(self, params=self.params.model_copy(update={"context": "none"}))

    def sizes(self, plan: Plan, sources: Sources) -> tuple[int, int | None]:
        """From no other document to all that there are."""
        if self.params.context == "none":
            return 0, 0
        return 0, plan.facts["doc_count"] - len(plan.facts["own"])

    def cost(self, plan: Plan, sources: Sources, counter: PromptCounter, upto: int) -> Cost:
        """Labels by how many documents there are, and documents by which, each counted where it stands."""
        if self.params.context == "none":
            return RunningCost(counter.fixed(BARE_HEAD, _asked(plan), ANSWER_PREFIX), np.zeros(1, dtype=np.int64))
        documents, tokens = sources.questions(self.params.dataset).documents, counter.counter
        own = np.array(plan.facts["own"], dtype=np.int64)
        fixed = counter.fixed(HEAD, INSTRUCTION + _asked(plan), ANSWER_PREFIX)
        fixed += int(documents.counts(tokens, own).sum())

        limit = len(documents) - len(own)
        guess = min(limit, int(upto * _BYTES_PER_TOKEN / documents.mean_bytes))

        def running(units: int) -> npt.NDArray[np.int64]:
            units = max(units, guess)
            texts = running_sum(documents.counts(tokens, self._distractors(plan, documents, units)))
            return texts + documents.label_counts(tokens, len(own) + units)[len(own) :]

        return RunningCost(fixed, grown(running, upto, limit))

    def draft(self, plan: Plan, fit: Fit, sources: Sources) -> Draft:
        """The question's own documents at their places among `fit.size` others; all are numbered from 1."""
        question = Piece(_asked(plan), "question")
        if self.params.context == "none":
            return Draft((Piece(BARE_HEAD), question), ANSWER_PREFIX)
        context = self._context(plan, fit.size, sources.questions(self.params.dataset).documents)
        return Draft((Piece(HEAD), *context, Piece(INSTRUCTION), question), ANSWER_PREFIX)

    def _context(self, plan: Plan, size: int, documents: Documents) -> list[Piece]:
        # Drawn in one order and shown in another: a longer sample contains the shorter one, and documents of the gold
        # one's article do not stand first.
        others = self._distractors(plan, documents, size)[item_draws(plan.item, "display").order(size)]
        pieces: list[Piece] = []
        done = 0
        planted = sorted(zip(plan.facts["places"], plan.facts["own"], strict=True))
        for number, (place, document) in enumerate(planted, start=1):
            slot = int(place * (size + 1))
            pieces += _run(documents, others[done:slot], done + number)
            done = slot
            kind = "gold" if document in plan.facts["gold"] else "distractor"
            pieces += [Piece(label(done + number)), Piece(documents.text(document), kind), Piece(SEPARATOR)]
        return pieces + _run(documents, others[done:], done + len(planted) + 1)

    def _distractors(self, plan: Plan, documents: Documents, count: int) -> Ids:
        """The first `count` documents beside the question's own, in the order in which a growing sample takes them."""
        own = np.array(plan.facts["own"], dtype=np.int64)
        draws = item_draws(plan.item, "distractors")
        if self.params.distractors == "uniform":
            return drawn(draws, len(documents), count, own)
        first, end = documents.article_of(plan.facts["gold"][0])
        near = first + draws.order(end - first)
        near = near[(near[:, None] != own).all(axis=1)][:count]
        if len(near) == count:
            return near
        elsewhere = own[(own < first) | (own >= end)]
        without = np.concatenate([np.arange(first, end), elsewhere])
        return np.concatenate([near, drawn(draws, len(documents), count - len(near), without)])


def _run(documents: Documents, indices: Ids, first: int) -> list[Piece]:
    """Documents that stand side by side, numbered from `first` on."""
    return [Piece(documents.numbered(indices, first), "haystack"), Piece(SEPARATOR)] if len(indices) else []


def _asked(plan: Plan) -> str:
    return f"Question: {plan.facts['question']}"


@lru_cache(maxsize=4)
def _shuffled(seed: int, dataset: str, count: int) -> Ids:
    """The order of a data set's questions under a seed, shape (count,); all items share it."""
    order = rng_for(seed, "questions", dataset).order(count)
    order.flags.writeable = False
    return order

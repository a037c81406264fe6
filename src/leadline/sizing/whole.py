"""The slow way to price sizes, for a tokenizer whose counts do not add up: draft each size and count its whole text."""

from __future__ import annotations

from leadline.items import Fit, Plan
from leadline.tasks.base import BudgetTask, PromptCounter, Sources


class WholeCost:
    """Tokens of the request at each size by counting it whole."""

    def __init__(self, task: BudgetTask, plan: Plan, sources: Sources, counter: PromptCounter, upto: int) -> None:
        self._task = task
        self._plan = plan
        self._sources = sources
        self._counter = counter
        self._known: dict[int, int] = {}
        _, greatest = task.sizes(plan, sources)
        # Sums of parts are near enough to begin from; they are only not exact.
        self.largest = task.cost(plan, sources, counter, upto).largest
        while self[self.largest] <= upto and (greatest is None or self.largest < greatest):
            self.largest = self.largest * 2 if greatest is None else min(greatest, self.largest * 2)

    def __getitem__(self, size: int) -> int:
        if size not in self._known:
            draft = self._task.draft(self._plan, Fit(size, 0), self._sources)
            message = "".join([piece.text for piece in draft.pieces])
            self._known[size] = self._counter.whole(message, draft.answer_prefix, draft.turns, draft.system)
        return self._known[size]

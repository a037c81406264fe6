"""Sizing with a stand-in tokenizer whose ratio to the model's own is known.

Parts are counted in the stand-in's tokens, where sums hold; totals are turned into the model's: budgets before a size
is searched, counts of whole requests after. The audit compares whole counts that have gone through the same rule.
"""

from __future__ import annotations

import math
from dataclasses import replace

from leadline.items import Fit, Plan
from leadline.prompt import Frame, FrameCounter, Turns
from leadline.sampler import Sampler
from leadline.sizing.haystack import is_windowed
from leadline.tasks.base import Sources, Task
from leadline.tokenizers.counting import Counter


class CalibratedCounter(FrameCounter):
    """Counts parts in the stand-in's tokens and whole requests in the model's."""

    def __init__(self, counter: Counter, frame: Frame, ratio: float) -> None:
        super().__init__(counter, frame)
        self._ratio = ratio

    def whole(self, message: str, answer_prefix: str, turns: Turns = (), system: str | None = None) -> int:
        """Tokens of a finished request by the model's count, as far as the ratio tells; never too few."""
        return scaled(super().whole(message, answer_prefix, turns, system), self._ratio)


class CalibratedSampler(Sampler):
    """Makes the samples of a run whose lengths are in the model's tokens and whose tokenizer is a stand-in."""

    def __init__(self, frame: Frame, counter: Counter, sources: Sources, seed: int, ratio: float, repeat: bool) -> None:
        """Make samples of one run.

        Args:
            frame: what stands around the messages.
            counter: counts in the stand-in's tokens.
            sources: texts and word lists.
            seed: of every draw.
            ratio: the model's tokens for one of the stand-in's.
            repeat: whether a text that runs out may begin again.
        """
        super().__init__(frame, CalibratedCounter(counter, frame, ratio), sources, seed, repeat=repeat)
        self._inner = Sampler(frame, FrameCounter(counter, frame), sources, seed, repeat=repeat)
        self._ratio = ratio

    def distrust(self, task: Task) -> None:
        """From now on size this task's samples by counting whole texts."""
        self._inner.distrust(task)

    def fit(self, task: Task, plan: Plan, length: int) -> Fit | None:
        """Its size at a length in the model's tokens."""
        answer = 0 if is_windowed(task) else task.params.output_tokens
        inner = math.floor(round((length - answer) / self._ratio, 6)) + answer
        fit = None if length <= answer else self._inner.fit(task, plan, inner)
        return None if fit is None else replace(fit, prompt_tokens=scaled(fit.prompt_tokens, self._ratio))

    def smallest_length(self, task: Task, index: int) -> int:
        """The shortest length, in the model's tokens, at which the item can be asked."""
        smallest = self._inner.smallest_length(task, index)
        if is_windowed(task):
            return smallest
        answer = task.params.output_tokens
        return scaled(smallest - answer, self._ratio) + answer


def scaled(tokens: int, ratio: float) -> int:
    """The model's tokens for so many of the stand-in's, rounded up."""
    return math.ceil(round(tokens * ratio, 6))

"""The closed-book control of NoLiMa: every question once, without haystack and needle."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from leadline.items import NO_CONTEXT, TrialKey
from leadline.run.controls import Control, control_round
from leadline.run.schedule import Round
from leadline.sampler import Sampler
from leadline.spec import RunSpec
from leadline.tasks.base import Sources, Task
from leadline.tasks.nolima import Nolima

SAME_QUESTIONS = frozenset({"cot", "distractor"})
"""Variants that without a text ask what the default variant asks."""


def closed_book_controls(tasks: Sequence[Task], length: int, sources: Sources) -> list[Control]:
    """One control for each variant that has questions of its own, each with so many items as ask every pair once.

    Args:
        tasks: the run's.
        length: in tokens; it stands on the keys and changes nothing.
        sources: where the needles are.
    """
    asked = [task for task in tasks if isinstance(task, Nolima)]
    own = [task for task in asked if task.params.variant not in SAME_QUESTIONS]
    return [
        Control(NO_CONTEXT, bare, length, range(task.pairs(sources)))
        for task in own or asked[:1]
        if (bare := task.without_context()) is not None
    ]


def closed_book_rounds(
    spec: RunSpec, tasks: Sequence[Task], sampler: Sampler, done: Collection[TrialKey]
) -> Iterator[Round]:
    """The round of these controls, where the run asks for it and anything of it is missing."""
    if spec.closed_book:
        controls = closed_book_controls(tasks, min(spec.lengths), sampler.sources)
        made = control_round(0, controls, sampler, done, spec.shard_of())
        if made.trials:
            yield made

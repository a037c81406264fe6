"""The closed-book control of NoLiMa: every question once, without haystack and needle."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.items import NO_CONTEXT
from leadline.run.controls import Control
from leadline.spec import RunSpec
from leadline.tasks.base import Sources, Task
from leadline.tasks.nolima import Nolima

SAME_QUESTIONS = frozenset({"cot", "distractor"})
"""Variants that without a text ask what the default variant asks."""


def closed_book_controls(spec: RunSpec, tasks: Sequence[Task], sources: Sources) -> list[Control]:
    """One control for each variant that has questions of its own; none where the run does not ask for them.

    Each has so many items as ask every pair once. Their length stands on the keys and changes nothing.
    """
    asked = [task for task in tasks if isinstance(task, Nolima)] if spec.closed_book else []
    own = [task for task in asked if task.params.variant not in SAME_QUESTIONS]
    return [
        Control(NO_CONTEXT, bare, spec.suite_shortest, range(task.pairs(sources)))
        for task in own or asked[:1]
        if (bare := task.without_context()) is not None
    ]

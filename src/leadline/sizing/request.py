"""The request budget: a length counts everything, from the BOS token to the last token of the answer."""

from __future__ import annotations

from leadline.items import Fit, Plan
from leadline.tasks.base import BudgetTask, Cost, PromptCounter, Sources, Task


def budget_for(task: Task, length: int) -> int:
    """Tokens that the prompt may take at a length, once the answer's have been set aside."""
    return length - task.params.output_tokens


def fit_request(
    task: BudgetTask, plan: Plan, length: int, counter: PromptCounter, sources: Sources, cost: Cost | None = None
) -> Fit | None:
    """The greatest size whose whole request keeps within `length` tokens; None where even the smallest does not.

    Bisects over the task's own cost, or the one given; with its own, nothing is drafted while searching.
    """
    budget = budget_for(task, length)
    smallest, greatest = task.sizes(plan, sources)
    if budget <= 0:
        return None
    cost = cost or task.cost(plan, sources, counter, budget)
    if cost[smallest] > budget:
        return None
    low, high = smallest, cost.largest if greatest is None else min(greatest, cost.largest)
    if cost[high] <= budget:
        return Fit(high, cost[high])
    while high - low > 1:
        middle = (low + high) // 2
        if cost[middle] <= budget:
            low = middle
        else:
            high = middle
    return Fit(low, cost[low])


def smallest_length(task: BudgetTask, plan: Plan, counter: PromptCounter, sources: Sources) -> int:
    """The shortest length, in tokens, at which this item can be asked."""
    smallest, _ = task.sizes(plan, sources)
    return task.cost(plan, sources, counter, 1)[smallest] + task.params.output_tokens

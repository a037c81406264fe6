"""Control trials: what a run asks beside its cells, to judge what the cells say.

The wording of a trial's key marks it as a control (`TrialKey.is_control`), whatever its task and length are, so that no
cell, curve or stop rule counts it, and nothing that is asked later takes it for one of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from leadline.items import TrialKey
from leadline.run.schedule import Round, Trial, shared_prefix
from leadline.sampler import Sampler
from leadline.tasks.base import Task, item_key


@dataclass(frozen=True, slots=True)
class Control:
    """Some trials of one task.

    Attributes:
        wording: which control it is, one of `leadline.items.CONTROL_WORDINGS`.
        task: as the control asks it: the run's own, or what `Task.without_context` makes of it.
        length: in tokens.
        items: how many; the first ones of the task.
    """

    wording: str
    task: Task
    length: int
    items: int

    def keys(self, seed: int) -> list[TrialKey]:
        """The keys of its trials."""
        return [TrialKey(item_key(self.task, seed, index), self.length, self.wording) for index in range(self.items)]


def control_round(
    number: int, controls: Sequence[Control], sampler: Sampler, done: Collection[TrialKey], shard: tuple[int, int]
) -> Round:
    """The controls that are still to be asked; what does not fit its length is left out.

    Args:
        number: of the round.
        controls: what to ask.
        sampler: plans and fits.
        done: trials that have a final record.
        shard: which share of the items, as (number from 0, shares).
    """
    mine, shards = shard
    made = Round(number)
    for control in controls:
        for key in control.keys(sampler.seed)[mine::shards]:
            if key in done:
                continue
            plan = sampler.plan_of(control.task, key.item)
            fit = sampler.fit(control.task, plan, control.length)
            if fit is not None:
                made.trials.append(Trial(control.task, key, fit, *shared_prefix(plan, fit, control.length)))
    return made

"""Control trials: what a run asks beside its cells, to judge what the cells say.

The wording of a trial's key marks it as a control (`TrialKey.is_control`), whatever its task and length are, so that no
cell, curve or stop rule counts it, and nothing that is asked later takes it for one of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from leadline.analysis.no_context import CATEGORY
from leadline.items import NO_CONTEXT, SHORT_CONTROL, TrialKey
from leadline.run.schedule import Round, Trial, shared_prefix
from leadline.run.stopping import Stratum
from leadline.sampler import Sampler
from leadline.spec import RunSpec
from leadline.tasks.base import Task, item_key

SHORT_ITEMS = 5
"""Items of each task that are asked at the suite's shortest length, beside a run of greater lengths."""

QUESTIONS_ALONE = 25
"""Questions of each question-answering task that are asked without documents."""


@dataclass(frozen=True, slots=True)
class Control:
    """Some trials of one task.

    Attributes:
        wording: which control it is, one of `leadline.items.CONTROL_WORDINGS`.
        task: as the control asks it: the run's own, or what `Task.without_context` makes of it.
        length: in tokens.
        indices: of its items.
    """

    wording: str
    task: Task
    length: int
    indices: Sequence[int]

    def keys(self, seed: int) -> list[TrialKey]:
        """The keys of its trials."""
        return [TrialKey(item_key(self.task, seed, index), self.length, self.wording) for index in self.indices]


def controls_of(spec: RunSpec, tasks: Sequence[Task], earlier: Iterable[int] = ()) -> list[Control]:
    """What a run asks beside its cells: its tasks at the suite's shortest length, and questions without documents.

    A run that asks that length has its control there. With a stop rule, the questions are those that it asks first.

    Args:
        spec: of the run.
        tasks: that it asks.
        earlier: lengths that were asked for in its folder before.
    """
    if spec.no_control:
        return []
    found: list[Control] = []
    shortest = spec.suite_shortest
    if min((*spec.lengths, *earlier)) > shortest:
        few = range(min(SHORT_ITEMS, spec.samples))
        found += [Control(SHORT_CONTROL, task.at_length(shortest), shortest, few) for task in tasks]
    for task in tasks:
        bare = task.without_context() if task.category == CATEGORY else None
        if bare is not None:
            found.append(Control(NO_CONTEXT, bare, shortest, _first(spec, task)))
    return found


def _first(spec: RunSpec, task: Task) -> Sequence[int]:
    """Items that a run is sure to ask with their documents too."""
    order: Sequence[int] = range(spec.samples)
    if spec.stop == "certain":
        (stratum,) = Stratum.of_task(spec.seed, task.name, spec.samples)
        order = [index for group in stratum.groups for index in group]
    return order[:QUESTIONS_ALONE]


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

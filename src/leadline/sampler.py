"""From a key to a finished sample, and from a record back to its sample."""

from __future__ import annotations

from typing import cast

from leadline.errors import RunFolderError
from leadline.items import Fit, ItemKey, Plan, Sample, TrialKey
from leadline.prompt import Frame, FrameCounter, assemble
from leadline.sizing.haystack import fit_haystack, is_windowed
from leadline.sizing.request import budget_for, fit_request, smallest_length
from leadline.sizing.whole import WholeCost
from leadline.tasks.base import BudgetTask, Sources, Task, item_key

PLANS = 4096
"""Plans that are kept: more than a round has items, which it plans when it is made and again when it asks them."""

UNFILLED = 0.02
"""Share of a length that may stay empty before the record says that something ran out."""


class Sampler:
    """Makes the samples of one run: one frame, one tokenizer, one seed."""

    def __init__(
        self, frame: Frame, counter: FrameCounter, sources: Sources, seed: int, *, repeat: bool = True
    ) -> None:
        """Make samples of one run.

        Args:
            frame: what stands around the messages.
            counter: counts whole requests in that frame.
            sources: texts and word lists.
            seed: of every draw.
            repeat: whether a text that runs out may begin again; else its items do not fit.
        """
        self.frame = frame
        self.counter = counter
        self.sources = sources
        self.seed = seed
        self.repeat = repeat
        self._distrusted: set[str] = set()
        self._plans: dict[ItemKey, Plan] = {}

    def distrust(self, task: Task) -> None:
        """From now on size this task's samples by counting whole texts: slow, and exact whatever the tokenizer does."""
        self._distrusted.add(task.name)

    def plan(self, task: Task, index: int) -> Plan:
        """The plan of a task's item number `index`."""
        return self.plan_of(task, item_key(task, self.seed, index))

    def plan_of(self, task: Task, item: ItemKey) -> Plan:
        """The plan of a task's item; those asked for last are kept, and must not be changed."""
        plan = self._plans.pop(item, None) or task.plan(item, self.sources)
        self._plans[item] = plan
        if len(self._plans) > PLANS:
            del self._plans[next(iter(self._plans))]
        return plan

    def fit(self, task: Task, plan: Plan, length: int) -> Fit | None:
        """Its size at a length, or None where it does not fit or a text runs out that may not be repeated."""
        if is_windowed(task):
            whole = task.name in self._distrusted
            return fit_haystack(task, plan, length, self.counter, self.sources, whole=whole)
        task = cast("BudgetTask", task)
        costs = None
        if task.name in self._distrusted:
            costs = WholeCost(task, plan, self.sources, self.counter, length)
        fit = fit_request(task, plan, length, self.counter, self.sources, costs)
        if fit is not None and not self.repeat and self._running_out(task, plan, fit, length):
            return None
        return fit

    def notes(self, task: Task, plan: Plan, fit: Fit, length: int) -> tuple[str, ...]:
        """What a reader of this sample's figures must know, in words; nothing as a rule."""
        remark = () if task.remark is None else (task.remark,)
        if is_windowed(task):
            return (*remark, *task.notes(plan, fit, self.sources))
        return (*remark, *self._running_out(task, plan, fit, length))

    def _running_out(self, task: Task, plan: Plan, fit: Fit, length: int) -> tuple[str, ...]:
        task = cast("BudgetTask", task)
        supply = task.supply(self.sources)
        if supply is not None and fit.size > supply:
            return (f"{task.name}: the text ends after {supply:,} units and begins again",)
        # To know how much there is takes as long as to fit some items; only where much stays empty is it asked.
        if budget_for(task, length) - fit.prompt_tokens > UNFILLED * length:
            _, greatest = task.sizes(plan, self.sources)
            if greatest and fit.size == greatest:
                return (f"{task.name}: everything there is has been added and the length is not filled",)
        return ()

    def smallest_length(self, task: Task, index: int) -> int:
        """The shortest length, in tokens, at which the item can be asked."""
        if is_windowed(task):
            self.plan(task, index)
            return 1
        return smallest_length(cast("BudgetTask", task), self.plan(task, index), self.counter, self.sources)

    def sample(self, task: Task, plan: Plan, fit: Fit, length: int, wording: str = "default") -> Sample:
        """The finished sample."""
        draft = task.draft(plan, fit, self.sources)
        return assemble(draft, TrialKey(plan.item, length, wording), plan, fit, self.frame, task.params.output_tokens)

    def remake(self, task: Task, key: TrialKey, fit: Fit, prompt_hash: str | None) -> Sample:
        """The sample of a record, from its key and fit: no search and no tokenizer.

        Raises:
            RunFolderError: the text is not what was sent then; task, data or frame have changed.
        """
        sample = self.sample(task, task.plan(key.item, self.sources), fit, key.length, key.wording)
        if prompt_hash is not None and sample.prompt_hash != prompt_hash:
            raise RunFolderError(
                f"{key.item.task} item {key.item.index} at {key.length} makes another prompt now than when it was "
                f"asked ({sample.prompt_hash[:8]}, recorded {prompt_hash[:8]}): task, data or template have changed"
            )
        return sample

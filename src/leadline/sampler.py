"""From a key to a finished sample, and from a record back to its sample."""

from __future__ import annotations

from leadline.errors import RunFolderError
from leadline.items import Fit, Plan, Sample, TrialKey
from leadline.prompt import Frame, FrameCounter, assemble
from leadline.sizing.request import fit_request, smallest_length
from leadline.sizing.whole import WholeCost
from leadline.tasks.base import Sources, Task, item_key


class Sampler:
    """Makes the samples of one run: one frame, one tokenizer, one seed."""

    def __init__(self, frame: Frame, counter: FrameCounter, sources: Sources, seed: int) -> None:
        self.frame = frame
        self.counter = counter
        self.sources = sources
        self.seed = seed
        self._distrusted: set[str] = set()

    def distrust(self, task: Task) -> None:
        """From now on size this task's samples by counting whole texts: slow, and exact whatever the tokenizer does."""
        self._distrusted.add(task.name)

    def plan(self, task: Task, index: int) -> Plan:
        """The plan of a task's item number `index`."""
        return task.plan(item_key(task, self.seed, index), self.sources)

    def fit(self, task: Task, plan: Plan, length: int) -> Fit | None:
        """Its size at a length, or None where it does not fit."""
        if task.name in self._distrusted:
            costs = WholeCost(task, plan, self.sources, self.counter, length)
            return fit_request(task, plan, length, self.counter, self.sources, costs)
        return fit_request(task, plan, length, self.counter, self.sources)

    def smallest_length(self, task: Task, index: int) -> int:
        """The shortest length, in tokens, at which the item can be asked."""
        return smallest_length(task, self.plan(task, index), self.counter, self.sources)

    def sample(self, task: Task, plan: Plan, fit: Fit, length: int) -> Sample:
        """The finished sample."""
        draft = task.draft(plan, fit, self.sources)
        return assemble(draft, TrialKey(plan.item, length), plan, fit, self.frame, task.params.output_tokens)

    def remake(self, task: Task, key: TrialKey, fit: Fit, prompt_hash: str | None) -> Sample:
        """The sample of a record, from its key and fit: no search and no tokenizer.

        Raises:
            RunFolderError: the text is not what was sent then; task, data or frame have changed.
        """
        sample = self.sample(task, task.plan(key.item, self.sources), fit, key.length)
        if prompt_hash is not None and sample.prompt_hash != prompt_hash:
            raise RunFolderError(
                f"{key.item.task} item {key.item.index} at {key.length} makes another prompt now than when it was "
                f"asked ({sample.prompt_hash[:8]}, recorded {prompt_hash[:8]}): task, data or template have changed"
            )
        return sample

"""Samples: what is asked, without asking it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from leadline.api.settings import checked_settings
from leadline.api.waiting import completed
from leadline.errors import UsageError
from leadline.items import Sample
from leadline.spec import RunSpec, home_suite, resolve
from leadline.tasks.base import Task
from leadline.tasks.registry import make_task

if TYPE_CHECKING:
    from leadline.sampler import Sampler

NO_MODEL = "reader/oracle"
"""Whose frame and tokenizer a sample has where no model is named: the base template and cl100k_base."""


def sample(
    task: str,
    length: str | int = "4k",
    index: int = 0,
    *,
    model: str | None = None,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,
    tokenizer: str | None = None,
    protocol: Literal["published", "sound"] | None = None,
    sweep: Literal["full", "last-2k"] | None = None,
    needles: str | None = None,
    haystack: str | None = None,
    template: str | None = None,
    max_tokens: int | None = None,
    base_url: str | None = None,
    endpoint: Literal["chat", "completions"] | None = None,
    api_key_env: str | None = None,
    reasoning_tokens: int | None = None,
    timeout_s: float | None = None,
    offline: bool | None = None,
) -> Sample:
    """What is asked: item `index` of a task at a length in tokens.

    The keywords are the options of ``leadline sample``. Without a model it is in the base template and counted with
    cl100k_base. Several samples of a kind are made faster by one `open_samples`.

    Raises:
        UsageError: an unknown name, or the item does not fit the length.
    """
    given = {name: value for name, value in locals().items() if name in RunSpec.model_fields}
    given |= {"model": model or NO_MODEL, "tasks": [task], "lengths": length, "set": checked_settings(set)}
    return open_samples(resolve(home_suite(task), given)).make(index)


@dataclass(frozen=True, slots=True)
class Samples:
    """Makes the samples of one task at one length.

    Attributes:
        task: with its parameters at this length.
        length: in tokens.
        sampler: frame, tokenizer, seed and sources.
    """

    task: Task
    length: int
    sampler: Sampler

    def make(self, index: int) -> Sample:
        """Item number `index`.

        Raises:
            UsageError: it is negative, or does not fit.
        """
        if index < 0:
            raise UsageError(f"index {index} is no item: items count from 0")
        plan = self.sampler.plan(self.task, index)
        fit = self.sampler.fit(self.task, plan, self.length)
        if fit is None:
            smallest = self.sampler.smallest_length(self.task, index)
            raise UsageError(
                f"{self.task.name} item {index} does not fit {self.length} tokens: its smallest sample takes "
                f"{smallest}, answer included; ask for --length {smallest} or more"
            )
        return self.sampler.sample(self.task, plan, fit, self.length)

    def prompt(self, sample: Sample) -> str:
        """The text that is sent of a sample, in the frame's template."""
        return self.sampler.frame.render(sample.text, sample.answer_prefix, sample.turns, sample.system)


def open_samples(spec: RunSpec) -> Samples:
    """The samples of a spec's first task at its first length.

    Raises:
        LeadlineError: the model, its tokenizer or the data cannot be had.
    """
    name, length = spec.tasks[0], spec.lengths[0]
    task = make_task(name, spec.changes(name)).at_length(length)
    return Samples(task, length, completed(_open_sampler(spec)))


async def _open_sampler(spec: RunSpec) -> Sampler:
    from leadline.data.sources import Sources
    from leadline.models.registry import ModelOptions, open_model
    from leadline.run.framing import open_sampler

    backend = open_model(spec.model, ModelOptions.of(spec, asking=False))
    try:
        return open_sampler(spec, backend, Sources(offline=spec.offline))
    finally:
        await backend.aclose()

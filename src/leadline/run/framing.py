"""Who stands around the messages of a run: its frame, its sampler, and the lengths that are possible with them."""

from __future__ import annotations

from leadline.data.loading import load_tokenizer, quicken
from leadline.data.sources import Sources
from leadline.errors import UsageError
from leadline.models.base import Backend, ServesTemplate
from leadline.prompt import (
    ASSUMED_COST,
    Frame,
    FrameCounter,
    chat_frame,
    frame_from_option,
    named_frame,
    served_frame,
)
from leadline.run.calibrated import CalibratedSampler
from leadline.sampler import Sampler
from leadline.spec import RunSpec
from leadline.tasks.base import Task
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.counting import Counter
from leadline.tokenizers.stand_in import StandIn


def resolve_frame(spec: RunSpec, backend: Backend, tokenizer: Tokenizer) -> Frame:
    """The frame of a run: what ``--template`` says, else the model's own chat template, else none (a base model).

    Raises:
        UsageError: a template is named and the server renders its own.
    """
    facts, abilities = backend.facts(), backend.abilities()
    prefill = abilities.prefill
    if abilities.template == "server":
        if spec.template is not None:
            raise UsageError(
                f"--template {spec.template}: the server of {facts.name} renders its own chat template; "
                "add --endpoint completions to send rendered text, or leave --template out"
            )
        cost = backend.template_cost(tokenizer) if isinstance(backend, ServesTemplate) else ASSUMED_COST
        return served_frame(facts.name, cost, prefill=prefill)
    if spec.template is not None:
        return frame_from_option(spec.template, facts.special_tokens, tokenizer, prefill=prefill)
    if facts.chat_template is not None:
        return chat_frame(facts.name, facts.chat_template, facts.special_tokens, tokenizer, prefill=prefill)
    return named_frame("base", tokenizer)


def open_sampler(spec: RunSpec, backend: Backend, sources: Sources) -> Sampler:
    """The sampler of a run against this backend."""
    tokenizer = backend.tokenizer()
    if spec.tokenizer is not None:
        tokenizer = load_tokenizer(spec.tokenizer, offline=spec.offline)
    tokenizer = quicken(tokenizer, offline=spec.offline)
    frame = resolve_frame(spec, backend, tokenizer)
    repeat = spec.exhaust == "repeat"
    if isinstance(tokenizer, StandIn) and tokenizer.calibration is not None:
        ratio = tokenizer.calibration.ratio
        return CalibratedSampler(frame, Counter(tokenizer), sources, spec.seed, ratio, repeat)
    return Sampler(frame, FrameCounter(Counter(tokenizer), frame), sources, spec.seed, repeat=repeat)


def check_lengths(spec: RunSpec, tasks: list[Task], sampler: Sampler) -> None:
    """Refuse a length at which no task of the run fits.

    Raises:
        UsageError: names the length and the smallest one that is possible.
    """
    shortest = min(spec.lengths)
    needs = {task.name: sampler.smallest_length(task.at_length(shortest), 0) for task in tasks}
    name, smallest = min(needs.items(), key=lambda entry: entry[1])
    if shortest < smallest:
        raise UsageError(
            f"at length {shortest} no task fits: the smallest sample ({name}) takes {smallest} tokens, answer "
            f"included; ask for --lengths {smallest} or more"
        )

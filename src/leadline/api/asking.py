"""Measuring from Python: the options of ``leadline run`` as keywords."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from leadline.api.runs import Run, open_run
from leadline.api.settings import checked_settings
from leadline.api.waiting import completed
from leadline.records import Record
from leadline.spec import DEFAULT_SUITE, LOCAL, RunSpec, resolve

if TYPE_CHECKING:
    from leadline.run.runner import Progress

Lengths = str | int | Sequence[str | int]
Names = str | Sequence[str]

_log = logging.getLogger("leadline")


def measure(
    suite: str = DEFAULT_SUITE,
    model: str = LOCAL,
    *,
    tasks: Names | None = None,
    lengths: Lengths | None = None,
    samples: int | None = None,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,
    tokenizer: str | None = None,
    protocol: Literal["published", "sound"] | None = None,
    template: str | None = None,
    max_tokens: int | None = None,
    base_url: str | None = None,
    endpoint: Literal["chat", "completions"] | None = None,
    api_key_env: str | None = None,
    reasoning_tokens: int | None = None,
    reasoning_markers: str | None = None,
    timeout_s: float | None = None,
    label: str | None = None,
    trained_length: str | int | None = None,
    order: Literal["prefix", "given"] | None = None,
    concurrency: int | None = None,
    limit_tokens: int | None = None,
    limit_cost: float | None = None,
    price: str | None = None,
    shard: str | None = None,
    stop: Literal["certain", "never"] | None = None,
    no_control: bool | None = None,
    claim: Literal["lengths", "effective"] | None = None,
    confidence: float | None = None,
    margin: float | None = None,
    exhaust: Literal["repeat", "stop"] | None = None,
    variant: Names | None = None,
    sweep: Literal["full", "last-2k"] | None = None,
    needles: str | Path | None = None,
    haystack: str | Path | None = None,
    closed_book: bool | None = None,
    threshold: str | float | None = None,
    weights: str | Mapping[str | int, float] | None = None,
    out: str | Path | None = None,
    offline: bool | None = None,
    skip_damaged: bool | None = None,
    progress: bool | Callable[[Record], object] | None = None,
) -> Run:
    """Ask a suite of a model and sum up; a run of the same set-up that is there already goes on.

    The keywords are the options of ``leadline run``; what is None is the suite's. The call returns when the run has
    ended. It works in a notebook too, where an event loop runs already (the run then has a thread of its own); a
    coroutine that must not block calls it through ``asyncio.to_thread``.

    Args:
        suite: a suite's name.
        model: who answers: ``local`` (the model in the box), ``openai/NAME``,
            ``openvino/PATH``, ``reader/NAME`` and the other forms of ``--model``.
        tasks: only these tasks, as a list or with commas between them.
        lengths: ``"4k,8k"``, ``[4096, "8k"]`` or one of them, in tokens.
        samples: of each task and length.
        seed: of every random draw.
        set: parameters of tasks, for example ``{"niah.num_keys": 8}``.
        tokenizer: what counts, instead of the model's own.
        protocol: as the published figures, or sound.
        template: chat template by name or file.
        max_tokens: tokens an answer may take, instead of each task's own.
        base_url: where the server of an ``openai/`` or ``ollama/`` model is.
        endpoint: the server renders its chat template, or is sent rendered text.
        api_key_env: the environment variable that holds the key.
        reasoning_tokens: tokens for reasoning, on top of those of the answer.
        reasoning_markers: what opens and closes reasoning inside an answer: ``"<think>,</think>"``.
        timeout_s: seconds that one request may take.
        label: keeps two set-ups of one model apart.
        trained_length: that the model was trained for: ``"32k"``; reports compare with it, and it changes no answer.
        order: neighbours share the longest beginning, or as listed.
        concurrency: requests in flight.
        limit_tokens: stop before the round that would pass so many prompt tokens.
        limit_cost: the same for what it costs, in US dollars.
        price: US dollars for a million prompt and a million output tokens: ``"2.5,10"``.
        shard: ask only share i of n: ``"i/n"``.
        stop: ``certain`` asks each length in a random order and stops where its verdict is certain.
        no_control: ask nothing beside the lengths, neither items at the suite's shortest one nor questions without
            documents.
        claim: what that is certain of: each length's verdict (``lengths``, the default), or the ``effective`` length.
        confidence: of the claim, 0.95 by default.
        margin: points around the threshold within which a length may be left undecided; 1 by default, 0 for none.
        exhaust: where a text runs out, repeat it or leave the cell out.
        variant: how NoLiMa asks its pairs: default, direct, choices, cot, distractor or hard.
        sweep: NoLiMa's depths, over all of the haystack or its end.
        needles: a needle file in NoLiMa's format.
        haystack: a folder of text files, each of them a book, for NoLiMa.
        closed_book: ask NoLiMa's questions without haystack and needle too.
        threshold: chat, base, or a score in per cent.
        weights: of the lengths, for an average of your own.
        out: parent of the runs' folders, ``runs`` by default.
        offline: fetch nothing.
        skip_damaged: go on without damaged record lines.
        progress: True shows on standard error how far the run is; a function is called with every record as it
            comes. What a run has to say goes to the logger ``leadline`` unless progress is True.

    Raises:
        UsageError: an unknown name or a value out of range.
        DataError, ModelError, RunFolderError, MissingExtraError: the run cannot begin or go on; nothing recorded
            is lost.
    """
    from leadline.run.runner import run

    given = {name: value for name, value in locals().items() if name in RunSpec.model_fields or name == "threshold"}
    del given["suite"]
    if weights is not None and not isinstance(weights, str):
        given["weights"] = dict(weights)
    given |= {name: str(path) for name, path in (("needles", needles), ("haystack", haystack)) if path is not None}
    given["set"] = checked_settings(set)
    spec = resolve(suite, given)
    with _listener(progress, spec) as listener:
        ended = completed(run(spec, listener))
    made = open_run(ended.folder, skip_damaged=spec.skip_damaged)
    made.write()
    return made


class _Listener:
    """Hands records to a function, and what the run says to the log."""

    def __init__(self, function: Callable[[Record], object] | None) -> None:
        self._function = function

    def say(self, message: str) -> None:
        _log.info("%s", message)

    def begin(self, cells: Mapping[tuple[str, int], tuple[int, int]]) -> None:
        trials, tokens = (sum(counts[place] for counts in cells.values()) for place in (0, 1))
        _log.info("%d trials to ask, %d prompt tokens", trials, tokens)

    def earlier(self, record: Record) -> None:
        """Nothing: it was told when it came."""

    def record(self, record: Record) -> None:
        if self._function is not None:
            self._function(record)


def _listener(progress: bool | Callable[[Record], object] | None, spec: RunSpec) -> AbstractContextManager[Progress]:
    if progress is True:
        from leadline.report.progress import LineProgress
        from leadline.report.tally import Tally
        from leadline.run.prices import Bill, price_of_run

        return LineProgress(Tally(Bill(price_of_run(spec)), at_most=spec.stop == "certain", k=spec.k))
    return nullcontext(_Listener(progress or None))

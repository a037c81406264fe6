"""What the backends share that run a model in this process: a GGUF file's facts, prompts as token ids, threads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from leadline.requests import Abilities, ModelFacts, PermanentError
from leadline.spec import LOCAL
from leadline.tokenizers.base import Tokenizer

if TYPE_CHECKING:
    from leadline.models.registry import ModelOptions

T = TypeVar("T")


class InProcess:
    """A model in this process: it reads rendered text and continues any beginning of an answer.

    Args:
        facts: what the model's files say of themselves.
        tokenizer: counts for it.
        context_tokens: the longest request that it accepts, answer included; None where unknown.
        width: requests at a time.
    """

    def __init__(self, facts: ModelFacts, tokenizer: Tokenizer, context_tokens: int | None, width: int) -> None:
        self._facts = facts
        self._tokenizer = tokenizer
        self._context_tokens = context_tokens
        self._width = width

    def abilities(self) -> Abilities:
        """Text in, any beginning of an answer continued."""
        return Abilities(
            prefill=True,
            template="local",
            token_ids=True,
            context_tokens=self._context_tokens,
            max_concurrency=self._width,
        )

    def facts(self) -> ModelFacts:
        """What the model's files say of themselves."""
        return self._facts

    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the model's files, or the one that was asked for."""
        return self._tokenizer


def open_gguf(kind: str, path: Path, *, offline: bool) -> tuple[Path, ModelFacts, Tokenizer, int | None]:
    """The GGUF file behind a path or the word ``local``, what it says of itself, its tokenizer and its context.

    Args:
        kind: which engine reads it; the model's name begins with it.
        path: the file, or ``local`` for the model in the box.
        offline: fetch nothing.

    Raises:
        UsageError: there is no GGUF file at `path`.
        DataError: the model in the box cannot be fetched.
    """
    from leadline.data.cache import sha256_of
    from leadline.data.gguf_cache import gguf_facts, gguf_tokenizer
    from leadline.data.loading import load_local_model_path

    file = load_local_model_path(offline) if str(path) == LOCAL else path
    said = gguf_facts(file)
    details: dict[str, str | int | float | bool | None] = {
        "engine": kind,
        "sha256": sha256_of(file),
        "title": said.name,
        "architecture": said.architecture,
        "quantisation": said.quantisation,
        "context_tokens": said.context_tokens,
        **{f"rope_{name}": value for name, value in said.rope.items()},
    }
    name = LOCAL if str(path) == LOCAL else file.name
    facts = ModelFacts(f"{kind}/{name}", details, said.chat_template, said.special_tokens)
    return file, facts, gguf_tokenizer(file), said.context_tokens


def counted_with(options: ModelOptions, own: Tokenizer) -> Tokenizer:
    """The tokenizer to count with: the one that was asked for, else the model's own."""
    from leadline.data.loading import load_tokenizer

    return own if options.tokenizer is None else load_tokenizer(options.tokenizer, offline=options.offline)


def with_bos(tokenizer: Tokenizer, bos: str | None, text: str) -> tuple[list[int], int]:
    """The token ids that a model reads for a rendered text, and how many BOS tokens they begin with.

    A template may write BOS itself; only where it does not is the loader's own put before the text.
    """
    ids = tokenizer.encode(text)
    if bos is None:
        return ids, 0
    bos_ids = tokenizer.encode(bos)
    if tokenizer.bos_tokens and ids[: len(bos_ids)] != bos_ids:
        ids = bos_ids + ids
    count = 0
    while ids[count * len(bos_ids) : (count + 1) * len(bos_ids)] == bos_ids:
        count += 1
    return ids, count


def check_length(prompt_tokens: int, max_tokens: int, context_tokens: int | None) -> None:
    """Refuse a request that the context does not hold, answer included.

    Raises:
        PermanentError: with the kind ``over_length``.
    """
    if context_tokens is not None and prompt_tokens + max_tokens > context_tokens:
        raise PermanentError(
            "over_length",
            f"{prompt_tokens} tokens of prompt and {max_tokens} of answer exceed the context of {context_tokens}",
            context_tokens,
        )


def calm_threads() -> None:
    """Let the threads of engines that are not loaded yet sleep while they wait for one another.

    They spin by default, and where other work runs on the same cores (a machine with few of them, a tokenizer's
    threads, a second engine) they take from it the time that they wait for. OpenMP reads this when it is loaded; what
    the user has set stands.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


async def in_daemon_thread(name: str, work: Callable[[], T]) -> T:
    """What `work` gives, done in a thread of its own that nobody waits for when the run is interrupted."""
    future: concurrent.futures.Future[T] = concurrent.futures.Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - whatever an engine raises reaches the caller
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await asyncio.wrap_future(future)

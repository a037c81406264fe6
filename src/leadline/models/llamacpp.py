"""A GGUF model in this process through a real llama.cpp server, by the package xllamacpp."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from leadline.errors import ModelError, UsageError, require
from leadline.models.in_process import (
    InProcess,
    calm_threads,
    check_length,
    counted_with,
    in_daemon_thread,
    open_gguf,
    with_bos,
)
from leadline.requests import FinishReason, ModelFacts, PermanentError, Request, Response, TransientError
from leadline.tokenizers.base import Tokenizer

if TYPE_CHECKING:
    from leadline.models.registry import ModelOptions

EXTRA = "llamacpp"
MOST_SLOTS = 16
"""Each slot holds a whole context in memory, so there are never more of them than this."""

_OVER_LENGTH = "exceed_context_size_error"
_UNAVAILABLE = "unavailable_error"
_FINISH: Mapping[str | None, FinishReason] = {"stop": "stop", "length": "length"}


def open_llamacpp(path: Path, options: ModelOptions) -> LlamaCpp:
    """The model in a GGUF file, or the model in the box where `path` is ``local``.

    Args:
        path: the GGUF file; ``FILE.gguf?context_tokens=N`` gives each slot a context of N tokens instead of all that
            the model was made for, whose cache may not fit into the memory.
        options: ``concurrency`` is the number of the server's slots; one by default.

    Raises:
        UsageError: there is no GGUF file at `path`, or the context is no whole number.
        DataError: the model in the box cannot be fetched.
        MissingExtraError: xllamacpp is not installed.
    """
    _import_engine()
    asked, _, query = str(path).partition("?")
    file, facts, own, context_tokens = open_gguf("llamacpp", Path(asked), offline=options.offline)
    if query:
        context_tokens = _asked_context(query, path)
        facts = replace(facts, details={**facts.details, "served_context_tokens": context_tokens})
    slots = min(options.concurrency or 1, MOST_SLOTS)
    return LlamaCpp(file, facts, counted_with(options, own), own, context_tokens, slots)


def _asked_context(query: str, path: Path) -> int:
    """The number N of ``context_tokens=N``."""
    match parse_qsl(query, keep_blank_values=True):
        case [("context_tokens", value)] if value.isdecimal() and int(value) > 0:
            return int(value)
        case _:
            raise UsageError(f"llamacpp/{path}: behind the ? stands context_tokens=N, with a whole number from 1 on")


def _import_engine() -> Any:
    calm_threads()
    return require("xllamacpp", EXTRA)


class LlamaCpp(InProcess):
    """One server, as many requests at a time as it has slots, prefix caching on.

    Prompts are sent as token ids of our own reading of the file, so what the server reads is what was counted and BOS
    stands before it once or not at all.
    """

    def __init__(
        self,
        path: Path,
        facts: ModelFacts,
        tokenizer: Tokenizer,
        own: Tokenizer,
        context_tokens: int | None,
        slots: int = 1,
    ) -> None:
        super().__init__(facts, tokenizer, context_tokens, slots)
        self._path = path
        self._own = own
        self._loading = threading.Lock()
        self._closing = threading.Event()
        self._server: Any = None

    async def answer(self, request: Request) -> Response:
        """Greedy answer to a rendered prompt."""
        if request.text is None:
            raise ValueError("this backend takes rendered text")
        text, max_tokens = request.text, request.max_tokens + request.reasoning_tokens
        return await in_daemon_thread("llamacpp", lambda: self._generate(text, max_tokens))

    async def prompt_ids(self, text: str) -> list[int]:
        """The token ids that the server's own tokenizer makes of a text, the BOS that it adds included."""
        return await in_daemon_thread("llamacpp", lambda: self._tokenize(text))

    async def aclose(self) -> None:
        """Stop the running answers at their next token, and the server with the last of them."""
        self._closing.set()

        def let_go() -> None:
            with self._loading:
                self._server = None

        # Letting go of the last reference stops the server's threads, which takes a moment.
        await asyncio.to_thread(let_go)

    def _engine(self) -> Any:
        with self._loading:
            if self._closing.is_set():
                raise TransientError("this backend is closed")
            if self._server is None:
                self._server = self._start()
            return self._server

    def _start(self) -> Any:
        engine = _import_engine()
        params = engine.CommonParams()
        params.model.path = str(self._path)
        # The context is shared out evenly among the slots; 0 would be the model's own for all of them together.
        params.n_ctx = (self._context_tokens or 0) * self._width
        params.n_parallel = self._width
        params.kv_unified = False
        params.ctx_shift = False  # a context that is full ends the answer, instead of dropping the prompt's beginning
        params.cache_ram_mib = 0  # otherwise it keeps up to 8 GB of earlier contexts besides those of its slots
        params.warmup = False
        params.verbosity = -1
        try:
            return engine.Server(params)
        except RuntimeError as error:
            reason = " ".join(str(error).split())
            raise ModelError(
                f"llama.cpp cannot load {self._path} ({reason}): the file may be damaged, of a kind that it does not "
                f"know, or too large for the memory with {self._width} x {self._context_tokens} tokens of context"
            ) from error

    def _tokenize(self, text: str) -> list[int]:
        # The server listens on this machine only; a proxy from the environment has no business in between.
        address = f"{self._engine().listening_address}/tokenize"
        body = json.dumps({"content": text, "add_special": True, "parse_special": True}).encode()
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as reply:
            return [int(token) for token in json.load(reply)["tokens"]]

    def _generate(self, text: str, max_tokens: int) -> Response:
        bos = self._facts.special_tokens.get("bos_token")
        ids, bos_tokens = with_bos(self._own, bos, text)
        check_length(len(ids), max_tokens, self._context_tokens)
        said: list[str] = []
        last: dict[str, Any] = {}

        def take(chunk: dict[str, Any]) -> bool:
            for choice in chunk.get("choices", ()):
                said.append(choice["text"])
            last.update(chunk)
            return self._closing.is_set()

        body = {
            "prompt": ids,
            "max_tokens": max_tokens,
            "temperature": 0,
            "cache_prompt": True,
            "stream": True,  # so that an interrupted run can stop it
            "stream_options": {"include_usage": True},
        }
        server = self._engine()
        started = time.perf_counter()
        server.handle_completions(body, take)
        latency_s = time.perf_counter() - started
        if "error" in last:
            raise _refusal(last["error"])
        if "timings" not in last:
            raise TransientError("the server was stopped before the answer was complete")
        return _response("".join(said), last, bos_tokens, latency_s)


def _refusal(error: Mapping[str, Any]) -> Exception:
    message = " ".join(str(error.get("message", "no reason given")).split())
    if error.get("type") == _OVER_LENGTH:
        limit = error.get("n_ctx")
        return PermanentError("over_length", message, limit if isinstance(limit, int) else None)
    if error.get("type") == _UNAVAILABLE:
        return TransientError(message, cause="overloaded")
    return PermanentError("failed", message)


def _response(text: str, last: Mapping[str, Any], bos_tokens: int, latency_s: float) -> Response:
    """The response from the last chunk of a stream; tokens computed and tokens from the cache make up the prompt."""
    timings = last["timings"]
    finish = last["choices"][0]["finish_reason"] if last.get("choices") else None
    return Response(
        text=text,
        finish_reason=_FINISH.get(finish, "unknown"),
        prompt_tokens=timings["prompt_n"] + timings["cache_n"],
        cached_tokens=timings["cache_n"],
        output_tokens=timings["predicted_n"],
        bos_tokens=bos_tokens,
        latency_s=latency_s,
    )

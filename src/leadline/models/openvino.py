"""A model in this process through OpenVINO GenAI: a GGUF file, or a folder in OpenVINO's own format."""

from __future__ import annotations

import asyncio
import contextlib
import json
import queue
import re
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from leadline.errors import ModelError, UsageError, require
from leadline.models.in_process import InProcess
from leadline.models.openvino_weights import IR_MODEL, exact_model
from leadline.requests import ModelFacts, PermanentError, Request, Response
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.hugging_face import HuggingFaceTokenizer

T = TypeVar("T")

# The engine's tokenizer silently keeps only the last 8,192 tokens of a text. A character has at most four bytes and a
# byte makes at most one token, so pieces of this many characters never reach that.
PIECE_CHARACTERS = 2_000
_CUTS = re.compile(r"(?<=\S) (?=\S)")
CACHE_GB = 1
BATCHED_TOKENS = 2_048

PRECISION: Mapping[str, str] = {
    "INFERENCE_PRECISION_HINT": "f32",
    "KV_CACHE_PRECISION": "f16",
    "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0",
}
"""Left to itself the engine computes as coarsely as the processor has instructions for: bfloat16, activations and kept
keys and values in eight bits. The same model would then score otherwise on another machine."""


def open_openvino(path: Path, tokenizer: str | None, alias: str | None, *, offline: bool) -> OpenVino:
    """The model in a GGUF file or in a folder of OpenVINO's own format.

    Args:
        path: the file or the folder.
        tokenizer: name of a tokenizer to count with instead of the model's own, or None.
        alias: what to call the model, or None for the path's name.
        offline: fetch nothing.

    Raises:
        UsageError: there is no model at `path`.
        MissingExtraError: OpenVINO GenAI is not installed.
    """
    from leadline.data.cache import sha256_of
    from leadline.data.gguf_cache import gguf_facts, gguf_tokenizer
    from leadline.data.loading import load_tokenizer

    require("openvino_genai", "local")
    counted = None if tokenizer is None else load_tokenizer(tokenizer, offline=offline)
    if path.is_dir():
        if not (path / IR_MODEL).is_file():
            raise UsageError(f"{path} has no {IR_MODEL}: name a GGUF file or a folder in OpenVINO's format")
        own = HuggingFaceTokenizer.from_path(path)
        details = {"sha256": sha256_of(path / "openvino_model.bin"), **_computed()}
        model = ModelFacts(alias or path.name, details, own.chat_template, own.special_tokens)
        return OpenVino(path, model, counted or own, _context_of(path / "config.json"))
    facts = gguf_facts(path)
    details = {
        "sha256": sha256_of(path),
        "zero_points": "exact",
        **_computed(),
        "title": facts.name,
        "architecture": facts.architecture,
        "quantisation": facts.quantisation,
        "context_tokens": facts.context_tokens,
        **{f"rope_{name}": value for name, value in facts.rope.items()},
    }
    model = ModelFacts(alias or path.name, details, facts.chat_template, facts.special_tokens)
    return OpenVino(path, model, counted or gguf_tokenizer(path), facts.context_tokens)


def _computed() -> dict[str, str | int | float | bool | None]:
    """What of `PRECISION` belongs to a run's identity."""
    return {"computed_in": PRECISION["INFERENCE_PRECISION_HINT"], "kv_cache": PRECISION["KV_CACHE_PRECISION"]}


def _context_of(config: Path) -> int | None:
    """The longest context that a Hugging Face model's config.json names, or None."""
    try:
        tokens = json.loads(config.read_text(encoding="utf-8")).get("max_position_embeddings")
    except (OSError, ValueError):
        return None
    return tokens if isinstance(tokens, int) else None


class OpenVino(InProcess):
    """One model, one `generate` at a time, prefix caching on.

    Prompts are sent as token ids, so what the engine reads is what was counted.
    """

    def __init__(self, path: Path, facts: ModelFacts, tokenizer: Tokenizer, context_tokens: int | None) -> None:
        super().__init__(facts, tokenizer, context_tokens, width=1)
        self._path = path
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._pipeline: Any = None
        self._closing = threading.Event()

    async def answer(self, request: Request) -> Response:
        """Greedy answer to a rendered prompt."""
        if request.text is None:
            raise ValueError("this backend takes rendered text")
        text, max_tokens = request.text, request.max_tokens + request.reasoning_tokens
        return await self._in_thread(lambda: self._generate(text, max_tokens))

    async def prompt_ids(self, text: str) -> list[int]:
        """The token ids that the engine's own tokenizer makes of a text."""
        return await self._in_thread(lambda: self._encode(text))

    async def aclose(self) -> None:
        """Stop the running answer at its next token and let the thread end."""
        self._closing.set()
        if self._thread is not None:
            self._jobs.put(None)
            self._thread = None

    async def _in_thread(self, job: Callable[[], T]) -> T:
        """Run a job in the one thread that owns the engine."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def settle(setter: Callable[[Any], None], value: object) -> None:
            # An interrupted run has closed its loop or dropped the future: nobody waits for the answer any more.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(lambda: None if future.done() else setter(value))

        def work() -> None:
            try:
                result = job()
            except Exception as error:  # noqa: BLE001 - whatever the engine raises reaches the caller
                settle(future.set_exception, error)
            else:
                settle(future.set_result, result)

        if self._thread is None:
            # A daemon thread: an interrupted run does not wait for the prompt that is being read.
            self._thread = threading.Thread(target=self._serve, name="openvino", daemon=True)
            self._thread.start()
        self._jobs.put(work)
        return await future

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def _engine(self) -> Any:
        if self._pipeline is None:
            genai = require("openvino_genai", "local")
            scheduler = genai.SchedulerConfig()
            scheduler.cache_size = CACHE_GB
            scheduler.enable_prefix_caching = True
            scheduler.max_num_batched_tokens = BATCHED_TOKENS
            try:
                path = (
                    self._path if self._path.is_dir() else exact_model(self._path, str(self.facts().details["sha256"]))
                )
                self._pipeline = genai.LLMPipeline(str(path), "CPU", scheduler_config=scheduler, **PRECISION)
            except RuntimeError as error:
                reason = str(error).strip().splitlines()[-1]
                raise ModelError(f"OpenVINO cannot load {self._path}: {reason}") from error
        return self._pipeline

    def _encode(self, text: str) -> list[int]:
        tokenizer = self._engine().get_tokenizer()
        ids: list[int] = []
        for piece in pieces(text, PIECE_CHARACTERS):
            ids.extend(int(token) for token in tokenizer.encode(piece, add_special_tokens=False).input_ids.data[0])
        return ids

    def _generate(self, text: str, max_tokens: int) -> Response:
        genai = require("openvino_genai", "local")
        openvino = require("openvino", "local")
        pipeline = self._engine()
        ids = np.array([self._encode(text)], dtype=np.int64)
        config = pipeline.get_generation_config()
        config.max_new_tokens = max_tokens
        config.do_sample = False
        config.apply_chat_template = False

        def streamer(_: str) -> Any:
            return genai.StreamingStatus.CANCEL if self._closing.is_set() else genai.StreamingStatus.RUNNING

        inputs = genai.TokenizedInputs(openvino.Tensor(ids), openvino.Tensor(np.ones(ids.shape, dtype=np.int64)))
        started = time.perf_counter()
        try:
            result = pipeline.generate(inputs, config, streamer)
        except RuntimeError as error:  # out of memory, a prompt that the cache cannot hold: this trial, not the run
            raise PermanentError("failed", " ".join(str(error).split())) from error
        latency_s = time.perf_counter() - started
        tokens = list(result.tokens[0])
        stopped = result.finish_reasons[0] == genai.GenerationFinishReason.STOP
        return Response(
            text=str(pipeline.get_tokenizer().decode(tokens)),
            finish_reason="stop" if stopped else "length",
            prompt_tokens=ids.shape[1],
            output_tokens=len(tokens),
            latency_s=latency_s,
        )


def pieces(text: str, limit: int) -> list[str]:
    """The text cut before single spaces into pieces of at most `limit` characters.

    A longer stretch without such a space stays whole: it cannot be cut without changing its tokens.
    """
    parts: list[str] = []
    start = 0
    best: int | None = None
    for match in _CUTS.finditer(text):
        if match.start() - start > limit and best is not None:
            parts.append(text[start:best])
            start = best
        best = match.start()
    if len(text) - start > limit and best is not None and best > start:
        parts.append(text[start:best])
        start = best
    parts.append(text[start:])
    return parts

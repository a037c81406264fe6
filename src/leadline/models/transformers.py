"""A model in this process through Hugging Face transformers: a folder, a model of the hub, or a GGUF file."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib.util
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leadline.errors import ModelError, require
from leadline.models.checkpoint import Source, described
from leadline.models.in_process import InProcess, calm_threads, check_length, counted_with, in_daemon_thread, with_bos
from leadline.requests import ModelFacts, PermanentError, Request, Response, TransientError
from leadline.tokenizers.base import Tokenizer

if TYPE_CHECKING:
    from leadline.models.registry import ModelOptions

EXTRA = "hf"
PACKAGES = ("torch", "transformers", "accelerate")
GATHER_S = 0.05
"""How long the first of several requests waits for others of its length, which lanes send at almost the same time."""

_OUT_OF_MEMORY = ("out of memory", "not enough memory", "can't allocate memory")


def open_transformers(name: str, options: ModelOptions) -> Transformers:
    """The model of this name, which is loaded when it is first asked.

    Args:
        name: a folder with config.json, tokenizer.json and weights; a GGUF file; ``local`` for the model in the box; or
            a model's name on the hub.
        options: ``concurrency`` is the largest number of prompts that are read together; one by default.

    Raises:
        UsageError: there is no such folder or file, or it is no model.
        DataError: the model's tokenizer or configuration is not in the hub's cache and cannot be fetched.
        MissingExtraError: torch, transformers or accelerate is not installed.
    """
    for package in PACKAGES:
        if importlib.util.find_spec(package) is None:  # importing them takes seconds, and `plan` asks no model
            require(package, EXTRA)
    source, facts, own, context_tokens = described(name, offline=options.offline)
    width = options.concurrency or 1
    return Transformers(source, facts, counted_with(options, own), own, context_tokens, width)


@dataclass(frozen=True, slots=True)
class _Job:
    """A prompt that waits for its answer."""

    ids: tuple[int, ...]
    bos_tokens: int
    max_tokens: int
    future: concurrent.futures.Future[Response]

    @property
    def shape(self) -> tuple[int, int]:
        """What jobs have in common that are read together."""
        return len(self.ids), self.max_tokens


class Transformers(InProcess):
    """One model; greedy; requests in flight with equally long prompts are read together, up to `width` of them.

    Prompts of different lengths are never padded to one another: padding changes positions in some models and the
    sums in all of them. Answers in a batch can still differ from answers alone in the last bits of a sum.
    """

    def __init__(
        self,
        source: Source,
        facts: ModelFacts,
        tokenizer: Tokenizer,
        own: Tokenizer,
        context_tokens: int | None,
        width: int = 1,
    ) -> None:
        super().__init__(facts, tokenizer, context_tokens, width)
        self._source = source
        self._own = own
        self._waiting: list[_Job] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._loading = threading.Lock()
        self._decoder: Any = None
        self._model: Any = None

    async def answer(self, request: Request) -> Response:
        """Greedy answer to a rendered prompt."""
        if request.text is None:
            raise ValueError("this backend takes rendered text")
        text, max_tokens = request.text, request.max_tokens + request.reasoning_tokens
        bos = self._facts.special_tokens.get("bos_token")
        # Tens of milliseconds for a long prompt, in which other lanes are served.
        ids, bos_tokens = await asyncio.to_thread(with_bos, self._own, bos, text)
        check_length(len(ids), max_tokens, self._context_tokens)
        job = _Job(tuple(ids), bos_tokens, max_tokens, concurrent.futures.Future())
        with self._changed:
            if self._closing.is_set():
                raise TransientError("this backend is closed")
            self._waiting.append(job)
            if self._thread is None:
                # A daemon thread: an interrupted run does not wait for the prompt that is being read.
                self._thread = threading.Thread(target=self._serve, name="transformers", daemon=True)
                self._thread.start()
            self._changed.notify()
        return await asyncio.wrap_future(job.future)

    async def prompt_ids(self, text: str) -> list[int]:
        """The token ids that the tokenizer of transformers makes of a rendered text."""
        return await in_daemon_thread(
            "transformers", lambda: list(self._theirs()(text, add_special_tokens=False)["input_ids"])
        )

    async def aclose(self) -> None:
        """Stop the running answers at their next token and let go of the model."""
        with self._changed:
            self._closing.set()
            for job in self._waiting:
                if job.future.set_running_or_notify_cancel():
                    job.future.set_exception(TransientError("this backend was closed before the prompt was read"))
            self._waiting.clear()
            self._changed.notify()

    def _serve(self) -> None:
        while jobs := self._next_batch():
            self._answer_batch(jobs)
        self._model = None

    def _next_batch(self) -> list[_Job]:
        """The oldest waiting request and those of its length; none when the backend is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing.is_set())
            if self._width > 1:
                self._changed.wait_for(
                    lambda: self._closing.is_set() or len(self._waiting) >= self._width, timeout=GATHER_S
                )
            if not self._waiting:
                return []
            shape = self._waiting[0].shape
            jobs = [job for job in self._waiting if job.shape == shape][: self._width]
            for job in jobs:
                self._waiting.remove(job)
            return jobs

    def _answer_batch(self, jobs: Sequence[_Job]) -> None:
        asked = [job for job in jobs if job.future.running() or job.future.set_running_or_notify_cancel()]
        if not asked:
            return
        try:
            responses = self._generate(asked)
        except Exception as error:  # noqa: BLE001 - whatever torch raises reaches the caller
            if _is_out_of_memory(error):
                _free_memory()
                if len(asked) > 1:
                    for job in asked:
                        self._answer_batch([job])
                    return
                error = PermanentError("failed", f"out of memory: {' '.join(str(error).split())}")
            elif isinstance(error, RuntimeError):
                error = PermanentError("failed", " ".join(str(error).split()))
            for job in asked:
                job.future.set_exception(error)
        else:
            for job, response in zip(asked, responses, strict=True):
                job.future.set_result(response)

    def _generate(self, jobs: Sequence[_Job]) -> list[Response]:
        torch, transformers = _packages()
        model, theirs = self._loaded(), self._theirs()
        ends = _end_ids(model.generation_config, theirs)
        prompt_tokens, max_tokens = jobs[0].shape
        config = transformers.GenerationConfig(
            max_new_tokens=max_tokens, do_sample=False, eos_token_id=ends or None, pad_token_id=ends[0] if ends else 0
        )
        ids = torch.tensor([job.ids for job in jobs], device=model.device)

        def closing(read: Any, _scores: Any, **_: Any) -> Any:
            return torch.full((read.shape[0],), self._closing.is_set(), dtype=torch.bool, device=read.device)

        started = time.perf_counter()
        with torch.inference_mode():
            written = model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                generation_config=config,
                stopping_criteria=transformers.StoppingCriteriaList([closing]),
            )
        latency_s = time.perf_counter() - started
        if self._closing.is_set():
            raise TransientError("this backend was closed before the answer was complete")
        answers = [_until_end(row[prompt_tokens:], ends) for row in written.tolist()]
        return [
            Response(
                text=str(theirs.decode(answer, skip_special_tokens=True, clean_up_tokenization_spaces=False)),
                finish_reason="stop" if answer and answer[-1] in ends else "length",
                prompt_tokens=prompt_tokens,
                cached_tokens=0,
                output_tokens=len(answer),
                bos_tokens=job.bos_tokens,
                latency_s=latency_s,
            )
            for job, answer in zip(jobs, answers, strict=True)
        ]

    def _theirs(self) -> Any:
        """The tokenizer of transformers, which decodes answers."""
        with self._loading:
            if self._decoder is None:
                _, transformers = _packages()
                self._decoder = self._load(transformers.AutoTokenizer, {})
            return self._decoder

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                _, transformers = _packages()
                model = self._load(transformers.AutoModelForCausalLM, {"dtype": "auto", "device_map": _device()})
                ends = model.generation_config.eos_token_id
                # A model's own settings may hold a temperature or a penalty: only what ends an answer is kept.
                model.generation_config = transformers.GenerationConfig(eos_token_id=ends)
                self._model = model.eval()
            return self._model

    def _load(self, kind: Any, more: Mapping[str, Any]) -> Any:
        try:
            return kind.from_pretrained(**self._source.arguments(), **more)
        except Exception as error:  # the package raises a dozen kinds for files that it cannot use
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise ModelError(
                f"transformers cannot load {self._facts.name} ({type(error).__name__}: {reason}): check its files, "
                "the memory, and that this version of transformers knows its architecture"
            ) from error


def _packages() -> tuple[Any, Any]:
    """torch, and transformers with its progress bars off: they would write over leadline's own."""
    calm_threads()
    torch, transformers = require("torch", EXTRA), require("transformers", EXTRA)
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    return torch, transformers


def _device() -> str:
    """Where the model goes: spread over the graphics cards, Apple's, or the processor."""
    torch, _ = _packages()
    if torch.cuda.is_available():
        return "auto"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _end_ids(config: Any, tokenizer: Any) -> list[int]:
    """The tokens that end an answer: those of the model, else the tokenizer's."""
    ends = config.eos_token_id if config.eos_token_id is not None else tokenizer.eos_token_id
    if ends is None:
        return []
    return [int(end) for end in ends] if isinstance(ends, list | tuple) else [int(ends)]


def _until_end(tokens: Sequence[int], ends: Sequence[int]) -> list[int]:
    """The tokens up to the first that ends an answer, that one included; what follows is padding of a batch."""
    last = next((place for place, token in enumerate(tokens) if token in ends), len(tokens) - 1)
    return list(tokens[: last + 1])


def _free_memory() -> None:
    torch, _ = _packages()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _is_out_of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _OUT_OF_MEMORY)
    )

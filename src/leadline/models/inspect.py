"""The providers of inspect-ai as backends: Anthropic, Google, Bedrock, Azure, Mistral, Groq, Together and others."""

from __future__ import annotations

import asyncio
import math
import os
import re
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from leadline.errors import ModelError, UsageError, require
from leadline.models.dialects import PLAIN, dialects
from leadline.models.http import retry_after_s
from leadline.models.standing_in import stand_in_for
from leadline.requests import Abilities, FinishReason, ModelFacts, PermanentError, Request, Response, TransientError
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.stand_in import StandIn, openai_encoding

if TYPE_CHECKING:
    from leadline.models.registry import ModelOptions

EXTRA = "inspect"
CONCURRENCY = 8
"""Requests in flight where nothing else was asked for: providers limit them by account, and slow down gracefully."""

PROBE_TOKENS = 16
"""What a question about tokens may take: the least that all providers accept."""

_PREFILLS = re.compile(
    r"anthropic/(?:bedrock/|vertex/|azure/)?(?:[\w.]*anthropic\.)?"
    r"claude-(?:2|3|instant|(?:opus|sonnet|haiku)-4(?:-[015])?(?:$|[@-]\d{8}|-latest))"
)
"""Models that go on from a trailing assistant turn: Claude up to 4.5, by Anthropic's documentation, which says that
later ones refuse it. Of no other provider's models is it known that inspect-ai's request makes them do so."""

_FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "filter",
}
_MARKUP = re.compile(r"\[/?[a-z ]+\]")
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)$")
_SHORTEST_SECRET = 8
_EXCERPT_CHARACTERS = 300
_LONGEST_WAIT_S = 24 * 3600


def open_inspect(name: str, options: ModelOptions) -> Inspect:
    """The model of one of inspect-ai's providers.

    Args:
        name: ``PROVIDER/NAME`` as inspect-ai writes it, for example ``anthropic/claude-sonnet-4-5``. The provider reads
            its key from the environment variable that it names in inspect-ai's documentation.
        options: address, key, requests in flight, time for a request, and the tokenizer to count with.

    Raises:
        UsageError: inspect-ai does not know the provider, or the provider's own package or its key is missing.
        MissingExtraError: inspect-ai is not installed.
    """
    require("inspect_ai", EXTRA)
    provider, _, rest = name.partition("/")
    if not provider or not rest:
        raise UsageError(f"inspect/{name} names no model: write inspect/PROVIDER/NAME, as inspect-ai does")
    model = _get_model(name, options) if options.asking else None
    return Inspect(name, options, model)


def _get_model(name: str, options: ModelOptions) -> Any:
    library = require("inspect_ai.model", EXTRA)
    errors = require("inspect_ai._util.error", EXTRA)
    try:
        return library.get_model(name, base_url=options.base_url, api_key=options.api_key, memoize=False)
    except (errors.PrerequisiteError, ValueError, ImportError) as error:
        reason = _one_line(getattr(error, "message", None) or error, options.api_key)
        raise UsageError(f"inspect-ai cannot open {name}: {reason}") from None


class Inspect:
    """One model of a provider; messages are sent and the provider renders them.

    inspect-ai's own retries are off. The packages of some providers try again by themselves a few times within a call.
    """

    def __init__(self, name: str, options: ModelOptions, model: Any = None) -> None:
        """A model.

        Args:
            name: ``PROVIDER/NAME``.
            options: what it was opened with.
            model: inspect-ai's model, or None to make it when it is first asked.
        """
        self._name = name
        self._options = options
        self._model = model
        self._prefill = _PREFILLS.match(name) is not None
        self._tokenizer: Tokenizer | None = None

    def abilities(self) -> Abilities:
        """Messages in; an answer that was begun is continued by those models of which it is documented."""
        return Abilities(
            prefill=self._prefill, template="server", max_concurrency=self._options.concurrency or CONCURRENCY
        )

    def facts(self) -> ModelFacts:
        """Its name, and what stands in for its tokenizer: the providers tell no more that holds for a whole run."""
        told = self._tokenizer.details if isinstance(self._tokenizer, StandIn) else {}
        return ModelFacts(f"inspect/{self._name}", {"engine": "inspect", **told})

    def tokenizer(self) -> Tokenizer:
        """The tokenizer that was asked for, OpenAI's own for its models, else a stand-in.

        Its ratio to the model's own is told by the answers to a few short questions.
        """
        if self._tokenizer is None:
            from leadline.data.loading import load_tokenizer

            provider, _, model = self._name.partition("/")
            own = self._options.tokenizer or (openai_encoding(model) if provider == "openai" else None)
            offline = self._options.offline
            self._tokenizer = load_tokenizer(own, offline=offline) if own else stand_in_for(self._options, self._told)
        return self._tokenizer

    def _told(self, text: str) -> int:
        """Prompt tokens of a request, as the provider counts them."""

        async def told() -> int:
            request = Request(max_tokens=PROBE_TOKENS, messages=({"role": "user", "content": text},))
            try:
                tokens = (await self.answer(request)).prompt_tokens
            finally:
                await self.aclose()  # its connections belong to this loop
            if tokens is None:
                raise PermanentError("failed", "the provider does not say how many tokens it read")
            return tokens

        # A loop of its own, whoever asks.
        with ThreadPoolExecutor(max_workers=1) as thread:
            return thread.submit(asyncio.run, told()).result()

    async def answer(self, request: Request) -> Response:
        """The provider's answer, at temperature 0 where the model takes one."""
        if request.messages is None:
            raise ValueError("this backend takes messages")
        if self._model is None:
            self._model = _get_model(self._name, self._options)
        started = time.perf_counter()
        # A task of its own: inspect-ai keeps every call in a transcript that belongs to the context of its task, which
        # would hold all prompts of a run.
        call = asyncio.create_task(
            self._model.generate(self._messages(request), config=self._config(request)), name="inspect"
        )
        try:
            output = await call
        except Exception as error:  # noqa: BLE001 - every provider's package has exceptions of its own
            raise self._meaning(error) from None
        return self._response(output, request, time.perf_counter() - started)

    async def aclose(self) -> None:
        """Close the provider's connections."""
        model, self._model = self._model, None
        if model is not None:
            await model.api.aclose()

    def _messages(self, request: Request) -> list[Any]:
        library = require("inspect_ai.model", EXTRA)
        kinds = {
            "system": library.ChatMessageSystem,
            "user": library.ChatMessageUser,
            "assistant": library.ChatMessageAssistant,
        }
        messages = [kinds[message["role"]](content=message["content"]) for message in request.messages or ()]
        if request.prefill:
            messages.append(library.ChatMessageAssistant(content=request.prefill))
        return messages

    def _config(self, request: Request) -> Any:
        library = require("inspect_ai.model", EXTRA)
        return library.GenerateConfig(
            temperature=0,
            max_tokens=request.max_tokens + request.reasoning_tokens,
            reasoning_tokens=request.reasoning_tokens or None,
            max_retries=0,  # the runner waits, and counts what it waits for
            attempt_timeout=math.ceil(min(self._options.timeout_s, _LONGEST_WAIT_S)),
            max_connections=self._options.concurrency or CONCURRENCY,
        )

    def _response(self, output: Any, request: Request, latency_s: float) -> Response:
        """What the provider says.

        Raises:
            PermanentError: it refused the request; some providers' errors come as an answer.
        """
        usage = output.usage
        message = output.choices[0].message if output.choices else None
        text, reasoning = _parts(message)
        # A prompt that is too long comes back as an answer that took nothing and holds the provider's error.
        if output.stop_reason == "model_length" and (usage is None or not usage.output_tokens):
            raise PermanentError("over_length", self._said(output.error or text or "the prompt is too long"))
        if output.error and output.stop_reason != "content_filter":
            raise PermanentError("failed", self._said(output.error))
        if text is not None and request.prefill and text.startswith(request.prefill):
            text = text[len(request.prefill) :]
        return Response(
            text=text,
            finish_reason=_FINISH.get(output.stop_reason, "unknown"),
            reasoning=reasoning,
            prompt_tokens=_prompt_tokens(usage),
            cached_tokens=None if usage is None else usage.input_tokens_cache_read,
            output_tokens=None if usage is None else usage.output_tokens,
            latency_s=latency_s,
        )

    def _meaning(self, error: Exception) -> Exception:
        """What a provider's exception means for the call, or for the whole run."""
        causes = list(_causes(error))
        said = self._said(causes[0])
        status = next((status for cause in causes if (status := _status(cause)) is not None), None)
        dialect = dialects().get(self._name.partition("/")[0], dialects()[PLAIN])
        kind, limit = dialect.meaning(status or 0, _codes(causes[0]), str(causes[0]))
        if kind in ("over_length", "filtered"):
            return PermanentError(kind, said, limit)
        if kind is not None or status == 403:
            return ModelError(
                f"inspect/{self._name} refuses every request ({said}): check the model's name and the key"
            )
        if isinstance(causes[0], ConnectionError) or "Connect" in type(causes[0]).__name__:
            return TransientError(said, cause="unreachable")
        decision = self._model.api.should_retry(causes[0]) if self._model is not None else False
        timed_out = isinstance(causes[0], TimeoutError) or "Timeout" in type(causes[0]).__name__
        if decision or timed_out or (status is not None and (status == 429 or status >= 500)):
            rated = getattr(decision, "kind", None) == "rate_limit" or status in (429, 503, 529)
            return TransientError(said, _wait_s(causes, decision), "overloaded" if rated or timed_out else "other")
        return PermanentError("failed", said)

    def _said(self, what: object) -> str:
        return _one_line(what, self._options.api_key)


def _parts(message: Any) -> tuple[str | None, str | None]:
    """The text of an answer, and of its reasoning; None where there is none."""
    if message is None:
        return None, None
    if isinstance(message.content, str):
        return message.content or None, None
    text = "".join(part.text for part in message.content if part.type == "text")
    reasoning = "".join(part.summary or part.reasoning for part in message.content if part.type == "reasoning")
    return text or None, reasoning or None


def _prompt_tokens(usage: Any) -> int | None:
    """Tokens of the whole prompt: inspect-ai counts those that were read from or written to a cache apart."""
    if usage is None:
        return None
    return usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception without tenacity's wrapping, and those that led to it."""
    attempt = getattr(error, "last_attempt", None)
    inner = attempt.exception() if attempt is not None else None
    seen: BaseException | None = inner or error
    while seen is not None:
        yield seen
        seen = seen.__cause__


def _status(error: BaseException) -> int | None:
    """The HTTP status that an exception carries, under the names that the providers' packages use."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):  # Bedrock's
        found = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return found if isinstance(found, int) else None
    candidates = [getattr(error, name, None) for name in ("status_code", "code", "status")]
    candidates.append(getattr(response, "status_code", None))
    return next((value for value in candidates if isinstance(value, int) and 400 <= value < 600), None)


def _codes(error: BaseException) -> tuple[str, ...]:
    return tuple(value for name in ("code", "type") if isinstance(value := getattr(error, name, None), str))


def _wait_s(causes: list[BaseException], decision: object) -> float | None:
    told = getattr(decision, "retry_after", None)
    if isinstance(told, int | float):
        return float(told)
    headers = (getattr(getattr(cause, "response", None), "headers", None) for cause in causes)
    found = next((value for value in headers if isinstance(value, Mapping)), None)
    return None if found is None else retry_after_s(found)


def _one_line(what: object, key: str | None) -> str:
    """A message on one line, without rich's markup, without keys, and no longer than an excerpt."""
    line = " ".join(_MARKUP.sub("", str(what)).split()) or type(what).__name__
    held = [value for name, value in os.environ.items() if _SECRET_NAME.search(name)]
    for secret in sorted({value for value in [*held, key or ""] if len(value) >= _SHORTEST_SECRET}, key=len)[::-1]:
        line = line.replace(secret, "(key)")
    return line if len(line) <= _EXCERPT_CHARACTERS else f"{line[:_EXCERPT_CHARACTERS]}..."

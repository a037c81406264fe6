"""Models of an Ollama server through its native interface, which alone takes the context's length with a request.

Source: https://docs.ollama.com/api. Without `num_ctx` the server reads a few thousand tokens of any prompt and says
nothing of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.errors import LeadlineError, ModelError
from leadline.items import digest
from leadline.models.completion import number_at, text_of
from leadline.models.dialects import dialects, lead
from leadline.models.http import CONNECT_TIMEOUT_S, Server
from leadline.models.standing_in import stand_in_for
from leadline.models.template_cost import Messages, measured_cost
from leadline.prompt import ASSUMED_COST, TemplateCost
from leadline.requests import Abilities, FinishReason, ModelFacts, PermanentError, Request, Response, TransientError
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.stand_in import StandIn

if TYPE_CHECKING:
    import httpx2

    from leadline.models.registry import ModelOptions

DEFAULT_URL = "http://localhost:11434"
PROBE_CONTEXT = 4096
"""The `num_ctx` of questions about tokens: some are of a few hundred, and the server keeps the model loaded."""

CONTEXT_STEP = 1024
"""The server loads the model anew for another `num_ctx`, so that is a multiple of this and never made smaller."""

TEMPLATE_TOKENS = 64
"""Room for the template: more than that of any published model takes."""

ESTIMATE = 1.34
"""Room where the tokenizer is a stand-in, whose counts are up to a quarter too low."""

CONCURRENCY = 1
"""What a server takes at once unless OLLAMA_NUM_PARALLEL says more."""

_FINISH: Mapping[str, FinishReason] = {"stop": "stop", "length": "length"}
_DETAILS = ("family", "parameter_size", "quantization_level")


def open_ollama(name: str, options: ModelOptions) -> Ollama:
    """The model `name` of an Ollama server.

    Raises:
        ModelError: nothing listens at the address, or it has no such model.
    """
    base_url = options.base_url or _address(os.environ.get("OLLAMA_HOST")) or DEFAULT_URL
    key = options.api_key or os.environ.get("OLLAMA_API_KEY") or None
    server = Server(base_url.removesuffix("/v1"), key, options.api_key_env or "OLLAMA_API_KEY", options.timeout_s)
    try:
        shown, _ = server.look(f"{server.base_url}/api/show", {"model": name})
        tags, _ = server.look(f"{server.base_url}/api/tags")
    except ModelError:
        server.close()
        if options.asking:
            raise
        shown = tags = None
    if shown is None and options.asking:
        server.close()
        listed = [str(entry.get("name")) for entry in lead(tags, "models") or () if isinstance(entry, dict)]
        known = f"it has {', '.join(listed)}" if listed else f"fetch it with  ollama pull {name}"
        raise ModelError(f"the Ollama server at {server.base_url} has no model {name!r}: {known}")
    return Ollama(name, server, shown or {}, tags, options)


def _address(host: str | None) -> str | None:
    """The address in OLLAMA_HOST, which may lack its scheme; 0.0.0.0 is where a server listens, not where it is."""
    if not host:
        return None
    url = host if "://" in host else f"http://{host}"
    url = url.replace("//0.0.0.0", "//127.0.0.1").rstrip("/")
    return url if ":" in url.partition("://")[2] else f"{url}:11434"


class Ollama:
    """One model of an Ollama server."""

    def __init__(self, name: str, server: Server, shown: Mapping[str, Any], tags: Any, options: ModelOptions) -> None:
        self._name = name
        self._server = server
        self._shown = shown
        self._options = options
        self._dialect = dialects()["ollama"]
        info: Mapping[str, Any] = shown.get("model_info") or {}
        context = info.get(f"{info.get('general.architecture')}.context_length")
        self._context_tokens = context if isinstance(context, int) else None
        self._facts = self._described(tags)
        self._tokenizer: Tokenizer | None = None
        self._num_ctx = 0
        self._client: httpx2.AsyncClient | None = None

    def _described(self, tags: Any) -> ModelFacts:
        details: dict[str, str | int | float | bool | None] = {"server": "ollama"}
        told: Mapping[str, Any] = self._shown.get("details") or {}
        details |= {name: str(told[name]) for name in _DETAILS if told.get(name)}
        if isinstance(template := self._shown.get("template"), str):
            details["template"] = digest(template)[:12]
        for entry in lead(tags, "models") or ():
            if isinstance(entry, dict) and entry.get("name") in (self._name, f"{self._name}:latest"):
                details["digest"] = str(entry.get("digest"))[:12]
        if self._context_tokens is not None:
            details["served_context_tokens"] = self._context_tokens
        return ModelFacts(f"ollama/{self._name}", details)

    def abilities(self) -> Abilities:
        """Messages are sent; whether a trailing assistant turn is gone on from depends on the model's template."""
        return Abilities(
            prefill=False,
            template="server",
            context_tokens=self._context_tokens,
            max_concurrency=self._options.concurrency or CONCURRENCY,
        )

    def facts(self) -> ModelFacts:
        """What the server says of the model."""
        if isinstance(self._tokenizer, StandIn):
            return replace(self._facts, details={**self._facts.details, **self._tokenizer.details})
        return self._facts

    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the options, else the one in the model's file where that is on this machine, else a
        stand-in that a few answers have told the ratio of.
        """
        if self._tokenizer is None:
            from leadline.data.loading import load_tokenizer

            if self._options.tokenizer is not None:
                self._tokenizer = load_tokenizer(self._options.tokenizer, offline=self._options.offline)
            else:
                self._tokenizer = self._own_tokenizer() or stand_in_for(
                    self._options, lambda text: self._told([{"role": "user", "content": text}])
                )
        return self._tokenizer

    def _own_tokenizer(self) -> Tokenizer | None:
        from leadline.data.gguf_cache import gguf_tokenizer

        lines = str(self._shown.get("modelfile") or "").splitlines()
        files = [Path(line[5:].strip()) for line in lines if line.startswith("FROM /")]
        for file in files:
            try:
                return gguf_tokenizer(file) if file.is_file() else None
            except (LeadlineError, OSError, ValueError):
                return None
        return None

    def template_cost(self, tokenizer: Tokenizer) -> TemplateCost:
        """What the model's template adds, from the answers to four short questions."""
        if not self._options.asking:
            return ASSUMED_COST

        try:
            return measured_cost(self._told, tokenizer, prefill=False, known="asked")
        except PermanentError:
            return ASSUMED_COST

    def _told(self, messages: Messages) -> int:
        """Prompt tokens of a request, as the server counts them."""
        num_ctx = min(PROBE_CONTEXT, self._context_tokens or PROBE_CONTEXT)
        data = self._server.ask("/api/chat", self._body(messages, 1, num_ctx), self._dialect, self._name)
        tokens = number_at(data, "prompt_eval_count")
        if tokens is None:
            raise PermanentError("failed", "the server does not say how many tokens it read")
        return tokens

    def _body(self, messages: Messages, budget: int, num_ctx: int) -> dict[str, Any]:
        settings = {"temperature": 0, "num_predict": budget, "num_ctx": num_ctx}
        return {"model": self._name, "messages": messages, "stream": False, "options": settings}

    def _context_for(self, messages: Messages, budget: int) -> int:
        """The `num_ctx` of a request: what it needs, and never less than an earlier one got.

        Raises:
            PermanentError: more than the model was made for.
        """
        tokenizer = self.tokenizer()
        counted = sum(tokenizer.count(message["content"]) for message in messages)
        at_least = counted + budget
        if self._context_tokens is not None and at_least > self._context_tokens:
            raise PermanentError(
                "over_length",
                f"{at_least} tokens are asked of a model with {self._context_tokens}",
                self._context_tokens,
            )
        wanted = int(counted * (1 if tokenizer.exact else ESTIMATE)) + TEMPLATE_TOKENS + budget
        stepped = -(-wanted // CONTEXT_STEP) * CONTEXT_STEP
        self._num_ctx = max(self._num_ctx, min(stepped, self._context_tokens or stepped))
        return self._num_ctx

    async def answer(self, request: Request) -> Response:
        """The answer to messages."""
        if request.messages is None:
            raise ValueError("this backend takes messages")
        messages = [dict(message) for message in request.messages]
        budget = request.max_tokens + request.reasoning_tokens
        body = self._body(messages, budget, self._context_for(messages, budget))
        started = time.perf_counter()
        data = await self._post(body)
        message: Any = data.get("message") or {}
        return Response(
            text=text_of(message.get("content")),
            finish_reason=_FINISH.get(str(data.get("done_reason")), "unknown"),
            reasoning=text_of(message.get("thinking")) or None,
            prompt_tokens=number_at(data, "prompt_eval_count"),
            output_tokens=number_at(data, "eval_count"),
            latency_s=time.perf_counter() - started,
        )

    async def _post(self, body: Mapping[str, Any]) -> Any:
        import httpx2

        if self._client is None:
            headers = {"Authorization": f"Bearer {self._server.key}"} if self._server.key else {}
            timeout = httpx2.Timeout(self._server.timeout_s, connect=CONNECT_TIMEOUT_S)
            self._client = httpx2.AsyncClient(timeout=timeout, headers=headers)
        try:
            answer = await self._client.post(f"{self._server.base_url}/api/chat", json=body)
        except httpx2.TimeoutException:
            raise TransientError(
                f"no answer within {self._server.timeout_s:g} s (--timeout-s)", cause="overloaded"
            ) from None
        except httpx2.HTTPError as error:
            reason = self._server.scrubbed(str(error)) or type(error).__name__
            raise TransientError(
                f"the connection to {self._server.host} broke: {reason}", cause="unreachable"
            ) from None
        if answer.status_code != 200:
            raise self._server.error_of(answer.status_code, answer.headers, answer.text, self._dialect, self._name)
        return self._server.parsed(answer.content, self._dialect, self._name)

    async def aclose(self) -> None:
        """Close all connections."""
        self._server.close()
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

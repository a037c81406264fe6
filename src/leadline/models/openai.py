"""Models behind OpenAI's HTTP interface: OpenAI itself and every server that speaks it, each in its dialect."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from leadline.errors import ModelError, UsageError
from leadline.models.completion import number_at, read_completion
from leadline.models.dialects import Dialect, by_host
from leadline.models.http import CONNECT_TIMEOUT_S, Server
from leadline.models.standing_in import stand_in_for
from leadline.models.survey import Survey, leading_bos, message_ids, served_tokenizer, survey, text_bos
from leadline.models.template_cost import Messages, measured_cost
from leadline.prompt import ASSUMED_COST, TemplateCost
from leadline.requests import Abilities, ModelFacts, PermanentError, Request, Response, TransientError
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.stand_in import StandIn, openai_encoding

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

    from leadline.models.registry import ModelOptions

PROVIDER_URL = "https://api.openai.com/v1"
CONCURRENCY = 8
"""Requests in flight where neither the user nor the server says how many."""

PROBE_TOKENS = 16
"""Answer of a probe: models that reason refuse to be cut after one token."""

BEGINNING_CHARACTERS = 64
"""Of a text, to see whether it has a BOS of its own; templates begin the same way every time."""


def open_openai(name: str, options: ModelOptions) -> OpenAI:
    """The model `name` of a server.

    Args:
        name: as the server knows it.
        options: where the server is, and how to ask it.

    Raises:
        UsageError: OpenAI itself is to be asked and there is no key.
        ModelError: nothing listens at the address.
    """
    base_url = options.base_url or os.environ.get("OPENAI_BASE_URL") or PROVIDER_URL
    variable, key = _key(base_url, options)
    server = Server(_api_url(base_url), key, variable, options.timeout_s)
    if key is None and server.host == "api.openai.com" and options.asking:
        raise UsageError(f"openai/{name} needs a key: export {variable}, or name a variable with --api-key-env")
    try:
        found = survey(server, "openai", name)
    except ModelError:
        server.close()
        if options.asking:
            raise
        # What a run would take can be told without the server, if less exactly.
        found = Survey(by_host(server.host), ModelFacts(f"openai/{name}"), None, None)
    return OpenAI(name, server, found, options)


def _api_url(base_url: str) -> str:
    """The address with ``/v1`` where it names a host alone."""
    scheme, _, rest = base_url.rstrip("/").partition("://")
    return f"{scheme}://{rest}" + ("" if "/" in rest else "/v1")


def _key(base_url: str, options: ModelOptions) -> tuple[str, str | None]:
    """The environment variable that holds the key, and the key."""
    if options.api_key is not None:
        return options.api_key_env or "--api-key-env", options.api_key
    variable = by_host(urlsplit(base_url).hostname or "").key_variable
    return variable, os.environ.get(variable) or None


class OpenAI:
    """One model of one server."""

    def __init__(self, name: str, server: Server, found: Survey, options: ModelOptions) -> None:
        self._name = name
        self._server = server
        self._found = found
        self._options = options
        self._dialect: Dialect = found.dialect
        self._max_tokens_field: str = found.dialect.max_tokens if options.endpoint == "chat" else "max_tokens"
        self._own_temperature = False
        self._bos_tokens: int | None = None
        self._bos_of_beginnings: dict[str, int | None] = {}
        self._tokenizer: Tokenizer | None = None
        self._client: AsyncOpenAI | None = None

    def abilities(self) -> Abilities:
        """Messages are sent to the chat endpoint, text to the other; the dialect says whether an answer is begun."""
        chat = self._options.endpoint == "chat"
        return Abilities(
            prefill=not chat or self._dialect.prefill == "turn",
            template="server" if chat else "local",
            context_tokens=self._found.context_tokens,
            max_concurrency=self._options.concurrency or self._found.slots or CONCURRENCY,
        )

    @property
    def recognised_by(self) -> str:
        """What gave the server's dialect away."""
        return self._found.recognised_by

    def facts(self) -> ModelFacts:
        """What the server says of the model."""
        facts = self._found.facts
        if self._options.endpoint == "completions" and facts.chat_template is None:
            counted = self.tokenizer()
            template = getattr(counted, "chat_template", None)
            facts = replace(facts, chat_template=template, special_tokens=getattr(counted, "special_tokens", {}))
        if self._own_temperature:
            facts = replace(facts, details={**facts.details, "temperature": "the model's own"})
        if isinstance(self._tokenizer, StandIn):
            facts = replace(facts, details={**facts.details, **self._tokenizer.details})
        return facts

    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the options, else the server's, else OpenAI's own for its models, else a stand-in."""
        if self._tokenizer is None:
            self._tokenizer = self._find_tokenizer()
        return self._tokenizer

    def _find_tokenizer(self) -> Tokenizer:
        from leadline.data.loading import load_tokenizer

        if self._options.tokenizer is not None:
            return load_tokenizer(self._options.tokenizer, offline=self._options.offline)
        served = served_tokenizer(self._server, self._dialect, self._name)
        if served is not None:
            return served
        own = openai_encoding(self._name) if self._dialect.name in ("openai", "openrouter") else None
        if own is not None:
            return load_tokenizer(own, offline=self._options.offline)
        chat = self._options.endpoint == "chat"

        def told(text: str) -> int:
            return self._asked([{"role": "user", "content": text}]) if chat else self._asked_text(text)

        return stand_in_for(self._options, told)

    def template_cost(self, tokenizer: Tokenizer) -> TemplateCost:
        """What the server's template adds: counted by the server, else from the answers to four short questions."""
        prefill = self._dialect.prefill == "turn"
        ids = message_ids(self._server, self._dialect, self._name, [{"role": "user", "content": "a"}])
        self._bos_tokens = leading_bos(self._found, ids)
        if ids is not None:
            return measured_cost(self._counted, tokenizer, prefill=prefill, known="counted")
        if not self._options.asking:
            return ASSUMED_COST
        try:
            return measured_cost(self._asked, tokenizer, prefill=prefill, known="asked")
        except PermanentError:
            # Nothing is known of its count of tokens; its answers may still be good.
            return ASSUMED_COST

    def _counted(self, messages: Messages) -> int:
        ids = message_ids(self._server, self._dialect, self._name, messages)
        if ids is None:
            raise ModelError(
                f"{self._server.base_url} does not count messages of more than one turn: use --endpoint completions"
            )
        return len(ids)

    def _asked(self, messages: Messages) -> int:
        begun = messages[-1]["role"] == "assistant"
        return self._told("/chat/completions", self._body({"messages": messages}, PROBE_TOKENS, begun=begun))

    def _asked_text(self, text: str) -> int:
        return self._told("/completions", self._body({"prompt": text}, PROBE_TOKENS, begun=False))

    def _told(self, path: str, body: dict[str, Any]) -> int:
        """Prompt tokens of a request, as the server counts them."""
        while True:
            try:
                data = self._server.ask(path, body, self._dialect, self._name)
            except PermanentError as error:
                if not self._adapted(str(error), body):
                    raise
                continue
            tokens = number_at(data, "usage.prompt_tokens")
            if tokens is None:
                raise PermanentError("failed", "the server does not say how many tokens it read")
            return tokens

    async def answer(self, request: Request) -> Response:
        """The answer to messages or to rendered text."""
        budget = request.max_tokens + request.reasoning_tokens
        if request.messages is not None:
            begun: Messages = [{"role": "assistant", "content": request.prefill}] if request.prefill else []
            messages = [*(dict(message) for message in request.messages), *begun]
            path, body = "/chat/completions", self._body({"messages": messages}, budget, begun=bool(begun))
            bos_tokens = self._bos_tokens
        elif request.text is not None:
            path, (body, bos_tokens) = "/completions", await self._completion_body(request.text, budget)
        else:
            raise ValueError("a request has messages or text")
        started = time.perf_counter()
        while True:
            try:
                data = await self._post(path, body)
                response = read_completion(data, self._dialect, request.prefill, time.perf_counter() - started)
                return response if bos_tokens is None else replace(response, bos_tokens=bos_tokens)
            except PermanentError as error:
                if not self._adapted(str(error), body):
                    raise

    def _body(self, asked: Mapping[str, Any], budget: int, *, begun: bool) -> dict[str, Any]:
        body = {"model": self._name, **asked, self._max_tokens_field: budget}
        if not self._own_temperature:
            body["temperature"] = 0
        return {**body, **self._dialect.prefill_fields} if begun else body

    @cached_property
    def _bos_text(self) -> str:
        """What the model's templates write for the beginning of text."""
        return self.facts().special_tokens.get("bos_token", "")

    async def _completion_body(self, text: str, budget: int) -> tuple[dict[str, Any], int | None]:
        """A completion of rendered text, and how many BOS its prompt begins with, where the server counts tokens.

        Where the text has its own BOS, the server is told to add none; where it cannot be told, the text's is left out.
        """
        body = self._body({"prompt": text}, budget, begun=False)
        bos = self._bos_text
        beginning = text[:BEGINNING_CHARACTERS]
        if self._found.bos_id is not None and beginning not in self._bos_of_beginnings:
            self._bos_of_beginnings[beginning] = await asyncio.to_thread(
                text_bos, self._server, self._found, self._name, beginning
            )
        counted = self._bos_of_beginnings.get(beginning)
        own = counted if counted is not None else int(bool(bos) and text.startswith(bos))
        added = self._found.bos_id is not None or self.tokenizer().bos_tokens > 0
        if own and self._dialect.special_tokens_field is not None:
            body[self._dialect.special_tokens_field] = added = False
        elif own and added and bos and text.startswith(bos):
            body["prompt"] = text.removeprefix(bos)
            own -= 1
        return body, None if counted is None else own + int(added)

    def _adapted(self, message: str, body: dict[str, Any]) -> bool:
        """Whether a refused request was mended by leaving out or renaming a parameter that this model does not take."""
        lower = message.lower()
        if "temperature" in body and "temperature" in lower and ("support" in lower or "default" in lower):
            self._own_temperature = True
            del body["temperature"]
            return True
        if "max_tokens" in body and "max_completion_tokens" in lower and self._options.endpoint == "chat":
            self._max_tokens_field = "max_completion_tokens"
            body["max_completion_tokens"] = body.pop("max_tokens")
            return True
        return False

    async def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        import httpx2
        import openai
        from pydantic_core import to_json

        # Encoded here: ten times as fast as the client's own encoder, which counts with prompts of 128K tokens.
        encoded = to_json(body)
        try:
            answer: httpx2.Response = await self._connected().post(path, cast_to=httpx2.Response, content=encoded)
        except openai.APIStatusError as error:
            raise self._server.error_of(
                error.status_code, error.response.headers, error.response.text, self._dialect, self._name
            ) from None
        except openai.APITimeoutError:
            raise TransientError(
                f"no answer within {self._server.timeout_s:g} s (--timeout-s)", cause="overloaded"
            ) from None
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            reason = self._server.scrubbed(str(error.__cause__ or error)) or type(error).__name__
            raise TransientError(
                f"the connection to {self._server.host} broke: {reason}", cause="unreachable"
            ) from None
        return self._server.parsed(answer.content, self._dialect, self._name)

    def _connected(self) -> AsyncOpenAI:
        """The client, made when the first request is sent, in the loop that sends it."""
        if self._client is None:
            import httpx2
            import openai

            most = self.abilities().max_concurrency
            self._client = openai.AsyncOpenAI(
                api_key=self._server.key or "none",
                base_url=self._server.base_url,
                max_retries=0,
                http_client=openai.DefaultAsyncHttpxClient(
                    timeout=httpx2.Timeout(self._server.timeout_s, connect=CONNECT_TIMEOUT_S),
                    limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most),
                ),
            )
        return self._client

    async def aclose(self) -> None:
        """Close all connections."""
        self._server.close()
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()

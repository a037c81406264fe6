"""What a server is and says of itself, asked once when its model is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from leadline.models.dialects import PLAIN, Dialect, Recognition, dialects, lead
from leadline.models.http import Server
from leadline.requests import ModelFacts
from leadline.tokenizers.served import ServedTokenizer

Details = dict[str, str | int | float | bool | None]


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found out about a server.

    Attributes:
        dialect: how it speaks.
        facts: the model as the server describes it.
        context_tokens: the longest request that it accepts, where it says so.
        slots: how many requests it works on at once, where it says so.
        bos_id: the token that it puts before a text, where it counts tokens and does put one.
        recognised_by: what gave the dialect away.
    """

    dialect: Dialect
    facts: ModelFacts
    context_tokens: int | None
    slots: int | None
    bos_id: int | None = None
    recognised_by: str = "its host"


def survey(server: Server, kind: str, model: str) -> Survey:
    """Find out what a server is.

    Args:
        server: where it is.
        kind: the word before the slash in the model's name.
        model: the name that the server knows.

    Raises:
        ModelError: nothing listens there.
    """
    listed, headers = server.look(f"{server.base_url}/models")
    dialect, looks, recognised_by = _recognised(server, headers, listed)
    for route in dialect.looks:
        if route not in looks:
            looks[route] = server.look(server.root_url + route)[0]

    def found(path: str | None) -> Any:
        if path is None:
            return None
        route, _, inner = path.partition(".")
        if route == "model":
            return lead(listed, f"data.MODEL.{inner}", model)
        return lead(looks.get(route), inner, model)

    details: Details = {"server": dialect.name}
    owner = lead(listed, "data.MODEL.owned_by", model)
    if isinstance(owner, str):
        details["owned_by"] = owner
    for name, path in dialect.facts.items():
        if isinstance(value := found(path), str | int | float):
            details[name] = value
    tokens = {name: text for name, path in dialect.special_tokens.items() if isinstance(text := found(path), str)}
    template, context, slots = found(dialect.chat_template), details.get("served_context_tokens"), found(dialect.slots)
    return Survey(
        dialect=dialect,
        facts=ModelFacts(
            f"{kind}/{model}", details, template if isinstance(template, str) and template else None, tokens
        ),
        context_tokens=context if isinstance(context, int) and context > 0 else None,
        slots=slots if isinstance(slots, int) and slots > 0 else None,
        bos_id=_bos_id(server, dialect, model),
        recognised_by=recognised_by,
    )


def _recognised(server: Server, headers: Mapping[str, str], listed: Any) -> tuple[Dialect, dict[str, Any], str]:
    """The server's dialect, what was read on the way, and what gave it away."""
    known = dialects()
    for dialect in known.values():
        if dialect.recognise.by_answer(server.host, headers, listed):
            return dialect, {}, _trait(dialect.recognise, server.host, headers)
    looks: dict[str, Any] = {}
    for dialect in known.values():
        route, key = dialect.recognise.route, dialect.recognise.key
        if route is None or key is None:
            continue
        looks[route] = server.look(server.root_url + route)[0]
        if isinstance(looks[route], dict) and key in looks[route]:
            return dialect, looks, f"its route {route}"
    return known[PLAIN], looks, "nothing that it says"


def _trait(recognise: Recognition, host: str, headers: Mapping[str, str]) -> str:
    """Which of the things that may give a server away did."""
    if recognise.by_answer(host, {}, None):
        return f"its host {host}"
    return "its headers" if recognise.by_answer("", headers, None) else "owned_by in its list of models"


def served_tokenizer(server: Server, dialect: Dialect, model: str) -> ServedTokenizer | None:
    """The tokenizer behind the server's ``/tokenize``, or None where it has none that answers."""
    tokenize = _tokenize(server, dialect, model)
    if tokenize is None:
        return None
    bare, full = tokenize("a", False), tokenize("a", True)
    if not bare or full is None:
        return None

    def ids(text: str) -> list[int]:
        counted = tokenize(text, False)
        if counted is None:
            raise server.unreachable(RuntimeError("its /tokenize gives no answer any more"))
        return counted

    return ServedTokenizer(f"served/{dialect.name}/{model}", ids, min(1, len(full) - len(bare)))


def _tokenize(server: Server, dialect: Dialect, model: str) -> Callable[[str, bool], list[int] | None] | None:
    """A call that gives a text's ids, with BOS or without; None where the server has no such route."""
    url = f"{server.root_url}/tokenize"

    def ids(body: Mapping[str, Any]) -> list[int] | None:
        told = server.look(url, body)[0]
        tokens = told.get("tokens") if isinstance(told, dict) else told
        if not isinstance(tokens, list):
            return None
        return [token["id"] if isinstance(token, dict) else int(token) for token in tokens]

    if dialect.tokenize in ("vllm", "sglang"):
        return lambda text, bos: ids({"model": model, "prompt": text, "add_special_tokens": bos})
    if dialect.tokenize == "llamacpp":
        return lambda text, bos: ids({"content": text, "add_special": bos, "parse_special": True})
    if dialect.tokenize == "tgi":
        return lambda text, bos: _without(ids({"inputs": text}), [] if bos else ids({"inputs": ""}))
    return None


def _without(tokens: list[int] | None, leading: list[int] | None) -> list[int] | None:
    """The tokens without those that the server puts before every text."""
    if tokens is None or leading is None:
        return None
    return tokens[len(leading) :] if tokens[: len(leading)] == leading else tokens


def message_ids(server: Server, dialect: Dialect, model: str, messages: list[dict[str, str]]) -> list[int] | None:
    """Token ids of messages in the server's own template, without asking the model; None where it cannot tell."""
    begun = messages[-1]["role"] == "assistant"
    if dialect.tokenize == "vllm":
        how = dict(dialect.prefill_fields) if begun else {"add_generation_prompt": True}
        told = server.look(f"{server.root_url}/tokenize", {"model": model, "messages": messages, **how})[0]
        return tokens if isinstance(tokens := lead(told, "tokens"), list) else None
    if dialect.tokenize == "llamacpp":
        told = server.look(f"{server.root_url}/apply-template", {"messages": messages})[0]
        prompt, tokenize = lead(told, "prompt"), _tokenize(server, dialect, model)
        if isinstance(prompt, str) and tokenize is not None:
            return tokenize(prompt, True)
    return None


def _bos_id(server: Server, dialect: Dialect, model: str) -> int | None:
    tokenize = _tokenize(server, dialect, model)
    if tokenize is None:
        return None
    bare, full = tokenize("a", False), tokenize("a", True)
    return full[0] if bare and full and len(full) > len(bare) else None


def leading_bos(found: Survey, ids: list[int] | None) -> int | None:
    """How often the token that begins a text stands at its beginning, or None where that is not known."""
    if found.bos_id is None or ids is None:
        return None
    return next((place for place, token in enumerate(ids) if token != found.bos_id), len(ids))


def text_bos(server: Server, found: Survey, model: str, text: str) -> int | None:
    """How often a text itself begins with that token, or None where that is not known."""
    tokenize = _tokenize(server, found.dialect, model)
    return None if tokenize is None else leading_bos(found, tokenize(text, False))

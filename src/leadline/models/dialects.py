"""How OpenAI-compatible servers differ, as data: `dialects.yaml` beside this file holds every claim and its source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml

ErrorKind = Literal["over_length", "filtered", "invalid_key", "no_credit", "unknown_model", "no_route"]
TokenizeForm = Literal["vllm", "sglang", "llamacpp", "tgi"]
PLAIN = "plain"
"""The dialect of a server that nothing gives away."""

MODEL = "MODEL"
"""In a path: the entry of a list whose id is the model's name, or its only entry."""


@dataclass(frozen=True, slots=True)
class ErrorRule:
    """What an error means. All that is given must hold.

    Attributes:
        kind: what it means.
        status: the HTTP status.
        code: the error's `code` or `type`.
        pattern: searched in the message, without regard to case; its group ``limit`` is a number of tokens.
    """

    kind: ErrorKind
    status: int | None = None
    code: str | None = None
    pattern: str | None = None

    def limit_if_fits(self, status: int, codes: tuple[str, ...], message: str) -> tuple[bool, int | None]:
        """Whether the rule holds, and the longest request that the message names."""
        if self.status not in (None, status) or self.code not in (None, *codes):
            return False, None
        if self.pattern is None:
            return True, None
        found = re.search(self.pattern, message, re.IGNORECASE | re.DOTALL)
        limit = None if found is None else found.groupdict().get("limit")
        return found is not None, None if limit is None else int(limit)


@dataclass(frozen=True, slots=True)
class Recognition:
    """What gives a server away; any one of them."""

    hosts: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    owned_by: tuple[str, ...] = ()
    route: str | None = None
    key: str | None = None

    def by_answer(self, host: str, headers: Mapping[str, str], listed: Any) -> bool:
        """Whether the host, the headers or the list of models is this server's."""
        if host and any(host == known or host.endswith(f".{known}") for known in self.hosts):
            return True
        if any(headers.get(name, "").lower().startswith(value) for name, value in self.headers.items()):
            return True
        entries = listed.get("data") if isinstance(listed, dict) else None
        owners = [entry.get("owned_by") for entry in entries or () if isinstance(entry, dict)]
        return any(owner in self.owned_by for owner in owners)


@dataclass(frozen=True, slots=True)
class Dialect:
    """One server's way of speaking; see the head of dialects.yaml.

    Attributes:
        name: the entry's name.
        title: what people call it.
        source: addresses of what the claims rest on.
        verified: "on VERSION" or "from documentation".
        recognise: what gives it away.
        prefill: whether a trailing assistant turn is gone on from.
        prefill_fields: further fields of a request that begins the answer.
        echoes: the answer may repeat that beginning.
        max_tokens: field of the answer's budget in a chat request.
        reasoning: fields of a message that hold reasoning.
        cached_tokens: where an answer says how many prompt tokens came from a cache.
        tokenize: the form of its ``/tokenize``, or None.
        special_tokens_field: field that says whether BOS is put before a completion's prompt.
        looks: routes beside ``/v1`` that are read when the model is opened.
        facts: name of each fact and where it stands.
        chat_template: where the Jinja template stands.
        special_tokens: where the texts of special tokens stand.
        slots: where the number of requests that it works on at once stands.
        key_variable: environment variable that usually holds the key.
        errors: what its errors mean, most telling first.
    """

    name: str
    title: str
    source: tuple[str, ...]
    verified: str
    recognise: Recognition = Recognition()
    prefill: Literal["none", "turn"] = "none"
    prefill_fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    echoes: bool = False
    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    reasoning: tuple[str, ...] = ()
    cached_tokens: tuple[str, ...] = ()
    tokenize: TokenizeForm | None = None
    special_tokens_field: str | None = None
    looks: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    chat_template: str | None = None
    special_tokens: Mapping[str, str] = field(default_factory=dict[str, str])
    slots: str | None = None
    key_variable: str = "OPENAI_API_KEY"
    errors: tuple[ErrorRule, ...] = ()

    def meaning(self, status: int, codes: tuple[str, ...], message: str) -> tuple[ErrorKind | None, int | None]:
        """What an error means, None where no rule tells, and the longest request that it names."""
        for rule in self.errors:
            fits, limit = rule.limit_if_fits(status, codes, message)
            if fits:
                return rule.kind, limit
        return None, None


@cache
def dialects() -> Mapping[str, Dialect]:
    """All dialects by name, in the order in which a server is compared with them."""
    data = yaml.safe_load((files("leadline.models") / "dialects.yaml").read_text(encoding="utf-8"))
    common = tuple(ErrorRule(**rule) for rule in data["common"])
    return {name: _dialect(name, entry, common) for name, entry in data["dialects"].items()}


def by_host(host: str) -> Dialect:
    """The dialect that a server's host gives away, or the plain one."""
    known = dialects()
    return next((each for each in known.values() if each.recognise.by_answer(host, {}, None)), known[PLAIN])


def _dialect(name: str, entry: Mapping[str, Any], common: tuple[ErrorRule, ...]) -> Dialect:
    values: dict[str, Any] = _fixed(entry)
    values["recognise"] = Recognition(**_fixed(entry.get("recognise", {})))
    values["errors"] = (*(ErrorRule(**rule) for rule in entry.get("errors", ())), *common)
    return Dialect(name=name, **values)


def _fixed(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The entry with tuples in place of lists."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}


def lead(data: Any, path: str, model: str = "") -> Any:
    """What stands at a path of dots in JSON, or None.

    A step is a key, or `MODEL` for the entry of a list whose ``id`` is `model` (or its only entry).
    """
    for step in path.split("."):
        if step == MODEL:
            entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
            named = [entry for entry in entries if entry.get("id") == model]
            data = named[0] if named else entries[0] if len(entries) == 1 else None
        elif isinstance(data, dict):
            data = data.get(step)
        else:
            return None
    return data

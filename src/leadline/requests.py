"""What is sent to a model and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from leadline.items import Sample

FinishReason = Literal["stop", "length", "filter", "unknown"]
PermanentKind = Literal["over_length", "filtered", "failed"]
TransientCause = Literal["overloaded", "unreachable", "other"]
"""`overloaded`: the server asks for less (429, 503, 529) or does not answer in time. `unreachable`: there is no
connection, or it was cut. `other`: anything else that may pass (500, an answer that is no JSON)."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call to a model.

    Exactly one of `messages` (the server applies its chat template) and `text` (the rendered prompt, answer prefix
    included) is given.

    Attributes:
        prefill: the beginning of the assistant's turn, where messages are sent and the backend can prefill.
        max_tokens: tokens the answer may take.
        reasoning_tokens: further tokens for reasoning.
        sample: in process only, for the calibration readers; a real backend never looks at it.
    """

    max_tokens: int
    text: str | None = None
    messages: tuple[Mapping[str, str], ...] | None = None
    prefill: str = ""
    reasoning_tokens: int = 0
    sample: Sample | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """What a backend reports: facts, no judgement.

    Attributes:
        text: the answer without the prefill, or None where the model gave none.
        reasoning: text of a separate reasoning field.
        prompt_tokens: tokens of the prompt as the backend counts them, or None.
        cached_tokens: how many of them came from its prefix cache, or None.
        output_tokens: tokens of the answer, or None.
        bos_tokens: tokens for the beginning of text with which the prompt begins, or None where it cannot tell.
        error: class of a permanent error, with `error_message` to go with it.
    """

    text: str | None
    finish_reason: FinishReason = "stop"
    reasoning: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    bos_tokens: int | None = None
    latency_s: float = 0.0
    error: PermanentKind | None = None
    error_message: str | None = None

    def as_dict(self) -> dict[str, str | int | float | None]:
        """The fields by their names, as a record holds them."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a backend can do.

    Attributes:
        prefill: it can continue an assistant turn that was begun for it.
        template: who renders the chat template: "local" (text is sent) or "server" (messages are sent).
        token_ids: it can say which token ids it read.
        context_tokens: the longest request, answer included, that it accepts; None where unknown.
        max_concurrency: how many requests it can take at once.
    """

    prefill: bool
    template: Literal["local", "server"]
    token_ids: bool = False
    context_tokens: int | None = None
    max_concurrency: int = 1


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a backend says of itself; all of it belongs to a run's identity.

    Attributes:
        name: the model's name.
        details: whatever it tells: file hash, quantisation, context length, rope, KV-cache settings.
        chat_template: its Jinja chat template, or None for a base model.
        special_tokens: names used by the template ("bos_token", "eos_token") with their text.
    """

    name: str
    details: Mapping[str, str | int | float | bool | None] = field(
        default_factory=dict[str, str | int | float | bool | None]
    )
    chat_template: str | None = None
    special_tokens: Mapping[str, str] = field(default_factory=dict[str, str])


class TransientError(Exception):
    """The call may succeed later; `retry_after_s` says when, where the server told, and `cause` what is wrong."""

    def __init__(self, message: str, retry_after_s: float | None = None, cause: TransientCause = "other") -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.cause: TransientCause = cause


class PermanentError(Exception):
    """The call will fail again; `kind` becomes the trial's outcome.

    `limit_tokens` is the longest request, answer included, that the server says it accepts, where it says so.
    """

    def __init__(self, kind: PermanentKind, message: str, limit_tokens: int | None = None) -> None:
        super().__init__(message)
        self.kind: PermanentKind = kind
        self.limit_tokens = limit_tokens

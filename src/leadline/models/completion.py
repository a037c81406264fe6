"""What the JSON of a completion says, in any server's dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.models.dialects import Dialect, lead
from leadline.requests import FinishReason, Response, TransientError

_FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "content_filter": "filter",
}
"""OpenAI's reasons and TGI's."""


def read_completion(data: Mapping[str, Any], dialect: Dialect, prefix: str, latency_s: float) -> Response:
    """The response in a completion's JSON.

    Args:
        data: the JSON.
        dialect: where things stand in it.
        prefix: the beginning of the answer that was sent as a message.
        latency_s: how long it took.

    Raises:
        TransientError: it holds no answer at all.
    """
    choices = data.get("choices")
    choice: Any = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        raise TransientError("the answer holds no choice: it was cut on its way")
    if choice.get("finish_reason") == "error":
        raise TransientError(f"the provider behind {dialect.title} failed")
    message: Any = choice.get("message") or {}
    text = text_of(message["content"] if message.get("content") is not None else choice.get("text"))
    if text is None:
        text = text_of(message.get("refusal"))
    if dialect.echoes and text is not None:
        text = without_prefix(text, prefix)
    return Response(
        text=text,
        finish_reason=_FINISH.get(str(choice.get("finish_reason")), "unknown"),
        reasoning=next((told for name in dialect.reasoning if (told := text_of(message.get(name)))), None),
        prompt_tokens=number_at(data, "usage.prompt_tokens"),
        cached_tokens=next((n for path in dialect.cached_tokens if (n := number_at(data, path)) is not None), None),
        output_tokens=number_at(data, "usage.completion_tokens"),
        latency_s=latency_s,
    )


def number_at(data: Any, path: str) -> int | None:
    """The whole number at a path of dots, or None."""
    value = lead(data, path)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def text_of(content: Any) -> str | None:
    """The text of a message's content, which is a string, a list of parts, or nothing."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def without_prefix(text: str, prefix: str) -> str:
    """The answer without the beginning that was given to it, where the server sends that back.

    Templates trim an answer's edges, so white space at the beginning does not count.
    """
    wanted, told = prefix.strip(), text.lstrip()
    return told[len(wanted) :] if wanted and told.startswith(wanted) else text

"""Values as people write them on a command line or in a file: lengths, thresholds, weights, prices, markers."""

from __future__ import annotations

import math
import re
from typing import Any

from leadline.errors import UsageError

SMALLEST_LENGTH = 1
GREATEST_LENGTH = 4 * 1024 * 1024
NAMED_THRESHOLDS = ("chat", "base")
_LENGTH = re.compile(r"(\d+(?:\.\d+)?)\s*([kKmM]?)")


def listed(text: str) -> list[str]:
    """The parts of a text between commas, each once, in order."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def parse_length(text: str | int, k: int = 1024) -> int:
    """A length in tokens: ``4096``, ``4k``, ``128K`` and ``1M`` all parse; k is 1024 or 1000, M is k x k.

    Raises:
        UsageError: it is not such a length, or not between 1 and 4M.
    """
    match = _LENGTH.fullmatch(str(text).strip())
    if match is None:
        raise UsageError(f"length {text!r} is not a number of tokens such as 4096, 4K or 1M")
    factor = {"": 1, "k": k, "m": k * k}[match[2].lower()]
    tokens = float(match[1]) * factor
    if tokens != int(tokens) or not SMALLEST_LENGTH <= tokens <= GREATEST_LENGTH:
        raise UsageError(f"length {text!r} is not a whole number of tokens from {SMALLEST_LENGTH} to 4M")
    return int(tokens)


def parse_threshold(text: str | float) -> float | str:
    """A threshold: ``chat`` or ``base`` (the paper's two), or a score in per cent.

    Raises:
        UsageError: it is neither.
    """
    if text in NAMED_THRESHOLDS:
        return text
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not 0 <= score <= 100:
        raise UsageError(f"threshold {text!r} is neither chat nor base nor a score from 0 to 100 per cent")
    return score


def parse_weights(weights: Any, k: int = 1024) -> dict[int, float]:
    """Weights by length in tokens, of ``4k=5,8k=3,128k=0.5`` or of a mapping.

    Raises:
        UsageError: a part is not length=weight, a weight is negative, or all are 0.
    """
    parts: list[tuple[Any, Any]] = (
        [(length, weight) for length, _, weight in (part.partition("=") for part in listed(weights))]
        if isinstance(weights, str)
        else list(weights.items())
        if isinstance(weights, dict)
        else [(weights, "")]
    )
    parsed: dict[int, float] = {}
    for length, weight in parts:
        try:
            value = float(weight)
        except (TypeError, ValueError):
            value = math.nan
        if not 0 <= value < math.inf:
            raise UsageError(f"weight {weight!r} of {length!r} is no number from 0 up: write for example 4k=5,8k=3")
        parsed[parse_length(str(length).strip(), k)] = value
    if not any(parsed.values()):
        raise UsageError(f"weights {weights!r} are all 0: give the lengths that count more than 0, such as 4k=5,8k=3")
    return dict(sorted(parsed.items()))


def parse_price(text: str) -> tuple[float, float]:
    """``2.5,10`` as the prices of a million prompt tokens and of a million output tokens, in US dollars.

    Raises:
        UsageError: it is not two numbers from 0 up.
    """
    try:
        prices = [float(part) for part in text.split(",")]
    except ValueError:
        prices = []
    if len(prices) != 2 or not all(0 <= price < math.inf for price in prices):
        raise UsageError(f"price {text!r} is not IN,OUT in US dollars per million tokens: write for example 2.5,10")
    return prices[0], prices[1]


def parse_markers(text: str) -> tuple[tuple[str, str], ...]:
    """``<think>,</think>`` as what opens and what closes reasoning inside an answer; several pairs may follow.

    Raises:
        UsageError: it is not pairs of two different markers.
    """
    parts = [part.strip() for part in text.split(",")]
    pairs = tuple(zip(parts[0::2], parts[1::2], strict=False))
    if len(parts) % 2 or not all(opening and closing and opening != closing for opening, closing in pairs):
        raise UsageError(f"reasoning markers {text!r} are not OPEN,CLOSE: write for example <think>,</think>")
    return pairs

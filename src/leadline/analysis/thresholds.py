"""The paper's thresholds: what Llama2-7B scores at 4K, over all tasks and by category."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class NamedThreshold:
    """A score in per cent that a length must reach, and the same for each category.

    The categories' thresholds do not add up to the overall one, so a category's verdict need not agree with it.
    """

    score: float
    categories: Mapping[str, float]


RULER_THRESHOLDS: Mapping[str, NamedThreshold] = MappingProxyType(
    {
        "chat": NamedThreshold(85.6, {"retrieval": 96.9, "tracing": 89.7, "aggregation": 84.8, "qa": 49.7}),
        "base": NamedThreshold(79.4, {"retrieval": 90.9, "tracing": 58.8, "aggregation": 73.1, "qa": 48.6}),
    }
)
"""Llama2-7B-chat and Llama2-7B at 4K. Source: RULER (arXiv 2404.06654), tables 3 and 10 to 16."""

"""What makes two runs the same run: everything that changes an item or an answer."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from leadline.items import canonical_json
from leadline.prompt import Frame
from leadline.requests import ModelFacts
from leadline.spec import RunSpec

PASSING_DETAILS = frozenset({"served_context_tokens", "server_version"})
"""What a server says of itself that changes no answer: a run goes on after its context has been raised."""


def identity(
    spec: RunSpec, facts: ModelFacts, tokenizer_id: str, frame: Frame, data_hashes: Mapping[str, str]
) -> dict[str, Any]:
    """The parts of a run's identity.

    Lengths, samples, which of the suite's tasks are asked, order, concurrency and the like are not in it: asking for
    more of them extends the same run.
    """
    return {
        "suite": spec.suite,
        "tasks": {
            task.name: {"version": task.version, "params": task.params.model_dump()} for task in spec.make_suite_tasks()
        },
        "set": spec.set,
        "seed": spec.seed,
        "protocol": spec.protocol,
        "k": spec.k,
        "exhaust": spec.exhaust,
        "model": {
            "name": facts.name,
            **{name: value for name, value in facts.details.items() if name not in PASSING_DETAILS},
        },
        "label": spec.label,
        "tokenizer": tokenizer_id,
        "frame": frame.identity,
        "decoding": {"temperature": 0, "max_tokens": spec.max_tokens, **_served(spec)},
        "data": dict(data_hashes),
    }


def _served(spec: RunSpec) -> dict[str, Any]:
    """How a server is asked; left out where nothing was said, so that a run of any other model keeps its name."""
    asked: dict[str, Any] = {}
    if spec.endpoint != "chat":
        asked["endpoint"] = spec.endpoint
    if spec.reasoning_tokens:
        asked["reasoning_tokens"] = spec.reasoning_tokens
    if spec.reasoning_markers != RunSpec.model_fields["reasoning_markers"].default:
        asked["reasoning_markers"] = spec.reasoning_markers
    return asked


def identity_hash(parts: Mapping[str, Any]) -> str:
    """Eight hexadecimal digits that name the identity."""
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:8]


def folder_name(spec: RunSpec, facts: ModelFacts, parts: Mapping[str, Any]) -> str:
    """``<model>/<suite>-<id>`` with what a file system would stumble over replaced."""
    model = re.sub(r"[^A-Za-z0-9._=-]+", "-", facts.name).strip("-.") or "model"
    return f"{model}/{spec.suite}-{identity_hash(parts)}"

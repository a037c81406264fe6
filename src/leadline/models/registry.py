"""From a model's name to the backend that answers for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl

from leadline.errors import LeadlineError, ModelError, UsageError
from leadline.models.base import Backend
from leadline.spec import LOCAL, RunSpec

DEFAULT_TOKENIZER = "tiktoken/cl100k_base"
"""What readers count with, unless told otherwise."""

ENTRY_POINTS = "leadline.models"
"""Group of the entry points by which other packages add backends: a kind's name, and a callable of what stands behind
the kind's slash and the `ModelOptions`, which gives a `Backend`."""

REQUEST_TIMEOUT_S = 1800.0
"""A prompt of a million tokens on a slow server takes this long; a server that is gone shows otherwise as a rule."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What a backend may be told when it is opened.

    Attributes:
        tokenizer: name of a tokenizer to count with instead of the model's own.
        offline: fetch nothing from a data host; a model's own server is asked all the same.
        base_url: where the server is, or None for the provider's own.
        endpoint: whether the server renders the chat template (chat) or is sent rendered text (completions).
        api_key: the key itself, for the requests' headers alone; None where none was named.
        api_key_env: the name of the environment variable that it came from.
        reasoning_tokens: tokens that a model may reason with, on top of those of the answer.
        concurrency: requests in flight, where that was asked for.
        timeout_s: how long one request may take.
        asking: whether the model may be asked something while it is opened; `plan` and `sample` ask no model.
    """

    tokenizer: str | None = None
    offline: bool = False
    base_url: str | None = None
    endpoint: Literal["chat", "completions"] = "chat"
    api_key: str | None = field(default=None, repr=False)
    api_key_env: str | None = None
    reasoning_tokens: int = 0
    concurrency: int | None = None
    timeout_s: float = REQUEST_TIMEOUT_S
    asking: bool = True

    @classmethod
    def of(cls, spec: RunSpec, *, asking: bool = True) -> ModelOptions:
        """The options of a run.

        Raises:
            UsageError: the environment variable that is to hold the key does not.
        """
        key = None
        if spec.api_key_env is not None:
            key = os.environ.get(spec.api_key_env)
            if not key:
                raise UsageError(f"--api-key-env {spec.api_key_env}: there is no such environment variable: export it")
        return cls(
            tokenizer=spec.tokenizer,
            offline=spec.offline,
            base_url=spec.base_url,
            endpoint=spec.endpoint,
            api_key=key,
            api_key_env=spec.api_key_env,
            reasoning_tokens=spec.reasoning_tokens,
            concurrency=spec.concurrency,
            timeout_s=spec.timeout_s or REQUEST_TIMEOUT_S,
            asking=asking,
        )


@dataclass(frozen=True, slots=True)
class ModelKind:
    """A kind of model: how it is written, and how it is opened from what stands behind the slash."""

    form: str
    open: Callable[[str, ModelOptions], Backend]


def open_model(name: str, options: ModelOptions) -> Backend:
    """The backend of a model.

    Raises:
        UsageError: the name has no known form, or what it names does not exist.
        DataError: the model in the box cannot be fetched.
        ModelError: a server cannot be reached, or another package's backend cannot be loaded.
    """
    if name == LOCAL:
        from leadline.data.loading import load_local_model_path

        return _open_openvino(load_local_model_path(options.offline), options, LOCAL)
    kind, _, rest = name.partition("/")
    if rest and kind in KINDS:
        return KINDS[kind].open(rest, options)
    if rest and (added := _added_kind(kind)) is not None:
        return _open_added(added, rest, options)
    forms = [LOCAL, *(known.form for known in KINDS.values())]
    forms += [f"{entry.name}/..." for entry in entry_points(group=ENTRY_POINTS)]
    raise UsageError(f"there is no model {name!r}: a model is {', '.join(forms[:-1])} or {forms[-1]}")


def _added_kind(kind: str) -> EntryPoint | None:
    return next(iter(entry_points(group=ENTRY_POINTS, name=kind)), None)


def _open_added(entry: EntryPoint, rest: str, options: ModelOptions) -> Backend:
    package = entry.dist.name if entry.dist is not None else entry.value
    try:
        return entry.load()(rest, options)
    except LeadlineError:
        raise
    except Exception as error:  # whatever another package does wrong, its name is what helps
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(
            f"the package {package} cannot open {entry.name}/{rest} ({type(error).__name__}: {reason}): "
            "mend it, or uninstall it"
        ) from error


def _open_openvino(path: Path, options: ModelOptions, alias: str | None) -> Backend:
    from leadline.models.openvino import open_openvino

    return open_openvino(path, options.tokenizer, alias, offline=options.offline)


def _open_reader(name: str, options: ModelOptions) -> Backend:
    from leadline.data.loading import load_tokenizer
    from leadline.models.readers import open_reader

    reader, _, query = name.partition("?")
    tokenizer = load_tokenizer(options.tokenizer or DEFAULT_TOKENIZER, offline=options.offline)
    return open_reader(reader, dict(parse_qsl(query, keep_blank_values=True)), tokenizer)


def _open_openai(name: str, options: ModelOptions) -> Backend:
    from leadline.models.openai import open_openai

    return open_openai(name, options)


def _open_ollama(name: str, options: ModelOptions) -> Backend:
    from leadline.models.ollama import open_ollama

    return open_ollama(name, options)


def _module(name: str) -> Any:
    """A backend's module; heavy packages are imported only by the kind that needs them."""
    from importlib import import_module

    return import_module(f"leadline.models.{name}")


KINDS: Mapping[str, ModelKind] = {
    "openai": ModelKind("openai/NAME", _open_openai),
    "ollama": ModelKind("ollama/NAME", _open_ollama),
    "llamacpp": ModelKind(
        "llamacpp/FILE.gguf",
        lambda rest, options: _module("llamacpp").open_llamacpp(Path(rest).expanduser(), options),
    ),
    "openvino": ModelKind(
        "openvino/PATH", lambda rest, options: _open_openvino(Path(rest).expanduser(), options, None)
    ),
    "hf": ModelKind("hf/NAME-or-PATH", lambda rest, options: _module("transformers").open_transformers(rest, options)),
    "inspect": ModelKind("inspect/PROVIDER/NAME", lambda rest, options: _module("inspect").open_inspect(rest, options)),
    "reader": ModelKind("reader/NAME", _open_reader),
}
"""The kinds of models that leadline brings, by the word before the slash."""

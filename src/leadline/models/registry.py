"""From a model's name to the backend that answers for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl

from leadline.errors import UsageError
from leadline.models.base import Backend
from leadline.spec import LOCAL

DEFAULT_TOKENIZER = "tiktoken/cl100k_base"
"""What readers count with, unless told otherwise."""

FORMS = (LOCAL, "openvino/PATH", "reader/NAME")


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What a backend may be told when it is opened."""

    tokenizer: str | None = None
    offline: bool = False


def open_model(name: str, options: ModelOptions) -> Backend:
    """The backend of a model.

    Raises:
        UsageError: the name has no known form, or what it names does not exist.
        DataError: the model in the box cannot be fetched.
    """
    kind, _, rest = name.partition("/")
    if name == LOCAL:
        from leadline.data.loading import load_local_model_path

        return _open_openvino(load_local_model_path(options.offline), options, LOCAL)
    if kind == "openvino" and rest:
        return _open_openvino(Path(rest).expanduser(), options, None)
    if kind == "reader" and rest:
        from leadline.data.loading import load_tokenizer
        from leadline.models.readers import open_reader

        reader, _, query = rest.partition("?")
        tokenizer = load_tokenizer(options.tokenizer or DEFAULT_TOKENIZER, offline=options.offline)
        return open_reader(reader, dict(parse_qsl(query, keep_blank_values=True)), tokenizer)
    raise UsageError(f"there is no model {name!r}: a model is {', '.join(FORMS[:-1])} or {FORMS[-1]}")


def _open_openvino(path: Path, options: ModelOptions, alias: str | None) -> Backend:
    from leadline.models.openvino import open_openvino

    return open_openvino(path, options.tokenizer, alias, offline=options.offline)

"""What the files of a Hugging Face model say of it, before anything heavy is imported to run it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.errors import DataError, UsageError
from leadline.models.in_process import open_gguf
from leadline.requests import ModelFacts
from leadline.spec import LOCAL
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.hugging_face import HuggingFaceTokenizer

_CONTEXT_KEYS = ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length")
Details = dict[str, str | int | float | bool | None]


@dataclass(frozen=True, slots=True)
class Source:
    """Where transformers finds a model: a folder or a name on the hub, with the name of a GGUF file in that folder."""

    name: str
    gguf_file: str | None = None
    offline: bool = True

    def arguments(self) -> dict[str, Any]:
        """What the loading functions of transformers are told."""
        named = {} if self.gguf_file is None else {"gguf_file": self.gguf_file}
        return {"pretrained_model_name_or_path": self.name, "local_files_only": self.offline, **named}


def described(name: str, *, offline: bool) -> tuple[Source, ModelFacts, Tokenizer, int | None]:
    """Where a model is, what its files say of it, its tokenizer, and its context in tokens or None.

    Args:
        name: a folder, a GGUF file, ``local``, or a model's name on the hub.
        offline: fetch nothing.

    Raises:
        UsageError: there is no such folder or file, or it is no model.
        DataError: the model's tokenizer or configuration is not in the hub's cache and cannot be fetched.
    """
    path = Path(name).expanduser()
    if name == LOCAL or path.suffix.lower() == ".gguf":
        file, facts, own, context_tokens = open_gguf("hf", Path(name) if name == LOCAL else path, offline=offline)
        return Source(str(file.parent), file.name), facts, own, context_tokens
    if path.is_dir():
        from leadline.data.cache import sha256_of

        own = HuggingFaceTokenizer.from_path(path)
        weights = sorted([*path.glob("*.safetensors"), *path.glob("pytorch_model*.bin")])
        if not weights:
            raise UsageError(f"hf/{name}: the folder has no weights (*.safetensors): name a folder with a whole model")
        settings = _settings(path / "config.json")
        hashes = {f"sha256_{file.name}": sha256_of(file) for file in weights}
        label, source = path.resolve().name, Source(str(path))
    elif path.exists() or name.startswith(("/", "./", "../", "~")):
        raise UsageError(
            f"hf/{name} is neither a folder nor a GGUF file: name one, or a model of the hub (owner/model)"
        )
    else:
        from leadline.data.hub import tokenizer_folder

        folder = tokenizer_folder(name, offline)
        own = HuggingFaceTokenizer.from_path(folder, name)
        settings = _settings(_hub_config(name, offline))
        hashes = {"revision": folder.name}  # the hub's cache names a snapshot's folder after its commit
        label, source = name, Source(name, offline=offline)
    details = {"engine": "hf", **hashes, **_details(settings)}
    return source, ModelFacts(f"hf/{label}", details, own.chat_template, own.special_tokens), own, _context_of(settings)


def _hub_config(name: str, offline: bool) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(hf_hub_download(name, "config.json", local_files_only=offline))
    except (EntryNotFoundError, LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(
            f"the config.json of {name} cannot be had ({reason}): fetch the model first, or name a folder"
        ) from error


def _settings(config: Path) -> Mapping[str, Any]:
    """The settings of a language model in a config.json; those of a model for more than text lie one level down."""
    try:
        settings = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{config} cannot be read as JSON ({reason}): name a folder with a whole model") from error
    if not isinstance(settings, dict):
        raise UsageError(f"{config} is not a model's configuration: name a folder with a whole model")
    inner = settings.get("text_config")
    return {**settings, **inner} if isinstance(inner, dict) else settings


def _context_of(settings: Mapping[str, Any]) -> int | None:
    """The longest context that a configuration names, or None."""
    found = (settings.get(key) for key in _CONTEXT_KEYS)
    return next((value for value in found if isinstance(value, int)), None)


def _details(settings: Mapping[str, Any]) -> Details:
    """What a configuration says that changes answers."""
    rope = settings.get("rope_parameters") or settings.get("rope_scaling") or {}
    quantisation = settings.get("quantization_config") or {}
    return {
        "architecture": settings.get("model_type"),
        "dtype": settings.get("dtype") or settings.get("torch_dtype"),
        "quantisation": quantisation.get("quant_method") if isinstance(quantisation, dict) else None,
        "context_tokens": _context_of(settings),
        "rope_freq_base": settings.get("rope_theta"),
        **{f"rope_{key}": value for key, value in rope.items() if isinstance(value, str | int | float | bool)},
    }

"""From a name to what it names: tokenizers, and the model in the box."""

from __future__ import annotations

from pathlib import Path

from leadline.data.holdings import get
from leadline.errors import UsageError
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.fast import FastTokenizer, added_tokens, fast_version, open_hugging_face, open_ranks
from leadline.tokenizers.hugging_face import HuggingFaceTokenizer
from leadline.tokenizers.tiktoken_ranks import ENCODINGS, TiktokenTokenizer

_CHOICES = f"{', '.join(f'tiktoken/{name}' for name in ENCODINGS)}, hf/NAME-or-PATH, gguf/FILE"


def load_tokenizer(name: str, *, offline: bool = False) -> Tokenizer:
    """The tokenizer of this name.

    Args:
        name: ``tiktoken/cl100k_base`` or ``tiktoken/o200k_base`` (or these without ``tiktoken/``), ``hf/`` with a
            model's name on the hub, a tokenizer.json or a folder that holds one, or ``gguf/`` with a GGUF file.
        offline: do not fetch anything.

    Raises:
        UsageError: the name or the file cannot be used.
        DataError: something has to be fetched and cannot be.
    """
    kind, _, rest = name.partition("/")
    if kind in ENCODINGS and not rest:
        kind, rest = "tiktoken", kind
    if kind == "tiktoken" and rest in ENCODINGS:
        return TiktokenTokenizer.from_file(rest, get(rest, offline=offline))
    if kind == "hf" and rest:
        return _hugging_face(rest, offline)
    if kind == "gguf" and rest:
        from leadline.data.gguf_cache import gguf_tokenizer

        return gguf_tokenizer(Path(rest).expanduser())
    raise UsageError(f"no tokenizer is called {name!r}: choose one of {_CHOICES}")


def quicken(tokenizer: Tokenizer, *, offline: bool = False) -> Tokenizer:
    """The tokenizer with gigatoken at its side, where that is installed and knows tokenizers of this kind.

    It counts as before until its `prove` has found both equal; any other tokenizer comes back as it is.
    """
    version = fast_version()
    if version is None:
        return tokenizer
    if isinstance(tokenizer, TiktokenTokenizer):
        name = tokenizer.id.partition("/")[2]
        return FastTokenizer(tokenizer, lambda: open_ranks(name, get(name, offline=offline)), version)
    if isinstance(tokenizer, HuggingFaceTokenizer):
        return FastTokenizer(tokenizer, lambda: open_hugging_face(tokenizer), version, added_tokens(tokenizer))
    return tokenizer


def load_local_model_path(offline: bool = False) -> Path:
    """The GGUF file of the model in the box, which is fetched where it is missing.

    Raises:
        DataError: it is damaged, or cannot be fetched.
    """
    return get("smollm2-135m-instruct", offline=offline)


def _hugging_face(name: str, offline: bool) -> Tokenizer:
    path = Path(name).expanduser()
    if path.exists():
        return HuggingFaceTokenizer.from_path(path)
    from leadline.data.hub import tokenizer_folder

    return HuggingFaceTokenizer.from_path(tokenizer_folder(name, offline), name)

"""Tokenizers in the Hugging Face format: a tokenizer.json and what stands beside it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError

if TYPE_CHECKING:
    from tokenizers import Tokenizer as RustTokenizer

_BATCH = 16384
"""Texts encoded at once: an encoding holds more than its length, and pools count hundreds of thousands."""

_PARALLELISM = "TOKENIZERS_PARALLELISM"


def _allow_threads() -> None:
    """Let batches use all cores here and none in a forked child, unless the user has decided.

    The tokenizers package warns when a process forks after a batch, and a child that starts a batch of its own can
    wait for threads that the fork did not copy. A decision in the environment silences the one and prevents the other.
    """
    if _PARALLELISM in os.environ:
        return
    os.environ[_PARALLELISM] = "true"
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: os.environ.__setitem__(_PARALLELISM, "false"))


def tokenizer_from_json(content: str, source: Path) -> RustTokenizer:
    """The tokenizer that this JSON describes.

    Raises:
        UsageError: it describes none.
    """
    from tokenizers import Tokenizer as RustTokenizer

    try:
        return RustTokenizer.from_str(content)
    except Exception as error:  # the package raises nothing more precise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"{source} is not a tokenizer in the Hugging Face format ({reason})") from error


class HuggingFaceTokenizer:
    """A tokenizer of the tokenizers package.

    Args:
        tokenizer: the package's own object; truncation and padding are switched off.
        identity: name for the run's identity.
        bos_tokens: how many tokens the model's loader puts before a text; None asks the tokenizer's post-processor.
        chat_template: the model's Jinja chat template, or None for a base model.
        special_tokens: the texts of ``bos_token``, ``eos_token`` and so on, as a chat template names them.
    """

    exact = True

    def __init__(
        self,
        tokenizer: RustTokenizer,
        identity: str,
        *,
        bos_tokens: int | None = None,
        chat_template: str | None = None,
        special_tokens: Mapping[str, str] | None = None,
    ) -> None:
        _allow_threads()
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self.id = identity
        self.bos_tokens = self._leading_tokens() if bos_tokens is None else bos_tokens
        self.chat_template = chat_template
        self.special_tokens: dict[str, str] = dict(special_tokens or {})

    @classmethod
    def from_path(cls, path: Path, name: str | None = None) -> HuggingFaceTokenizer:
        """The tokenizer in a tokenizer.json, or in the folder that holds one.

        Args:
            path: the file or the folder; tokenizer_config.json and chat_template.jinja beside it are read if present.
            name: what to call it; the folder's name by default.

        Raises:
            UsageError: there is no such file, or it is not a tokenizer.
        """
        file = path / "tokenizer.json" if path.is_dir() else path
        try:
            content = file.read_bytes()
        except OSError as error:
            raise UsageError(
                f"no tokenizer at {path} ({error.strerror}): name a tokenizer.json or the folder that holds one"
            ) from error
        tokenizer = tokenizer_from_json(content.decode("utf-8", "replace"), file)
        config = _read_config(file.with_name("tokenizer_config.json"))
        label = name or file.resolve().parent.name
        return cls(
            tokenizer,
            f"hf/{label}@{hashlib.sha256(content).hexdigest()[:12]}",
            bos_tokens=_bos_tokens(config),
            chat_template=_chat_template(file.with_name("chat_template.jinja"), config),
            special_tokens=_special_tokens(config),
        )

    def encode(self, text: str) -> list[int]:
        """Token ids of the text."""
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def count(self, text: str) -> int:
        """Number of tokens of the text."""
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def count_in_place(self, texts: Sequence[str], before: str, after: str) -> npt.NDArray[np.int32]:
        """Tokens that each text takes between `before` and `after`, shape (len(texts),)."""
        counts = np.empty(len(texts), dtype=np.int32)
        for start in range(0, len(texts), _BATCH):
            batch = [before + text + after for text in texts[start : start + _BATCH]]
            encoded = self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            counts[start : start + len(batch)] = [len(encoding) for encoding in encoded]
        return counts - np.int32(self.count(before + after))

    def offsets(self, text: str) -> npt.NDArray[np.int64]:
        """Character at which each token begins; a token inside a character's bytes begins at that character.

        Some tokenizers trim the white space from a token's offsets although the token holds it: a token begins no
        later than the last one's end.
        """
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        if not offsets:
            return np.zeros(0, dtype=np.int64)
        starts, ends = np.array(offsets, dtype=np.int64).T
        reached = np.concatenate([np.zeros(1, np.int64), np.maximum.accumulate(ends)[:-1]])
        return np.maximum.accumulate(np.minimum(starts, reached))

    def _leading_tokens(self) -> int:
        bare = self._tokenizer.encode("a", add_special_tokens=False).ids
        full = self._tokenizer.encode("a", add_special_tokens=True).ids
        places = range(len(full) - len(bare) + 1)
        return next((place for place in places if full[place : place + len(bare)] == bare), 0)


def _read_config(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{path} is not JSON ({error}): repair it, or take it away from its tokenizer.json") from error
    return config if isinstance(config, dict) else {}


def _bos_tokens(config: Mapping[str, Any]) -> int | None:
    """What the configuration says of BOS, which the model's loader puts above the file's own post-processor."""
    add = config.get("add_bos_token")
    return int(add) if isinstance(add, bool) and "bos_token" in _special_tokens(config) else None


def _chat_template(file: Path, config: Mapping[str, Any]) -> str | None:
    """The template in a file of its own, which newer models have, else the one in the configuration.

    A configuration may hold several, as a list of names and templates; the one named default is the chat's.
    """
    if file.is_file():
        return file.read_text(encoding="utf-8")
    template = config.get("chat_template")
    if isinstance(template, list):
        named = {entry["name"]: entry["template"] for entry in template if isinstance(entry, dict)}
        template = named.get("default")
    return template if isinstance(template, str) else None


def _special_tokens(config: Mapping[str, Any]) -> dict[str, str]:
    tokens: dict[str, str] = {}
    for key, value in config.items():
        content = value.get("content") if isinstance(value, dict) else value
        if key.endswith("_token") and isinstance(content, str):
            tokens[key] = content
    return tokens

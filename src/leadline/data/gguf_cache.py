"""What a GGUF file says, kept: reading one takes seconds, reading what was kept takes a fraction of one."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from leadline.data.cache import cache_folder, write_whole
from leadline.errors import UsageError
from leadline.tokenizers.gguf_file import GgufFacts, read_gguf
from leadline.tokenizers.gguf_vocabulary import Vocabulary, build_tokenizer
from leadline.tokenizers.hugging_face import HuggingFaceTokenizer, tokenizer_from_json

if TYPE_CHECKING:
    from tokenizers import Tokenizer as RustTokenizer

_FORMAT = 1
"""Part of the folder's name: raise it when the facts or the way a tokenizer is built change."""

_FACTS, _TOKENIZER = "facts.json", "tokenizer.json"


def gguf_facts(file: Path) -> GgufFacts:
    """What the GGUF file says of its model.

    Raises:
        UsageError: it is not a GGUF file.
    """
    kept = _folder(file) / _FACTS
    try:
        return GgufFacts(**json.loads(kept.read_bytes()))
    except (OSError, ValueError, TypeError):
        facts, vocabulary = read_gguf(file)
        write_whole(kept, json.dumps(asdict(facts)).encode())
        with suppress(UsageError):  # of an unknown kind: said when its tokenizer is asked for
            _build(file, vocabulary)
        return facts


def gguf_tokenizer(file: Path) -> HuggingFaceTokenizer:
    """The tokenizer in the GGUF file, with its chat template and special tokens.

    Raises:
        UsageError: it is not a GGUF file, or has a tokenizer of an unknown kind.
    """
    facts = gguf_facts(file)
    kept = _folder(file) / _TOKENIZER
    try:
        tokenizer = tokenizer_from_json(kept.read_text(encoding="utf-8"), kept)
    except (OSError, ValueError, UsageError):
        tokenizer = _build(file, read_gguf(file)[1])
    return HuggingFaceTokenizer(
        tokenizer,
        facts.identity,
        bos_tokens=facts.bos_tokens,
        chat_template=facts.chat_template,
        special_tokens=facts.special_tokens,
    )


def _build(file: Path, vocabulary: Vocabulary) -> RustTokenizer:
    """Make the tokenizer and keep it."""
    try:
        tokenizer = build_tokenizer(vocabulary)
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from error
    write_whole(_folder(file) / _TOKENIZER, tokenizer.to_str().encode())
    return tokenizer


def _folder(file: Path) -> Path:
    """The folder for what is kept of this file, named after its path, size and time of change."""
    try:
        state = file.stat()
    except OSError as error:
        raise UsageError(f"{file} cannot be read ({error.strerror}): name a GGUF file") from error
    key = f"{file.resolve()}\n{state.st_size}\n{state.st_mtime_ns}"
    return cache_folder() / "gguf" / f"v{_FORMAT}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"

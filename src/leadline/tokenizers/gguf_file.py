"""What a GGUF model file says of itself and of its tokenizer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.errors import UsageError
from leadline.items import canonical_json
from leadline.tokenizers.gguf_vocabulary import Vocabulary, adds_bos

if TYPE_CHECKING:
    from gguf import GGUFReader

Setting = str | int | float | bool

_MAGIC = b"GGUF"
_NAMED_TOKENS = {"bos": "bos", "eos": "eos", "unknown": "unk", "padding": "pad"}
"""A special token in the file's keys, and in a chat template's names."""


@dataclass(frozen=True, slots=True)
class GgufFacts:
    """What a GGUF file says of its model.

    Attributes:
        name: the model's name, or the file's where it has none.
        architecture: for example ``llama``.
        context_tokens: the context that the model was made for, or None.
        quantisation: name of its file type, for example ``Q4_1``, or None.
        chat_template: its Jinja chat template, or None.
        special_tokens: texts of ``bos_token``, ``eos_token``, ``unk_token``, ``pad_token``, as far as it has them.
        special_ids: their ids, under the same names.
        add_bos: whether its loader puts a BOS token before a text.
        rope: its settings of the rotary embedding, by the part of the key after ``.rope.``.
        tokenizer: its kind and pattern, for example ``gpt2/smollm``.
        vocabulary_sha256: hash of everything that its tokenizer depends on.
    """

    name: str
    architecture: str
    context_tokens: int | None
    quantisation: str | None
    chat_template: str | None
    add_bos: bool
    tokenizer: str
    vocabulary_sha256: str
    special_tokens: Mapping[str, str] = field(default_factory=dict[str, str])
    special_ids: Mapping[str, int] = field(default_factory=dict[str, int])
    rope: Mapping[str, Setting] = field(default_factory=dict[str, Setting])

    @property
    def identity(self) -> str:
        """The name of its tokenizer for a run's identity."""
        return f"gguf/{self.name.replace(' ', '-')}@{self.vocabulary_sha256[:12]}"

    @property
    def bos_tokens(self) -> int:
        """How many tokens its loader puts before a text (0 or 1)."""
        return int(self.add_bos and "bos_token" in self.special_tokens)


def read_gguf(path: Path) -> tuple[GgufFacts, Vocabulary]:
    """Read a model file's metadata: seconds for a large vocabulary, so keep what it gives.

    Raises:
        UsageError: the file cannot be read, is not a GGUF file, or lacks what every model has.
    """
    reader = _open(path)
    try:
        fields = {key: entry.contents() for key, entry in reader.fields.items() if not key.startswith("GGUF.")}
        vocabulary = _vocabulary(fields)
        return _facts(path, fields, vocabulary), vocabulary
    except KeyError as error:
        raise UsageError(f"{path} has no {error.args[0]}: it is not a language model's GGUF file") from error
    except (ValueError, IndexError) as error:
        raise UsageError(f"{path} has damaged metadata ({error}): fetch the file again") from error


def _open(path: Path) -> GGUFReader:
    from gguf import GGUFReader

    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): name a GGUF file") from error
    if magic != _MAGIC:
        raise UsageError(f"{path} is not a GGUF file (it does not begin with the letters GGUF): name another file")
    try:
        return GGUFReader(path)
    except (ValueError, IndexError, OverflowError) as error:
        raise UsageError(f"{path} is a damaged GGUF file ({error}): fetch the file again") from error


def _vocabulary(fields: Mapping[str, Any]) -> Vocabulary:
    tokens: list[str] = fields["tokenizer.ggml.tokens"]
    model: str = fields["tokenizer.ggml.model"]
    return Vocabulary(
        model=model,
        pre=fields.get("tokenizer.ggml.pre"),
        tokens=tuple(tokens),
        types=tuple(fields.get("tokenizer.ggml.token_type") or [1] * len(tokens)),
        merges=tuple(fields.get("tokenizer.ggml.merges", ())),
        scores=tuple(float(score) for score in fields.get("tokenizer.ggml.scores", ())),
        unknown_id=fields.get("tokenizer.ggml.unknown_token_id"),
        add_space_prefix=bool(fields.get("tokenizer.ggml.add_space_prefix", model == "llama")),
    )


def _facts(path: Path, fields: Mapping[str, Any], vocabulary: Vocabulary) -> GgufFacts:
    architecture: str = fields["general.architecture"]
    ids: dict[str, int] = {}
    for key, name in _NAMED_TOKENS.items():
        token_id = fields.get(f"tokenizer.ggml.{key}_token_id")
        if token_id is not None and 0 <= token_id < len(vocabulary.tokens):
            ids[f"{name}_token"] = int(token_id)
    rope = f"{architecture}.rope."
    return GgufFacts(
        name=fields.get("general.name") or path.stem,
        architecture=architecture,
        context_tokens=fields.get(f"{architecture}.context_length"),
        quantisation=_quantisation(fields.get("general.file_type")),
        chat_template=fields.get("tokenizer.chat_template"),
        add_bos=bool(fields.get("tokenizer.ggml.add_bos_token", adds_bos(vocabulary))),
        tokenizer=f"{vocabulary.model}/{vocabulary.pre}" if vocabulary.pre else vocabulary.model,
        vocabulary_sha256=_vocabulary_hash(vocabulary),
        special_tokens={name: vocabulary.tokens[token_id] for name, token_id in ids.items()},
        special_ids=ids,
        rope={
            key.removeprefix(rope): value
            for key, value in fields.items()
            if key.startswith(rope) and isinstance(value, str | int | float | bool)
        },
    )


def _vocabulary_hash(vocabulary: Vocabulary) -> str:
    described = [
        vocabulary.model,
        vocabulary.pre,
        vocabulary.tokens,
        vocabulary.types,
        vocabulary.merges,
        vocabulary.scores,
        vocabulary.add_space_prefix,
    ]
    return hashlib.sha256(canonical_json(described).encode("utf-8", "surrogatepass")).hexdigest()


def _quantisation(file_type: int | None) -> str | None:
    """Name of a file type; a number that the gguf package does not know stays a number."""
    from gguf import LlamaFileType

    if file_type is None:
        return None
    try:
        name = LlamaFileType(file_type).name
    except ValueError:
        return str(file_type)
    return name.removeprefix("MOSTLY_").removeprefix("ALL_")

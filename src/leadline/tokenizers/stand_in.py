"""What to count with where a model's own tokenizer is not at hand."""

from __future__ import annotations

from leadline.tokenizers.base import Tokenizer

STAND_IN = "tiktoken/o200k_base"
"""A vocabulary of the size that recent models have."""

_OF_ENCODING = {
    "cl100k_base": "tiktoken/cl100k_base",
    "o200k_base": "tiktoken/o200k_base",
    "o200k_harmony": "tiktoken/o200k_base",  # differs in its special tokens alone
}


def openai_encoding(model: str) -> str | None:
    """The name of the tokenizer of one of OpenAI's models, or None of any other; ``openai/`` may stand before it."""
    import tiktoken

    vendor, _, rest = model.rpartition("/")
    if vendor not in ("", "openai"):
        return None
    try:
        return _OF_ENCODING.get(tiktoken.encoding_name_for_model(rest))
    except KeyError:
        return None


class StandIn:
    """Another model's tokenizer.

    Vocabularies of 32 thousand and of 200 thousand entries differ by up to a quarter on English prose, so a length is
    only about that long; ``--tokenizer`` with the model's own makes it exact.
    """

    exact = False

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.id = f"stand-in/{tokenizer.id}"
        self.bos_tokens = tokenizer.bos_tokens
        self.encode = tokenizer.encode
        self.count = tokenizer.count
        self.count_in_place = tokenizer.count_in_place
        self.offsets = tokenizer.offsets

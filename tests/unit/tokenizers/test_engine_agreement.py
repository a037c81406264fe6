"""The model in the box as its own engine reads it, against the tokenizer that leadline makes from its file."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable

import pytest

from leadline.data.loading import load_local_model_path, load_tokenizer
from leadline.data.sources import Sources
from leadline.errors import DataError

pytestmark = pytest.mark.local_model

ATOMS = [
    *["a", "B", "The", " the", " and", "VAR", "'s", "'LL", "ing", ".", ",", "?!", "...", "/", "—", "“", "#", "```"],
    *[" ", "  ", "    ", "\n", "\n\n", "\n\n\n", "\r\n", "\t", "\x0b", "\x85", "\xa0", "\u2028", "\u3000", "\x1c"],
    *["1", "23", "1234567", "٣", "Ⅷ", "½", "²", "é", "e\u0301", "ﬁ", "İ", "ß", "漢字", "かな", "한국어", "русский"],
    *[
        "😀",
        "👩\u200d👩\u200d👧",
        "\u200b",
        "\ufeff",
        "\ufffd",
        "\x00",
        "\x01",
        "\x1b",
        "\x7f",
        "\x97",
        "𓀀",
        "\U0010ffff",
    ],
    *["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<repo_name>", "<|im_", "<s>"],
]

BLOCKS = [
    *[0x20, 0x80, 0x100, 0x370, 0x400, 0x590, 0x600, 0x900, 0xE00, 0x1100, 0x1E00, 0x2000, 0x2080, 0x2190, 0x2500],
    *[0x3000, 0x3080, 0x4E00, 0x9000, 0xAC00, 0xFE00, 0xFF00, 0x1D400, 0x1F300, 0x1F600, 0x20000, 0xE0000],
]
"""Where blocks of Unicode begin; none of them holds surrogates."""


@pytest.fixture(scope="module")
def engine() -> Callable[[str], list[int]]:
    if importlib.util.find_spec("openvino_genai") is None:
        pytest.skip("openvino_genai is not installed: the model's own tokenizer cannot be asked")
    try:
        path = load_local_model_path()
    except DataError as error:
        pytest.skip(f"the model in the box is missing: {error}")
    import openvino_genai

    tokenizer = openvino_genai.LLMPipeline(str(path), "CPU").get_tokenizer()

    def encode(text: str) -> list[int]:
        ids = tokenizer.encode(text, add_special_tokens=False).input_ids
        return [int(token) for token in ids.data[0]]

    return encode


def test_ids_are_the_engines_own(engine: Callable[[str], list[int]]) -> None:
    tokenizer = load_tokenizer(f"gguf/{load_local_model_path()}")
    draw = random.Random(5)
    texts = ATOMS + ["".join(draw.choices(ATOMS, k=draw.randint(2, 14))) for _ in range(2000)]
    texts += [
        "".join(chr(draw.choice(BLOCKS) + draw.randrange(128)) for _ in range(draw.randint(1, 40))) for _ in range(1500)
    ]
    texts += [Sources().prose().slice(draw.randrange(30000), 20) for _ in range(20)]
    differing = [text for text in texts if engine(text) != tokenizer.encode(text)]
    assert differing == []


def test_offsets_lie_at_the_tokens_first_characters() -> None:
    tokenizer = load_tokenizer(f"gguf/{load_local_model_path()}")
    text = "<|im_start|>user\nThe number is 42."
    assert tokenizer.offsets(text).tolist() == [0, 12, 16, 17, 20, 27, 30, 31, 32, 33]

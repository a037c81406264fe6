from collections.abc import Callable
from functools import cache

import pytest

from leadline.data.gguf_cache import gguf_tokenizer
from leadline.data.loading import load_local_model_path, load_tokenizer
from leadline.data.sources import Sources
from leadline.prompt import FrameCounter, chat_frame, named_frame
from leadline.sampler import Sampler
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.counting import Counter

TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    "cl100k_base": lambda: load_tokenizer("cl100k_base"),
    "o200k_base": lambda: load_tokenizer("o200k_base"),
    "smollm2": lambda: gguf_tokenizer(load_local_model_path()),
}


@cache
def tokenizer(name: str) -> Tokenizer:
    return TOKENIZERS[name]()


@cache
def sampler(name: str) -> Sampler:
    """Chat template and prefill for the model in the box, the base template for the others."""
    counted = tokenizer(name)
    frame = named_frame("base", counted)
    if name == "smollm2":
        model = gguf_tokenizer(load_local_model_path())
        assert model.chat_template is not None
        frame = chat_frame(name, model.chat_template, model.special_tokens, counted, prefill=True)
    return Sampler(frame, FrameCounter(Counter(counted), frame), Sources(), 42)


@pytest.fixture(params=list(TOKENIZERS))
def tokenizer_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)

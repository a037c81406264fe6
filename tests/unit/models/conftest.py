from __future__ import annotations

import pytest

from leadline.data.loading import load_tokenizer
from leadline.data.sources import Sources
from leadline.prompt import FrameCounter, named_frame
from leadline.sampler import Sampler
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.counting import Counter


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return load_tokenizer("cl100k_base")


@pytest.fixture(scope="module")
def sampler(tokenizer: Tokenizer) -> Sampler:
    frame = named_frame("base", tokenizer)
    return Sampler(frame, FrameCounter(Counter(tokenizer), frame), Sources(), 42)

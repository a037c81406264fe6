from __future__ import annotations

import functools
import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline import data
from leadline.data.loading import load_local_model_path, load_tokenizer
from leadline.data.sources import Sources
from leadline.tokenizers.counting import Counter, split_chunks

TOKENIZERS = ["cl100k_base", "o200k_base", "gguf/local"]


@functools.cache
def counter_of(name: str) -> Counter:
    return Counter(load_tokenizer(f"gguf/{load_local_model_path()}" if name == "gguf/local" else name))


@functools.cache
def material() -> dict[str, str]:
    """Text of the kinds that tasks are made of, each beginning and ending at a cut."""
    draw = random.Random(11)
    sources = Sources()
    words = sources.pool("word").take(np.array([draw.randrange(2**18) for _ in range(300)]))
    uuids = sources.pool("uuid").take(np.array([draw.randrange(2**18) for _ in range(100)]))
    essays: str = json.loads(data.get("essays").read_bytes())["text"]
    return {
        "essay with its newlines": essays[1000:30000].strip() + "\n",
        "essay": " " + " ".join(essays[50000:90000].split()),
        "list": "".join(f"{number}. {word} " for number, word in enumerate(words, start=1)).rstrip(),
        "lines": "".join(f"{word}\n" for word in words),
        "needles": "".join(f"One of the special magic numbers for {word} is: 1234567.\n" for word in words),
        "identifiers": "".join(f"The magic uuid for {first} is: {first[::-1]}.\n\n" for first in uuids),
        "documents": "".join(f"Document {number}:\n{word}; (see “{word}”)…\n\n" for number, word in enumerate(words)),
        "variables": "".join(f"VAR {word[:5].upper()} = {len(word) * 1234}\n" for word in words),
        "indented": "def f(x):\n    return x\n\n\n\tif  y:\n  z = 1   # no\n" * 3,
        "slashes": "see the list.\n/etc/hosts\n//x\nhttp://a.b/c\n",
        "other scripts": "naïve café — 漢字かな 한국어 русский 😀👩‍👩‍👧 ½ ٣٤ a\u0301\n" * 5,
    }


@pytest.mark.parametrize("name", TOKENIZERS)
def test_sums_equal_whole_counts(name: str) -> None:
    counter = counter_of(name)
    for kind, text in material().items():
        before = "a" if text.startswith(" ") else "a\n"
        after = "a" if text.endswith("\n") else " a"
        alone = counter.whole("a\na") - counter.whole("a a") + counter.whole("a a") if before != "a" else None
        base = counter.whole("a\n a") if after == " a" and before != "a" else alone or counter.whole("a a")
        assert counter.text(text) == counter.whole(before + text + after) - base, kind

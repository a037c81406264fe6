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
        before = "The text." if text.startswith(" ") else "The text:\n"
        after = "End." if text.endswith("\n") else " End."
        whole = before + text + after
        assert counter.text(whole) == counter.whole(whole), kind
        assert counter.text(before) + counter.text(text) + counter.text(after) == counter.whole(whole), kind


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(max_examples=150, deadline=None)
@given(
    pieces=st.lists(
        st.sampled_from(
            [
                *[
                    "a",
                    "It's",
                    "WORD",
                    "1",
                    "12345",
                    "é",
                    "漢字",
                    "😀",
                    ".",
                    ").",
                    "—",
                    "/",
                    "'s",
                    "\x97",
                    "\t",
                    "\xa0",
                ],
                *[" ", " ", " ", "  ", "\n", "\n", "\n\n", " \n", "\n  ", "\r\n", "\u2028", "\x1c", "<|im_end|>"],
            ]
        ),
        max_size=25,
    )
)
def test_sums_equal_whole_counts_for_any_text(name: str, pieces: list[str]) -> None:
    counter = counter_of(name)
    text = "x" + "".join(pieces) + "x"
    assert counter.text(text) == counter.whole(text)


def test_chunks_are_cut_where_every_tokenizer_cuts() -> None:
    text = "One two.\n\nThree  four \nfive\n  six\n/seven\n8\n\n9\n\n<|im_end|>"
    assert split_chunks(text) == [
        "One",
        " two.\n\n",
        "Three",
        "  four",
        " \n",
        "five\n  six\n/seven\n",
        "8\n\n9\n\n<|im_end|>",
    ]
    assert split_chunks("") == []


@given(st.text("ab /.1\n\t\xa0", max_size=40))
def test_chunks_joined_are_the_text(text: str) -> None:
    assert "".join(split_chunks(text)) == text
    assert all(split_chunks(text))


def test_many_texts_at_once_are_counted_as_each_alone() -> None:
    counter = counter_of("cl100k_base")
    texts = ["One two.\n", "", " three", " four five.\n", "VAR X = 12345\n"]
    assert counter.texts(texts).tolist() == [counter.text(text) for text in texts]
    assert counter.texts([]).tolist() == []


def test_fresh_counts_are_the_chunk_counts() -> None:
    counter = counter_of("o200k_base")
    chunks = [" word", "word", "word.\n", " word.\n", " word\n\n", "", "7", " "]
    assert counter.fresh_counts(chunks).tolist() == counter.chunk_counts(chunks).tolist()
    assert counter.chunk_counts(chunks).dtype == np.int32

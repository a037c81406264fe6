"""gigatoken beside the exact tokenizers; what needs the package itself says so when it is skipped."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from tokenizers import AddedToken, Regex, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as RustTokenizer

from leadline.data.loading import load_local_model_path, load_tokenizer, quicken
from leadline.data.sources import Sources
from leadline.errors import DataError
from leadline.prompt import FrameCounter, named_frame
from leadline.run.schedule import audit, prove_tokenizer
from leadline.sampler import Sampler
from leadline.tasks.registry import make_task
from leadline.tokenizers import fast
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.counting import Counter
from leadline.tokenizers.fast import FastTokenizer, backend_of
from leadline.tokenizers.hugging_face import HuggingFaceTokenizer

NAMES = ["cl100k_base", "o200k_base", "hugging_face"]
NEW_LETTER = "\U000323b1"
"""A Chinese character that came with Unicode 17; older tables have nothing there."""

GPT_4_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
ATOMS = [
    *["a", "B", "The", " the", "'s", "'LL", "ing", ".", ",", "?!", "...", "/", "—", "“", "#", "1", "23", "1234567"],
    *[" ", "  ", "    ", "\n", "\n\n", "\r\n", "\t", "\x0b", "\x85", "\xa0", "\u2028", "\u3000", "\x00", "\x7f"],
    *["٣", "½", "é", "e\u0301", "ﬁ", "İ", "漢字", "かな", "한국어", "русский", "😀", "\u200b", "\ufffd", "𓀀"],
    *["<|im_start|>", "<|endoftext|>", "<|endofprompt|>", "<|im_", "VAR XYZ = 12345", NEW_LETTER],
]


class Letters:
    """A token is a character, its id the code point."""

    id = "letters"
    exact = True
    bos_tokens = 1

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def count(self, text: str) -> int:
        return len(self.encode(text))

    def count_in_place(self, texts: Sequence[str], before: str, after: str) -> npt.NDArray[np.int32]:
        return np.array([self.count(text) for text in texts], dtype=np.int32)

    def offsets(self, text: str) -> npt.NDArray[np.int64]:
        return np.arange(len(text))


class Encoder:
    """Letters as gigatoken would give them, some of them split into two tokens."""

    def __init__(self, split: str = "") -> None:
        self.split = split
        self.asked: list[str] = []

    def encode(self, text: str) -> npt.NDArray[np.uint32]:
        self.asked.append(text)
        return np.array([ord(c) for letter in text for c in letter * (1 + (letter in self.split))], dtype=np.uint32)


def beside(encoder: Encoder) -> FastTokenizer:
    return FastTokenizer(Letters(), lambda: encoder, "9.9", ["<s>"])


def byte_level(*, single_word: bool = False) -> HuggingFaceTokenizer:
    tokenizer = RustTokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(  # pyright: ignore[reportAttributeAccessIssue]
        [
            pre_tokenizers.Split(Regex(GPT_4_PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(
        ["the grass is green", "the sky is blue", "here we go, there and back again"], trainer
    )
    tokenizer.add_special_tokens([AddedToken("<|im_start|>", single_word=single_word)])
    return HuggingFaceTokenizer(tokenizer, "hf/small@0")


def exact_one(name: str) -> Tokenizer:
    return byte_level() if name == "hugging_face" else load_tokenizer(name)


@pytest.fixture
def installed() -> None:
    if fast.fast_version() is None:
        pytest.skip("gigatoken is not installed: nothing here compares it with the exact tokenizers")


def proven(name: str) -> FastTokenizer:
    tokenizer = quicken(exact_one(name))
    assert isinstance(tokenizer, FastTokenizer)
    assert tokenizer.prove(["The sky is blue.\n\nHere we go, there and back again."]) is None
    assert tokenizer.backend.startswith("gigatoken ")
    assert tokenizer.backend.endswith("(equal on 1 texts of this run)")
    return tokenizer


def test_without_the_package_a_tokenizer_stays_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "PACKAGE", "no-such-package")
    exact = exact_one("cl100k_base")
    assert quicken(exact) is exact
    assert backend_of(exact) == "exact"


def test_nothing_is_believed_before_it_is_proven() -> None:
    encoder = Encoder()
    tokenizer = beside(encoder)
    assert isinstance(tokenizer, Tokenizer)
    assert (tokenizer.id, tokenizer.exact, tokenizer.bos_tokens) == ("letters", True, 1)
    assert tokenizer.count("abc") == 3
    assert encoder.asked == []
    assert tokenizer.prove(["abc", "the sky"]) is None
    assert backend_of(tokenizer) == "gigatoken 9.9 (equal on 2 texts of this run)"
    encoder.asked.clear()
    assert tokenizer.count("abcd") == 4
    assert tokenizer.encode("ab") == [97, 98]
    assert tokenizer.count_in_place(["a", "abc", ""], "a\n", " a").tolist() == [1, 3, 0]
    assert len(encoder.asked) == 6
    assert tokenizer.offsets("abc").tolist() == [0, 1, 2]


@pytest.mark.parametrize(("split", "texts"), [("x", []), ("<", []), ("#", ["y" * 90 + "#"])])
def test_a_difference_is_told_and_the_exact_one_goes_on(split: str, texts: list[str]) -> None:
    encoder = Encoder(split)
    tokenizer = beside(encoder)
    difference = tokenizer.prove(texts)
    assert difference is not None
    assert re.search(
        rf"gigatoken makes \d+ tokens of a text and the exact tokenizer \d+, first at .*{split}", difference
    )
    assert tokenizer.backend == f"exact ({difference})"
    encoder.asked.clear()
    assert tokenizer.count(split * 3) == 3
    assert encoder.asked == []


def test_a_vocabulary_that_cannot_be_loaded_is_no_difference() -> None:
    def refuse() -> Encoder:
        raise RuntimeError("no single-byte entry for byte 0x04\n\nLocation:\n    somewhere")

    tokenizer = FastTokenizer(Letters(), refuse, "9.9")
    assert tokenizer.prove(["abc"]) is None
    assert tokenizer.backend == "exact (gigatoken cannot load the vocabulary: no single-byte entry for byte 0x04)"
    assert tokenizer.count("abc") == 3


def test_a_character_that_differs_goes_to_the_exact_one_and_spoils_nothing() -> None:
    encoder = Encoder("ж")
    tokenizer = beside(encoder)
    assert tokenizer.prove(["the ж", "the я"]) is None
    assert tokenizer.backend.endswith("(equal on 1 texts of this run)")
    assert tokenizer.count("жжж") == tokenizer.count("яяя") == 3
    assert tokenizer.count_in_place(["ж", "яж"], "", "").tolist() == [1, 2]
    assert not any("жжж" in text for text in encoder.asked)
    assert "яяя" in encoder.asked


def test_lone_surrogates_go_to_the_exact_one() -> None:
    tokenizer = beside(Encoder())
    assert tokenizer.prove([]) is None
    assert tokenizer.encode("a\ud800") == [97, 0xD800]


@pytest.mark.parametrize(("split", "reports"), [("", 0), ("v", 1)])
def test_a_run_proves_it_on_the_samples_of_its_audit(split: str, reports: int) -> None:
    tokenizer = beside(Encoder(split))
    frame = named_frame("base", tokenizer)
    sampler = Sampler(frame, FrameCounter(Counter(tokenizer), frame), Sources(offline=True), 42)
    said: list[str] = []
    prove_tokenizer(sampler, [make_task("niah_single_1"), make_task("vt")], [2048, 4096, 8192], said.append)
    assert len(said) == reports
    assert all("this run counts with the exact tokenizer" in message for message in said)
    assert tokenizer.backend.startswith("exact" if reports else "gigatoken 9.9 (equal on 8 texts")
    audit(sampler, [make_task("vt")], [4096], said.append)
    assert len(said) == reports


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", NAMES)
def test_ids_are_those_of_the_exact_tokenizer(name: str) -> None:
    exact, tokenizer = exact_one(name), proven(name)
    assert tokenizer.id == exact.id
    draws = random.Random(7)
    texts = ["".join(draws.choices(ATOMS, k=draws.randint(1, 12))) for _ in range(1500)]
    texts += ["".join(draws.choices("abcdefgh", k=draws.randint(1, 300))) for _ in range(100)]
    for text in texts:
        assert tokenizer.encode(text) == exact.encode(text)
        assert tokenizer.count(text) == exact.count(text)
    for before, after in [("a\n", " a"), ("a", "a"), ("", "")]:
        counts = tokenizer.count_in_place(texts[:200], before, after)
        assert counts.dtype == np.int32
        assert counts.tolist() == exact.count_in_place(texts[:200], before, after).tolist()
    assert tokenizer.count_in_place([], "a", "b").tolist() == []
    assert tokenizer.offsets(texts[0]).tolist() == exact.offsets(texts[0]).tolist()


@pytest.mark.usefixtures("installed")
def test_special_tokens_count_as_they_do_without_it() -> None:
    openai = proven("cl100k_base")
    assert openai.count("<|endoftext|>") == exact_one("cl100k_base").count("<|endoftext|>") > 1
    assert proven("hugging_face").count("<|im_start|>") == 1


@pytest.mark.usefixtures("installed")
def test_special_tokens_that_it_reads_otherwise_are_found() -> None:
    tokenizer = quicken(byte_level(single_word=True))
    assert isinstance(tokenizer, FastTokenizer)
    assert tokenizer.prove([]) is not None
    assert tokenizer.count("a<|im_start|>b") > 3


@pytest.mark.usefixtures("installed")
@pytest.mark.local_model
def test_the_vocabulary_of_the_model_in_the_box_stays_with_the_exact_one() -> None:
    try:
        path: Path = load_local_model_path()
    except DataError as error:
        pytest.skip(f"the model in the box is missing: {error}")
    exact = load_tokenizer(f"gguf/{path}")
    tokenizer = quicken(exact)
    assert isinstance(tokenizer, FastTokenizer)
    assert tokenizer.prove(["The sky is blue."]) is None
    assert tokenizer.backend.startswith("exact (gigatoken cannot load the vocabulary: ")
    assert tokenizer.encode("The sky is blue.") == exact.encode("The sky is blue.")


@pytest.mark.usefixtures("installed")
def test_a_tokenizer_of_another_kind_stays_what_it_is() -> None:
    letters = Letters()
    assert quicken(letters) is letters

"""The same tokens sooner: gigatoken in place of an exact tokenizer, once it has been proven equal to it.

gigatoken (extra ``fast``) reads tens of times faster than tiktoken and the tokenizers package. It is another
implementation of every vocabulary's rules, so nothing that it says is believed unseen. What is known to differ, with
gigatoken 0.10.0 against tiktoken 0.14.0 and tokenizers 0.23.3:

- it refuses vocabularies that lack a single byte (SmolLM2), and models, normalizers and patterns that it does not know;
- its tables are Unicode 17's: letters and marks that are new there are cut otherwise, so every character that is not
  ASCII is tried with both before a text that holds it is counted;
- it finds special tokens inside words where the vocabulary says ``single_word``;
- it takes no lone surrogates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from leadline.tokenizers.base import Tokenizer

if TYPE_CHECKING:
    from leadline.tokenizers.hugging_face import HuggingFaceTokenizer

PACKAGE = "gigatoken"

PATTERNS = {"cl100k_base": "gpt4", "o200k_base": "o200k"}
"""What gigatoken calls the pattern that cuts a text, by encoding."""

_EXCERPT = 24
"""Characters shown on either side of a difference."""

_UNTRIED, _DIFFERENT, _SAME = range(3)


class Encoder(Protocol):
    """What is used of gigatoken's Tokenizer."""

    def encode(self, text: str) -> npt.NDArray[np.uint32]:
        """Token ids; on the calling thread, without the interpreter's lock."""
        ...


def fast_version() -> str | None:
    """The version of gigatoken that is installed, or None."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None


def open_ranks(name: str, path: Path) -> Encoder:
    """An OpenAI encoding from its file of ranks.

    It is given no special tokens, since it would always recognise them and a text is to be counted as it is written.
    """
    return import_module(PACKAGE).Tokenizer.from_tiktoken(path, PATTERNS[name], {})


def open_hugging_face(exact: HuggingFaceTokenizer) -> Encoder:
    """A tokenizer of the tokenizers package, by its JSON."""
    definition = exact._tokenizer.to_str()  # pyright: ignore[reportPrivateUsage]
    return import_module(PACKAGE).Tokenizer.from_json(definition)


def added_tokens(exact: HuggingFaceTokenizer) -> list[str]:
    """The texts of the special and other added tokens, which are found before anything else is cut."""
    added = exact._tokenizer.get_added_tokens_decoder()  # pyright: ignore[reportPrivateUsage]
    return [token.content for token in added.values()]


def backend_of(tokenizer: Tokenizer) -> str:
    """What counts the tokens of this tokenizer, and why, for a run's manifest."""
    return tokenizer.backend if isinstance(tokenizer, FastTokenizer) else "exact"


class FastTokenizer:
    """An exact tokenizer whose encoding and counting gigatoken does from the moment that `prove` has found both equal.

    Until then, and after any difference, the exact one does everything. Its name stays the exact one's, since the
    tokens are the same; offsets are always its own.

    Args:
        exact: the tokenizer to be equal to.
        open_encoder: loads gigatoken's; not called before `prove`.
        version: gigatoken's, for `backend`.
        special: texts of the tokens that are found anywhere in a text.
    """

    def __init__(
        self, exact: Tokenizer, open_encoder: Callable[[], Encoder], version: str, special: Sequence[str] = ()
    ) -> None:
        self._exact = exact
        self._version = version
        self._open = open_encoder
        self._special = special
        self._encoder: Encoder | None = None
        self._characters = np.zeros(0, dtype=np.uint8)
        self.backend = "exact (gigatoken not yet proven)"
        """What counts, and why: for a run's manifest."""

    @property
    def id(self) -> str:
        """The exact tokenizer's."""
        return self._exact.id

    @property
    def exact(self) -> bool:
        """As the exact tokenizer says."""
        return self._exact.exact

    @property
    def bos_tokens(self) -> int:
        """As the exact tokenizer says."""
        return self._exact.bos_tokens

    def prove(self, texts: Iterable[str]) -> str | None:
        """Encode hard cases, the special tokens and these texts with both, and use gigatoken if all ids are equal.

        Returns:
            The first difference in words, or None; a vocabulary that gigatoken cannot load is none, and `backend`
            tells it.
        """
        self._encoder = None
        try:
            encoder = self._open()
        except Exception as error:  # noqa: BLE001  gigatoken has no exceptions of its own; nothing is lost but speed
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            self.backend = f"exact (gigatoken cannot load the vocabulary: {reason})"
            return None
        self._characters = np.zeros(0x110000, dtype=np.uint8)
        self._characters[:0x80] = _SAME
        self._characters[0xD800:0xE000] = _DIFFERENT
        proven = 0
        for given, text in _in_turn(self._special, texts):
            if not self._knows(text, encoder):
                continue  # such a text never reaches it
            difference = self._difference(text, encoder)
            if difference is not None:
                self.backend = f"exact ({difference})"
                return difference
            proven += given
        self._encoder = encoder
        self.backend = f"gigatoken {self._version} (equal on {proven} texts of this run)"
        return None

    def encode(self, text: str) -> list[int]:
        """Token ids of the text."""
        encoder = self._encoder
        if encoder is None or not self._knows(text, encoder):
            return self._exact.encode(text)
        return encoder.encode(text).tolist()

    def count(self, text: str) -> int:
        """Number of tokens of the text."""
        encoder = self._encoder
        if encoder is None or not self._knows(text, encoder):
            return self._exact.count(text)
        return len(encoder.encode(text))

    def count_in_place(self, texts: Sequence[str], before: str, after: str) -> npt.NDArray[np.int32]:
        """Tokens that each text takes between `before` and `after`, shape (len(texts),)."""
        encoder = self._encoder
        if encoder is None or not self._knows("".join((before, *texts, after)), encoder):
            return self._exact.count_in_place(texts, before, after)
        # One by one is half as fast as gigatoken's own batches, which take awkward's import and 20 MB with it.
        encode = encoder.encode
        counts = (len(encode(before + text + after)) for text in texts)
        return np.fromiter(counts, dtype=np.int32, count=len(texts)) - np.int32(len(encode(before + after)))

    def offsets(self, text: str) -> npt.NDArray[np.int64]:
        """Character at which each token begins, by the exact tokenizer."""
        return self._exact.offsets(text)

    def _knows(self, text: str, encoder: Encoder) -> bool:
        """Whether every character of the text is one that both cut alike; new characters are tried now."""
        if text.isascii():
            return True
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        states = self._characters[codes]
        if states.min() == _SAME:
            return True
        for code in np.unique(codes[states == _UNTRIED]).tolist():
            hard = _around(chr(code))
            same = self._exact.encode(hard) == encoder.encode(hard).tolist()
            self._characters[code] = _SAME if same else _DIFFERENT
        return bool(self._characters[codes].min() == _SAME)

    def _difference(self, text: str, encoder: Encoder) -> str | None:
        """Where the two differ on this text, in words."""
        exact, fast = self._exact.encode(text), encoder.encode(text).tolist()
        if exact == fast:
            return None
        pairs = zip(exact, fast, strict=False)
        first = next((i for i, (one, other) in enumerate(pairs) if one != other), min(len(exact), len(fast)))
        starts = self._exact.offsets(text)
        place = int(starts[first]) if first < len(starts) else len(text)
        excerpt = text[max(0, place - _EXCERPT) : place + _EXCERPT]
        return (
            f"gigatoken makes {len(fast)} tokens of a text and the exact tokenizer {len(exact)}, first at {excerpt!r}"
        )


def _in_turn(special: Sequence[str], texts: Iterable[str]) -> Iterable[tuple[bool, str]]:
    """Everything to be compared, cheapest first, and whether it is one of `texts`."""
    for text in _hard_cases(special):
        yield False, text
    for text in texts:
        yield True, text


def _hard_cases(special: Sequence[str]) -> list[str]:
    """Texts on which implementations of one vocabulary are the likeliest to part."""
    runs = [
        "a",
        "A",
        "aB",
        "1",
        "12 ",
        " ",
        "\n",
        " \n",
        "\r\n",
        "\t",
        "-",
        "=",
        "'s",
        "é",
        "e\u0301",
        "漢",
        "😀",
        "/\n",
    ]
    lengths = (2, 3, 4, 7, 16, 33, 300)
    words = "It's we'LL don't I'M x'd ''s O'Neil isn't'S 1,234,567.89 0x1F a/b//c ```py\n\n\n  def f(x):\n\treturn 'é'"
    return [
        "",
        "\n".join(_around(chr(code)) for code in range(0x80)),
        *(f"x{run * length}y {run * length}" for run in runs for length in lengths),
        words,
        words.upper(),
        *(f"{left}{words}{right}" for left in (" ", "\n", "  \n") for right in (" ", "\n", "\n\n ")),
        "".join(
            f"a {token} b{token}\n{token}a\n\n{token} é{token[:-1]} {token}{token}  {token}1 " for token in special
        ),
    ]


def _around(character: str) -> str:
    """One character in places that tell a letter from a mark, a digit, a sign and white space."""
    c = character
    return f"a{c}b {c} 1{c}{c}2\n{c}'s{c}.x {c}.The!{c}\n\n {c}a  {c}ABcd{c}E{c}, e{c}\r\n{c}/"

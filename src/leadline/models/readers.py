"""Readers: backends whose true effective length is known, to check the tool against.

They look at the sample that a request carries, which no real backend does. Each is deterministic.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from leadline.errors import UsageError
from leadline.items import Sample
from leadline.models.curves import Logistic, Middle, Tie, copier, neighbour
from leadline.models.failing import FAILING
from leadline.requests import Abilities, ModelFacts, Request, Response
from leadline.tokenizers.base import Tokenizer

CONCURRENCY = 32


class Reads(Protocol):
    """What a reader answers, given the sample and the text it was sent."""

    def __call__(self, sample: Sample, text: str, tokenizer: Tokenizer) -> str | Response:
        """The answer; as a response where it does not end by itself."""
        ...


def _listed(items: list[str]) -> str:
    return " " + ", ".join(items)


def oracle(sample: Sample, text: str, tokenizer: Tokenizer) -> str:
    """Knows every answer."""
    return _listed([forms[0] for forms in sample.plan.answers])


def empty(sample: Sample, text: str, tokenizer: Tokenizer) -> str:
    """Says nothing."""
    return ""


def echo(sample: Sample, text: str, tokenizer: Tokenizer) -> str:
    """Gives the whole message back, which recall alone would score 100."""
    return sample.text


def wrong(sample: Sample, text: str, tokenizer: Tokenizer) -> str:
    """Gives something of the right form that is never right."""
    return _listed([_altered(forms[0], sample) for forms in sample.plan.answers])


def _altered(answer: str, sample: Sample) -> str:
    """The answer with every digit and letter moved on, so far that it is nothing that stands in the message."""
    alphabets = ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    message = sample.text.lower()
    for step in range(1, 26):
        moved = answer
        for alphabet in alphabets:
            turned = alphabet[step % len(alphabet) :] + alphabet[: step % len(alphabet)]
            moved = moved.translate(str.maketrans(alphabet, turned))
        if moved.lower() not in message:
            return moved
    return "nothing of the kind"


@dataclass(frozen=True, slots=True)
class Window:
    """Sees only the last `tokens` tokens of the request and gives the answers that stand there."""

    tokens: int

    def __call__(self, sample: Sample, text: str, tokenizer: Tokenizer) -> str:
        """The answers within the window."""
        starts = tokenizer.offsets(text)
        seen = text if len(starts) <= self.tokens else text[int(starts[-self.tokens]) :]
        found = [form for forms in sample.plan.answers for form in forms[:1] if form in seen]
        return _listed(found) if found else ""


@dataclass(frozen=True, slots=True)
class Limit:
    """Right up to `tokens` tokens of request, answer included; blind above."""

    tokens: int

    def __call__(self, sample: Sample, text: str, tokenizer: Tokenizer) -> str:
        """The oracle's answer, or nothing."""
        if sample.fit.prompt_tokens + sample.max_tokens > self.tokens:
            return ""
        return oracle(sample, text, tokenizer)


_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"[^\W_]+")
_VALUE = re.compile(r"(?<![\w-])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{3,}|[A-Z][A-Za-z]+)(?![\w-])")
"""What may be an answer: a UUID, a number, a name."""

_SMALL_WORDS = (
    "a an the this that these those of in on at to from by for with about as and or but not nothing is are was were be "
    "been being has have had do does did will would can could may might which what who whom whose where when why how "
    "there it its he she his her they their i you your all some any one"
)
"""Words that say nothing of what is asked for."""


def literal(sample: Sample, text: str, tokenizer: Tokenizer) -> str:
    """Finds nothing but words: what stands nearest to them in the sentence that shares most with the question.

    The question is the message's last sentence that ends with a question mark, or its last one. A shared word counts
    the more the rarer it is in the message; of sentences with the same count each gives what stands in it. It sees the
    message alone, nothing of what the sample says of itself.
    """
    sentences = [sentence for sentence in _SENTENCE_END.split(sample.text) if sentence.strip()]
    asking = [number for number, sentence in enumerate(sentences) if sentence.rstrip().endswith("?")]
    last = asking[-1] if asking else len(sentences) - 1
    asked = _content_words(sentences[last])
    frequency = Counter(_content_words(sample.text))
    best, found = 0.0, list[str]()
    for sentence in sentences[:last]:
        shared = set(_content_words(sentence)) & set(asked)
        value = _nearest_value(sentence, shared, set(asked)) if shared else None
        if value is None:
            continue
        weight = math.fsum(1 / frequency[word] for word in shared)
        if weight > best and not math.isclose(weight, best):
            best, found = weight, []
        if math.isclose(weight, best):
            found.append(value)
    return _listed(list(dict.fromkeys(found))) if found else ""


def _content_words(text: str) -> list[str]:
    """Words but for the small ones, in lower case and without a plural's s."""
    small = frozenset(_SMALL_WORDS.split())
    words = (word.lower() for word in _WORD.findall(text))
    return [word.removesuffix("s") if len(word) > 3 else word for word in words if word not in small]


def _nearest_value(sentence: str, shared: set[str], asked: set[str]) -> str | None:
    """The value nearest to a shared word.

    The sentence's first word is no name, since any would have its capital; nor is a small word, as in a piece's title.
    """
    places = [match.start() for match in _WORD.finditer(sentence) if shared & set(_content_words(match[0]))]
    start = len(sentence) - len(sentence.lstrip(" \"'“‘_*(-—"))
    values = [
        match
        for match in _VALUE.finditer(sentence)
        if (match.start() > start or match[0][0].isdigit())
        and (content := set(_content_words(match[0])))
        and not asked & content
    ]
    if not values or not places:
        return None
    return min(values, key=lambda match: min(abs(match.start() - place) for place in places))[0]


@dataclass(frozen=True, slots=True)
class ReaderKind:
    """A reader's entry: what it does and what it takes."""

    about: str
    make: Callable[[Mapping[str, int]], Reads]
    options: tuple[str, ...] = ()


READERS: dict[str, ReaderKind] = {
    "oracle": ReaderKind("knows every answer", lambda options: oracle),
    "empty": ReaderKind("says nothing", lambda options: empty),
    "echo": ReaderKind("gives the whole message back", lambda options: echo),
    "wrong": ReaderKind("gives something of the right form that is never right", lambda options: wrong),
    "literal": ReaderKind("returns what stands beside the words of the question", lambda options: literal),
    "window": ReaderKind(
        "sees only the last N tokens of the request", lambda options: Window(options["tokens"]), ("tokens",)
    ),
    "limit": ReaderKind(
        "right up to N tokens of request, blind above", lambda options: Limit(options["tokens"]), ("tokens",)
    ),
    "logistic": ReaderKind(
        "right with a probability that falls with the length, to a half at N",
        lambda options: Logistic(options["half"]),
        ("half",),
    ),
    "middle": ReaderKind("right less often in the middle of the context, by P per cent", Middle.of, ("dip",)),
    "tie": ReaderKind("right on exactly P of every hundred items", Tie.of, ("at",)),
    "copier": ReaderKind("copies the worked example, or a stretch of the context", lambda options: copier),
    "neighbour": ReaderKind("gives what stands beside the right thing", lambda options: neighbour),
    **{failing.name: ReaderKind(failing.about, lambda options, made=failing: made) for failing in FAILING},
}


class Reader:
    """A reader as a backend."""

    def __init__(self, name: str, reads: Reads, tokenizer: Tokenizer) -> None:
        self._name = name
        self._reads = reads
        self._tokenizer = tokenizer

    def abilities(self) -> Abilities:
        """It reads rendered text of any length and continues an answer that was begun for it."""
        return Abilities(prefill=True, template="local", max_concurrency=CONCURRENCY)

    def facts(self) -> ModelFacts:
        """Its name is all there is to tell."""
        return ModelFacts(self._name)

    def tokenizer(self) -> Tokenizer:
        """The tokenizer it was given."""
        return self._tokenizer

    async def answer(self, request: Request) -> Response:
        """What this reader makes of the request's sample."""
        if request.sample is None or request.text is None:
            raise ValueError("a reader needs the sample and the rendered text with the request")
        said = self._reads(request.sample, request.text, self._tokenizer)
        return said if isinstance(said, Response) else Response(said)

    async def aclose(self) -> None:
        """Nothing to let go of."""


def open_reader(name: str, options: Mapping[str, str], tokenizer: Tokenizer) -> Reader:
    """The reader ``reader/NAME?option=value``.

    Raises:
        UsageError: no such reader, or options that it does not take.
    """
    if name not in READERS:
        raise UsageError(f"there is no reader {name!r}: give one of {', '.join(f'reader/{key}' for key in READERS)}")
    kind = READERS[name]
    if set(options) != set(kind.options):
        wanted = "&".join(f"{option}=N" for option in kind.options)
        raise UsageError(f"reader/{name} takes {f'?{wanted}' if wanted else 'no options'}, not {dict(options)}")
    values: dict[str, int] = {}
    for option, value in options.items():
        if not value.isdecimal() or int(value) < 1:
            raise UsageError(
                f"reader/{name}: {option}={value!r} is not a whole number from 1 on: write it in digits alone"
            )
        values[option] = int(value)
    query = "&".join(f"{option}={value}" for option, value in values.items())
    return Reader(f"reader/{name}" + (f"?{query}" if query else ""), kind.make(values), tokenizer)

"""Documents to hide an answer among, and the questions that they answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from leadline.seeds import Draws
from leadline.tokenizers.counting import Counter

Ids = npt.NDArray[np.int64]

SEPARATOR = "\n\n"
"""What ends a document in a prompt, and in the store."""

_HELD_BYTES = 4 << 20
"""A data set up to this size is held as strings, which are twice as fast to join as they are to decode."""

_LABEL_BLOCK = 1024
_ENDED = len(SEPARATOR)


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """The distinct paragraphs of a data set, in the order of their source.

    Attributes:
        data: all texts in UTF-8, each followed by a blank line; may be a file that is mapped into memory.
        starts: byte at which each document begins, and a sentinel: the text of document i is
            ``data[starts[i] : starts[i + 1] - 2]``, shape (documents + 1,).
        article_starts: first document of each article, and a sentinel, shape (articles + 1,). An article's documents
            stand side by side; where a data set has no articles each document is one.
    """

    data: memoryview
    starts: Ids
    article_starts: Ids
    _counts: dict[str, npt.NDArray[np.int32]] = field(
        default_factory=dict[str, npt.NDArray[np.int32]], init=False, repr=False
    )
    _label_counts: dict[str, Ids] = field(default_factory=dict[str, Ids], init=False, repr=False)
    _labels: list[str] = field(default_factory=list[str], init=False, repr=False)
    _texts: list[str] = field(default_factory=list[str], init=False, repr=False)

    def __len__(self) -> int:
        """Number of documents."""
        return len(self.starts) - 1

    def text(self, index: int) -> str:
        """The text of one document."""
        return str(self.data[int(self.starts[index]) : int(self.starts[index + 1]) - _ENDED], "utf-8")

    @property
    def mean_bytes(self) -> float:
        """Mean size of a document with the blank line after it."""
        return len(self.data) / len(self)

    def article_of(self, index: int) -> tuple[int, int]:
        """First document of the article that document `index` belongs to, and the first one after the article."""
        place = int(np.searchsorted(self.article_starts, index, side="right"))
        return int(self.article_starts[place - 1]), int(self.article_starts[place])

    def numbered(self, indices: Ids, first: int) -> str:
        r"""Documents as a prompt shows them, ``Document {i}:\n{text}``, joined by blank lines.

        Args:
            indices: which, in order, at least one.
            first: number of the first one.
        """
        self._make_labels(first + len(indices))
        labels = self._labels[first : first + len(indices)]
        if len(self.data) <= _HELD_BYTES:
            texts = self._held_texts()
            pieces = [""] * (2 * len(indices))
            pieces[0::2] = labels
            pieces[1::2] = [texts[index] for index in indices.tolist()]
            pieces[-1] = pieces[-1][:-_ENDED]
            return "".join(pieces)
        starts, ends = self.starts[indices].tolist(), self.starts[indices + 1].tolist()
        parts: list[bytes | memoryview] = [b""] * (2 * len(indices))
        parts[0::2] = [text.encode() for text in labels]
        parts[1::2] = [self.data[start:end] for start, end in zip(starts, ends, strict=True)]
        return b"".join(parts)[:-_ENDED].decode()

    def counts(self, counter: Counter, indices: Ids) -> npt.NDArray[np.int32]:
        """Tokens of each document with the blank line after it, where it stands below its label, shape (n,).

        Documents are counted when they are first asked for, once per tokenizer.
        """
        known = self._counts.get(counter.tokenizer.id)
        if known is None:
            known = np.zeros(len(self), dtype=np.int32)  # 0 is unknown: a document has at least one token
            self._counts[counter.tokenizer.id] = known
        counts = known[indices]
        if not counts.all():
            missing = np.unique(indices[counts == 0])
            # Counted below a label, because some tokenizers take a slash at the beginning into what stands before it;
            # and whole, because to remember the chunks of so much text would take more memory than the text.
            above = label(1)[label(1).index(" ") :]
            texts = [f"{above}{self.text(index)}{SEPARATOR}" for index in missing.tolist()]
            known[missing] = counter.fresh_counts(texts) - counter.text(above)
            counts = known[indices]
        return counts

    def label_counts(self, counter: Counter, upto: int) -> Ids:
        r"""Tokens of the first 0, 1, ... `upto` labels (``Document {i}:\n``), shape (upto + 1,)."""
        known = self._label_counts.get(counter.tokenizer.id, np.zeros(1, dtype=np.int64))
        if len(known) <= upto:
            numbers = range(len(known), max(upto, len(known) + _LABEL_BLOCK) + 1)
            counts = counter.texts([label(number) for number in numbers])
            known = np.concatenate([known, known[-1] + np.cumsum(counts, dtype=np.int64)])
            self._label_counts[counter.tokenizer.id] = known
        return known[: upto + 1]

    def _held_texts(self) -> list[str]:
        """All texts, each with the blank line after it."""
        if not self._texts:
            self._texts.extend(f"{self.text(index)}{SEPARATOR}" for index in range(len(self)))
        return self._texts

    def _make_labels(self, count: int) -> None:
        if len(self._labels) < count:
            numbers = range(len(self._labels), max(count, len(self._labels) + _LABEL_BLOCK))
            self._labels.extend(label(number) for number in numbers)


@dataclass(frozen=True, slots=True)
class Question:
    """A question on documents.

    Attributes:
        text: the question.
        answers: accepted answers, distinct, in the order of the annotators.
        own: the documents that come with the question, the gold ones among them.
        gold: those of them that hold the answer.
    """

    text: str
    answers: tuple[str, ...]
    own: tuple[int, ...]
    gold: tuple[int, ...]

    def as_json(self) -> bytes:
        """The question as a line of a file, without its newline."""
        values = [self.text, self.answers, self.own, self.gold]
        return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    @classmethod
    def from_json(cls, line: bytes) -> Question:
        """The question that `as_json` wrote."""
        text, answers, own, gold = json.loads(line)
        return cls(text, tuple(answers), tuple(own), tuple(gold))


@dataclass(frozen=True, slots=True, eq=False)
class QuestionSet:
    """A data set of questions and the documents that they are on.

    Attributes:
        documents: all its documents.
        lines: its questions in the order of their source, each as `Question.as_json` writes it with a newline.
        starts: byte at which each line begins, and a sentinel, shape (questions + 1,).
        sha256: hash of documents, articles and questions, for the run's identity (32 hexadecimal digits).
    """

    documents: Documents
    lines: memoryview
    starts: Ids
    sha256: str

    def __len__(self) -> int:
        """Number of questions."""
        return len(self.starts) - 1

    def question(self, index: int) -> Question:
        """The question of this index."""
        return Question.from_json(bytes(self.lines[int(self.starts[index]) : int(self.starts[index + 1])]))


def label(number: int) -> str:
    """What stands above a document in a prompt (RULER, paper table 8)."""
    return f"Document {number}:\n"


def drawn(draws: Draws, size: int, count: int, without: Ids) -> Ids:
    """`count` different indices of range(size) in random order, none in `without` (distinct), shape (count,).

    They are the first occurrences in a stream of random indices, so a longer draw begins with the shorter one, and a
    draw that is small beside the pool costs no more than itself.

    Raises:
        IndexError: the pool has fewer.
    """
    if count + len(without) > size:
        raise IndexError(f"{count} of a pool of {size} without {len(without)}")
    # Of a stream of m indices, about size x (1 - exp(-m / size)) differ.
    wanted = min(count + len(without), size - 1)
    more = int(-size * np.log1p(-wanted / size) * 1.1) + 32
    stream = np.zeros(0, dtype=np.int64)
    first = np.empty(size, dtype=np.int64)  # read only where it was written
    while True:
        stream = np.concatenate([stream, (draws.fractions(more) * size).astype(np.int64)])
        order = np.arange(len(stream))
        first[stream[::-1]] = order[::-1]  # of equal indices the last assignment stays: the first occurrence
        first[without] = -1
        found = stream[first[stream] == order]
        if len(found) >= count:
            return found[:count]

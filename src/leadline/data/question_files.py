"""Questions and their documents out of the files that carry them, in the format of SQuAD or of HotpotQA.

Both become one canonical form, whatever the source: distinct paragraphs in the order of the file, and the questions
that have an answer. Texts, questions and answers lose the white space at their ends and get newlines for carriage
returns, which is all that exact counting asks for; inside they stay as they are. A HotpotQA paragraph is its title, a
newline, and its sentences joined as they stand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from leadline.errors import UsageError
from leadline.haystacks.documents import Question

Format = Literal["squad", "hotpotqa"]

_SHAPES = (
    'SQuAD: {"data": [{"title", "paragraphs": [{"context", "qas": [{"question", "answers": [{"text"}]}]}]}]}, '
    'or HotpotQA: [{"question", "answer", "context": [[title, [sentences]]], "supporting_facts": [[title, number]]}]'
)


class _Answer(BaseModel):
    text: str


class _Asked(BaseModel):
    question: str
    answers: list[_Answer]
    is_impossible: bool = False


class _Paragraph(BaseModel):
    context: str
    qas: list[_Asked]


class _Article(BaseModel):
    title: str = ""
    paragraphs: list[_Paragraph]


class _Hop(BaseModel):
    question: str
    answer: str
    context: list[tuple[str, list[str]]]
    supporting_facts: list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Article:
    """New documents of one article."""

    documents: tuple[str, ...]


_Model = TypeVar("_Model", bound=BaseModel)


def read_questions(file: Path) -> tuple[Format, Iterator[Article | Question]]:
    """The format of a file, and its articles and questions in order.

    A question comes after its documents, whose ids count the documents that have come so far. What has no answer is
    left out, its documents are not. Entries of a list are read one by one, so that a large file is not held in objects.

    Raises:
        UsageError: one line that names the entry and the field that is not as it should be.
    """
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{file} cannot be read ({error.strerror or error}): give a JSON file of questions") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 text ({error.reason}): save it as UTF-8") from error
    beginning = text[:1000].lstrip()[:1]
    if beginning == "{":
        return "squad", _squad(file, text)
    if beginning == "[":
        return "hotpotqa", _hotpotqa(file, text)
    raise UsageError(f"{file} holds neither a JSON object nor a list: give one of {_SHAPES}")


class _Known:
    """The ids of the documents so far, by a hash of their texts: the texts themselves are not held."""

    def __init__(self) -> None:
        self._ids: dict[bytes, int] = {}

    def id_of(self, text: str) -> tuple[int, bool]:
        """The document's id, and whether it is new."""
        count = len(self._ids)
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        found = self._ids.setdefault(key, count)
        return found, found == count


def _squad(file: Path, text: str) -> Iterator[Article | Question]:
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise _no_json(file, error) from error
    if not isinstance(raw.get("data"), list):
        raise UsageError(f"{file} has no list called data: give one of {_SHAPES}")
    known = _Known()
    for number, entry in enumerate(raw["data"]):
        article = _valid(_Article, entry, file, f"data.{number}")
        new: list[str] = []
        questions: list[Question] = []
        for place, paragraph in enumerate(article.paragraphs):
            context = clean(paragraph.context)
            if not context:
                raise _wrong(file, f"data.{number}.paragraphs.{place}.context", "it is empty")
            document, is_new = known.id_of(context)
            if is_new:
                new.append(context)
            for asked in paragraph.qas:
                answers = () if asked.is_impossible else _forms([answer.text for answer in asked.answers])
                if answers:
                    questions.append(Question(clean(asked.question), answers, (document,), (document,)))
        if new:
            yield Article(tuple(new))
        yield from questions


def _hotpotqa(file: Path, text: str) -> Iterator[Article | Question]:
    known = _Known()
    for number, entry in enumerate(_entries(file, text)):
        hop = _valid(_Hop, entry, file, str(number))
        own: dict[str, int] = {}
        for place, (title, sentences) in enumerate(hop.context):
            paragraph = clean(f"{title}\n{''.join(sentences)}")
            if not paragraph:
                raise _wrong(file, f"{number}.context.{place}", "it is empty")
            document, is_new = known.id_of(paragraph)
            own[title] = document
            if is_new:
                yield Article((paragraph,))
        supporting = list(dict.fromkeys(title for title, _ in hop.supporting_facts))
        strange = [title for title in supporting if title not in own]
        if strange or not supporting:
            reason = f"{strange[0]!r} is no title of its context" if strange else "it names no paragraph"
            raise _wrong(file, f"{number}.supporting_facts", reason)
        answers = _forms([hop.answer])
        if answers:
            gold = tuple(dict.fromkeys(own[title] for title in supporting))
            yield Question(clean(hop.question), answers, tuple(dict.fromkeys(own.values())), gold)


def _entries(file: Path, text: str) -> Iterator[Any]:
    """The elements of a JSON list, one at a time."""
    decoder = json.JSONDecoder()
    place = _past_space(text, text.index("[") + 1)
    if text[place : place + 1] == "]":
        return
    while True:
        try:
            entry, place = decoder.raw_decode(text, place)
        except ValueError as error:
            raise _no_json(file, error) from error
        yield entry
        place = _past_space(text, place)
        separator = text[place : place + 1]
        if separator == "]":
            return
        if separator != ",":
            raise _no_json(file, ValueError(f"a comma is missing at character {place}"))
        place = _past_space(text, place + 1)


def _past_space(text: str, place: int) -> int:
    while text[place : place + 1] in (" ", "\t", "\r", "\n"):
        place += 1
    return place


def clean(text: str) -> str:
    """The text without white space at its ends, its lines ended by newlines alone; half characters become ``?``."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _forms(answers: list[str]) -> tuple[str, ...]:
    """The distinct answers that are not empty."""
    return tuple(dict.fromkeys(form for answer in answers if (form := clean(answer))))


def _valid(model: type[_Model], entry: Any, file: Path, where: str) -> _Model:
    try:
        return model.model_validate(entry)
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join([where, *(str(part) for part in problem["loc"])])
        raise _wrong(file, field, problem["msg"]) from error


def _wrong(file: Path, field: str, reason: str) -> UsageError:
    first = reason[:1].lower() + reason[1:]
    return UsageError(f"{file}, entry {field}: {first}; correct it, or take the entry out")


def _no_json(file: Path, error: ValueError) -> UsageError:
    return UsageError(f"{file} is not valid JSON ({error}): correct it, or give another file")

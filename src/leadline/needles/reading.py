"""Needle sets in the format that NoLiMa publishes: a JSON list of entries, each a wording with several tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from leadline.errors import DataError, UsageError
from leadline.needles.placeholders import CHARACTER, fill, has, numbers
from leadline.needles.sets import NeedleSet, Pair, QuestionType, Reasoning

Text = Annotated[str, Field(min_length=1)]


class _Test(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    input_args: list[str] = []
    gold_answers: list[Text] | None = None


class _Entry(BaseModel):
    id: str = Field(pattern=r"^\d{4}")
    reasoning_type: Reasoning
    system_prompt: str | None = None
    task_template: str | None = None
    needle: Text
    questions: dict[QuestionType, Text] = Field(min_length=1)
    character_set: list[Text] = []
    tests: dict[str, _Test] = Field(min_length=1)
    distractors: dict[QuestionType, Text] | None = None


def read_needle_file(path: Path) -> NeedleSet:
    """The needle set of a file, called as the file is.

    Raises:
        UsageError: there is no such file.
        DataError: it is not JSON, or not in the format.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"the needle set {path} cannot be read ({error.strerror}): give a JSON file") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text (byte {error.start}): give a needle set as JSON") from error
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{path} is not JSON (line {error.lineno}: {error.msg}): give a needle set as JSON") from error
    return read_needle_set(data, path.name)


def read_needle_set(data: object, name: str) -> NeedleSet:
    """The needle set of a file's data.

    ``{k}`` in a needle, question or distractor is the k-th of a test's `input_args`; ``{CHAR}`` is the name that is
    drawn for a trial. Fields beyond the format's are ignored. Each distinct pair comes once.

    Raises:
        DataError: something is missing or contradicts itself; names the file, the entry's id and the field.
    """
    if not isinstance(data, list) or not data:
        raise DataError(f"{name}: a needle set is a JSON list of entries, not {_kind(data)}")
    pairs: dict[tuple[str, str, str | None], Pair] = {}
    duplicates: list[tuple[str, str]] = []
    seen: set[str] = set()
    for number, raw in enumerate(data, 1):
        entry = _entry(raw, name, number)
        if entry.id in seen:
            raise DataError(f"{name}: entry {entry.id}, field id: it occurs twice, give each entry an id of its own")
        seen.add(entry.id)
        for pair in _pairs(entry, name):
            first = pairs.setdefault((pair.needle_template, pair.question_template, pair.task_template), pair)
            if first is not pair:
                duplicates.append((pair.id, first.id))
    return NeedleSet(name, tuple(pairs.values()), tuple(duplicates))


def _kind(data: object) -> str:
    return "an empty list" if data == [] else type(data).__name__


def _entry(raw: object, name: str, number: int) -> _Entry:
    try:
        return _Entry.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "(all)"
        given = raw.get("id") if isinstance(raw, dict) else None
        which = given if isinstance(given, str) and given else f"number {number}"
        value = "" if first["type"] == "missing" else f", not {first['input']!r:.60}"
        message = " ".join(f"{first['msg']}{value}".split())
        raise DataError(f"{name}: entry {which}, field {field}: {message}") from error


def _pairs(entry: _Entry, name: str) -> Iterator[Pair]:
    """The entry's pairs: its tests in order, each with its question types in order."""
    _check(entry, name)
    distractors = entry.distractors or {}
    drawn = has(entry.needle, CHARACTER)
    for test, content in entry.tests.items():
        arguments = {str(number): value for number, value in enumerate(content.input_args, 1)}
        for hops, question in entry.questions.items():
            distractor = distractors.get(hops)
            yield Pair(
                entry=entry.id,
                test=test,
                hops=hops,
                order="inverted" if entry.id.lower().endswith("inv") else "default",
                reasoning=entry.reasoning_type,
                needle_template=fill(entry.needle, arguments),
                question_template=fill(question, arguments),
                gold_answers=None if drawn else tuple(content.gold_answers or ()),
                system_prompt=entry.system_prompt,
                task_template=entry.task_template,
                distractor_template=None if distractor is None else fill(distractor, arguments),
                characters=tuple(entry.character_set),
                needle_keywords=tuple(arguments[str(number)] for number in numbers(entry.needle)),
                question_keywords=tuple(arguments[str(number)] for number in numbers(question)),
            )


def _check(entry: _Entry, name: str) -> None:
    """Contradictions between the fields of an entry."""

    def wrong(field: str, reason: str) -> DataError:
        return DataError(f"{name}: entry {entry.id}, field {field}: {reason}")

    if entry.task_template is not None:
        for needed in ("haystack", "question"):
            if not has(entry.task_template, needed):
                raise wrong("task_template", f"it has no {{{needed}}}, give it a place")
    drawn = has(entry.needle, CHARACTER)
    if drawn and not entry.character_set:
        raise wrong("character_set", "the needle has {CHAR} and there is no name to draw, give some")
    texts = {"needle": entry.needle}
    texts |= {f"questions.{hops}": text for hops, text in entry.questions.items()}
    texts |= {f"distractors.{hops}": text for hops, text in (entry.distractors or {}).items()}
    for test, content in entry.tests.items():
        for field, text in texts.items():
            beyond = [number for number in numbers(text) if number > len(content.input_args)]
            if beyond:
                count = len(content.input_args)
                raise wrong(field, f"it has {{{beyond[0]}}}, and test {test} gives {count} input_args")
        if not drawn and not content.gold_answers:
            raise wrong(f"tests.{test}.gold_answers", "the needle has no {CHAR}, say which answers are right")

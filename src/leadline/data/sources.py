"""Everything that samples are made of, loaded when it is first asked for."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Literal, get_args

from leadline.data.added import all_added, find_added
from leadline.data.books import load_books
from leadline.data.catalogue import find_entry
from leadline.data.english_words import larger_words
from leadline.data.holdings import get
from leadline.data.needle_files import load_needles
from leadline.data.prose_file import kept_prose
from leadline.data.question_cache import kept_questions
from leadline.errors import DataError, UsageError
from leadline.haystacks.books import Book
from leadline.haystacks.coded_words import CodedWordPool
from leadline.haystacks.documents import QuestionSet
from leadline.haystacks.pools import NumberPool, Pool, UuidPool, WordPool
from leadline.haystacks.prose import Prose
from leadline.haystacks.vocabulary import Vocabulary
from leadline.haystacks.words import WordLists, plain_words
from leadline.items import digest
from leadline.needles.sets import NeedleSet

PoolKind = Literal["word", "number", "uuid"]

_PROSE = ("essays",)
_QUESTIONS = ("squad", "hotpotqa")


class Sources:
    """What tasks draw from. Each thing is loaded once, when it is first asked for.

    Args:
        offline: do not fetch what is missing.
    """

    def __init__(self, offline: bool = False) -> None:
        self.offline = offline
        self._prose: dict[str, Prose] = {}
        self._pools: dict[PoolKind, Pool] = {}
        self._questions: dict[str, QuestionSet] = {}
        self._words: WordLists | None = None
        self._vocabulary: Vocabulary | None = None
        self._coded_words: dict[int, CodedWordPool] = {}
        self._books: dict[str, tuple[Book, ...]] = {}
        self._needles: dict[tuple[str, str], NeedleSet] = {}
        self._hashes: dict[str, str] = {}

    def prose(self, name: str = "essays") -> Prose:
        """Running prose.

        Raises:
            UsageError: no prose of this name.
            DataError: it is not in the cache and cannot be fetched, or is damaged.
        """
        if name not in _PROSE:
            raise UsageError(f"no prose is called {name!r}: choose one of {', '.join(_PROSE)}")
        if name not in self._prose:
            raw = json.loads(get(name, offline=self.offline).read_bytes())["text"]
            self._prose[name] = kept_prose(raw)
            self._hashes[name] = self._prose[name].sha256
        return self._prose[name]

    def questions(self, name: str) -> QuestionSet:
        """Questions and their documents: ``squad``, ``hotpotqa``, or what the user has added.

        Raises:
            UsageError: no questions of this name.
            DataError: they are not in the cache and cannot be fetched, or are damaged.
        """
        if name not in self._questions:
            self._questions[name] = self._load_questions(name)
            # What the user adds may be called like something else that is hashed ("words").
            label = name if name in _QUESTIONS else f"added/{name}"
            self._hashes[label] = self._questions[name].sha256
        return self._questions[name]

    def books(self, name: str) -> tuple[Book, ...]:
        """Haystacks of lines: ``open``, ``official``, or a folder.

        Raises:
            UsageError: there is no such folder, or it holds no text.
            DataError: they cannot be read or fetched.
        """
        if name not in self._books:
            self._books[name] = load_books(name, offline=self.offline)
            self._hashes[f"haystack {name}"] = digest(*(book.sha256 for book in self._books[name]))
        return self._books[name]

    def needles(self, name: str, variant: str) -> NeedleSet:
        """Needles and questions: ``open``, ``official``, or a file.

        Raises:
            UsageError: there is no such set or variant.
            DataError: a file is not in the format.
        """
        if (name, variant) not in self._needles:
            self._needles[name, variant] = load_needles(name, variant)
            self._hashes[f"needles {name} {variant}"] = self._needles[name, variant].digest
        return self._needles[name, variant]

    def words(self) -> WordLists:
        """The word lists of the wonderwords package."""
        if self._words is None:
            self._words = WordLists(
                adjectives=_wonderwords("adjectivelist.txt"),
                nouns=_wonderwords("nounlist.txt"),
                verbs=_wonderwords("verblist.txt"),
            )
            self._hashes["words"] = self._words.sha256
        return self._words

    def vocabulary(self) -> Vocabulary:
        """The words of numbered lists: the familiar ones of the wonderwords package, then a larger list."""
        if self._vocabulary is None:
            words, larger = self.words(), larger_words()
            self._vocabulary = Vocabulary([*words.nouns, *words.adjectives, *words.verbs], larger)
            self._hashes["larger words"] = digest("\n".join(larger))
        return self._vocabulary

    def coded_words(self, length: int) -> CodedWordPool:
        """Random words of this many letters."""
        if length not in self._coded_words:
            self._coded_words[length] = CodedWordPool(length)
        return self._coded_words[length]

    def pool(self, kind: PoolKind) -> Pool:
        """The pool of words (adjective-noun), of 7-digit numbers, or of UUIDs.

        Raises:
            UsageError: another kind.
        """
        if kind not in self._pools:
            self._pools[kind] = self._make_pool(kind)
        return self._pools[kind]

    def hashes(self) -> dict[str, str]:
        """Hashes of all that was asked for so far and could differ elsewhere, for the run's identity."""
        return dict(sorted(self._hashes.items()))

    def _load_questions(self, name: str) -> QuestionSet:
        if name in _QUESTIONS:
            return kept_questions(find_entry(name).sha256, lambda: get(name, offline=self.offline))
        added = find_added(name)
        if added is None:
            known = ", ".join((*_QUESTIONS, *(found.name for found in all_added())))
            raise UsageError(
                f"no questions are called {name!r}: choose one of {known}, "
                f"or add a file with  leadline data add FILE --name {name}"
            )
        return kept_questions(added.sha256, lambda: added.path)

    def _make_pool(self, kind: PoolKind) -> Pool:
        if kind == "word":
            words = self.words()
            return WordPool(words.adjectives, words.nouns)
        if kind == "number":
            return NumberPool()
        if kind == "uuid":
            return UuidPool()
        raise UsageError(f"no pool is called {kind!r}: choose one of {', '.join(get_args(PoolKind))}")


def _wonderwords(file_name: str) -> tuple[str, ...]:
    try:
        text = (files("wonderwords") / "assets" / file_name).read_text(encoding="utf-8")
    except (OSError, ModuleNotFoundError) as error:
        raise DataError(
            f"the word list {file_name} of the package wonderwords cannot be read ({error}): "
            "install it again with  pip install --force-reinstall wonderwords"
        ) from error
    return plain_words(text.splitlines())

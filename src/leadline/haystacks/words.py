"""Lists of English words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from leadline.items import digest


def plain_words(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines that are words of lower-case ASCII letters alone, in order, each once."""
    words = (line.strip() for line in lines)
    return tuple(dict.fromkeys(word for word in words if word.isascii() and word.isalpha() and word.islower()))


@dataclass(frozen=True, slots=True)
class WordLists:
    """Words by part of speech, of lower-case ASCII letters, in the order of their source, none twice in a list."""

    adjectives: tuple[str, ...]
    nouns: tuple[str, ...]
    verbs: tuple[str, ...]

    @property
    def sha256(self) -> str:
        """Hash of all three lists, for the run's identity (32 hexadecimal digits)."""
        return digest(*("\n".join(words) for words in (self.adjectives, self.nouns, self.verbs)))

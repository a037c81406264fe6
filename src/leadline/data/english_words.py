"""A larger list of English words, kept as text: the package's own form takes a second to load."""

from __future__ import annotations

from importlib.metadata import version

from leadline.data.cache import cache_folder, write_whole
from leadline.haystacks.words import plain_words

_LIST = "web2"
"""The words of Webster's Second International Dictionary (1934), in the public domain."""


def larger_words() -> tuple[str, ...]:
    """All lower-case words of the list, in alphabetical order."""
    file = cache_folder() / "words" / f"english-words-{version('english-words')}-{_LIST}.txt"
    try:
        return tuple(file.read_text(encoding="ascii").split())
    except (OSError, UnicodeDecodeError):
        from english_words import get_english_words_set

        words = plain_words(sorted(get_english_words_set([_LIST], alpha=True, lower=True)))
        write_whole(file, "\n".join(words).encode())
        return words

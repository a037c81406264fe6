"""A folder of books for haystacks, with a manifest of what they were made of and of what was taken out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.data.books import MANIFEST
from leadline.data.cache import write_whole
from leadline.haystacks.building import BOOK_WORDS, cleaned, make_book, pieces, removal_pattern, speaking_names
from leadline.items import digest
from leadline.seeds import rng_for

REMOVED = "removed-sentences"
"""The sentences that were taken out, one on each line, to be read."""


@dataclass(frozen=True, slots=True)
class BookRecipe:
    """What books are made of.

    Attributes:
        texts: prose by its name or title.
        removals: regular expressions at the beginning of a word; a sentence that holds one is taken out.
        names: given names in the texts; empty to find those that stand beside a verb of speech.
        books: how many books.
        words: how many words each has at least.
        seed: of every draw.
        maker: program and version.
    """

    texts: Mapping[str, str]
    removals: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    books: int = 5
    words: int = BOOK_WORDS
    seed: int = 0
    maker: str = "leadline"


def finished_folder(folder: Path) -> bool:
    """Whether the books of a folder are all there: its manifest is written last."""
    return (folder / MANIFEST).is_file()


def build_books(recipe: BookRecipe, folder: Path) -> Path:
    """Make the books, the list of removed sentences and the manifest in a folder, which is made too.

    Raises:
        UsageError: nothing is left of the texts, or a removal is no regular expression.
        DataError: the folder cannot be written.
    """
    clean = cleaned(recipe.texts.values(), removal_pattern(recipe.removals))
    made = pieces(clean.paragraphs, rng_for(recipe.seed, "pieces"))
    names = recipe.names or speaking_names(" ".join(made))
    books: list[dict[str, Any]] = []
    for number in range(1, recipe.books + 1):
        text = make_book(made, number, recipe.words, recipe.seed)
        file = f"book_{number}.txt"
        write_whole(folder / file, text.encode())
        present = [name for name in names if name in text]
        books.append({"file": file, "hash": digest(text), "words": len(text.split()), "names": present})
    write_whole(folder / REMOVED, ("\n".join(clean.removed) + "\n").encode())
    manifest = {
        "maker": recipe.maker,
        "seed": recipe.seed,
        "sources": [{"title": title, "hash": digest(text)} for title, text in recipe.texts.items()],
        "removals": list(recipe.removals),
        "removed_sentences": len(clean.removed),
        "pieces": len(made),
        "books": books,
    }
    write_whole(folder / MANIFEST, (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode())
    return folder

"""Books as haystacks by name: our own, the official ones where the user has them, or a folder of the user's."""

from __future__ import annotations

import json
from pathlib import Path

from leadline.data.needle_files import OFFICIAL, OPEN, official_folder
from leadline.errors import DataError, UsageError
from leadline.haystacks.books import Book

MANIFEST = "manifest.json"
"""What `leadline haystack build` writes beside its books; a folder without it is read too."""


def load_books(name: str, *, offline: bool) -> tuple[Book, ...]:
    """The books of a haystack, in the order of their files' names.

    Args:
        name: ``open``, ``official``, or a folder of text files.
        offline: fetch nothing.

    Raises:
        UsageError: there is no such folder, or it holds no text.
        DataError: a file cannot be read, or the data of our own books cannot be fetched.
    """
    if name == OPEN:
        from leadline.data.open_books import open_haystack

        return read_books(open_haystack())
    if name == OFFICIAL:
        folder = official_folder() / "haystack"
        if not folder.is_dir():
            raise UsageError(
                "the official haystacks are not here: fetch them with  leadline data get nolima-official, "
                "or give a folder with --haystack DIR; the suite nolima-open needs neither"
            )
        return read_books(folder)
    return read_books(Path(name).expanduser())


def read_books(folder: Path) -> tuple[Book, ...]:
    """The ``*.txt`` files of a folder, each a book, with the names that its manifest says occur in them.

    Raises:
        UsageError: there is no such folder, or it holds no text.
        DataError: a file is not UTF-8.
    """
    files = sorted(folder.glob("*.txt")) if folder.is_dir() else []
    if not files:
        raise UsageError(f"--haystack {folder} has no text files: give a folder with *.txt, each of them a book")
    names = _names(folder / MANIFEST)
    books: list[Book] = []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"the book {file} cannot be read ({error}): save it as UTF-8 text") from error
        books.append(Book.from_text(file.stem, text, names.get(file.name, ())))
    return tuple(books)


def _names(manifest: Path) -> dict[str, tuple[str, ...]]:
    """Given names that occur in each book, by its file's name."""
    if not manifest.is_file():
        return {}
    try:
        books = json.loads(manifest.read_text(encoding="utf-8"))["books"]
        return {book["file"]: tuple(book["names"]) for book in books}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{manifest} is no manifest of a haystack ({error!r}): build the haystack again") from error

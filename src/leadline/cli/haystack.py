"""``leadline haystack``: haystacks of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from leadline import __version__
from leadline.cli import options as opt
from leadline.errors import DataError, UsageError

app = typer.Typer(add_completion=False, rich_markup_mode=None)

WORDS = 115_000


@app.callback(epilog="Example: leadline haystack build my-texts --out my-books")
def haystack() -> None:
    """Haystacks of one's own."""


@app.command(epilog="Example: leadline haystack build my-texts --out my-books --remove words-to-remove.txt")
def build(
    texts: Annotated[Path, typer.Argument(help="A folder of text files (*.txt, UTF-8).", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="Folder for the books; it must not hold any yet.")],
    remove: Annotated[
        Path | None,
        typer.Option(
            help="File of regular expressions, one on each line, at the beginning of a word; their sentences go."
        ),
    ] = None,
    names: Annotated[
        Path | None, typer.Option(help="File of given names in the texts, one on each line; else they are looked for.")
    ] = None,
    books: Annotated[int, typer.Option(min=1, max=100, help="How many books.")] = 5,
    words: Annotated[
        int, typer.Option(min=100, help="Words of each book, about three quarters of its tokens.")
    ] = WORDS,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random draw.")] = 0,
    as_json: opt.Json = False,
) -> None:
    """Make books for NoLiMa of a folder of texts: clean, cut into pieces, draw and shuffle them."""
    from leadline.data.book_folder import REMOVED, BookRecipe, build_books, finished_folder
    from leadline.data.books import MANIFEST

    if finished_folder(out):
        raise UsageError(f"--out {out} holds books already: name another folder, or remove it first")
    recipe = BookRecipe(
        texts=_texts(texts),
        removals=_lines(remove),
        names=_lines(names),
        books=books,
        words=words,
        seed=seed,
        maker=f"leadline {__version__}",
    )
    build_books(recipe, out)
    manifest = json.loads((out / MANIFEST).read_text(encoding="utf-8"))
    if as_json:
        print(json.dumps(manifest))
        return
    print(f"{books} books of {words:,} words and more from {manifest['pieces']:,} pieces: {out}")
    print(f"{manifest['removed_sentences']:,} sentences were taken out; read them in {out / REMOVED}")
    print(f"check them against a needle set: leadline needles lint FILE --haystack {out}")
    print(f"use them: leadline run nolima-open --haystack {out}")


def _texts(folder: Path) -> dict[str, str]:
    files = sorted(folder.glob("*.txt")) if folder.is_dir() else []
    if not files:
        raise UsageError(f"{folder} has no text files: give a folder with *.txt")
    texts: dict[str, str] = {}
    for file in files:
        try:
            texts[file.name] = file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{file} cannot be read ({error}): save it as UTF-8 text") from error
    return texts


def _lines(file: Path | None) -> tuple[str, ...]:
    """The lines of a file but empty ones and those that begin with #."""
    if file is None:
        return ()
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read ({error}): give a text file in UTF-8") from error
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))

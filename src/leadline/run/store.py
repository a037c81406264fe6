"""A run's records on disk: append only, one file per process, durable before a trial counts as done."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from leadline.errors import RunFolderError
from leadline.records import Record

GATHER_S = 0.003
"""What comes in within this time shares a sync; each sync takes processor time from whoever asks."""


def write_atomically(path: Path, text: str) -> None:
    """Write a whole file, or leave the old one as it was."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise RunFolderError(f"{path} cannot be written ({error.strerror}): nothing that was there is lost") from error


@dataclass(slots=True)
class Damage:
    """Lines of record files that were skipped because they are damaged."""

    lines: int = 0


def read_records(folder: Path, *, skip_damaged: bool = False, damage: Damage | None = None) -> Iterator[Record]:
    """All records of a run, oldest file first.

    A last line without its newline was cut by a crash and is no record. Any other line that is not a record stops the
    reading, unless `skip_damaged`: then it is counted in `damage`.

    Raises:
        RunFolderError: a damaged line, with its file and number.
    """
    files = sorted(folder.glob("records-*.jsonl"), key=lambda path: path.stem.split("-", 2)[2])
    for path in files:
        for number, line in enumerate(_lines(path), start=1):
            if not line.endswith(b"\n"):
                break
            try:
                yield Record.from_json(line.decode("utf-8"))
            except ValueError as error:
                if not skip_damaged:
                    raise RunFolderError(
                        f"{path}, line {number} is damaged: restore the file, or go on without the line "
                        "with --skip-damaged"
                    ) from error
                if damage is not None:
                    damage.lines += 1


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise RunFolderError(
            f"{path} cannot be read ({error.strerror}): see to the disk; nothing is changed meanwhile"
        ) from error


class RecordWriter:
    """Appends records to a file of its own; `append` returns when the line has reached the disk.

    A thread writes and syncs whatever has come in since its last sync, so many lanes share one sync. After a line that
    could not be written nothing more is: the run must stop, and what is in the file is whole.
    """

    def __init__(self, folder: Path, shard: tuple[int, int]) -> None:
        """Open a new file in `folder`.

        Raises:
            RunFolderError: another process writes this shard of the run, or the folder cannot be written.
        """
        from filelock import FileLock, Timeout

        number, shards = shard
        name = f"{number + 1}of{shards}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(folder / f".lock-{name}")
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise RunFolderError(
                f"another process is writing to {folder}: wait until it ends, or divide the work with --shard i/n"
            ) from error
        except OSError as error:
            raise RunFolderError(f"{folder} cannot be written ({error.strerror}): choose another with --out") from error
        start = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        self.path = folder / f"records-{name}-{start}-{secrets.token_hex(4)}.jsonl"
        self._queue: queue.SimpleQueue[tuple[str, asyncio.Future[None]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def put(self, record: Record) -> asyncio.Future[None]:
        """Hand over a record, whose line is written from now on; the future is done when it is on the disk.

        The future raises a RunFolderError where the line could not be written; the trial counts as not asked then.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._thread is None:
            self._thread = threading.Thread(target=self._write, name="records", daemon=True)
            self._thread.start()
        self._queue.put((record.to_json() + "\n", future))
        return future

    async def append(self, record: Record) -> None:
        """Write a record.

        Raises:
            RunFolderError: the line could not be written; the trial counts as not asked.
        """
        await self.put(record)

    def close(self) -> None:
        """Write what is waiting and let go of the run."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None
        self._lock.release()

    def _write(self) -> None:
        file: _RecordFile | None = None
        failure: OSError | None = None
        ended = False
        while not ended:
            batch = [self._queue.get()]
            if batch != [None]:
                time.sleep(GATHER_S)
            with contextlib.suppress(queue.Empty):
                while True:
                    batch.append(self._queue.get_nowait())
            ended = None in batch
            waiting = [entry for entry in batch if entry is not None]
            if waiting and failure is None:
                try:
                    file = file or _RecordFile(self.path)
                    file.append("".join(line for line, _ in waiting).encode())
                except OSError as error:
                    failure = error
            # One call wakes the loop for all of them; a writer serves one loop as a rule.
            for loop in {future.get_loop() for _, future in waiting}:
                settled = [future for _, future in waiting if future.get_loop() is loop]
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(_settle, settled, failure, self.path)
        if file is not None:
            file.close()


class _RecordFile:
    """A file whose every append is on the disk whole, or not in the file at all."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o644)
        self._size = 0
        _sync_folder(path.parent)

    def append(self, data: bytes) -> None:
        """Write and sync; a part that was written before an error is taken back."""
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(self._descriptor, left) :]
            os.fsync(self._descriptor)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise
        self._size += len(data)

    def close(self) -> None:
        """Let go of the file."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


def _sync_folder(folder: Path) -> None:
    """Make a new file's name durable, where the system can sync a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _settle(futures: list[asyncio.Future[None]], failure: OSError | None, path: Path) -> None:
    for future in futures:
        if future.done():
            continue
        if failure is None:
            future.set_result(None)
            continue
        future.set_exception(
            RunFolderError(
                f"{path} cannot be written ({failure.strerror}): every record before is safe; "
                "make room and start the same command again"
            )
        )

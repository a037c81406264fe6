"""Questions kept in a compact form: documents mapped into memory, nothing parsed again."""

from __future__ import annotations

import hashlib
import io
import mmap
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from leadline.data.cache import cache_folder, locked, write_whole, written_whole
from leadline.data.question_files import Article, read_questions
from leadline.errors import UsageError
from leadline.haystacks.documents import SEPARATOR, Documents, QuestionSet

_FORMAT = 1
"""Part of the folder's name: raise it when the canonical form or the way it is kept changes."""

_DOCUMENTS, _QUESTIONS, _INDEX = "documents.txt", "questions.jsonl", "index.npz"


def kept_questions(sha256: str, file: Callable[[], Path]) -> QuestionSet:
    """The questions of a file, which is read only where its compact form is not in the cache yet.

    Args:
        sha256: hash of the file.
        file: gives the path of the file.

    Raises:
        UsageError: the file is malformed or holds no question that has an answer.
        DataError: the cache cannot be written.
    """
    folder = cache_folder() / "questions" / f"v{_FORMAT}-{sha256[:16]}"
    kept = _read(folder)
    if kept is None:
        source = file()
        with locked(f"questions-{sha256[:16]}"):
            kept = _read(folder)  # another process may have made it meanwhile
            if kept is None:
                _write(folder, source)
                kept = _read(folder)
    if kept is None:
        raise UsageError(f"{folder} was written and cannot be read: remove it and try again")
    return kept


def _write(folder: Path, source: Path) -> None:
    """Make the compact form; the index comes last, and without it there is none."""
    starts, article_starts, question_starts = [0], [0], [0]
    hasher = hashlib.sha256()
    lines = bytearray()
    with written_whole(folder / _DOCUMENTS) as target:
        for part in read_questions(source)[1]:
            if isinstance(part, Article):
                for text in part.documents:
                    data = (text + SEPARATOR).encode()
                    target.write(data)
                    hasher.update(data)
                    starts.append(starts[-1] + len(data))
                article_starts.append(len(starts) - 1)
            else:
                lines += part.as_json() + b"\n"
                question_starts.append(len(lines))
        if not lines:
            raise UsageError(f"{source} holds no question that has an answer: give a file with some")
    places, articles, questions = (
        np.array(values, dtype=np.int64) for values in (starts, article_starts, question_starts)
    )
    hasher.update(lines)
    for array in (places, articles, questions):
        hasher.update(array.astype("<i8").tobytes())
    write_whole(folder / _QUESTIONS, bytes(lines))
    buffer = io.BytesIO()
    sha256 = np.array(hasher.hexdigest()[:32])
    np.savez_compressed(buffer, starts=places, article_starts=articles, question_starts=questions, sha256=sha256)
    write_whole(folder / _INDEX, buffer.getvalue())


def _read(folder: Path) -> QuestionSet | None:
    """The compact form in this folder, or None where there is none or it is damaged: it can always be made again."""
    try:
        with np.load(io.BytesIO((folder / _INDEX).read_bytes())) as arrays:
            starts, articles, questions = (arrays[name] for name in ("starts", "article_starts", "question_starts"))
            sha256 = str(arrays["sha256"])
        data, lines = _mapped(folder / _DOCUMENTS), _mapped(folder / _QUESTIONS)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    if len(data) != starts[-1] or len(lines) != questions[-1]:
        return None
    return QuestionSet(Documents(data, starts, articles), lines, questions, sha256)


def _mapped(file: Path) -> memoryview:
    with file.open("rb") as opened:
        return memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))

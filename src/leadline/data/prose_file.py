"""Prose kept in a file: finding the sentences of three million characters takes seconds, reading them back does not."""

from __future__ import annotations

import io
import zipfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

from leadline.data.cache import cache_folder, write_whole
from leadline.haystacks.prose import Prose
from leadline.items import digest

_FORMAT = 1
"""Part of the file's name: raise it when the rules for sentences change."""


def kept_prose(raw: str) -> Prose:
    """The prose of this text, from the cache if its sentences were found before."""
    splitter = version("nupunkt")
    file = cache_folder() / "prose" / f"v{_FORMAT}-{splitter}-{digest(raw)[:16]}.npz"
    prose = _read(file)
    if prose is None:
        prose = Prose.from_text(raw)
        _write(file, prose)
    return prose


def _write(file: Path, prose: Prose) -> None:
    buffer = io.BytesIO()
    text = np.frombuffer(prose.text.encode(), dtype=np.uint8)
    np.savez_compressed(buffer, text=text, starts=prose.starts, sha256=np.array(prose.sha256))
    write_whole(file, buffer.getvalue())


def _read(file: Path) -> Prose | None:
    """The prose in this file, or None where there is none or it is damaged: it can always be made again."""
    try:
        with np.load(io.BytesIO(file.read_bytes())) as arrays:
            prose = Prose(arrays["text"].tobytes().decode(), arrays["starts"])
            return prose if str(arrays["sha256"]) == prose.sha256 else None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None

"""The official NoLiMa files: needle sets and haystacks, fetched only once their licence has been accepted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from leadline.data.cache import locked, sha256_of, write_whole
from leadline.data.hub import quiet
from leadline.data.needle_files import OFFICIAL_FILES, official_folder
from leadline.errors import DataError, UsageError

NAME = "nolima-official"
TITLE = "NoLiMa's needle sets and haystacks, the official files"
REPOSITORY = "amodaresi/NoLiMa"
SOURCE = f"https://huggingface.co/datasets/{REPOSITORY}"
LICENCE = "Adobe Research License: non-commercial research use only"

BOOKS = tuple(f"rand_book_{number}.txt" for number in range(1, 6))
FILES: dict[str, str] = {
    **{f"haystack/{book}": f"haystack/rand_shuffle/{book}" for book in BOOKS},
    **{file: f"needlesets/{file}" for file in OFFICIAL_FILES.values()},
}
"""Path in the folder, and path in the data set on the hub."""

_ABOUT = "about.json"
"""What was fetched, with hashes; written last, so that a folder with it is whole."""

State = Literal["held", "missing", "damaged"]


@dataclass(frozen=True, slots=True)
class Official:
    """What is held of the official files.

    Attributes:
        state: `held` where all are there as they were fetched, `damaged` where one has changed or gone since.
        files: hash of each by its path in the folder; empty where they are missing.
        size_bytes: of all together.
    """

    state: State
    files: dict[str, str]
    size_bytes: int


def official_status(verify: bool = False) -> Official:
    """Whether the official files are held.

    Args:
        verify: hash them all.
    """
    folder = official_folder()
    try:
        hashes: dict[str, str] = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))["sha256"]
    except (OSError, ValueError, KeyError):
        return Official("missing", {}, 0)
    present = [folder / name for name in FILES if (folder / name).is_file()]
    whole = len(present) == len(FILES) and not (
        verify and any(sha256_of(folder / name) != hashes.get(name) for name in FILES)
    )
    return Official("held" if whole else "damaged", hashes, sum(file.stat().st_size for file in present))


def get_official(*, accepted: bool, again: bool = False, offline: bool = False) -> Path:
    """The folder with the official files, which are fetched from the Hugging Face hub where they are missing.

    Args:
        accepted: the user has accepted the licence.
        again: fetch them although they are there.
        offline: take them from the hub's own cache or not at all.

    Raises:
        UsageError: the licence has not been accepted.
        DataError: they cannot be had, or the cache cannot be written.
    """
    folder = official_folder()
    if not again and official_status().state == "held":
        return folder
    if not accepted:
        raise UsageError(
            f"the official NoLiMa files are under the {LICENCE} (read it at {SOURCE}): if you accept it, run  "
            f"leadline data get {NAME} --accept-licence ; the suite nolima-open needs none of them"
        )
    with locked(NAME):
        fetched = {name: _fetched(path, offline) for name, path in FILES.items()}
        for name, file in fetched.items():
            write_whole(folder / name, file.read_bytes())
        about = {
            "source": SOURCE,
            "licence": LICENCE,
            "sha256": {name: sha256_of(folder / name) for name in FILES},
        }
        write_whole(folder / _ABOUT, (json.dumps(about, indent=2) + "\n").encode())
    return folder


def _fetched(path: str, offline: bool) -> Path:
    """A file of the data set in the hub's own cache."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    otherwise = "give files of your own with --needles FILE --haystack DIR, or run nolima-open"
    try:
        with quiet():
            return Path(hf_hub_download(REPOSITORY, path, repo_type="dataset", local_files_only=offline))
    except GatedRepoError as error:
        raise DataError(
            f"{REPOSITORY} is gated on the hub: accept its terms there and set HF_TOKEN, or {otherwise}"
        ) from error
    except LocalEntryNotFoundError as error:
        reason = "fetching is off" if offline else "the hub cannot be reached"
        raise DataError(f"{path} of {REPOSITORY} is not in the hub's cache and {reason}: {otherwise}") from error
    except (RepositoryNotFoundError, EntryNotFoundError) as error:
        raise DataError(f"the hub has no {path} in {REPOSITORY} any more: {otherwise}") from error
    except (HfHubHTTPError, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"{path} of {REPOSITORY} cannot be had from the hub ({reason}): {otherwise}") from error

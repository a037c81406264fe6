"""A model's tokenizer files from the Hugging Face hub."""

from __future__ import annotations

import logging
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from leadline.errors import DataError, UsageError

_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_BESIDE = ("tokenizer_config.json", "chat_template.jinja")


def tokenizer_folder(name: str, offline: bool = False, cache: Path | None = None) -> Path:
    """The folder with a model's tokenizer.json, and with its configuration and chat template where it has them.

    Args:
        name: the model's name on the hub, ``owner/model``.
        offline: only look at what was fetched before.
        cache: the hub's cache; its own default where None.

    Raises:
        UsageError: this cannot be a name.
        DataError: the hub has no such file, refuses it, or cannot be reached.
    """
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is neither a file that exists nor a model's name on the hub (owner/model)")
    with quiet():
        folder = _required(name, offline, cache).parent
        for file in _BESIDE:
            try:
                hf_hub_download(name, file, cache_dir=cache, local_files_only=offline)
            except (EntryNotFoundError, LocalEntryNotFoundError):
                continue
    return folder


@contextmanager
def quiet() -> Generator[None]:
    """Keep the hub's package from logging every retry: what it ends with is raised."""
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _required(name: str, offline: bool, cache: Path | None) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    otherwise = (
        "give a folder with its tokenizer.json as hf/PATH, or another tokenizer, for example tiktoken/o200k_base"
    )
    try:
        return Path(hf_hub_download(name, "tokenizer.json", cache_dir=cache, local_files_only=offline))
    except GatedRepoError as error:
        raise DataError(
            f"{name} is gated on the hub: accept its terms there and set HF_TOKEN, or {otherwise}"
        ) from error
    except RepositoryNotFoundError as error:
        raise DataError(f"the hub has no model {name} for you: check the name, set HF_TOKEN, or {otherwise}") from error
    except LocalEntryNotFoundError as error:
        reason = "fetching is off" if offline else "the hub cannot be reached"
        raise DataError(f"the tokenizer of {name} is not in the hub's cache and {reason}: {otherwise}") from error
    except EntryNotFoundError as error:
        raise DataError(f"{name} has no tokenizer.json on the hub: {otherwise}") from error
    except (HfHubHTTPError, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"the tokenizer of {name} cannot be had from the hub ({reason}): {otherwise}") from error

"""The haystack of nolima-open: five books of pieces of one novel in the public domain, made when first asked for."""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from leadline import __version__
from leadline.data.book_folder import BookRecipe, build_books, finished_folder
from leadline.data.cache import cache_folder
from leadline.items import digest

SOURCE = "moby_dick.txt.gz"
TITLE = "Herman Melville, Moby-Dick; or, The Whale (1851), public domain"


def open_haystack() -> Path:
    """The folder of the books; it is made in some seconds where it is not there yet.

    Raises:
        DataError: the cache cannot be written.
    """
    recipe = open_recipe()
    folder = cache_folder() / f"nolima-open-{digest(*recipe.texts.values(), *recipe.removals, str(recipe.seed))[:12]}"
    return folder if finished_folder(folder) else build_books(recipe, folder)


@cache
def open_recipe() -> BookRecipe:
    """What the books are made of."""
    folder = files("leadline") / "data" / "prose"
    lists: dict[str, Any] = yaml.safe_load((folder / "removals.yaml").read_text(encoding="utf-8"))
    text = gzip.decompress((folder / SOURCE).read_bytes()).decode("utf-8")
    return BookRecipe(
        texts={TITLE: text},
        removals=tuple(lists["removals"]),
        names=tuple(lists["names"]),
        maker=f"leadline {__version__}",
    )

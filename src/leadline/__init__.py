"""leadline measures how much of its context window a language model can really use."""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

_OF_API = ("Records", "Run", "correlate", "measure", "open_run", "sample")
"""What comes from `leadline.api` with its first use, so that importing the package costs nothing. Type checkers read
the stub beside this file, which imports them; an import here would tie every module to the API."""


def __getattr__(name: str) -> object:
    if name not in _OF_API:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("leadline.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_OF_API})

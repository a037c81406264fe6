"""Named suites: a run's specification without a model, as YAML files beside this one."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from leadline.errors import UsageError
from leadline.tasks.registry import suggestion


def suite_names() -> list[str]:
    """Names of all suites, in alphabetical order."""
    return sorted(
        entry.name.removesuffix(".yaml") for entry in files(__name__).iterdir() if entry.name.endswith(".yaml")
    )


@cache
def suite_text(name: str) -> str:
    """The YAML of a suite.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in suite_names():
        raise UsageError(f"there is no suite {name!r}: {suggestion(name, suite_names())}")
    return (files(__name__) / f"{name}.yaml").read_text(encoding="utf-8")


def suite_data(name: str) -> dict[str, Any]:
    """A suite as data."""
    return yaml.safe_load(suite_text(name))

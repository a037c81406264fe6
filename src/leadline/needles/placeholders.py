"""Placeholders in texts that people wrote: replaced by name, in one pass, every other brace left alone."""

from __future__ import annotations

import re
from collections.abc import Mapping

CHARACTER = "CHAR"
"""The placeholder of the name that is drawn."""

_NUMBER = re.compile(r"\{([1-9]\d*)\}")


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with each ``{name}`` of `values` replaced.

    One pass, so that braces inside a value are text; a name that `values` lacks stays as it is.
    """
    if not values:
        return template
    names = "|".join(re.escape(name) for name in values)
    return re.sub(rf"\{{({names})\}}", lambda match: values[match[1]], template)


def numbers(template: str) -> tuple[int, ...]:
    """The numbers k of the placeholders ``{k}`` of a template, ascending, each once."""
    return tuple(sorted({int(number) for number in _NUMBER.findall(template)}))


def has(template: str, name: str) -> bool:
    """Whether ``{name}`` stands in the template."""
    return f"{{{name}}}" in template

"""What RULER's table 4 says of the models: aligned or base, size, context length, identifier."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

FILE = "ruler_table4_models.csv"


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A model of RULER's table 4, as printed.

    Attributes:
        name: of the model or of its series.
        aligned: tuned to instructions; False is a base model.
        size: parameters, active/total for mixtures; None where it is not public.
        context: length that is claimed, for example ``"128K"``.
        identifier: on the Hugging Face hub, or at the provider's API.
    """

    name: str
    aligned: bool
    size: str | None
    context: str
    identifier: str


@cache
def published_models() -> tuple[PublishedModel, ...]:
    """The 37 models, in the table's order."""
    text = (files("leadline.reference") / FILE).read_text(encoding="utf-8")
    return tuple(
        PublishedModel(
            row["model"], row["aligned"] == "yes", row["size"] or None, row["context_length"], row["identifier"]
        )
        for row in csv.DictReader(text.splitlines())
    )


def models_named(label: str) -> tuple[tuple[PublishedModel, ...], str | None]:
    """Models of the name in a score table's label such as ``Llama3.1 (8B)``, and the size that the label gives."""
    match = re.fullmatch(r"(?P<name>.+?)(?: \((?P<size>[^()]+)\))?", label)
    name, size = (match["name"], match["size"]) if match else (label, None)
    return tuple(model for model in published_models() if model.name == name), size

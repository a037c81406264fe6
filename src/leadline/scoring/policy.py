"""How outcomes score: one table, the same for every suite."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from leadline.records import Outcome

Treatment = Literal["as_it_is", "zero", "incomplete", "absent"]
"""`as_it_is`: the answer is matched. `zero`: a valid trial that scores 0. `incomplete`: not scored, and its cell says
so. `absent`: the whole cell is left out."""

POLICY: Mapping[Outcome, Treatment] = MappingProxyType(
    {
        "answered": "as_it_is",
        "truncated_output": "as_it_is",  # base models run to the limit as a rule
        "refused": "zero",
        "filtered": "zero",
        "degenerate": "zero",
        "over_length": "zero",  # the paper's tables do the same beyond a model's context
        "truncated_prompt": "incomplete",  # the model never read what was meant, so nothing is known of it
        "failed": "incomplete",
        "does_not_fit": "absent",
    }
)

"""Every named task: a family with the parameters of its paper's table."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from leadline.errors import UsageError
from leadline.reference.tables import THIRTEEN
from leadline.tasks.base import Task, TaskParams
from leadline.tasks.common_words import CommonWords, CommonWordsParams
from leadline.tasks.frequent_words import FrequentWords, FrequentWordsParams
from leadline.tasks.niah import Niah, NiahParams
from leadline.tasks.nolima import Nolima, NolimaParams
from leadline.tasks.questions import QuestionAnswering, QuestionsParams
from leadline.tasks.sweeps import SWEEPS
from leadline.tasks.variables import VariablesParams, VariableTracking


@dataclass(frozen=True, slots=True)
class Family:
    """A generator of tasks and its parameters."""

    name: str
    about: str
    source: str
    params: type[TaskParams]
    make: Callable[[str, Any], Task]
    category: str
    sound: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Parameters of the sound protocol that differ from the published one's."""


NOLIMA_VARIANTS: Mapping[str, str] = {
    "": "default",
    "_direct": "direct",
    "_choices": "choices",
    "_cot": "cot",
    "_distractor": "distractor",
    "_hard": "hard",
}
"""What the name of a NoLiMa task ends in, and the variant that it asks."""

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "niah",
            "find needles (key-value sentences) in a haystack",
            "RULER (arXiv 2404.06654), section 3.1",
            NiahParams,
            Niah,
            Niah.category,
            {"haystack_start": "random"},
        ),
        Family(
            "vt",
            "track variables that are assigned one another",
            "RULER (arXiv 2404.06654), section 3.2",
            VariablesParams,
            VariableTracking,
            VariableTracking.category,
            {"examples": "turns"},
        ),
        Family(
            "cwe",
            "name the most common words of a numbered list",
            "RULER (arXiv 2404.06654), section 3.3",
            CommonWordsParams,
            CommonWords,
            CommonWords.category,
            {"examples": "turns"},
        ),
        Family(
            "fwe",
            "name the most frequent words of a coded text",
            "RULER (arXiv 2404.06654), section 3.3",
            FrequentWordsParams,
            FrequentWords,
            FrequentWords.category,
        ),
        Family(
            "qa",
            "answer a question from documents",
            "RULER (arXiv 2404.06654), section 3.4",
            QuestionsParams,
            QuestionAnswering,
            QuestionAnswering.category,
            {"distractors": "uniform", "questions": "shuffled"},
        ),
        Family(
            "nolima",
            "name the character of a needle that shares no word with the question",
            "NoLiMa (arXiv 2502.05167), sections 3 and 4",
            NolimaParams,
            Nolima,
            Nolima.category,
        ),
    )
}

TASKS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "niah": ("niah", {}),
    "qa": ("qa", {}),
    "niah_single_1": ("niah", {"type_haystack": "repeat"}),
    "niah_single_2": ("niah", {}),
    "niah_single_3": ("niah", {"type_value": "uuid"}),
    "niah_multikey_1": ("niah", {"num_keys": 4}),
    "niah_multikey_2": ("niah", {"type_haystack": "needle"}),
    "niah_multikey_3": ("niah", {"type_haystack": "needle", "type_key": "uuid", "type_value": "uuid"}),
    "niah_multivalue": ("niah", {"num_values": 4}),
    "niah_multiquery": ("niah", {"num_queries": 4}),
    "vt": ("vt", {}),
    "cwe": ("cwe", {}),
    "fwe": ("fwe", {}),
    "qa_1": ("qa", {}),
    "qa_2": ("qa", {"dataset": "hotpotqa"}),
    **SWEEPS,
    **{
        f"{prefix}{suffix}": ("nolima", {"needles": data, "haystack": data, "variant": variant})
        for prefix, data in (("nolima", "official"), ("nolima_open", "open"))
        for suffix, variant in NOLIMA_VARIANTS.items()
    },
}
"""Named configurations: (family, parameters that differ from the family's defaults).

RULER's table 5, its sweeps, and NoLiMa's variants on the official and on our own needles.
"""

RULER_TASKS: tuple[str, ...] = THIRTEEN
"""The 13 tasks over which the paper's averages and thresholds are taken (table 5)."""


def suggestion(name: str, known: list[str]) -> str:
    """A hint for a name that is not known."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"


def make_task(name: str, changes: Mapping[str, Any] | None = None) -> Task:
    """The task of this name, with some parameters changed.

    Raises:
        UsageError: the name, a parameter's name or its value is not known.
    """
    if name not in TASKS:
        raise UsageError(f"there is no task {name!r}: {suggestion(name, list(TASKS))}")
    family_name, params = TASKS[name]
    family = FAMILIES[family_name]
    try:
        return family.make(name, family.params.model_validate({**params, **(changes or {})}))
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            hint = suggestion(field, list(family.params.model_fields))
            raise UsageError(f"task {name} has no parameter {field!r}: {hint}") from error
        raise UsageError(f"task {name}: {field} = {problem['input']!r} is not possible: {problem['msg']}") from error

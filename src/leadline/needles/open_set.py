"""leadline's own needle set, which ships with it: 80 pairs in 8 groups, and the source of every fact."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from leadline.errors import UsageError
from leadline.needles.reading import read_needle_set
from leadline.needles.sets import NeedleSet, Pair
from leadline.needles.templates import SYSTEM_PROMPT, TEMPLATES

NAME = "nolima-open"


@dataclass(frozen=True, slots=True)
class Fact:
    """What ties a needle to its questions.

    Attributes:
        group: the four digits of the group.
        test: the test of the group's entries that is about it.
        needle_keyword: what stands in the needle.
        one_hop: what the question with one hop asks for.
        two_hops: what the question with two hops asks for.
        first_source: where it is said that the needle's keyword belongs to the first question's.
        second_source: where it is said that the first question's keyword belongs to the second's.
        note: why the tie is to this and nothing else, and why the wording gives nothing away.
    """

    group: str
    test: str
    needle_keyword: str
    one_hop: str
    two_hops: str
    first_source: str
    second_source: str
    note: str


@cache
def load_open_set(variant: str = "default") -> NeedleSet:
    """The set in one of its variants; needles, names and pair ids are the same in all of them.

    `default` asks with one and two hops; `choices` offers four names; `cot` asks for reasoning first; `distractor` adds
    a sentence to each pair; `direct` asks one question about each needle, by the needle's own keyword.

    Raises:
        UsageError: there is no such variant.
    """
    if variant not in TEMPLATES:
        known = ", ".join(TEMPLATES)
        later = "it is chosen once several models have been measured" if variant == "hard" else "there is none"
        raise UsageError(f"no variant {variant!r} of {NAME}: {later}, give one of {known}")
    whole = read_needle_set(json.loads(_data("nolima_open.json")), NAME)
    pairs = tuple(_as(variant, pair) for pair in whole.pairs if (pair.hops == "direct") == (variant == "direct"))
    return NeedleSet(NAME, pairs, whole.duplicates)


@cache
def open_facts() -> tuple[Fact, ...]:
    """The facts behind the set, in the order of its entries."""
    import yaml

    return tuple(Fact(**fact) for fact in yaml.safe_load(_data("nolima_open_facts.yaml")))


def _as(variant: str, pair: Pair) -> Pair:
    return replace(
        pair,
        system_prompt=SYSTEM_PROMPT,
        task_template=TEMPLATES[variant],
        distractor_template=pair.distractor_template if variant == "distractor" else None,
    )


def _data(name: str) -> str:
    # Found from the top package: importing leadline.data would load what fetches and caches.
    return (files("leadline") / "data" / "needles" / name).read_text(encoding="utf-8")

"""What an answer names: values, variables or words, in order, by the family of the task."""

from __future__ import annotations

import re

from leadline.items import Sample
from leadline.scoring.failure_evidence import (
    Item,
    example_items,
    folded,
    folded_lines,
    listed_words,
    shaped_items,
    spaced_words,
)

_NUMBER = r"(?i:(?=[a-f-]*\d)[0-9a-f](?:[0-9a-f-]*[0-9a-f])?)"
"""Digits, hexadecimal ones and hyphens included, of any length."""


def items_of(sample: Sample, answer: str, plain: str) -> list[Item]:
    """What an answer names, in order; places are those in `plain`, which is the answer with white space folded."""
    facts = sample.plan.facts
    if "needles" in facts:
        return _values(sample, plain)
    if "chains" in facts:
        return _variables(sample, plain)
    return listed_words(folded_lines(answer)) if "first_candidate" in facts else _coded_words(sample, plain)


def _values(sample: Sample, answer: str) -> list[Item]:
    """Values of the wanted shape, and numbers of another shape that are given for one.

    A key that the question names is none, so that giving it back copies the text; nor is a piece of one, or of a wanted
    value.
    """
    facts = sample.plan.facts
    given, forms = folded(facts["given"]), folded(form for forms in sample.plan.answers for form in forms)
    values = shaped_items(answer, f"(?i:{facts['item_pattern']})", (), given)
    if not all(any(map(str.isdigit, form)) for form in forms):
        return values
    shortest, taken = min(map(len, forms)), {value.start for value in values}
    misshapen = [
        item
        for item in shaped_items(answer, _NUMBER, (), given)
        if item.start not in taken
        and 2 * len(item.value) >= shortest
        and not any(item.value in whole for whole in forms | given)
    ]
    return sorted([*values, *misshapen], key=lambda item: item.start)


def _variables(sample: Sample, answer: str) -> list[Item]:
    """Names of variables: of the wanted shape, or planted anywhere, the worked example's included."""
    facts = sample.plan.facts
    known = [name for chain in facts["chains"] for name in chain["names"]]
    return shaped_items(answer, facts["item_pattern"], [*known, *example_items(sample)], frozenset())


def _coded_words(sample: Sample, answer: str) -> list[Item]:
    """Words of a coded text, which may stand side by side; prose around them is no item."""
    facts = sample.plan.facts
    given = folded(facts["given"])
    items = [item for item in spaced_words(answer) if item.value not in given]
    coded = [item for item in items if re.fullmatch(facts["item_pattern"], item.value)]
    return coded or items

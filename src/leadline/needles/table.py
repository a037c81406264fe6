"""Needle sets as Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.needles.open_set import Fact
from leadline.needles.sets import NeedleSet

_HOPS = {"onehop": "one", "twohop": "two", "twohop2": "two (second kind)", "direct": "none (direct)"}


def pair_table(needle_set: NeedleSet) -> str:
    """Every pair with its needle and question; the name's place is shown as ``{CHAR}``."""
    rows = [
        (
            pair.id,
            pair.order,
            _HOPS[pair.hops],
            pair.reasoning.split("_")[0],
            pair.needle_template,
            pair.question_template,
        )
        for pair in needle_set.pairs
    ]
    return _markdown(("pair", "order", "hops", "knowledge", "needle", "question"), rows)


def fact_table(facts: Sequence[Fact]) -> str:
    """Every fact with its two sources and the note on it."""
    rows = [
        (f"{fact.group} {fact.test}", fact.needle_keyword, fact.one_hop, fact.two_hops, fact.note, _links(fact))
        for fact in facts
    ]
    return _markdown(("fact", "needle", "one hop", "two hops", "why this and nothing else", "sources"), rows)


def _links(fact: Fact) -> str:
    return f"[first]({fact.first_source}), [second]({fact.second_source})"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [
        [cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in (head, ["---"] * len(head), *rows)
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)

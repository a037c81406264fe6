"""Names, chance and closed book in words and as a chart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leadline.analysis.closed_book import ClosedBook
from leadline.analysis.dealing import Place
from leadline.analysis.names import Chance, Names, NameScore
from leadline.analysis.summary import Summary
from leadline.report.names import name_sentences, names_chart, names_fragment
from leadline.report.page import render_page

from .conftest import HOSTILE, Run

ADA = NameScore("Ada", 40, 95.0, 80.0, 99.0, 5.0, 3)
OTHER = NameScore(HOSTILE, 20, 50.0, 25.0, 75.0, -40.0, 0)
NAMES = Names(
    chances=(Chance("nolima", 32), Chance("nolima_choices", 4)),
    by_name=(ADA, OTHER),
    p=0.0005,
    wrong=12,
    wrong_naming=3,
    places=(Place("1", "Ada", (1.0,), 0.05),),
)
CHECK = ClosedBook("nolima", 2, 80, 0.6, 8.0, 3.125, 0.72)


def told(plain: Run, names: Names | None = NAMES, *checks: ClosedBook) -> list[str]:
    return name_sentences(with_names(plain, names, *checks))


def with_names(plain: Run, names: Names | None, *checks: ClosedBook) -> Summary:
    return replace(plain.summary, names=names, closed_book=checks)


def test_what_is_told_of_names(plain: Run) -> None:
    differing, chance, check = told(plain, NAMES, CHECK)
    assert (
        differing == f"2 names drawn, 50 % right ({HOSTILE}) to 95 % (Ada): they differ by more than chance (p < 0.001)"
    )
    assert chance == (
        "chance level 3.1 % (nolima) and 25.0 % (nolima_choices); of 12 wrong answers 3 give another name, most often "
        "Ada (3)"
    )
    assert check == (
        "closed book, nolima: 2 of 80 right (0.6 to 8.0 %), chance 3.1 %: no more than guessing explains (p = 0.72)"
    )
    (above,) = told(plain, None, replace(CHECK, right=40, p=0.004))
    assert above.endswith("more than guessing explains (p = 0.004)")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"p": None}, "2 names drawn: nothing differs by name"),
        ({"p": 0.3}, "no more apart than chance puts them (p = 0.30)"),
        ({"p": 0.049}, "they differ by more than chance (p = 0.049)"),
        ({"wrong": 0, "wrong_naming": 0}, "25.0 % (nolima_choices)"),
        ({"wrong_naming": 0}, "of 12 wrong answers none gives another name"),
        ({"chances": (Chance("nolima", 32),)}, "chance level 3.1 % (one of 32 names)"),
    ],
)
def test_other_cases_are_told_too(plain: Run, changes: dict[str, object], words: str) -> None:
    assert any(words in sentence for sentence in told(plain, replace(NAMES, **changes)))


def test_tokens_are_told_where_they_are_known(plain: Run) -> None:
    kinds = (replace(ADA, name="one token"), replace(OTHER, name="several tokens"))
    known = replace(NAMES, by_tokens=kinds, p_tokens=0.02)
    assert "; names of one token 95.0 %, of several 50.0 % (p = 0.020)" in told(plain, known)[0]
    assert '<th scope="col">tokens</th>' not in str(names_fragment(with_names(plain, NAMES), None))
    tokens = replace(NAMES, by_name=(replace(ADA, tokens=1), replace(OTHER, tokens=4)))
    assert '<th scope="col">tokens</th>' in str(names_fragment(with_names(plain, tokens), None))
    values = [value for layer in names_chart(tokens)["layer"] for value in layer["data"].get("values", ())]
    kinds_shown = {value["kind"] for value in values if "kind" in value}
    assert kinds_shown == {"one token", "several tokens"}


def test_the_page_has_them_and_escapes_them(plain: Run) -> None:
    page = render_page(with_names(plain, NAMES, CHECK), plain.design, {}, plain.verdict)
    assert "Names and chance" in page
    assert "Closed book, nolima: 2 of 80 right" in page
    assert HOSTILE not in page
    assert names_fragment(plain.summary, None) is None
    assert "Names and chance" not in render_page(plain.summary, plain.design, {}, plain.verdict)

"""leadline's own needle set."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from leadline.errors import UsageError
from leadline.needles.lint import lint
from leadline.needles.open_set import load_open_set, open_facts
from leadline.needles.overlap import words
from leadline.needles.placeholders import fill, numbers
from leadline.needles.table import fact_table, pair_table
from leadline.needles.templates import TEMPLATES

DOCS = Path(__file__).parents[3] / "docs" / "needles.md"


def test_counts() -> None:
    pairs = load_open_set().pairs
    assert len({(pair.needle_template, pair.question_template) for pair in pairs}) == len(pairs) == 80
    assert len(load_open_set().groups) == 8
    assert Counter(pair.hops for pair in pairs) == {"onehop": 40, "twohop": 40}
    assert Counter(pair.order for pair in pairs) == {"default": 40, "inverted": 40}
    assert Counter(pair.reasoning for pair in pairs) == {"world_knowledge": 56, "commonsense_knowledge": 24}
    assert len(load_open_set().characters) == 32


def test_each_group_has_both_orders_and_both_hops() -> None:
    pairs = load_open_set().pairs
    for group in load_open_set().groups:
        assert len({(pair.order, pair.hops) for pair in pairs if pair.group == group}) == 4


@pytest.mark.parametrize("variant", TEMPLATES)
def test_the_lint_finds_nothing(variant: str) -> None:
    assert lint(load_open_set(variant)) == []


@pytest.mark.parametrize("variant", TEMPLATES)
def test_no_placeholder_is_left(variant: str) -> None:
    for pair in load_open_set(variant).pairs:
        for name in pair.characters[:2]:
            texts = [pair.needle(name), pair.question(name), pair.distractor(name) or ""]
            assert pair.task_template is not None
            values = {"haystack": "hay", "question": pair.question(name), "choices": ", ".join(pair.characters[:4])}
            texts.append(fill(pair.task_template, values))
            assert not re.search(r"[{}]", "".join(texts))
            assert pair.needle(name).count(name) == 1
            assert name not in pair.question(name)


def test_needle_and_question_share_no_word_at_all() -> None:
    for pair in load_open_set().pairs:
        assert not set(words(pair.question("Ravi"))) & set(words(pair.needle("Ravi"))), pair.id


def test_the_name_comes_first_or_last() -> None:
    for pair in load_open_set().pairs:
        name, keyword = pair.needle_template.index("{CHAR}"), pair.needle_template.index(pair.needle_keywords[0])
        assert (name < keyword) == (pair.order == "default"), pair.id


def test_a_name_is_not_a_part_of_another() -> None:
    names = load_open_set().characters
    assert not [(a, b) for a in names for b in names if a != b and a.lower() in b.lower()]


def test_variants_keep_pairs_needles_and_names() -> None:
    default = load_open_set()
    for variant in ("choices", "cot", "distractor"):
        other = load_open_set(variant)
        assert [(p.id, p.needle_template, p.question_template, p.characters) for p in other.pairs] == [
            (p.id, p.needle_template, p.question_template, p.characters) for p in default.pairs
        ]
    assert all(pair.distractor("Ravi") is None for pair in default.pairs)
    assert all(pair.distractor("Ravi") for pair in load_open_set("distractor").pairs)
    assert all("{choices}" in (pair.task_template or "") for pair in load_open_set("choices").pairs)
    direct = load_open_set("direct")
    assert [pair.needle_template for pair in direct.pairs] == list(
        dict.fromkeys(p.needle_template for p in default.pairs)
    )
    assert all(pair.needle_keywords == pair.question_keywords for pair in direct.pairs)


def test_a_distractor_holds_the_question_keyword_and_no_name() -> None:
    for pair in load_open_set("distractor").pairs:
        text = pair.distractor("Ravi") or ""
        assert pair.question_keywords[0] in text
        assert not [name for name in pair.characters if name in text]


def test_hard_awaits_measurements() -> None:
    with pytest.raises(UsageError, match="several models have been measured"):
        load_open_set("hard")
    with pytest.raises(UsageError, match="choices"):
        load_open_set("easy")


def test_every_fact_has_its_sources_and_its_needles() -> None:
    facts = {(fact.group, fact.test): fact for fact in open_facts()}
    assert len(facts) == len(open_facts()) == 20
    pairs = load_open_set().pairs
    assert {(pair.group, pair.test) for pair in pairs} == set(facts)
    for pair in pairs:
        fact = facts[pair.group, pair.test]
        assert pair.needle_keywords == (fact.needle_keyword,)
        assert pair.question_keywords == (fact.one_hop if pair.hops == "onehop" else fact.two_hops,)
        assert fact.first_source.startswith("https://")
        assert fact.second_source.startswith("https://")
        assert fact.note


def test_published_examples_are_not_among_ours() -> None:
    text = " ".join(pair.needle("Ravi") + pair.question("Ravi") for pair in load_open_set().pairs).lower()
    assert not [
        word for word in ("semper", "dresden", "saxony", "vegan", "fish", "yuki", "lives next to") if word in text
    ]


def test_the_tables_of_the_page_are_those_of_the_data() -> None:
    page = DOCS.read_text(encoding="utf-8")
    assert page.partition("<!-- facts -->\n")[2].partition("<!-- end of facts -->")[0] == fact_table(open_facts())
    assert page.partition("<!-- pairs -->\n")[2].partition("<!-- end of pairs -->")[0] == pair_table(load_open_set())


def test_a_template_has_its_places_and_the_question_comes_last() -> None:
    for variant, template in TEMPLATES.items():
        assert template.index("{haystack}") < template.index("{question}")
        assert ("{choices}" in template) == (variant == "choices")


def test_braces_in_values_and_unknown_braces_are_text() -> None:
    assert fill("{haystack} | {question} {x} {}", {"haystack": "a {question}", "question": "who?"}) == (
        "a {question} | who? {x} {}"
    )
    assert fill("{1}", {}) == "{1}"
    assert numbers("{2} {12} {2} {0} {x} {{1}}") == (1, 2, 12)

"""Needle sets in the published format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leadline.errors import DataError, UsageError
from leadline.needles.reading import read_needle_file, read_needle_set
from leadline.needles.sets import Pair
from tests.unit.needles.official import NAMES, official_entries


def _pairs(entries: list[dict[str, Any]] | None = None) -> dict[str, Pair]:
    read = read_needle_set(official_entries() if entries is None else entries, "mine.json")
    return {pair.id: pair for pair in read.pairs}


def test_every_test_and_question_type_is_a_pair() -> None:
    assert list(_pairs()) == [
        *(f"0901/T01/{hops}" for hops in ("onehop", "twohop", "twohop2", "direct")),
        *(f"0901/T02/{hops}" for hops in ("onehop", "twohop", "twohop2", "direct")),
        "0901Inv/T01/onehop",
        "0902/T01/onehop",
    ]


def test_texts_are_filled_by_name_in_one_pass() -> None:
    pairs = _pairs()
    assert pairs["0901/T01/onehop"].needle("Tobias") == "Last week, Tobias rowed along the Vltava {at dawn}."
    assert pairs["0901/T01/twohop"].question("Tobias") == "Which character knows Bohemia?"
    assert pairs["0901/T01/twohop2"].question("Tobias") == "Which character knows {5} spires?"
    assert pairs["0901Inv/T01/onehop"].question("Tobias") == "Which character knows Prague, Tobias or another?"


def test_order_group_keywords_and_templates() -> None:
    pairs = _pairs()
    first, inverted = pairs["0901/T01/onehop"], pairs["0901Inv/T01/onehop"]
    assert (first.order, inverted.order) == ("default", "inverted")
    assert first.group == inverted.group == "0901"
    assert first.needle_id == pairs["0901/T01/direct"].needle_id == "0901/T01"
    assert (first.needle_keywords, first.question_keywords) == (("Vltava",), ("Prague",))
    assert pairs["0901/T01/direct"].question_keywords == ("Vltava",)
    assert first.task_template == "Text {x}: {haystack}\nAsk: {question} {}"
    assert first.system_prompt == "Be {brief}."
    assert inverted.task_template is None


def test_distractors_belong_to_their_question_type() -> None:
    pairs = _pairs()
    assert pairs["0901/T01/onehop"].distractor("Tobias") == "A map of Prague lay open."
    assert pairs["0901/T02/twohop"].distractor("Tobias") == "A map of Germany lay open."
    assert pairs["0901/T01/twohop2"].distractor("Tobias") is None
    assert pairs["0901Inv/T01/onehop"].distractor("Tobias") is None


def test_gold_is_the_name_or_what_the_file_says() -> None:
    pairs = _pairs()
    assert pairs["0901/T02/onehop"].gold("Rosalind") == ("Rosalind",)
    assert pairs["0902/T01/onehop"].gold("Rosalind") == ("hen", "chicken")
    assert not pairs["0902/T01/onehop"].draws_a_name


def test_a_name_in_the_needle_outranks_gold_answers() -> None:
    entries = official_entries()
    entries[0]["tests"]["T01"]["gold_answers"] = ["somebody"]
    assert _pairs(entries)["0901/T01/onehop"].gold("Tobias") == ("Tobias",)


def test_the_same_pair_comes_once() -> None:
    read = read_needle_set(official_entries(), "mine.json")
    assert read.duplicates == (("0902/T02/onehop", "0902/T01/onehop"),)


def test_groups_names_and_digest() -> None:
    read = read_needle_set(official_entries(), "mine.json")
    assert read.groups == ("0901", "0902")
    assert read.characters == read.characters_of("0901") == tuple(NAMES)
    assert read.characters_of("0902") == ()
    assert read.digest == read_needle_set(official_entries(), "another name").digest
    changed = official_entries()
    changed[0]["needle"] = "Today, {CHAR} rowed along the {1}."
    assert read.digest != read_needle_set(changed, "mine.json").digest


def test_a_file_is_read_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text("\ufeff" + json.dumps(official_entries()), encoding="utf-8")
    assert read_needle_file(file).name == "mine.json"
    assert len(read_needle_file(file).pairs) == 10


Change = Callable[[dict[str, Any]], object]

MISTAKES: list[tuple[Change, str]] = [
    (lambda entry: entry.pop("needle"), "mine.json: entry 0901, field needle: Field required"),
    (lambda entry: entry.update(id="Inv1"), "mine.json: entry Inv1, field id: "),
    (lambda entry: entry.update(id=7), "mine.json: entry number 1, field id: "),
    (lambda entry: entry.update(reasoning_type="guess"), "entry 0901, field reasoning_type: "),
    (lambda entry: entry["questions"].update(threehop="?"), "entry 0901, field questions.threehop"),
    (lambda entry: entry.update(task_template="{question}"), "field task_template: it has no {haystack}"),
    (lambda entry: entry.update(character_set=[]), "field character_set: the needle has {CHAR}"),
    (lambda entry: entry.update(needle="{CHAR} {9}"), "field needle: it has {9}, and test T01 gives 4 input_args"),
    (lambda entry: entry["distractors"].update(onehop="{8}"), "field distractors.onehop: it has {8}"),
    (lambda entry: entry.update(needle="A {1}."), "field tests.T01.gold_answers: the needle has no {CHAR}"),
    (lambda entry: entry.update(id="0902"), "entry 0902, field id: it occurs twice"),
    (lambda entry: entry.update(tests={}), "entry 0901, field tests: "),
]


@pytest.mark.parametrize(("change", "expected"), MISTAKES)
def test_what_is_wrong_is_named_in_one_line(change: Change, expected: str) -> None:
    entries = official_entries()
    change(entries[0])
    with pytest.raises(DataError) as caught:
        read_needle_set(entries, "mine.json")
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [[], {}, "text", None, ["entry"]])
def test_what_is_no_needle_set_is_refused(data: object) -> None:
    with pytest.raises(DataError, match=r"mine\.json: "):
        read_needle_set(data, "mine.json")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_needle_file(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("[1,\n oops", encoding="utf-8")
    with pytest.raises(DataError, match="line 2"):
        read_needle_file(tmp_path / "text.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe[]")
    with pytest.raises(DataError, match="UTF-8"):
        read_needle_file(tmp_path / "bytes.json")

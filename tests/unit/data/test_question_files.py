from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leadline.data.added import add, all_added, find_added
from leadline.data.question_cache import kept_questions
from leadline.data.sources import Sources
from leadline.errors import UsageError
from leadline.haystacks.documents import QuestionSet

FIXTURES = Path(__file__).parents[2] / "fixtures"
SQUAD, HOTPOTQA = FIXTURES / "questions_squad.json", FIXTURES / "questions_hotpotqa.json"


def texts(known: QuestionSet) -> list[str]:
    return [known.documents.text(index) for index in range(len(known.documents))]


@pytest.mark.usefixtures("cache")
def test_squad_becomes_distinct_paragraphs_and_the_questions_that_have_an_answer() -> None:
    known = kept_questions("a" * 64, lambda: SQUAD)
    assert texts(known) == [
        "The lighthouse of Marrow Bay was built in 1871 by Edda Holm.\nIts lamp burned rape oil.",
        "/notes/ The keeper's log names nine ships that ran aground  in fog.",
        "Rye bread keeps for a fortnight, and wheat bread — the softer one — for three days.",
        "2 kites rose over the dunes.",
    ]
    assert known.documents.article_starts.tolist() == [0, 2, 3, 4]
    assert [known.documents.article_of(index) for index in range(4)] == [(0, 2), (0, 2), (2, 3), (3, 4)]
    asked = [known.question(index) for index in range(len(known))]
    assert [question.answers for question in asked] == [("Edda Holm", "Holm"), ("nine",), ("a fortnight",)]
    assert asked[0].text == "Who built the lighthouse of Marrow Bay?"
    assert [question.own for question in asked] == [question.gold for question in asked] == [(0,), (1,), (2,)]


@pytest.mark.usefixtures("cache")
def test_hotpotqa_becomes_titled_paragraphs_and_questions_with_their_own() -> None:
    known = kept_questions("b" * 64, lambda: HOTPOTQA)
    assert texts(known)[:2] == [
        "Ostrava Mill\nOstrava Mill stands on the River Tamm. It grinds oats.",
        "Barley\nBarley is a grass.",
    ]
    first, second = known.question(0), known.question(1)
    assert (first.own, first.gold, first.answers) == ((0, 1, 2), (0, 2), ("Norland",))
    assert (second.own, second.gold) == ((1, 3), (1,))
    assert known.documents.article_starts.tolist() == [0, 1, 2, 3, 4]


def test_the_file_is_read_once(cache: Path) -> None:
    made = kept_questions("c" * 64, lambda: SQUAD)
    again = kept_questions("c" * 64, lambda: pytest.fail("read again"))
    assert again.sha256 == made.sha256
    assert texts(again) == texts(made)
    (index,) = cache.glob("questions/*/index.npz")
    index.write_bytes(b"damaged")
    assert kept_questions("c" * 64, lambda: SQUAD).sha256 == made.sha256


def test_the_real_sets_have_their_published_sizes() -> None:
    sources = Sources()
    squad, hotpotqa = sources.questions("squad"), sources.questions("hotpotqa")
    assert (len(squad), len(squad.documents), len(squad.documents.article_starts) - 1) == (5928, 1204, 35)
    assert (len(hotpotqa), len(hotpotqa.documents)) == (7405, 66635)
    assert sources.hashes() == {"hotpotqa": hotpotqa.sha256, "squad": squad.sha256}
    golds = [hotpotqa.question(index) for index in range(0, len(hotpotqa), 37)]
    assert all(len(question.gold) == 2 and set(question.gold) <= set(question.own) for question in golds)


@pytest.mark.usefixtures("cache")
def test_an_added_file_is_found_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_bytes(HOTPOTQA.read_bytes())
    added = add(file, "mine")
    file.unlink()
    assert (added.format, added.questions, added.documents, added.source) == ("hotpotqa", 2, 4, "mine.json")
    assert added.path.is_file()
    assert find_added("mine") == added
    assert all_added() == (added,)
    sources = Sources(offline=True)
    assert sources.questions("mine") is sources.questions("mine")
    assert sources.hashes() == {"added/mine": sources.questions("mine").sha256}


@pytest.mark.usefixtures("cache")
def test_a_name_is_replaced_only_when_asked() -> None:
    add(SQUAD, "mine")
    add(SQUAD, "mine")
    with pytest.raises(UsageError, match=r"mine is already .*--again"):
        add(HOTPOTQA, "mine")
    assert add(HOTPOTQA, "mine", again=True).format == "hotpotqa"


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("name", ["squad", "essays", "local", "../mine", "Mine", ""])
def test_names_that_cannot_be_given(name: str) -> None:
    with pytest.raises(UsageError, match="name"):
        add(SQUAD, name)


@pytest.mark.usefixtures("cache")
def test_a_name_that_nothing_has() -> None:
    with pytest.raises(UsageError, match=r"'sqaud'.*squad, hotpotqa.*data add FILE"):
        Sources().questions("sqaud")


def changed(file: Path, *path: str | int, value: Any) -> bytes:
    content: Any = json.loads(file.read_bytes())
    place = content
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(content).encode()


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "neither a JSON object nor a list"),
        (b"question,answer", "neither a JSON object nor a list"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"data": [', "not valid JSON"),
        (b'[{"question": 1]', "not valid JSON"),
        (b"{}", "no list called data"),
        (b"[]", "no question that has an answer"),
        (HOTPOTQA.read_bytes().rstrip()[:-1], "not valid JSON"),
        (changed(SQUAD, "data", 1, "paragraphs", 0, "context", value=None), r"entry data\.1\.paragraphs\.0\.context"),
        (changed(SQUAD, "data", 1, "paragraphs", 0, "context", value=" "), r"data\.1\.paragraphs\.0\.context: it is e"),
        (
            changed(SQUAD, "data", 0, "paragraphs", 1, "qas", 0, "answers", 0, value="nine"),
            r"entry data\.0\.paragraphs\.1\.qas\.0\.answers\.0",
        ),
        (changed(HOTPOTQA, 1, "answer", value=None), r"entry 1\.answer: field required"),
        (changed(HOTPOTQA, 1, "context", 0, 1, value="text"), r"entry 1\.context\.0\.1"),
        (changed(HOTPOTQA, 1, "supporting_facts", 0, 0, value="Elm"), r"1\.supporting_facts: 'Elm' is no title"),
        (changed(HOTPOTQA, 0, "supporting_facts", value=[]), r"0\.supporting_facts: it names no paragraph"),
    ],
)
def test_a_malformed_file_is_told_in_one_line(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "broken.json"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=told) as caught:
        add(file, "broken")
    assert "\n" not in str(caught.value)
    assert find_added("broken") is None


@pytest.mark.usefixtures("cache")
def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        add(tmp_path / "nothing.json", "nothing")

"""NoLiMa on the command line: files in the official format, our own needles, overlap."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from leadline.records import Record
from leadline.requests import Request, Response
from leadline.scoring.trials import score
from tests.unit.needles.official import NAMES, official_entries

from .conftest import Ended, Invoke, Shell, invoke_in

LINES = 900
VARIANTS = ("default", "direct", "choices", "cot", "distractor")


@pytest.fixture(scope="module")
def own(shared_shell: Shell) -> Path:
    """A needle file and two books of the user's."""
    folder = shared_shell.folder
    (folder / "mine.json").write_text(json.dumps(official_entries()), encoding="utf-8")
    (folder / "books").mkdir()
    for book in ("first", "second"):
        lines = [
            f"On day {day} of the {book} winter the {day % 7} boats stayed in, said Elsbeth." for day in range(LINES)
        ]
        (folder / "books" / f"{book}.txt").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.fixture
def ask(own: Path) -> Invoke:
    return partial(invoke_in, own)


def run(ask: Invoke, model: str, *options: str) -> Ended:
    files = ("--needles", "mine.json", "--haystack", "books", "--out", f"runs-{model.replace('/', '-')}")
    return ask("run", "nolima", "--model", model, *files, "--lengths", "250,500,1k,2k", "--json", *options)


def records(folder: Path) -> list[Record]:
    return [
        Record.from_json(line)
        for file in sorted(folder.glob("*/*/records-*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def subset(summary: dict[str, Any], task: str) -> dict[str, Any]:
    return next(entry for entry in summary["subsets"] if (entry["task"], entry["factor"]) == (task, "all"))


def test_an_oracle_is_right_on_every_variant(ask: Invoke, own: Path) -> None:
    done = run(ask, "reader/oracle", "--samples", "32", "--variant", ",".join(VARIANTS))
    assert (done.code, done.err) == (0, "")
    summary = done.json
    assert {cell["score"] for cell in summary["cells"]} == {100}
    assert {cell["strict"] for cell in summary["cells"]} == {100}
    assert summary["base"]["score"] == 100
    assert summary["base"]["cross_fitted"] is True
    assert summary["effective_length"]["relative"]["value"] == 2000
    found = records(own / "runs-reader-oracle")
    assert {record.factors["variant"] for record in found} == set(VARIANTS)
    assert {record.factors["hops"] for record in found} == {"onehop", "twohop", "twohop2", "direct"}
    assert {record.factors["order"] for record in found} == {"default", "inverted"}
    for record in found:
        assert record.fit is not None and record.fit.recount is not None
        assert abs(record.fit.recount - record.key.length) <= 2


def test_silence_scores_nothing(ask: Invoke) -> None:
    summary = run(ask, "reader/empty", "--samples", "16").json
    assert {cell["score"] for cell in summary["cells"]} == {0}
    assert subset(summary, "nolima")["base"]["score"] == 0


def test_naming_everybody_is_found_out_by_the_strict_score(ask: Invoke, own: Path) -> None:
    run(ask, "reader/oracle", "--samples", "32", "--variant", ",".join(VARIANTS))
    found = records(own / "runs-reader-oracle")
    named = [record for record in found if record.answers == ((record.facts["name"],),)]
    assert named
    for record in named:
        assert record.response is not None
        everybody = replace(record, response=replace(record.response, text=", ".join(record.facts["names"])))
        scored = score(everybody)
        assert scored is not None
        assert (scored.recall, scored.strict) == (1, 0)
        small = score(replace(record, response=replace(record.response, text=record.answers[0][0].lower())))
        assert small is not None
        assert small.recall == 0, "the case counts"


def test_a_filtered_answer_is_an_outcome_of_its_own(ask: Invoke, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from leadline.models.readers import Reader

    async def filtered(self: Reader, request: object) -> Response:
        return Response(None, finish_reason="filter")

    monkeypatch.setattr(Reader, "answer", filtered)
    done = run(ask, "reader/oracle", "--samples", "8", "--out", "runs-filtered")
    assert done.code == 0
    assert {record.outcome for record in records(own / "runs-filtered")} == {"filtered"}
    for cell in done.json["cells"]:
        assert cell["outcomes"] == {"filtered": cell["n"]}


def test_a_reader_that_misses_some_names_is_found_out(ask: Invoke, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from leadline.models.readers import Reader

    async def answers(self: Reader, request: Request) -> Response:
        assert request.sample is not None
        name = request.sample.plan.answers[0][0]
        return Response("nobody" if name in NAMES[:2] else name)

    monkeypatch.setattr(Reader, "answer", answers)
    done = run(ask, "reader/oracle", "--samples", "160", "--out", "runs-names")
    assert (done.code, done.err) == (0, "")
    names = done.json["names"]
    by_name = {entry["name"]: entry for entry in names["by_name"]}
    assert {name for name, entry in by_name.items() if entry["score"] == 0} == set(NAMES[:2])
    assert all(entry["score"] == 100 for name, entry in by_name.items() if name not in NAMES[:2])
    assert sum(entry["n"] for entry in by_name.values()) == 4 * 160 - names_without_a_draw(own / "runs-names")
    assert names["p"] <= 0.01
    assert all(entry["tokens"] >= 1 for entry in by_name.values())
    assert names["chance"] == [{"task": "nolima", "names": len(NAMES), "score": 100 / len(NAMES)}]
    (folder,) = {path.parent for path in (own / "runs-names").glob("*/*/run.json")}
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Names and chance" in page
    assert "they differ by more than chance" in page
    shown = ask("score", str(folder))
    assert "they differ by more than chance" in shown.out


def names_without_a_draw(folder: Path) -> int:
    """Trials whose needle has answers of its own."""
    return sum(record.answers != ((record.facts["name"],),) for record in records(folder))


def test_closed_book_is_asked_beside_the_run(invoke: Invoke, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--lengths", "250", "--samples", "8", "--variant", "default,choices,cot", "--closed-book", "--json")
    knows = invoke("run", "nolima-open", "--model", "reader/oracle", *options).json
    checks = {check["task"]: check for check in knows["closed_book"]}
    assert {task: (check["right"], check["n"]) for task, check in checks.items()} == {
        "nolima_open": (80, 80),
        "nolima_open_choices": (80, 80),
    }
    assert all(check["above_chance"] for check in checks.values())
    assert (checks["nolima_open"]["chance"], checks["nolima_open_choices"]["chance"]) == (3.125, 25)
    assert {cell["n"] for cell in knows["cells"]} == {8}, "it counts in no cell"
    again = invoke("run", "nolima-open", "--model", "reader/oracle", *options).json
    assert again["tokens"]["asked"] == knows["tokens"]["asked"] == 3 * 8 + 2 * 80, "what is there is not asked again"
    silent = invoke("run", "nolima-open", "--model", "reader/empty", *options[:-1])
    assert "closed book, nolima_open: 0 of 80 right" in silent.out
    assert "chance 3.1 %: no more than guessing explains" in silent.out
    (page,) = shell.folder.glob("runs/reader-empty/*/report.html")
    assert "Closed book, nolima_open: 0 of 80 right" in page.read_text(encoding="utf-8")


def test_our_own_needles_need_no_files(shell: Shell, invoke: Invoke) -> None:
    options = ("--samples", "40", "--json")
    oracle = invoke("run", "nolima-open", "--model", "reader/oracle", "--lengths", "250,500,1k", *options).json
    assert {cell["score"] for cell in oracle["cells"]} == {100}
    variants = ("--variant", "default,direct", "--lengths", "1k")
    literal = invoke("run", "nolima-open", "--model", "reader/literal", *variants, *options).json
    scores = {cell["task"]: cell["score"] for cell in literal["cells"]}
    assert scores["nolima_open_direct"] >= 95
    assert scores["nolima_open"] <= 15
    assert len(shell.run_folders()) == 2


def test_the_plan_tells_the_closed_book_from_other_controls(invoke: Invoke) -> None:
    arguments = ("plan", "nolima-open", "--model", "reader/oracle", "--lengths", "1k", "--samples", "8")
    planned = invoke(*arguments, "--closed-book", "--json").json
    assert (planned["trials"], planned["controls"]["trials"], planned["closed_book"]["trials"]) == (8 + 5 + 80, 5, 80)
    alone = invoke(*arguments, "--closed-book", "--no-control")
    assert "of these 80 trials" in alone.out
    assert "--no-control" not in alone.out
    assert "--closed-book" not in invoke(*arguments).out


def test_a_run_of_nolima_stands_among_no_published_rows_and_lists_what_it_lacks(invoke: Invoke, shell: Shell) -> None:
    options = ("--lengths", "2k", "--samples", "8", "--no-control")
    lacks = invoke("run", "nolima-open", "--model", "reader/oracle", *options)
    assert "pairs are missing at 250, 500 and 1K" in lacks.out
    (folder,) = shell.run_folders()
    ended = invoke("leaderboard", "--with", str(folder))
    assert (ended.code, ended.out) == (2, "")
    assert "is a run of NoLiMa" in ended.err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("run", "nolima-open", "--model", "reader/oracle", "--needles", "mine.json"), "needles of its own"),
        (("run", "nolima-open", "--model", "reader/oracle", "--variant", "hard"), "several models have been measured"),
        (("run", "nolima-open", "--model", "reader/oracle", "--variant", "diract"), "did you mean direct"),
        (("run", "ruler", "--model", "reader/oracle", "--sweep", "last-2k"), "--sweep is for NoLiMa's suites"),
        (("run", "ruler", "--model", "reader/oracle", "--closed-book"), "--closed-book is for NoLiMa's suites"),
        (("run", "nolima", "--model", "reader/oracle", "--needles", "none.json", "--haystack", "books"), "none.json"),
        (("run", "nolima", "--model", "reader/oracle", "--needles", "mine.json", "--haystack", "none"), "none"),
        (("overlap", "nolima-opun"), "did you mean nolima-open"),
        (("overlap",), "SUITE"),
    ],
)
def test_mistakes_are_named_in_one_line(ask: Invoke, arguments: tuple[str, ...], named: str) -> None:
    ended = ask(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1
    assert named in ended.err


def test_without_the_official_files_the_suite_says_how_to_get_them(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "empty"))
    ended = invoke("run", "nolima", "--model", "reader/oracle", "--tokenizer", "tiktoken/cl100k_base", "--offline")
    assert (ended.code, ended.out) == (2, "")
    asked = invoke("data", "get", "nolima-official")
    assert asked.code == 2
    assert "--accept-licence" in asked.err


def test_overlap_stands_beside_the_published_rows(ask: Invoke) -> None:
    suites = ("overlap", "ruler", "--tasks", "niah_single_1,niah_single_2,niah_single_3,cwe,qa_2")
    done = ask(*suites, "--samples", "40", "--json")
    assert (done.code, done.err) == (0, "")
    rows = {row["task"]: row for row in done.json}
    assert [row["suite"] for row in done.json] == ["ruler"] * 5 + ["published"] * 5
    for name in ("niah_single_1", "niah_single_2", "niah_single_3"):
        assert rows[name]["distance"] <= 0.002
        assert rows[name]["rouge1"] == pytest.approx(rows["RULER S-NIAH"]["rouge1"], abs=0.002)
        assert rows[name]["rouge2"] == pytest.approx(rows["RULER S-NIAH"]["rouge2"], abs=0.002)
        assert rows[name]["rougeL"] == pytest.approx(rows["RULER S-NIAH"]["rougeL"], abs=0.002)
    # Both golden paragraphs as one text: near in words and word pairs, less so in their order.
    assert rows["qa_2"]["rouge1"] == pytest.approx(rows["RULER QA"]["rouge1"], abs=0.05)
    assert rows["qa_2"]["rouge2"] == pytest.approx(rows["RULER QA"]["rouge2"], abs=0.05)
    assert rows["qa_2"]["rougeL"] == pytest.approx(rows["RULER QA"]["rougeL"], abs=0.15)
    assert (rows["cwe"]["n"], rows["cwe"]["rouge1"]) == (0, None)


def test_overlap_of_needles_of_ones_own(ask: Invoke) -> None:
    done = ask("overlap", "nolima", "--needles", "mine.json", "--haystack", "books", "--variant", "default,direct")
    assert (done.code, done.err) == (0, "")
    assert "nolima_direct" in done.out
    assert "published: NoLiMa" in done.out
    shown = ask("overlap", "nolima-open", "--samples", "80", "--json").json
    assert (shown[0]["task"], shown[0]["n"], shown[0]["rouge1"]) == ("nolima_open", 80, 0)

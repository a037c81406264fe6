"""``leaderboard``: the papers' tables, and a run among them."""

from __future__ import annotations

import pytest

from leadline.reference.tables import TABLES

from .conftest import Invoke, Shell

KEYS = {
    *("table", "model", "claimed", "scores", "average", "wavg_inc", "wavg_dec", "rank_inc", "rank_dec"),
    *("effective_length", "source"),
}
RUN = ("run", "ruler", "--model", "reader/oracle", "--tasks", "vt", "--samples", "1")


def test_all_tables_as_json(invoke: Invoke) -> None:
    rows = invoke("leaderboard", "--json").json
    assert {row["table"] for row in rows} == set(TABLES)
    for row in rows:
        assert set(row) - {"base"} == KEYS
        assert ("base" in row) == (row["table"] in ("nolima", "nolima-hard"))
    first = rows[0]
    assert (first["model"], first["claimed"], first["scores"]["131072"]) == ("Gemini-1.5-Pro", 1024 * 1024, 94.4)
    assert first["effective_length"] == {
        "value": 131072,
        "censored": "above",
        "threshold": 85.6,
        "confidence": None,
    }


def test_disagreements_have_a_mark_and_a_line(invoke: Invoke) -> None:
    lines = invoke("leaderboard", "--table", "vt").out.splitlines()
    (row,) = [line for line in lines if line.startswith("GPT-4 [1] ")]
    assert ">128K" in row
    assert "[1] GPT-4: effective length >128K, printed 128K" in lines
    assert "[7] LongLoRA-base (7B): with every shorter length passing too the effective length is 16K" in lines


def test_a_run_among_the_rows(shell: Shell, invoke: Invoke) -> None:
    assert invoke(*RUN).code == 0
    (folder,) = shell.run_folders()
    place = str(folder.relative_to(shell.folder))
    alone = invoke("leaderboard", "--table", "vt", "--with", place, "--json")
    assert "warning" not in alone.err
    (mine,) = [row for row in alone.json if row["model"] == "reader/oracle"]
    assert (mine["rank_inc"], mine["rank_dec"], mine["source"]) == (1, 1, place)
    assert mine["effective_length"]["threshold"] == 89.7
    among = invoke("leaderboard", "--with", place)
    assert "1 of the table's 13 tasks" in among.err
    assert among.out.splitlines()[2].startswith("> reader/oracle ")
    refused = invoke("leaderboard", "--table", "nolima", "--with", place)
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)


def test_a_run_that_lacks_lengths_is_refused(shell: Shell, invoke: Invoke) -> None:
    assert invoke(*RUN, "--lengths", "4k,8k").code == 0
    (folder,) = shell.run_folders()
    refused = invoke("leaderboard", "--table", "vt", "--with", str(folder))
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "has not measured 16K, 32K, 64K, 128K" in refused.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--table", "rulr"), "did you mean ruler"),
        (("--table", ","), "names no table"),
        (("--weights", "1,2"), "has 6 lengths"),
        (("--weights", "1,1,1,1,1,x"), "are not numbers"),
        (("--weights", "0,0,0,0,0,0"), "one at least is above 0"),
        (("--weights", "1,1,1,1,1,nan"), "are no weights"),
        (("--kind", "aligned"), "neither chat nor base"),
        (("--table", "ruler", "--kind", "base"), "leave out --kind"),
        (("--with", "nowhere"), "is not a run's folder"),
    ],
)
def test_mistakes_are_one_line(invoke: Invoke, arguments: tuple[str, ...], said: str) -> None:
    ended = invoke("leaderboard", *arguments)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert said in ended.err

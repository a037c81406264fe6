"""`leadline needles` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from leadline.cli.needles import app
from leadline.errors import UsageError
from leadline.needles.open_set import load_open_set
from leadline.needles.table import pair_table
from tests.unit.needles.official import official_entries


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(official_entries()), encoding="utf-8")
    return path


def test_our_own_set_passes() -> None:
    result = CliRunner().invoke(app, ["lint"])
    assert result.exit_code == 0
    assert "nolima-open: 80 pairs in 8 groups, 32 names" in result.stdout
    assert "nothing found" in result.stdout


def test_an_error_is_exit_code_1(file: Path, tmp_path: Path) -> None:
    (tmp_path / "books" / "one").mkdir(parents=True)
    (tmp_path / "books" / "one" / "a.txt").write_text("Tobias went home.", encoding="utf-8")
    result = CliRunner().invoke(app, ["lint", str(file), "--haystack", str(tmp_path / "books"), "--json"])
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert {"check": "name in the haystack", "severity": "error"}.items() <= answer["findings"][-1].items()
    assert answer["pairs"] == 10
    assert set(answer["overlap"]) == {"rouge_1", "rouge_2", "rouge_l", "count"}


def test_a_set_of_direct_questions_is_measured_as_such(tmp_path: Path) -> None:
    entries = official_entries()[:1]
    entries[0]["questions"] = {"direct": entries[0]["questions"]["direct"]}
    (tmp_path / "direct.json").write_text(json.dumps(entries), encoding="utf-8")
    result = CliRunner().invoke(app, ["lint", str(tmp_path / "direct.json")])
    assert "repeat the needle on purpose" in result.stdout


def test_a_haystack_without_texts_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["lint", "--haystack", str(tmp_path)])
    assert isinstance(result.exception, UsageError)


def test_tables(file: Path) -> None:
    assert CliRunner().invoke(app, ["table"]).stdout == pair_table(load_open_set())
    assert CliRunner().invoke(app, ["table", "--facts"]).stdout.count("\n") == 22
    assert "0901Inv/T01/onehop" in CliRunner().invoke(app, ["table", str(file)]).stdout
    assert isinstance(CliRunner().invoke(app, ["table", str(file), "--facts"]).exception, UsageError)

"""Text of others, fit to be shown, and the commands that show it."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from leadline.cli import main
from leadline.cli.tables import print_table
from leadline.visible import visible

ESCAPE = "\x1b[31m"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, 85.6 % – ✓ 測", "plain words, 85.6 % – ✓ 測"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("1\u202f024 and\u00a0so on", "1\u202f024 and\u00a0so on"),
        ("\x1b[2Jgone", "[U+001B][2Jgone"),
        ("\x9b31m", "[U+009B]31m"),
        ("a\u202eb\u2066c\u200bd", "a[U+202E]b[U+2066]c[U+200B]d"),
        ("half \ud800", "half [U+D800]"),
        ("back\b and\r over", "back[U+0008] and[U+000D] over"),
    ],
)
def test_what_has_no_picture_is_named(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(st.characters(exclude_categories=())))
def test_every_result_can_be_written_and_stays_as_it_is(text: str) -> None:
    made = visible(text)
    made.encode("utf-8")
    assert visible(made) == made
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", made)


def test_an_error_that_quotes_it_steers_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", ["leadline", "score", str(tmp_path / ESCAPE)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "[U+001B][31m" in said
    assert "\x1b" not in said


def test_a_table_that_holds_it_steers_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr("sys.stdout", written)
    table = Table(box=None)
    table.add_column("name")
    table.add_row(f"needle {ESCAPE}")
    print_table(table)
    assert "needle [U+001B][31m" in written.getvalue()
    assert "\x1b" not in written.getvalue()

from __future__ import annotations

from leadline.report.notebook import render_fragment

from .conftest import HOSTILE, Run


def test_what_comes_from_outside_is_escaped(mixed: Run) -> None:
    html = render_fragment(mixed.summary, mixed.design, mixed.verdict)
    assert HOSTILE not in html
    assert html.count("&lt;script&gt;") >= 2
    assert html.count("<div") == html.count("</div>") == 1


def test_marks_are_explained(mixed: Run, plain: Run) -> None:
    html = render_fragment(mixed.summary, mixed.design, mixed.verdict)
    assert "* incomplete" in html
    assert "left out of every mean: vt" in html
    assert "* incomplete" not in render_fragment(plain.summary, plain.design, plain.verdict)


def test_a_run_without_records_shows_that_it_has_none(empty: Run) -> None:
    assert "?*" in render_fragment(empty.summary, empty.design, empty.verdict)

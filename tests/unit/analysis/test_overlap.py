"""Overlap of questions with what answers them, beside the article's rows."""

from __future__ import annotations

import pytest

from leadline.analysis.overlap import distance, overlap_row, published_rows, published_source

NEEDLE = "One of the special magic numbers for calm-river is: 8231764."
QUESTION = "What is the special magic number for calm-river mentioned in the provided text?"


def test_single_needles_come_out_at_the_published_figures() -> None:
    row = overlap_row("ruler", "niah_single_1", [(QUESTION, [NEEDLE])] * 3)
    assert row.n == 3
    assert row.counterpart == "RULER S-NIAH"
    gap = distance(row)
    assert gap is not None
    assert gap <= 0.002


def test_stretches_count_as_one_text_and_a_label_is_no_word() -> None:
    row = overlap_row("ruler", "qa_2", [("Question: who was it", ["it was Ada", "who knows"])])
    assert row.rouge_1 == 1
    assert row.counterpart == "RULER QA"


def test_what_no_stretch_answers_has_no_figures() -> None:
    row = overlap_row("ruler", "cwe", [("Which words?", []), ("Which?", [""])])
    assert row.figures == (None, None, None)
    assert (row.n, distance(row)) == (0, None)


def test_the_articles_rows_are_marked() -> None:
    rows = published_rows()
    assert [row.task for row in rows] == ["Vanilla NIAH", "RULER S-NIAH", "RULER QA", "InfiniteBench QA", "NoLiMa"]
    assert all(row.published and row.n is None for row in rows)
    assert rows[-1].figures == (0.069, 0.002, 0.067)
    assert rows[-1].as_dict()["published"] is True
    assert "2502.05167" in published_source()


@pytest.mark.parametrize("task", ["nolima_open", "vt"])
def test_other_tests_have_no_counterpart(task: str) -> None:
    row = overlap_row("nolima-open", task, [("who", ["Ravi"])])
    assert row.counterpart is None
    assert row.as_dict()["distance"] is None

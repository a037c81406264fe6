"""Claimed against effective length."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from leadline.report.charts import to_svg
from leadline.report.claimed import (
    ClaimedRow,
    claimed_against_effective,
    claimed_chart,
    claimed_length,
    claimed_row,
    claimed_sentence,
    claimed_text,
    claimed_values,
    format_claim,
)

from .conftest import Run

ROW = ClaimedRow("alpha", 131072, 16384, None, (8192, 16384), False, 4096, 32768)


@pytest.mark.parametrize(
    ("manifest", "tokens", "said"),
    [
        ({}, None, "--trained-length was not given"),
        ({"model": "a name alone", "spec": {}}, None, "neither the model nor its server tells it"),
        ({"model": {"served_context_tokens": 8192}}, 8192, "as its server serves it"),
        ({"model": {"served_context_tokens": 8192, "context_tokens": 32768}}, 32768, "as its file says"),
        ({"model": {"context_tokens": 32768}, "spec": {"trained_length": 131072}}, 131072, "as --trained-length says"),
        ({"model": {"context_tokens": "many"}, "spec": {"trained_length": None}}, None, "neither"),
    ],
)
def test_who_says_what_a_model_claims(manifest: dict[str, Any], tokens: int | None, said: str) -> None:
    found, told = claimed_length(manifest)
    assert found == tokens
    assert said in told


@pytest.mark.parametrize(
    ("tokens", "k", "label"),
    [(131072, 1024, "128K"), (131072, 1000, "128K"), (200000, 1024, "200K"), (1234, 1024, "1234")],
)
def test_a_claim_is_written_in_the_k_that_divides_it(tokens: int, k: int, label: str) -> None:
    assert format_claim(tokens, k) == label


def test_the_row_is_that_of_the_verdict(plain: Run, mixed: Run, empty: Run) -> None:
    row = claimed_row("a", plain.summary, plain.design, 8192)
    assert (row.effective, row.censored, row.effective_label, row.claimed_label) == (2048, None, "2K", "8K")
    assert (row.shortest, row.longest) == (1024, 4096)
    assert claimed_row("a", empty.summary, empty.design, None).effective_label == "–"
    assert claimed_row("a", mixed.summary, mixed.design, None).claimed_label == "not known"
    with pytest.raises(ValueError, match="without lengths"):
        claimed_row("a", plain.summary, replace(plain.design, lengths=()), None)


def test_every_kind_of_row_can_be_drawn_and_told() -> None:
    rows = [
        ROW,
        replace(ROW, name="beta", censored="above", effective=32768),
        replace(ROW, name="gamma", censored="below", effective=None, possible_below=True),
        replace(ROW, name="delta", claimed=None, effective=None, possible=()),
    ]
    for width in (640, 250):
        svg = to_svg(claimed_against_effective(rows, width))
        for label in ("alpha", "16K", "&gt;32K", "&lt;4K", "128K"):
            assert f">{label}</text>" in svg
    assert [value["effective"] for value in claimed_values(rows)] == ["16K", ">32K", "<4K", "–"]
    assert claimed_values(rows)[2]["possible_tokens"] == "below 8192 16384"
    assert "delta: claimed not known, effective –" in claimed_text(rows)
    with pytest.raises(ValueError, match="no rows"):
        claimed_against_effective([])


def test_one_row_needs_no_name_on_the_axis() -> None:
    assert ">alpha</text>" not in to_svg(claimed_against_effective([ROW]))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (ROW, "it claims 128K (by hand); effective 16K, which is 12.5 % of it"),
        (replace(ROW, claimed=None), "its claimed length is not known: by hand"),
        (replace(ROW, censored="above", effective=32768), "beyond 32K nothing was tested"),
        (replace(ROW, censored="below", effective=None), "below 4K nothing was tested"),
        (replace(ROW, claimed=8192, effective=4096), "it claims 8K (by hand) and was tested to 32K; effective 4K"),
        (replace(ROW, claimed=8192, effective=None), "it claims 8K (by hand) and was tested to 32K"),
    ],
)
def test_the_sentence_says_what_can_be_used(row: ClaimedRow, words: str) -> None:
    assert words in claimed_sentence(row, "by hand")


def test_the_chart_of_a_run(plain: Run) -> None:
    chart = claimed_chart(plain.summary, plain.design, {"spec": {"trained_length": 8192}})
    assert chart is not None
    assert "it claims 8K (as --trained-length says); effective 2K, which is 25 % of it" in chart.caption
    assert '"8K"' in json.dumps(chart.data())

"""Tokens, time and cost, and the published models, on the page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leadline.analysis.design import TaskDesign
from leadline.analysis.findings import findings
from leadline.analysis.spending import Spending
from leadline.analysis.summary import Tokens, summarise
from leadline.reference.tables import THIRTEEN
from leadline.report.page import render_page
from leadline.report.spent import Cost, counts_sentences, format_duration, format_usd, spent_section
from leadline.report.standing import standing_section

from .conftest import Run, records_of

ALL = Spending(None, 12, 2, 48_000, 12_000, 600, 10, 20.0, 600, 20.0)


def test_figures_of_all_lengths_and_a_row_for_each() -> None:
    section = spent_section([replace(ALL, length=4096), ALL], 1024, Cost(0.125, "--price"))
    assert section is not None
    assert dict(section.figures) == {
        "requests": "12",
        "prompt tokens": "48\u202f000",
        "of them from a cache": "12\u202f000 (25 %)",
        "output tokens": "600",
        "cost, by --price": "$0.12",
        "time of all requests": "20.0 s",
        "a request, on average": "2.0 s",
        "output tokens a second": "30.0",
    }
    assert [row[0] for row in section.rows] == ["4K", "all"]
    assert (section.errors, section.timed) == (2, True)


def test_what_is_not_known_is_said_so_and_not_made_up() -> None:
    section = spent_section([Spending(None, 1, prompt_tokens=5)], 1024, None)
    assert section is not None
    assert dict(section.figures)["of them from a cache"] == "not told"
    assert not any(name.startswith(("cost", "time")) for name, _ in section.figures)
    assert spent_section([], 1024, None) is None


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.042, "0.042 s"), (12.34, "12.3 s"), (250, "4 min 10 s"), (7500, "2 h 5 min")]
)
def test_times_as_people_write_them(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(("usd", "text"), [(0, "$0.00"), (0.00123, "$0.0012"), (1234.5, "$1,234.50")])
def test_dollars(usd: float, text: str) -> None:
    assert format_usd(usd) == text


def test_the_page_tells_tokens_and_cost(plain: Run) -> None:
    found = findings(records_of(plain.design, {}, 4096), plain.design)
    page = render_page(plain.summary, plain.design, {}, plain.verdict, found, Cost(1.5, "--price"))
    for words in ("<h2>Tokens and time</h2>", "cost, by --price", "$1.50", "<dd>36</dd>", "not told"):
        assert words in page
    assert "Tokens and time" not in render_page(plain.summary, plain.design, {}, plain.verdict)


def test_a_run_of_all_tasks_and_lengths_stands_among_the_published_models(plain: Run) -> None:
    tasks = tuple(TaskDesign(name, "a", binary=True) for name in THIRTEEN)
    lengths = tuple(4096 * 2**place for place in range(6))
    design = replace(plain.design, tasks=tasks, lengths=lengths, threshold_absolute=85.6, claims_tasks=THIRTEEN)
    summary = summarise(records_of(design, {}, 32768), design)
    section = standing_section(summary, design, {})
    assert section is not None
    assert section.table is not None
    assert [row.name for row in section.table.rows if row.link] == [design.model]
    page = render_page(summary, design, {}, "effective length 16K")
    assert page.count('<tr class="ours">') == 1
    assert "<small>this run</small>" in page
    assert "its cells have 4 trials or more, the published ones 500" in page
    changed = standing_section(summary, design, {"spec": {"set": {"vt.num_hops": 2}, "max_tokens": 5}})
    assert changed is not None
    assert "parameters were changed (vt.num_hops, max-tokens)" in changed.reason


def test_a_run_that_is_not_comparable_is_told_why(plain: Run, empty: Run) -> None:
    section = standing_section(plain.summary, plain.design, {})
    assert section is not None
    assert section.table is None
    assert section.reason.endswith("over RULER's 13 tasks, and this run has 2 of them")
    design = replace(plain.design, tasks=tuple(TaskDesign(name, "a", binary=True) for name in THIRTEEN))
    short = standing_section(summarise(records_of(design, {}, 4096), design), design, {})
    assert short is not None
    assert "has not measured 8K, 16K, 32K, 64K, 128K" in short.reason
    assert standing_section(empty.summary, empty.design, {}) is None
    page = render_page(plain.summary, plain.design, {}, plain.verdict)
    assert "<h2>Among the published models</h2>" in page
    assert 'class="ranking"' not in page


@pytest.mark.parametrize("tokens", [Tokens(), Tokens(least_told=0.995, most_told=1.005)])
def test_counts_that_agree_are_not_spoken_of(tokens: Tokens) -> None:
    assert counts_sentences(tokens) == []


def test_counts_that_differ_are_stated() -> None:
    (sentence,) = counts_sentences(Tokens(least_told=0.912, most_told=0.998))
    assert "91.2% to 99.8%" in sentence

"""Summaries from records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from leadline.analysis.base_score import BaseRule
from leadline.analysis.design import Design
from leadline.analysis.summary import Tokens, summarise
from leadline.records import Record

MakeRecord = Callable[..., Record]
EFFECTIVE_KEYS = {"value", "censored", "threshold", "confidence"}


@pytest.fixture
def records(make_record: MakeRecord, design: Design) -> list[Record]:
    """All right at 1K; at 2K one of four trials of niah is wrong, and vt finds two of its four targets."""
    made: list[Record] = []
    for task in design.tasks:
        for length in design.lengths:
            for index in range(design.samples):
                text = "yes aye oui ja" if task.name == "vt" else "yes"
                if length == 2048:
                    text = "yes aye" if task.name == "vt" else "no" if (task.name, index) == ("niah", 3) else text
                made.append(make_record(task.name, length, index, text, targets=1 if task.binary else 4))
    return made


def test_keys_of_the_summary(records: list[Record], design: Design) -> None:
    data = json.loads(json.dumps(summarise(records, design).as_dict(), allow_nan=False))
    assert set(data) >= {
        "model", "suite", "lengths", "cells", "by_length", "effective_length", "average", "wavg_inc", "wavg_dec",
        "protocol", "tokens",
    }  # fmt: skip
    assert len(data["cells"]) == 6
    for cell in data["cells"]:
        assert set(cell) >= {"task", "length", "n", "outcomes", "score", "low", "high", "strict"}
    for length in data["by_length"]:
        assert set(length) >= {"length", "score", "low", "high", "categories"}
    assert set(data["effective_length"]) == {"absolute", "relative", "strict"}
    assert all(set(value) == EFFECTIVE_KEYS for value in data["effective_length"].values())
    counts = {"prompt": 12 * 1024 + 12 * 2048, "output": 48, "cached": None, "asked": 24}
    assert data["tokens"] == {**counts, "least_told": 1.0, "most_told": 1.0}
    assert (data["model"], data["suite"], data["protocol"]) == ("a-model", "quick", "published")
    assert data["lengths"] == [1024, 2048]
    assert data["absent"] == data["incomplete"] == data["left_out_tasks"] == []


def test_figures_of_the_summary(records: list[Record], design: Design) -> None:
    summary = summarise(records, design)
    assert summary.cell("niah", 2048).score == 75
    assert summary.cell("vt", 2048).score == 50
    first, second = summary.by_length
    assert (first.score, first.strict, first.n) == (100, 100, 12)
    assert second.score == pytest.approx((75 + 100 + 50) / 3)
    assert second.categories == {"retrieval": 87.5, "tracing": 50}
    assert second.low is not None and second.high is not None and second.low < 75 < second.high
    relative = summary.effective_length.relative
    assert (relative.value, relative.threshold) == (1024, 85)
    assert summary.average == pytest.approx((100 + 75) / 2)


def test_the_mean_has_an_interval(records: list[Record], design: Design) -> None:
    second = summarise(records, replace(design, tasks=design.tasks[:2])).by_length[1]
    assert second.low is not None and second.high is not None
    assert second.low < 87.5 < second.high <= 100


def test_averages_have_intervals(records: list[Record], design: Design) -> None:
    asked = replace(design, weights={1024: 1.0, 2048: 3.0})
    data = summarise(records, asked).as_dict()
    assert data["wavg_user"] == pytest.approx((100 + 3 * 75) / 4)
    assert data["weights"] == {"1024": 1.0, "2048": 3.0}
    assert set(data["intervals"]) == {"average", "wavg_inc", "wavg_dec", "wavg_user"}
    for name, (low, high) in data["intervals"].items():
        assert 0 <= low < data[name] < high <= 100
    plain = summarise(records, design).as_dict()
    assert plain["wavg_user"] is None
    assert set(plain["intervals"]) == {"average", "wavg_inc", "wavg_dec"}


def test_lengths_of_the_same_items_are_not_counted_as_new_ones(design: Design, make_record: MakeRecord) -> None:
    asked = replace(design, tasks=design.tasks[:2], samples=40)
    texts = ["no" if index % 4 == 0 else "yes" for index in range(40)]
    made = [
        make_record(task.name, length, index, text)
        for task in asked.tasks for length in asked.lengths for index, text in enumerate(texts)
    ]  # fmt: skip
    summary = summarise(made, asked)
    assert summary.intervals["average"] == pytest.approx((summary.by_length[0].low, summary.by_length[0].high))


def test_categories_have_verdicts_of_their_own(records: list[Record], design: Design) -> None:
    asked = replace(
        design,
        threshold_absolute=85.6,
        category_thresholds={"retrieval": 87.5, "tracing": 60.0, "qa": 49.7},
        category_tasks={"retrieval": ("niah", "keys"), "tracing": ("vt", "chains"), "qa": ("qa_1",)},
    )
    data = summarise(records, asked).as_dict()["category_effective_length"]
    assert {name: (entry["value"], entry["censored"]) for name, entry in data.items()} == {
        "retrieval": (2048, "above"),
        "tracing": (None, None),  # chains was not asked
        "qa": (None, None),
    }
    assert data["retrieval"]["set"]["confidence"] == 0.95
    whole = replace(asked, category_tasks={"retrieval": ("niah", "keys"), "tracing": ("vt",)})
    assert summarise(records, whole).category_effective_length["tracing"].value == 1024


def test_the_newest_record_of_a_key_counts(records: list[Record], design: Design, make_record: MakeRecord) -> None:
    older = [make_record("niah", 1024, index, None, outcome="failed") for index in range(4)]
    assert summarise([*older, *records], design).cell("niah", 1024).score == 100
    cell = summarise([*records, *older], design).cell("niah", 1024)
    assert (cell.score, cell.complete, cell.outcomes) == (None, False, {"failed": 4})


def test_a_task_absent_at_one_length_is_left_out_at_every_length(
    records: list[Record], design: Design, make_record: MakeRecord
) -> None:
    summary = summarise([*records, make_record("vt", 1024, 2, None, outcome="does_not_fit")], design)
    assert summary.left_out_tasks == ("vt",)
    assert [score.score for score in summary.by_length] == [100, 87.5]
    assert summary.by_length[1].categories == {"retrieval": 87.5, "tracing": None}
    data = summary.as_dict()
    assert data["absent"] == [{"task": "vt", "length": 1024}]
    assert [cell["score"] for cell in data["cells"] if cell["task"] == "vt"] == [None, 50]


def test_a_cell_with_a_failed_trial_makes_its_length_incomplete(
    records: list[Record], design: Design, make_record: MakeRecord
) -> None:
    summary = summarise([*records, make_record("keys", 2048, 0, None, outcome="failed")], design)
    assert [score.complete for score in summary.by_length] == [True, False]
    assert summary.by_length[1].incomplete_categories == {"retrieval"}
    assert summary.as_dict()["incomplete"] == [{"task": "keys", "length": 2048}]
    assert summary.effective_length.relative.undecided == (2048,)


def test_other_tasks_and_lengths_are_not_in_the_figures(
    records: list[Record], design: Design, make_record: MakeRecord
) -> None:
    others = [make_record("other", 1024, 0, "no"), make_record("niah", 4096, 0, "no")]
    summary, plain = summarise([*records, *others], design), summarise(records, design)
    assert summary.cells == plain.cells
    assert summary.tokens.asked == plain.tokens.asked + 2


def test_records_may_come_as_a_stream(records: list[Record], design: Design) -> None:
    def stream() -> Iterator[Record]:
        yield from records

    assert summarise(stream(), design).as_dict() == summarise(records, design).as_dict()


def test_no_record_at_all(design: Design) -> None:
    summary = summarise([], design)
    assert summary.average is None
    assert all(cell.score is None and not cell.complete for cell in summary.cells)
    with pytest.raises(KeyError):
        summary.cell("niah", 4096)


def test_an_answer_that_a_newer_record_takes_back_is_in_no_base_score(make_record: MakeRecord, design: Design) -> None:
    rule = BaseRule(times=0.85, lengths=(250, 500, 1000))
    asked = replace(design, lengths=rule.lengths, tasks=design.tasks[:1], samples=2, base=rule)
    records = [
        replace(make_record("niah", length, index, text), factors={"pair": f"pair {index}", "depth": 0.0})
        for length in rule.lengths
        for index, text in enumerate(("yes", "no"))
    ]
    base = summarise(records, asked).base
    assert base is not None
    assert base.score == 50

    taken_back = replace(records[0], outcome="failed")
    base = summarise([*records, taken_back], asked).base
    assert base is not None
    assert (base.score, base.incomplete) == (None, (250,))


def test_counts_of_the_server_stand_beside_our_own(make_record: MakeRecord) -> None:
    tokens = Tokens()
    for index, told in enumerate((1000, 940, 1010)):
        record = make_record("niah", 1000, index)
        assert record.response is not None
        tokens.add(replace(record, response=replace(record.response, prompt_tokens=told)))
    cut = make_record("niah", 1000, 3, outcome="truncated_prompt")
    assert cut.response is not None
    tokens.add(replace(cut, response=replace(cut.response, prompt_tokens=300)))
    assert (tokens.least_told, tokens.most_told) == (0.94, 1.01)

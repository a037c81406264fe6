"""Runs among the published rows."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.entrant import Entrant, make_entrant
from leadline.analysis.leaderboard import standings
from leadline.analysis.summary import summarise
from leadline.errors import UsageError
from leadline.items import ItemKey, TrialKey
from leadline.records import Outcome, Record
from leadline.reference.tables import THIRTEEN, read_table
from leadline.requests import Response

LENGTHS = (4096, 8192, 16384, 32768, 65536, 131072)
SAMPLES = 5


def entrant(
    table: str = "ruler",
    *,
    tasks: tuple[str, ...] = THIRTEEN,
    lengths: tuple[int, ...] = LENGTHS,
    right: Mapping[int, int] | None = None,
    protocol: str = "published",
    outcomes: Mapping[tuple[str, int], Outcome] | None = None,
    kind: str = "chat",
    changed: tuple[str, ...] = (),
) -> Entrant:
    """A run with so many right answers of five at each length."""
    design = Design(
        "ruler",
        "reader",
        protocol,
        lengths,
        tuple(TaskDesign(name, "all", binary=True) for name in tasks),
        SAMPLES,
        claims_tasks=THIRTEEN,
        threshold_absolute=85.6,
    )
    records: list[Record] = []
    for task in tasks:
        for length in lengths:
            outcome = (outcomes or {}).get((task, length), "answered")
            for index in range(SAMPLES):
                text = "yes" if index < (right or {}).get(length, SAMPLES) else "no"
                key = TrialKey(ItemKey(task, 1, "{}", 42, index), length)
                response = Response(text, prompt_tokens=length, output_tokens=1)
                records.append(Record(key, None, None, None, length, {}, (("yes",),), {}, response, outcome))
    return make_entrant(
        summarise(records, design),
        design,
        read_table(table),
        "runs/reader/ruler-1",
        "base" if kind == "base" else "chat",
        changed,
    )


def test_a_perfect_run_is_first_and_moves_the_others_down() -> None:
    run = entrant()
    assert run.warnings == ()
    rows = standings(read_table("ruler"), [run])
    assert (rows[0].model, rows[0].rank_inc, rows[0].rank_dec, rows[0].is_run) == ("reader", 1, 1, True)
    assert rows[0].effective.censored == "above"
    assert (rows[1].model, rows[1].rank_dec) == ("Gemini-1.5-Pro", 2)
    assert not any("rank" in remark for row in rows for remark in row.remarks)


def test_a_run_stands_where_its_weighted_average_puts_it() -> None:
    half = entrant(right={131072: 0, 65536: 0, 32768: 4})
    row = next(row for row in standings(read_table("ruler"), [half]) if row.is_run)
    assert row.figures.wavg_dec == pytest.approx((6 * 100 + 5 * 100 + 4 * 100 + 3 * 80) / 21)
    assert row.effective.value == 16384
    assert row.rank_dec == 12


def test_a_run_among_base_models_meets_their_threshold() -> None:
    run = entrant("niah", right={131072: 4}, kind="base")
    row = next(row for row in standings(read_table("niah"), [run], kind="base") if row.is_run)
    assert (row.effective.threshold, row.effective.value) == (90.9, 65536)


def test_a_category_s_table_takes_its_tasks_of_a_longer_run() -> None:
    run = entrant("vt")
    assert (run.claims, run.warnings) == (True, ())


def test_other_protocols_missing_tasks_changed_parameters_and_gaps_are_warned_of() -> None:
    assert "protocol is sound" in entrant(protocol="sound").warnings[0]
    few = entrant(tasks=THIRTEEN[:-1])
    assert "12 of the table's 13 tasks (not qa_2)" in few.warnings[0]
    assert "niah.num_keys" in entrant(changed=("niah.num_keys",)).warnings[0]
    row = next(row for row in standings(read_table("ruler"), [few]) if row.is_run)
    assert (row.effective.value, row.effective.no_claim) == (None, "no_threshold")
    unfit = entrant(outcomes={("vt", 4096): "does_not_fit"})
    assert "not vt" in unfit.warnings[0]
    assert unfit.notes == ("its cells have 5 trials or more, the published ones 500",)


def test_a_run_without_all_lengths_is_refused_in_one_line() -> None:
    with pytest.raises(UsageError, match=r"has not measured 64K, 128K.*--lengths 4K,8K,16K,32K,64K,128K") as error:
        entrant(lengths=LENGTHS[:4])
    assert "\n" not in str(error.value)


def test_a_length_without_a_score_is_refused() -> None:
    with pytest.raises(UsageError, match="no score at 8K"):
        entrant(outcomes={("cwe", 8192): "failed"})


def test_ruler_s_runs_never_enter_nolima_s_tables() -> None:
    with pytest.raises(UsageError, match="no run of RULER's tasks belongs into the table 'nolima'"):
        entrant("nolima")
    with pytest.raises(UsageError, match="no base models"):
        entrant("ruler", kind="base")
    with pytest.raises(UsageError, match="none of the tasks of the table 'qa'"):
        entrant("qa", tasks=("vt",))


def test_the_user_s_weights_rank_too() -> None:
    rows = standings(read_table("ruler"), weights=[0, 0, 0, 0, 0, 1])
    assert [row.rank_weighted for row in rows] == sorted(row.rank_weighted or 0 for row in rows)
    assert rows[0].figures.weighted == rows[0].scores[-1].score == 94.4


def test_equal_figures_share_a_rank() -> None:
    ranks = [row.rank_inc for row in standings(read_table("vanilla-niah"), kind="chat")]
    assert ranks.count(1) == 4
    assert 2 not in ranks


def test_a_row_as_json_has_the_documented_keys() -> None:
    row = standings(read_table("ruler"))[0].as_dict("ruler")
    assert list(row) == [
        "table",
        "model",
        "claimed",
        "scores",
        "average",
        "wavg_inc",
        "wavg_dec",
        "rank_inc",
        "rank_dec",
        "effective_length",
        "source",
    ]
    assert row["scores"]["4096"] == 96.7
    assert row["claimed"] == 1024 * 1024
    assert row["effective_length"] == {"value": 131072, "censored": "above", "threshold": 85.6, "confidence": None}

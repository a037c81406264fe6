"""RULER's files become a run: scores are the tool's, and what is odd is said."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from leadline.analysis.summary import Summary, summarise
from leadline.errors import LeadlineError
from leadline.interop.ruler_import import Imported, import_ruler
from leadline.records import Record
from leadline.run.manifest import design_of, read_manifest
from leadline.run.store import read_records
from leadline.scoring.failures import failure_kind

from .conftest import ToolFolder, make_sample, predicted, row_of


def summary_of(folder: Path) -> Summary:
    return summarise(read_records(folder), design_of(read_manifest(folder)))


def records_of(imported: Imported) -> list[Record]:
    return list(read_records(imported.folder))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def needle_rows(count: int = 3) -> list[dict[str, Any]]:
    return [row_of(make_sample("niah_single_1", index)) for index in range(count)]


def by_hand(index: int, outputs: Sequence[str]) -> dict[str, Any]:
    return {"index": index, "input": "", "outputs": list(outputs), "length": -1}


def test_scores_are_those_of_the_tool(tool: ToolFolder, out: Path) -> None:
    needles = needle_rows()
    tool.both("niah_single_1", needles, [needles[0]["outputs"][0], "1", f"x{needles[2]['outputs'][0]}9"])
    values = by_hand(0, ["1111111", "2222222", "3333333", "4444444"])
    tool.both("niah_multivalue", [values], ["1111111 and 2222222, then 4444444"])
    tool.both("vt", [by_hand(0, ["ABCDE", "FGHIJ", "KLMNO"])], ["abcde\x01FGHIJ"])
    tool.both("qa_1", [by_hand(0, ["Harwich", "in Harwich"]), by_hand(1, ["two"])], ["HARWICH.", "three"])
    imported = import_ruler(tool.root, out)
    summary = summary_of(imported.folder)
    assert {cell.task: round(cell.score or 0, 2) for cell in summary.cells} == {
        "niah_single_1": 66.67,
        "niah_multivalue": 75.0,
        "vt": 66.67,
        "qa_1": 50.0,
    }
    assert not any("RULER's tool scores" in notice for notice in imported.notices)
    assert read_manifest(imported.folder)["imported"]["scores"]["vt at 4096"] == 66.67


@pytest.mark.parametrize(
    "level",
    ["", "some-model", "some-model/synthetic", "some-model/synthetic/4096", "some-model/synthetic/4096/pred"],
)
def test_the_folder_may_be_of_any_level(tool: ToolFolder, out: Path, level: str) -> None:
    tool.both("niah_single_1", needle_rows(), ["1", "2", ""])
    imported = import_ruler(tool.root / level, out)
    assert imported.records == 3
    assert imported.folder.parent.name == "some-model"
    assert summary_of(imported.folder).lengths == (4096,)


def test_lengths_are_the_folders_names(tool: ToolFolder, out: Path) -> None:
    for length in (4096, 8192):
        tool.both("niah_single_1", needle_rows(), ["1", "2", "3"], length)
    assert summary_of(import_ruler(tool.root, out).folder).lengths == (4096, 8192)


@pytest.mark.parametrize(
    "name", ["niah_single_1", "niah_multikey_2", "niah_multikey_3", "vt", "vt_chains_2", "cwe", "fwe"]
)
def test_failures_are_judged_as_if_leadline_had_asked(tool: ToolFolder, out: Path, name: str) -> None:
    sample = make_sample(name)
    facts = sample.plan.facts
    texts = [
        "",
        "the the a",
        "nothing that is there",
        sample.text[-400:-200],
        sample.plan.answers[0][0][:5],
        *facts.get("distractors", ())[:1],
        *(sample.span_texts("distractor")[0].rpartition(" is: ")[2:] if "multikey" in name else ()),
    ]
    rows = [row_of(sample, index) for index in range(len(texts))]
    tool.both(name, rows, texts)
    records = records_of(import_ruler(tool.root, out))
    judged = [failure_kind(sample, text, record.outcome) for text, record in zip(texts, records, strict=True)]
    assert [record.failure for record in records] == judged
    assert {record.item_hash for record in records} == {sample.item_hash}


def test_every_text_is_scored_as_the_tool_scores_it(tool: ToolFolder, out: Path) -> None:
    rows = needle_rows()
    loop = rows[0]["outputs"][0] + " "
    tool.both("niah_single_1", rows, [20 * loop, "I cannot assist with that.", "?" * 99])
    imported = import_ruler(tool.root, out)
    assert [record.outcome for record in records_of(imported)] == ["answered", "refused", "degenerate"]
    assert round(summary_of(imported.folder).cells[0].score or 0, 2) == 33.33
    assert "as it is" in records_of(imported)[0].notes[0]


def test_reasoning_is_no_answer_and_that_is_said(tool: ToolFolder, out: Path) -> None:
    rows = needle_rows(1)
    tool.both("niah_single_1", rows, [f"<think>{rows[0]['outputs'][0]}?</think>none"])
    imported = import_ruler(tool.root, out)
    assert summary_of(imported.folder).cells[0].score == 0
    (notice,) = imported.notices
    assert "scores all its lines 100.00, leadline 0.00: it counts reasoning" in notice


def test_predictions_alone_are_enough(tool: ToolFolder, out: Path) -> None:
    rows = needle_rows()
    wrong = rows[1]["outputs"][0]
    tool.predictions("niah_single_1", [predicted(row, wrong) for row in rows])
    imported = import_ruler(tool.root, out)
    assert imported.notices == ()
    assert [record.failure for record in records_of(imported)] == ["not_in_context", None, "not_in_context"]


def test_without_prompts_no_failure_is_judged_and_that_is_said(tool: ToolFolder, out: Path) -> None:
    rows = [{**row, "input": ""} for row in needle_rows()]
    tool.predictions("niah_single_1", [predicted(row, "1") for row in rows])
    imported = import_ruler(tool.root, out)
    assert imported.notices == ("predictions whose prompt is in no file, so that why they are wrong is not judged: 3",)
    assert {record.failure for record in records_of(imported)} == {None}


def test_places_in_the_text_for_numbers_tell_no_samples_apart(tool: ToolFolder, out: Path) -> None:
    rows: list[dict[str, Any]] = [{**row, "index": 777} for row in needle_rows()]
    texts = [row["outputs"][0] for row in rows]
    tool.samples("niah_single_1", rows)
    tool.predictions("niah_single_1", [predicted(rows[at], texts[at]) for at in (2, 0, 1)])
    imported = import_ruler(tool.root, out)
    assert summary_of(imported.folder).cells[0].score == 100
    assert [record.key.item.index for record in records_of(imported)] == [0, 1, 2]


def test_chunks_are_read_in_the_order_of_their_numbers(tool: ToolFolder, out: Path) -> None:
    rows = [by_hand(index, ["1234567"]) for index in range(12)]
    for chunk, row in enumerate(rows):
        tool.predictions(f"niah_single_1-{chunk}", [predicted(row, "")])
    records = records_of(import_ruler(tool.root, out))
    assert [record.key.item.index for record in records] == list(range(12))


def test_missing_predictions_leave_the_cell_incomplete(tool: ToolFolder, out: Path) -> None:
    rows = needle_rows()
    tool.samples("niah_single_1", rows)
    tool.samples("vt", [by_hand(0, ["ABCDE"])])
    tool.predictions("niah_single_1", [predicted(rows[0], rows[0]["outputs"][0])])
    imported = import_ruler(tool.root, out)
    needle, chains = summary_of(imported.folder).cells
    assert (needle.score, needle.n, needle.complete) == (100, 1, False)
    assert (chains.score, chains.complete, chains.absent) == (None, False, False)
    assert "niah_single_1 at 4096: predictions are missing and the cell is incomplete: 2" in imported.notices


def test_repeated_and_extra_lines_are_left_out_and_said(tool: ToolFolder, out: Path) -> None:
    rows = needle_rows(2)
    right = rows[0]["outputs"][0]
    stranger = by_hand(9, ["7654321"])
    tool.samples("niah_single_1", [*rows, rows[1]])
    lines = [predicted(rows[0], "1"), predicted(stranger, "7654321"), predicted(rows[0], right), predicted(rows[1], "")]
    tool.predictions("niah_single_1", lines)
    imported = import_ruler(tool.root, out)
    cell = summary_of(imported.folder).cells[0]
    assert (cell.score, cell.n, cell.complete) == (50, 2, True)
    said = " ".join(imported.notices)
    for part in ("lines of samples, left out: 1", "the last counts: 1", "predictions of no sample, left out: 1"):
        assert part in said
    assert len(imported.notices) == 3  # the tool's own figure is the same 50.00


def test_a_last_line_that_was_cut_is_no_prediction(tool: ToolFolder, out: Path) -> None:
    rows = needle_rows(2)
    tool.samples("niah_single_1", rows)
    path = tool.predictions("niah_single_1", [predicted(row, "1") for row in rows])
    path.write_bytes(path.read_bytes()[:-30])
    imported = import_ruler(tool.root, out)
    assert imported.records == 1
    assert imported.notices[0] == "niah_single_1 at 4096: the last line of niah_single_1.jsonl was cut and is left out"


def test_a_prediction_without_text_is_wrong(tool: ToolFolder, out: Path) -> None:
    rows = needle_rows(1)
    tool.predictions("niah_single_1", [predicted(rows[0], None)])
    imported = import_ruler(tool.root, out)
    assert summary_of(imported.folder).cells[0].score == 0
    assert records_of(imported)[0].failure == "empty"
    assert "predictions without text, counted as wrong: 1" in imported.notices[0]


def test_tasks_that_leadline_has_not_are_named(tool: ToolFolder, out: Path) -> None:
    tool.both("niah_single_1", needle_rows(1), ["1"])
    tool.both("niah_of_mine", needle_rows(1), ["1"])
    assert import_ruler(tool.root, out).notices == (
        "left out: niah_of_mine: leadline has no such task; read: niah_single_1",
    )


def test_a_summary_that_does_not_agree_is_named(tool: ToolFolder, out: Path) -> None:
    rows = needle_rows(1)
    tool.both("niah_single_1", rows, [rows[0]["outputs"][0]])
    summary = tool.length(4096) / "pred" / "summary-niah_single_1.csv"
    summary.write_text("0,1\nTasks,niah_single_1\nScore,100.0\nNulls,0/1\n", encoding="utf-8")
    assert import_ruler(tool.root, out).notices == ()
    summary.write_text("0,1\nTasks,niah_single_1\nScore,98.4\nNulls,0/1\n", encoding="utf-8")
    assert (
        "the folder's summary has 98.40, the predictions that were read 100.00"
        in import_ruler(tool.root, out).notices[0]
    )


def test_the_same_files_are_the_same_run(tool: ToolFolder, out: Path) -> None:
    tool.both("niah_single_1", needle_rows(), ["1", "2", "3"])
    first = import_ruler(tool.root, out)
    again = import_ruler(tool.root / "some-model", out)
    assert again.folder == first.folder
    assert len(records_of(again)) == 3
    named = import_ruler(tool.root, out, "another name")
    assert named.folder.parent.name == "another-name"


def test_the_manifest_says_where_the_run_is_from(tool: ToolFolder, out: Path) -> None:
    tool.both("niah_single_1", needle_rows(1), ["1"])
    manifest = read_manifest(import_ruler(tool.root, out).folder)
    assert set(manifest["imported"]["files"]) == {
        f"some-model/synthetic/4096/{name}"
        for name in ("data/niah_single_1/validation.jsonl", "pred/niah_single_1.jsonl")
    }
    assert design_of(manifest).protocol == "published"
    assert design_of(manifest).threshold_name == "chat"


def test_nothing_to_read_is_one_clear_error(tool: ToolFolder, out: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder, why in ((tmp_path / "empty", "holds no predictions"), (tmp_path / "not", "is no folder")):
        with pytest.raises(LeadlineError, match=why):
            import_ruler(folder, out)
    tool.both("my_task", needle_rows(1), ["1"])
    with pytest.raises(LeadlineError, match="has no tasks that leadline has"):
        import_ruler(tool.root, out)
    shutil.rmtree(tool.root)
    tool.samples("vt", [by_hand(0, ["ABCDE"])])
    with pytest.raises(LeadlineError, match="no whole prediction"):
        import_ruler(tool.root, out)
    tool.predictions("vt", [predicted(by_hand(0, ["OTHER"]), "OTHER")])
    with pytest.raises(LeadlineError, match="no prediction belongs to a sample"):
        import_ruler(tool.root, out)


def test_several_models_are_one_too_many(tool: ToolFolder, out: Path) -> None:
    for folder in (tool, ToolFolder(tool.root, "second")):
        folder.both("niah_single_1", needle_rows(1), ["1"])
    with pytest.raises(LeadlineError, match=r"2 models \(second, some-model\): give the folder of one"):
        import_ruler(tool.root, out)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "line 1 is no JSON"),
        ("[]", r"\(its index\)"),
        (json.dumps({"index": "a", "pred": 1, "outputs": ["b"]}), r"\(its index, pred\)"),
        (json.dumps({"index": 0, "pred": "b", "outputs": []}), r"\(its outputs\)"),
        (json.dumps({"index": 0, "pred": "b"}), "without outputs"),
    ],
)
def test_a_damaged_line_is_named(tool: ToolFolder, out: Path, line: str, why: str) -> None:
    path = tool.predictions("vt", [])
    path.write_text(f"{line}\n{line}\n", encoding="utf-8")
    with pytest.raises(LeadlineError, match=why) as raised:
        import_ruler(tool.root, out)
    assert "vt.jsonl" in str(raised.value)
    assert not out.exists()

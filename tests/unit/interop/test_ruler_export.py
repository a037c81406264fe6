"""A run in RULER's layout, and back: no score changes."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from leadline.analysis.summary import summarise
from leadline.errors import LeadlineError
from leadline.interop.csv_export import COLUMNS, export_csv
from leadline.interop.ruler_export import export_ruler
from leadline.interop.ruler_import import import_ruler
from leadline.interop.run_records import read_run
from leadline.items import Sample, TrialKey
from leadline.prompt import Frame
from leadline.records import Outcome, Record
from leadline.requests import ModelFacts, Response
from leadline.run.identity import identity
from leadline.run.manifest import design_of, merged_manifest, read_manifest, write_manifest
from leadline.run.store import read_records
from leadline.scoring.failures import failure_kind
from leadline.scoring.trials import score
from leadline.spec import RunSpec
from leadline.tasks.base import item_key
from leadline.tasks.registry import make_task

from .conftest import LLAMA, ToolFolder, make_sample, predicted, row_of

TASKS = ("niah_single_1", "vt", "cwe")


def asked(sample: Sample, text: str | None, outcome: Outcome = "answered") -> Record:
    return Record.of(sample, Response(text), outcome, failure_kind(sample, text, outcome))


def unasked(task: str, index: int, outcome: Outcome, length: int = 4096) -> Record:
    key = TrialKey(item_key(make_task(task), 42, index), length)
    return Record(key, None, None, None, None, {}, (), {}, None, outcome)


def make_run(folder: Path, records: Sequence[Record], samples: int, frame: Frame = LLAMA) -> Path:
    tasks = tuple(dict.fromkeys(record.key.item.task for record in records))
    lengths = tuple(sorted({record.key.length for record in records}))
    asked = {
        "suite": "ruler",
        "model": "m/x",
        "suite_tasks": tasks,
        "tasks": tasks,
        "lengths": lengths,
        "samples": samples,
    }
    spec = RunSpec.model_validate(asked)
    facts = ModelFacts("m/x")
    folder.mkdir(parents=True)
    write_manifest(folder, merged_manifest(folder, spec, facts, frame, identity(spec, facts, "words", frame, {})))
    (folder / "records-1of1-0.jsonl").write_text("".join(f"{record.to_json()}\n" for record in records))
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    records: list[Record] = []
    for task in TASKS:
        for index in range(3):
            sample = make_sample(task, index)
            answers = [forms[0] for forms in sample.plan.answers]
            records.append(asked(sample, ", ".join(answers[: len(answers) - index])))
    return make_run(tmp_path / "run", records, 3)


def scores(folder: Path) -> dict[tuple[str, int], float | None]:
    summary = summarise(read_records(folder), design_of(read_manifest(folder)))
    return {(cell.task, cell.length): cell.score for cell in summary.cells}


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_round_trip_keeps_everything(run: Path, tmp_path: Path) -> None:
    exported = export_ruler(read_run(run), tmp_path / "root", offline=True)
    assert exported.notices == ()
    assert exported.folder == tmp_path / "root" / "m-x" / "synthetic"
    back = import_ruler(tmp_path / "root", tmp_path / "runs")
    assert back.notices == ()
    assert scores(back.folder) == pytest.approx(scores(run))
    assert [score(record) for record in read_records(back.folder)] == [score(record) for record in read_records(run)]
    before = {(record.key.item.task, record.key.item.index): record for record in read_records(run)}
    for record in read_records(back.folder):
        original = before[record.key.item.task, record.key.item.index]
        assert (record.item_hash, record.failure, record.answers, record.outcome) == (
            original.item_hash,
            original.failure,
            original.answers,
            original.outcome,
        )


def test_files_are_as_the_tool_writes_them(run: Path, tmp_path: Path) -> None:
    length = export_ruler(read_run(run), tmp_path / "root", offline=True).folder / "4096"
    sample = make_sample("vt")
    (row, *_) = lines(length / "data" / "vt" / "validation.jsonl")
    assert row == {
        "index": 0,
        "input": LLAMA.before + sample.text + LLAMA.middle,
        "outputs": [forms[0] for forms in sample.plan.answers],
        "length": 930,
        "length_w_model_temp": 930,
        "answer_prefix": sample.answer_prefix,
    }
    (prediction, *_) = lines(length / "pred" / "vt.jsonl")
    assert {"index", "pred", "input", "outputs", "others", "truncation", "length"} == set(prediction)
    assert (length / "pred" / "summary.csv").read_text(encoding="utf-8") == (
        "0,1,2,3\nTasks,niah_single_1,vt,cwe\nScore,33.33,80.0,90.0\nNulls,2/3,0/3,0/3\n"
    )
    with (length / "pred" / "submission.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["Task", "ID", "Prediction"]
    assert [row[:2] for row in rows[3:5]] == [["vt", "0"], ["vt", "1"]]


def test_outcomes_keep_their_scores(tmp_path: Path) -> None:
    samples = [make_sample("niah_single_1", index) for index in range(4)]
    right = [sample.plan.answers[0][0] for sample in samples]
    records = [
        asked(samples[0], f"<think>{right[1]}</think>{right[0]}"),
        asked(samples[1], right[1], "degenerate"),
        asked(samples[2], None, "failed"),
        asked(samples[3], "<think>" + right[3]),
        *(unasked("vt", index, "over_length") for index in range(1)),
        unasked("cwe", 0, "does_not_fit"),
    ]
    run = make_run(tmp_path / "run", records, 4)
    exported = export_ruler(read_run(run), tmp_path / "root", offline=True)
    assert len(lines(exported.folder / "4096" / "pred" / "vt.jsonl")) == 4
    assert not (exported.folder / "4096" / "data" / "cwe").exists()
    assert "lines without a prompt: 4 (they were never sent)" in exported.notices
    back = import_ruler(tmp_path / "root", tmp_path / "runs")
    wanted = {cell: score for cell, score in scores(run).items() if cell[0] != "cwe"}
    assert scores(back.folder) == pytest.approx(wanted)
    assert wanted["niah_single_1", 4096] == pytest.approx(100 / 3)
    cells = summarise(read_records(back.folder), design_of(read_manifest(back.folder))).cells
    assert [cell.complete for cell in cells] == [False, True]


def test_an_incomplete_cell_is_said(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", [asked(make_sample("vt"), "ABCDE")], 5)
    (notice,) = export_ruler(read_run(run), tmp_path / "root", offline=True).notices
    assert "vt at 4096 is incomplete: its score rests on 1 of 5 trials" in notice


def test_a_template_that_the_run_does_not_keep_is_left_out(tmp_path: Path) -> None:
    frame = Frame("some.jinja", "in_user_turn", "<user>", " Please.", "<assistant>")
    run = make_run(tmp_path / "run", [asked(make_sample("vt", frame=frame), "ABCDE")], 1, frame)
    manifest = read_manifest(run)
    manifest["frame"].pop("after", None)
    write_manifest(run, manifest)
    exported = export_ruler(read_run(run), tmp_path / "root", offline=True)
    (row,) = lines(exported.folder / "4096" / "data" / "vt" / "validation.jsonl")
    assert row["input"] == make_sample("vt").text
    assert "prompts without the model's chat template" in exported.notices[0]


def test_a_sample_that_has_changed_is_not_written(tmp_path: Path) -> None:
    record = asked(make_sample("vt"), "ABCDE")
    changed = Record.from_json(record.to_json().replace(str(record.item_hash), "0" * 32))
    exported = export_ruler(read_run(make_run(tmp_path / "run", [changed], 1)), tmp_path / "root", offline=True)
    (row,) = lines(exported.folder / "4096" / "data" / "vt" / "validation.jsonl")
    assert row["input"] == ""
    assert "have changed since it was asked" in exported.notices[0]


def test_an_imported_run_can_be_exported_without_its_prompts(tool: ToolFolder, tmp_path: Path) -> None:
    rows = [row_of(make_sample("vt", index)) for index in range(2)]
    tool.both("vt", rows, [" ".join(rows[0]["outputs"]), "none"])
    imported = import_ruler(tool.root, tmp_path / "runs")
    exported = export_ruler(read_run(imported.folder), tmp_path / "root", offline=True)
    assert exported.notices == ("lines without a prompt: 2 (their samples are of other files)",)
    assert scores(import_ruler(tmp_path / "root", tmp_path / "again").folder) == scores(imported.folder)


def test_what_is_there_already_is_never_overwritten(run: Path, tmp_path: Path) -> None:
    export_ruler(read_run(run), tmp_path / "root", offline=True)
    with pytest.raises(LeadlineError, match="is there already"):
        export_ruler(read_run(run), tmp_path / "root", offline=True)


def test_a_table_has_a_row_for_each_trial(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "records.csv"
    assert export_csv(read_run(run), path) == 9
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    (row,) = [row for row in rows if (row["task"], row["index"]) == ("vt", "2")]
    assert (row["length"], row["outcome"], float(row["score"]), row["failure"]) == ("4096", "answered", 0.6, "partial")
    assert (row["prompt_tokens"], row["output_tokens"]) == ("900", "")
    with pytest.raises(LeadlineError, match="does not exist"):
        export_csv(read_run(run), tmp_path / "no" / "records.csv")


def test_a_run_without_records_cannot_be_exported(tool: ToolFolder, tmp_path: Path) -> None:
    tool.predictions("vt", [predicted({"index": 0, "outputs": ["ABCDE"]}, "ABCDE")])
    imported = import_ruler(tool.root, tmp_path / "runs")
    for path in imported.folder.glob("records-*"):
        path.unlink()
    with pytest.raises(LeadlineError, match="has no records"):
        read_run(imported.folder)


def test_tasks_that_the_tool_has_not_are_left_out(run: Path, tmp_path: Path) -> None:
    manifest = read_manifest(run)
    for name in ("asked", "spec"):
        manifest[name] = json.loads(json.dumps(manifest[name]).replace('"vt"', '"nolima"'))
    for path in run.glob("records-*"):
        path.write_text(path.read_text().replace('"task":"vt"', '"task":"nolima"'))
    write_manifest(run, manifest)
    exported = export_ruler(read_run(run), tmp_path / "root", offline=True)
    assert exported.notices == ("left out: nolima: RULER's tool has no such task",)

"""Stopping a run when it is certain: what it is judged against, what it asks, what its records then say."""

from __future__ import annotations

import asyncio
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leadline.analysis.entrant import make_entrant
from leadline.analysis.findings import findings
from leadline.analysis.summary import Summary, summarise
from leadline.analysis.verdict import verdict
from leadline.errors import UsageError
from leadline.items import ItemKey, TrialKey
from leadline.records import Record
from leadline.reference.tables import read_table
from leadline.report.console import show
from leadline.report.page import render_page
from leadline.requests import PermanentError, Request, Response
from leadline.run.certain import Asking, check_same_design, target_of
from leadline.run.closing import Cells
from leadline.run.decisions import with_decisions
from leadline.run.engine import Engine
from leadline.run.manifest import design_of
from leadline.run.patience import Traffic
from leadline.run.store import RecordWriter
from leadline.spec import RunSpec, resolve

from .conftest import HASTE, Answer, Bench, StubBackend, right

SAMPLES = 40
LENGTHS = (1024, 2048)


def spec_of(**options: Any) -> RunSpec:
    given = {"tasks": "niah_single_1", "lengths": "1k,2k", "samples": SAMPLES, "stop": "certain", "threshold": "85"}
    return resolve("quick", given | options)


def items_of(spec: RunSpec) -> dict[tuple[str, int], int]:
    return {(task, length): spec.samples for task in spec.tasks for length in spec.lengths}


def figures(spec: RunSpec, records: list[Record]) -> tuple[Summary, str]:
    asked = {task: dict.fromkeys(map(str, spec.lengths), spec.samples) for task in spec.tasks}
    manifest = {"spec": spec.model_dump(mode="json"), "asked": asked, "model": {"name": "stub"}}
    design = with_decisions(design_of(manifest), manifest, records)
    summary = summarise(records, design)
    return summary, verdict(summary, design)


def ask(bench: Bench, spec: RunSpec, answer: Answer, most_lots: int = 200) -> list[Record]:
    """A run to its end, which must come before so many lots."""

    async def run() -> None:
        asking = Asking.of(spec, items_of(spec), bench.closed)
        schedule = bench.schedule(spec.lengths, spec.samples)
        writer = RecordWriter(bench.folder, (0, 1))

        def keep(record: Record) -> None:
            bench.records.append(record)
            asking.file(record)

        cells = Cells(bench.tasks, spec.lengths, bench.closed)
        traffic = Traffic(1, HASTE, server="stub")
        engine = Engine(StubBackend(answer), bench.sampler, writer, traffic, 1, cells, keep, bench.said.append)
        try:
            for number, lot in enumerate(asking.lots()):
                assert number < most_lots
                await engine.run(schedule.make_round(number, lot))
        finally:
            writer.close()

    asyncio.run(run())
    return bench.records


def test_the_suites_threshold_speaks_of_all_its_tasks() -> None:
    whole = resolve("ruler", {"stop": "certain"})
    assert target_of(whole).rule == "absolute" and target_of(whole).threshold == 0.856
    part = target_of(resolve("ruler", {"stop": "certain", "tasks": "vt,cwe"}))
    assert (part.rule, part.threshold, part.share) == ("relative", None, 0.85)
    own = target_of(resolve("ruler", {"stop": "certain", "tasks": "vt,cwe", "threshold": "60"}))
    assert (own.rule, own.threshold) == ("absolute", 0.6)


def test_what_no_rule_can_test_is_refused() -> None:
    for options, reason in (
        ({"lengths": "500,1k,2k"}, "250 is missing"),
        ({"lengths": "250,500,1k"}, "everything up to 1000 tokens"),
        ({"variant": "default,direct"}, "give one --variant"),
        ({"threshold": "60"}, "leave --threshold out"),
    ):
        with pytest.raises(UsageError, match=reason):
            target_of(resolve("nolima-open", {"stop": "certain"} | options))
    with pytest.raises(UsageError, match="one length"):
        target_of(resolve("quick", {"stop": "certain", "lengths": "1k"}))
    for option, value in (("confidence", 1.0), ("margin", -1.0), ("stop", "soon")):
        with pytest.raises(UsageError, match=f"--{option}"):
            resolve("quick", {option: value})
    with pytest.raises(UsageError, match="--shard 1/2"):
        resolve("quick", {"stop": "certain", "shard": "1/2"})


def test_a_run_is_not_stopped_by_part_of_what_was_asked_for_before() -> None:
    items = {("vt", 1024): 40}
    check_same_design({"vt": {"1024": 40}}, items)
    for asked in ({"vt": {"1024": 41}}, {"vt": {"2048": 1}}, {"cwe": {"1024": 1}}):
        with pytest.raises(UsageError, match="--label"):
            check_same_design(asked, items)


def test_a_length_that_the_server_refuses_fails_without_being_asked(bench: Bench) -> None:
    async def answer(request: Request) -> Response:
        assert request.sample is not None
        if request.sample.key.length > 1024:
            raise PermanentError("over_length", "maximum context length is 1500 tokens")
        return right(request)

    spec = spec_of()
    records = ask(bench, spec, answer)
    assert len([record for record in records if record.key.length == 2048]) == 1
    summary, sentence = figures(spec, records)
    assert summary.effective_length.absolute.value == 1024
    assert [score.score for score in summary.by_length] == [100, 0]
    assert sentence.startswith("effective length 1K: passes 85 at 1K, and not at 2K; each length is certain at 95 %")


def test_a_length_that_is_not_read_whole_ends_and_is_not_decided(bench: Bench) -> None:
    async def answer(request: Request) -> Response:
        assert request.sample is not None
        return replace(right(request), prompt_tokens=100 if request.sample.key.length > 1024 else None)

    spec = spec_of()
    records = ask(bench, spec, answer)
    assert {record.outcome for record in records if record.key.length == 2048} == {"truncated_prompt"}
    summary, _ = figures(spec, records)
    assert summary.by_length[0].stopped is not None and summary.by_length[0].stopped.passes
    assert not summary.by_length[1].complete
    assert summary.effective_length.absolute.undecided == (2048,)


def test_failed_trials_are_anything_and_the_run_ends(bench: Bench) -> None:
    async def answer(request: Request) -> Response:
        assert request.sample is not None
        if request.sample.key.item.index % 3 == 0:
            raise PermanentError("failed", "no")
        return right(request)

    spec = spec_of()
    summary, _ = figures(spec, ask(bench, spec, answer))
    assert [row.stopped.passes if row.stopped else None for row in summary.by_length] == [None, None]
    assert not any(row.complete for row in summary.by_length)


def made(spec: RunSpec, right_ones: dict[int, float]) -> list[Record]:
    """All records of a run of which this share is right at each length."""
    return [
        Record(
            TrialKey(ItemKey(task, 1, "{}", 42, index), length), None, None, None, length, {}, (("yes",),), {},
            Response("yes" if (index + 1) * share // 1 > index * share // 1 else "no"), "answered",
        )
        for task in spec.tasks
        for length, share in right_ones.items()
        for index in range(spec.samples)
    ]  # fmt: skip


def test_what_lies_within_the_margin_stays_open_in_words() -> None:
    spec = spec_of(samples=2000, margin=4.0)
    summary, sentence = figures(spec, made(spec, {1024: 1.0, 2048: 0.85}))
    row = summary.by_length[1].as_dict()
    assert (row["decision"], row["decided"]) == ("within", False) and row["used"] < row["of"] == 2000
    assert "undecided at 2K; within 4 points of the threshold at 2K" in sentence
    assert summary.effective_length.absolute.passed(summary.by_length[1]) is None
    assert summary.effective_length.absolute.possible is None
    assert summary.average is None


def test_answers_after_the_verdict_are_counted_and_left_out() -> None:
    spec = spec_of()
    summary, _ = figures(spec, made(spec, {1024: 1.0, 2048: 0.0}))
    for row, cell in zip(summary.by_length, summary.cells, strict=True):
        assert row.stopped is not None and row.stopped.early
        assert row.low is None and row.n == cell.n == row.stopped.used
        assert row.complete
    never = spec_of(stop="never")
    whole, _ = figures(never, made(never, {1024: 1.0, 2048: 0.0}))
    assert whole.stopped is None and whole.average == 50 and "used" not in whole.by_length[0].as_dict()


def test_late_answers_are_in_no_finding_and_stopped_cells_have_no_interval() -> None:
    spec = spec_of()
    records = [replace(entry, factors={"depth": 50.0}, failure="miss") for entry in made(spec, {1024: 1.0, 2048: 0.0})]
    asked = {"niah_single_1": dict.fromkeys(map(str, LENGTHS), SAMPLES)}
    manifest = {"spec": spec.model_dump(mode="json"), "asked": asked, "model": {"name": "stub"}}
    design = with_decisions(design_of(manifest), manifest, records)
    summary, found = summarise(records, design), findings(records, design)
    used = {row.length: row.stopped.used for row in summary.by_length if row.stopped is not None}
    assert used[2048] < SAMPLES
    assert [rate.count for rate in found.failures.by_length] == [used[2048]]
    curves = {curve.length: curve for curve in found.positions.curves if curve.length is not None}
    assert sum(one.n for one in curves[2048].bins) == used[2048]
    assert all(cell.low is None and cell.high is None and cell.score is not None for cell in summary.cells)


def test_a_run_that_stopped_by_one_threshold_claims_nothing_by_another() -> None:
    spec = spec_of()
    summary, _ = figures(spec, made(spec, {1024: 1.0, 2048: 0.0}))
    lengths = summary.effective_length
    assert (lengths.absolute.value, lengths.absolute.no_claim) == (1024, None)
    assert (lengths.relative.value, lengths.relative.no_claim) == (None, "not_asked")


def test_a_stopped_run_has_no_place_among_published_means() -> None:
    table = read_table("ruler")
    spec = resolve("ruler", {"stop": "certain", "tasks": "vt", "samples": 40, "threshold": "85"})
    asked = {"vt": dict.fromkeys(map(str, spec.lengths), spec.samples)}
    manifest = {"spec": spec.model_dump(mode="json"), "asked": asked, "model": {"name": "stub"}}
    records = made(spec, dict.fromkeys(spec.lengths, 1.0))
    design = with_decisions(design_of(manifest), manifest, records)
    with pytest.raises(UsageError, match=r"stopped at 4K, .* --stop never"):
        make_entrant(summarise(records, design), design, table, "runs/stub")


def test_the_console_and_the_page_mark_the_means_and_tell_what_was_saved() -> None:
    spec = spec_of(threshold=None)
    records = made(spec, {1024: 1.0, 2048: 0.0})
    asked = {"niah_single_1": dict.fromkeys(map(str, LENGTHS), SAMPLES)}
    manifest = {"spec": spec.model_dump(mode="json"), "asked": asked, "model": {"name": "stub"}}
    design = with_decisions(design_of(manifest), manifest, records)
    summary = summarise(records, design)
    console = io.StringIO()
    show(summary, design, verdict(summary, design), console)
    page = render_page(summary, design, manifest, verdict(summary, design))
    for text in (console.getvalue(), page):
        assert "≈100.0" in text
        assert "of 40 samples of each task, what the others are compared with" in text
        assert "of 40 samples of each task, below" in text
        assert "no averages over lengths" in text
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    show(summary, design, verdict(summary, design), ascii_only)


def test_records_of_other_items_are_not_filed(tmp_path: Path) -> None:
    spec = spec_of()
    asking = Asking.of(spec, items_of(spec), set())
    first = made(spec, {1024: 1.0})[0]
    for task, index, length in (("vt", 0, 1024), ("niah_single_1", SAMPLES, 1024), ("niah_single_1", 0, 4096)):
        asking.file(replace(first, key=TrialKey(ItemKey(task, 1, "{}", 42, index), length)))
    assert not any(asking.scores.known.values())
    asking.file(first)
    assert asking.scores.known["niah_single_1", 1024] == {0: (1.0, 1.0)}

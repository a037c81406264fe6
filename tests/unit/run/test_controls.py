"""Controls: asked beside a run's cells, and in none of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.findings import findings
from leadline.analysis.summary import summarise
from leadline.data.sources import Sources
from leadline.items import CONTROL_WORDINGS, NO_CONTEXT, SHORT_CONTROL, ItemKey, TrialKey
from leadline.records import Record
from leadline.requests import Request, Response
from leadline.run.closing import cell_of
from leadline.run.controls import QUESTIONS_ALONE, SHORT_ITEMS, Control, control_round, controls_of
from leadline.run.schedule import Trial
from leadline.run.stopping import Stratum
from leadline.spec import resolve
from leadline.tasks.registry import make_task

from .conftest import Bench, StubBackend, right

TASK = make_task("niah_single_1")
SHORT = Control(SHORT_CONTROL, TASK, 1024, range(5))


def test_a_control_is_marked_on_its_key_and_in_its_record() -> None:
    keys = SHORT.keys(42)
    assert len(set(keys)) == 5 and all(key.is_control for key in keys)
    assert not any(replace(key, wording="default").is_control for key in keys)
    assert TrialKey.from_dict(keys[0].as_dict()) == keys[0]


def test_its_round_asks_what_is_missing_of_this_share(bench: Bench) -> None:
    made = control_round(0, [SHORT], bench.sampler, (), (0, 1))
    assert [trial.key for trial in made.trials] == SHORT.keys(42)
    done = {SHORT.keys(42)[1]}
    rest = control_round(0, [SHORT], bench.sampler, done, (1, 2))
    assert [trial.key.item.index for trial in rest.trials] == [3]
    assert not control_round(0, [replace(SHORT, length=200)], bench.sampler, (), (0, 1)).trials


def test_the_record_that_is_kept_has_the_key_of_the_control(bench: Bench) -> None:
    async def answer(request: Request) -> Response:
        return right(request)

    made = control_round(0, [SHORT], bench.sampler, (), (0, 1))
    records = asyncio.run(bench.ask(StubBackend(answer), [made]))
    assert {record.key for record in records} == set(SHORT.keys(42))
    assert {record.outcome for record in records} == {"answered"}


def test_no_figure_counts_a_control() -> None:
    design = Design("quick", "stub", "published", (1024,), (TaskDesign("vt", "tracing", binary=True),), 1)
    own = TrialKey(ItemKey("vt", 1, "{}", 42, 0), 1024)

    def record(key: TrialKey, text: str) -> Record:
        return Record(key, None, None, None, 9, {"depth": 5.0}, (("yes",),), {}, Response(text), "answered", "miss")

    controls = [record(replace(own, wording=wording), "no") for wording in sorted(CONTROL_WORDINGS)]
    records = [record(own, "yes"), *controls]
    summary = summarise(records, design)
    assert (summary.cells[0].n, summary.cells[0].score) == (1, 100.0)
    assert summary.tokens.prompt == 27
    found = findings(records, design)
    assert not found.failures.rates and found.failures.unjudged == 0
    (curve,) = [curve for curve in found.positions.curves if curve.task == "vt" and curve.length is not None]
    assert sum(one.n for one in curve.bins) == 1


def test_a_refused_control_is_a_cell_of_its_own() -> None:
    key = SHORT.keys(42)[0]
    control, own = (Trial(TASK, each, None, "", 0) for each in (key, replace(key, wording="default")))  # pyright: ignore[reportArgumentType]
    assert cell_of(own) == (TASK.name, 1024)
    assert cell_of(control) not in {(TASK.name, 1024), cell_of(replace(control, key=replace(key, wording=NO_CONTEXT)))}


@pytest.mark.parametrize("name", ["qa_1", "qa_2"])
def test_questions_can_be_asked_without_their_documents(name: str) -> None:
    questions = Sources(offline=True)
    task = make_task(name)
    alone = task.without_context()
    assert alone is not None and alone.without_context() is None
    item = ItemKey(name, 1, "{}", 42, 0)
    plan, whole = alone.plan(item, questions), task.plan(item, questions)
    assert plan.answers == whole.answers and plan.facts["question"] == whole.facts["question"]


def test_other_tasks_have_nothing_to_ask_without_their_text() -> None:
    assert all(
        task.without_context() is None for task in resolve("quick", {"tasks": "vt,cwe,niah_single_1"}).make_tasks()
    )


def asked(**options: object) -> list[tuple[str, str, int, int]]:
    spec = resolve("ruler", {"tasks": "vt,qa_1", "samples": 100} | options)
    return [
        (control.wording, control.task.name, control.length, len(control.indices))
        for control in controls_of(spec, spec.make_tasks())
    ]


def test_a_run_of_greater_lengths_asks_a_few_items_at_the_suites_shortest() -> None:
    without_documents = (NO_CONTEXT, "qa_1", 4096, QUESTIONS_ALONE)
    assert asked(lengths="32k") == [
        (SHORT_CONTROL, "vt", 4096, SHORT_ITEMS),
        (SHORT_CONTROL, "qa_1", 4096, SHORT_ITEMS),
        without_documents,
    ]
    assert asked(lengths="4k,32k") == [without_documents]
    assert asked(lengths="1k") == [without_documents]
    assert [one[3] for one in asked(lengths="32k", samples=2)] == [2, 2, 2]


def test_a_folder_that_has_the_shortest_length_needs_no_control_beside() -> None:
    spec = resolve("ruler", {"tasks": "vt", "lengths": "32k"})
    assert controls_of(spec, spec.make_tasks(), earlier=(8192,))
    assert not controls_of(spec, spec.make_tasks(), earlier=(4096, 8192))


def test_controls_can_be_left_out() -> None:
    assert asked(lengths="32k", no_control=True) == []


def test_with_a_stop_rule_the_questions_alone_are_those_that_are_asked_first() -> None:
    spec = resolve("ruler", {"tasks": "qa_1", "samples": 200, "stop": "certain"})
    (control,) = controls_of(spec, spec.make_tasks())
    (stratum,) = Stratum.of_task(spec.seed, "qa_1", 200)
    assert [(index,) for index in control.indices] == list(stratum.groups[:QUESTIONS_ALONE])

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import leadline
from leadline.errors import LeadlineError, RunFolderError, UsageError
from leadline.records import Record
from leadline.spec import RunSpec

OF_A_SUITE = {"about", "source", "k", "suite_tasks", "verdict"}
"""What a run's specification has of its suite and no option changes by itself."""

TASKS = ["niah_single_1", "niah_multikey_3", "vt"]


@pytest.fixture(scope="module")
def runs_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def run(runs_folder: Path) -> leadline.Run:
    return leadline.measure(
        "quick", "reader/limit?tokens=1500", tasks=TASKS, lengths="1k,2k", samples=2, out=runs_folder
    )


@pytest.fixture
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing a page takes longer than these runs."""

    def drawn_elsewhere(run: leadline.Run, path: Path) -> None: ...

    monkeypatch.setattr(leadline.Run, "write_report", drawn_elsewhere)


def test_the_import_brings_nothing_with_it() -> None:
    check = (
        "import sys, leadline; loaded = set(sys.modules); assert callable(leadline.measure); "
        "print(sorted({'leadline.api', 'pydantic', 'numpy', 'yaml', 'asyncio'} & loaded))"
    )
    told = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"


def test_every_public_name_is_there_and_typed() -> None:
    stub = (Path(leadline.__file__).parent / "__init__.pyi").read_text(encoding="utf-8")
    for name in ("Records", "Run", "correlate", "measure", "open_run", "sample"):
        assert name in dir(leadline)
        assert getattr(leadline, name).__doc__
        assert f"import {name} as {name}\n" in stub
    with pytest.raises(AttributeError, match="measures"):
        leadline.measures  # type: ignore[attr-defined] # noqa: B018


def test_every_option_of_a_run_is_a_keyword() -> None:
    keywords = set(inspect.signature(leadline.measure).parameters)
    assert set(RunSpec.model_fields) - OF_A_SUITE <= keywords
    assert {"threshold", "progress"} <= keywords


def test_a_measured_run_has_its_figures(run: leadline.Run) -> None:
    assert run.summary.effective_length.relative.value == 1024
    assert run.sentence.startswith("effective length 1K: ")
    rows = run.table()
    assert [(row["task"], row["length"]) for row in rows] == [(task, n) for task in TASKS for n in (1024, 2048)]
    assert {row["score"] for row in rows if row["length"] == 1024} == {100.0}
    assert all(row["low"] <= row["score"] <= row["high"] and row["n"] == 2 for row in rows)
    assert json.loads((run.folder / "summary.json").read_text(encoding="utf-8")) == run.summary.as_dict()
    assert (run.folder / "report.html").exists()


def test_a_run_says_what_it_is_in_one_line(run: leadline.Run) -> None:
    assert repr(run) == str(run)
    assert len(repr(run).splitlines()) == 1
    assert "reader/limit?tokens=1500 on quick: effective length 1K" in repr(run)


def test_it_is_opened_again_from_its_folder_alone(run: leadline.Run) -> None:
    opened = leadline.open_run(str(run.folder))
    assert opened.summary == run.summary
    assert leadline.open_run(run.folder, threshold=0.0).summary.effective_length.absolute.threshold == 0
    weighed = leadline.open_run(run.folder, weights={1024: 3, "2k": 1})
    assert weighed.summary.weights == {1024: 3.0, 2048: 1.0}
    with pytest.raises(RunFolderError, match="not a run's folder"):
        leadline.open_run(run.folder.parent)


@pytest.mark.usefixtures("no_page")
def test_the_same_call_asks_nothing_and_more_samples_go_on(
    run: leadline.Run, runs_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[Record] = []
    with caplog.at_level(logging.INFO, "leadline"):
        again = leadline.measure(
            model="reader/limit?tokens=1500",
            tasks=",".join(TASKS),
            lengths=[1024, "2k"],
            samples=2,
            out=str(runs_folder),
            progress=asked.append,
        )
    assert (again.folder, asked) == (run.folder, [])
    assert "going on with the run" in caplog.text


def test_records_are_read_as_they_are_used_and_the_newest_counts(tmp_path: Path, run: leadline.Run) -> None:
    lines = [record.to_json() for record in run.records]
    assert len(lines) == len(TASKS) * 2 * 2
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_bytes((run.folder / "run.json").read_bytes())
    older = lines[0].replace('"outcome":"answered"', '"outcome":"failed"')
    assert older != lines[0]
    (folder / "records-1of1-1-aa.jsonl").write_text(older + "\n", encoding="utf-8")
    (folder / "records-1of1-2-bb.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    records = leadline.open_run(folder).records
    assert next(record.outcome for record in records) == "failed"
    assert len(list(records)) == len(lines) + 1
    assert [record.to_json() for record in records.newest()] == lines


def test_findings_are_of_these_records(run: leadline.Run) -> None:
    found = run.findings
    assert found is run.findings
    assert {rate.length for rate in found.failures.rates} == {2048}


def test_every_figure_is_a_chart_that_can_be_saved(run: leadline.Run, tmp_path: Path) -> None:
    assert run.charts == (
        "claimed_and_effective",
        "score_by_length",
        "score_by_task",
        "depth_by_length",
        "score_by_depth",
        "kinds_by_length",
    )
    for name in run.charts:
        run.chart(name).save(str(tmp_path / f"{name}.svg"))
        assert (tmp_path / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
        assert run.chart(name)._repr_mimebundle_()  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(UsageError, match=r"no chart 'score_by_lenght' .*: did you mean score_by_length\?"):
        run.chart("score_by_lenght")


def test_in_a_notebook_it_shows_verdict_table_and_chart(run: leadline.Run) -> None:
    html = run._repr_html_()  # pyright: ignore[reportPrivateUsage]
    for words in ("Effective length 1K", "niah_multikey_3", "<svg", "keeps 85 %"):
        assert words in html
    assert "<script" not in html
    assert html.count("<div") == html.count("</div>")
    for outside in ('src="http', "url(http", "@import"):
        assert outside not in html


@pytest.mark.usefixtures("no_page")
def test_it_works_where_an_event_loop_runs(runs_folder: Path) -> None:
    asked: list[Record] = []

    async def cell_of_a_notebook() -> leadline.Run:
        return leadline.measure(
            model="reader/oracle", tasks="vt", lengths=1024, samples=2, out=runs_folder, progress=asked.append
        )

    run = asyncio.run(cell_of_a_notebook())
    assert [row["score"] for row in run.table()] == [100.0]
    assert len(asked) == 2


@pytest.mark.usefixtures("no_page")
def test_errors_and_interrupts_come_through_the_loop(runs_folder: Path) -> None:
    asked: list[Record] = []

    def interrupt(record: Record) -> None:
        if not asked:
            os.kill(os.getpid(), signal.SIGINT)
        asked.append(record)

    async def wrong() -> None:
        leadline.measure(model="reader/nobody", out=runs_folder)

    async def interrupted() -> None:
        leadline.measure(
            model="reader/wrong",
            tasks="vt,niah_single_1",
            lengths="1k",
            samples=200,
            concurrency=1,
            out=runs_folder,
            progress=interrupt,
        )

    loop = asyncio.new_event_loop()
    try:
        with pytest.raises(UsageError, match="nobody"):
            loop.run_until_complete(wrong())
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(interrupted())
    finally:
        loop.close()
    assert 1 <= len(asked) < 400


@pytest.mark.usefixtures("no_page")
def test_progress_true_is_told_on_standard_error(runs_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leadline.measure(model="reader/empty", tasks="vt", lengths="1k", samples=2, out=runs_folder, progress=True)
    told = capsys.readouterr()
    assert told.out == ""
    assert "2 of 2 trials" in told.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"suite": "quik"}, "quik"),
        ({"model": "nobody/here"}, "there is no model 'nobody/here'"),
        ({"lengths": "4q"}, "length '4q'"),
        ({"tasks": ["vt", "niah_sigle_1"]}, "niah_sigle_1"),
        ({"samples": 0}, "samples"),
        ({"set": {"nia.num_keys": 8}}, "no task or family 'nia'"),
        ({"set": {"num_keys": 8}}, "not of the form"),
        ({"set": {"niah.nun_keys": 8}}, "nun_keys"),
        ({"shard": "3/2"}, "shard '3/2'"),
        ({"threshold": 101}, "threshold"),
        ({"weights": {"1k": -1}}, "weight -1"),
    ],
)
def test_a_mistake_is_one_line_and_asks_nobody(options: dict[str, object], words: str, tmp_path: Path) -> None:
    given = {"model": "reader/oracle", "out": tmp_path / "runs", **options}
    with pytest.raises(LeadlineError) as error:
        leadline.measure(**given)  # pyright: ignore[reportArgumentType]
    assert words in str(error.value)
    assert len(str(error.value).splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_a_sample_is_the_item_that_is_asked() -> None:
    sample = leadline.sample("niah_multikey_1", "1k", index=3)
    assert (sample.key.item.index, sample.key.length) == (3, 1024)
    assert sample.plan.answers[0][0] in sample.text
    assert leadline.sample("niah_multikey_1", 1024, index=3, set={"niah.num_keys": 2}).text != sample.text
    for index, length in ((-1, "1k"), (0, 100)):
        with pytest.raises(UsageError):
            leadline.sample("niah_multikey_1", length, index)


@pytest.mark.usefixtures("no_page")
def test_tasks_are_correlated_over_models_and_lengths(run: leadline.Run, runs_folder: Path) -> None:
    other = leadline.measure(
        model="reader/window?tokens=1024", tasks=TASKS, lengths="1k,2k", samples=2, out=runs_folder
    )
    correlation = leadline.correlate([run, other.folder])
    assert set(correlation.scores.tasks) == set(TASKS)
    assert len(correlation.scores.points) == 4
    assert correlation.between("vt", "vt") == 1
    assert leadline.correlate([run, other], method="spearman").method == "spearman"
    with pytest.raises(UsageError, match="3 pairs of model and length"):
        leadline.correlate([run])

"""What ``--stop certain`` will probably cost."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.summary import Summary, summarise
from leadline.errors import UsageError
from leadline.items import ItemKey, TrialKey
from leadline.records import Record
from leadline.requests import Response
from leadline.run.forecast import CellForecast, Forecast
from leadline.run.saving import stopping_forecast
from leadline.spec import RunSpec, resolve

LENGTHS = (1024, 2048, 4096)


def spec_of(suite: str = "quick", **options: Any) -> RunSpec:
    given = {"tasks": "vt", "lengths": "1k,2k,4k", "samples": 200, "stop": "certain"}
    return resolve(suite, given | options)


def full(spec: RunSpec) -> Forecast:
    cells = [
        CellForecast(task, length, spec.samples, spec.samples * length, 0)
        for task in spec.tasks
        for length in spec.lengths
    ]
    return Forecast(tuple(cells), 0)


def earlier(shares: dict[int, float], task: str = "vt", items: int = 20) -> Summary:
    design = Design("quick", "pilot", "published", tuple(shares), (TaskDesign(task, "tracing", binary=True),), items)
    records = [
        Record(
            TrialKey(ItemKey(task, 1, "{}", 42, index), length), None, None, None, 9, {}, (("yes",),), {},
            Response("yes" if index < share * items else "no"), "answered",
        )
        for length, share in shares.items()
        for index in range(items)
    ]  # fmt: skip
    return summarise(records, design)


def test_without_an_earlier_run_the_papers_models_tell() -> None:
    spec = spec_of()
    found = stopping_forecast(spec, full(spec), {})
    assert "RULER's tables" in found.source
    assert 0 < found.share < 1 and set(found.shares) == set(LENGTHS)
    assert found.shares[1024] == max(found.shares.values())


def test_an_earlier_runs_own_means_tell_more() -> None:
    spec = spec_of(threshold="85", margin=0)
    near = stopping_forecast(spec, full(spec), {}, earlier({1024: 1.0, 2048: 0.85, 4096: 0.1}))
    assert "an earlier run of pilot did (60 trials)" in near.source
    assert near.shares[1024] < 0.3 and near.shares[4096] < 0.3 < near.shares[2048]


def test_the_claim_of_the_effective_length_leaves_shorter_lengths_out() -> None:
    spec = spec_of(claim="effective", threshold="85")
    found = stopping_forecast(spec, full(spec), {}, earlier(dict.fromkeys(LENGTHS, 1.0)))
    assert found.shares[1024] == found.shares[2048] == 0 < found.shares[4096]
    relative = spec_of(claim="effective")
    found = stopping_forecast(relative, full(relative), {}, earlier(dict.fromkeys(LENGTHS, 1.0)))
    assert found.shares[2048] == 0 < found.shares[4096] == found.shares[1024]


def test_nolima_asks_its_base_lengths_in_full() -> None:
    spec = resolve("nolima-open", {"stop": "certain", "samples": 800})
    found = stopping_forecast(spec, full(spec), {"nolima_open": (2,) * 40})
    assert "NoLiMa's table 3" in found.source
    assert [found.shares[length] for length in (250, 500, 1000)] == [1, 1, 1]
    assert all(0 < found.shares[length] < 1 for length in (2000, 4000, 8000, 16000, 32000))


def test_an_earlier_run_must_have_what_is_forecast() -> None:
    spec = spec_of()
    with pytest.raises(UsageError, match="no score of vt"):
        stopping_forecast(spec, full(spec), {}, earlier({1024: 1.0}, task="cwe"))
    needles = resolve("nolima-open", {"stop": "certain", "samples": 800})
    with pytest.raises(UsageError, match="no base score"):
        stopping_forecast(needles, full(needles), {"nolima_open": (2,)}, earlier({1024: 1.0}, task="nolima_open"))

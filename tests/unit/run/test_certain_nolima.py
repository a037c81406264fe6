"""Stopping a NoLiMa run: the base lengths in full, then each length against a share of the base score."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from leadline.analysis.summary import Summary, summarise
from leadline.analysis.verdict import verdict
from leadline.data.sources import Sources
from leadline.items import ItemKey, TrialKey
from leadline.records import Outcome, Record
from leadline.report.subsets import subset_rows
from leadline.requests import Response
from leadline.run.certain import Asking, bundles_of
from leadline.run.decisions import with_decisions
from leadline.run.manifest import design_of
from leadline.spec import RunSpec, resolve

BUNDLES = {"nolima_open": (2, 3)}
SAMPLES = 500
LENGTHS = (250, 500, 1000, 2000, 4000)
Shares = dict[int, float]


def spec_of(**options: Any) -> RunSpec:
    given = {"lengths": ",".join(map(str, LENGTHS)), "samples": SAMPLES, "stop": "certain"}
    return resolve("nolima-open", given | options)


def record(length: int, index: int, share: float, outcome: Outcome = "answered") -> Record:
    place = index // 5
    right = (place + 1) * share // 1 > place * share // 1
    factors = {"pair": str(index % 5), "depth": float(place % 26)}
    key = TrialKey(ItemKey("nolima_open", 1, "{}", 42, index), length)
    response = Response("yes" if right else "no", error="failed" if outcome == "failed" else None)
    return Record(key, None, None, None, length, factors, (("yes",),), {}, response, outcome)


def asked(spec: RunSpec, shares: Shares, failing: frozenset[tuple[int, int]] = frozenset()) -> list[Record]:
    """All records of a run to its end."""
    asking = Asking.of(spec, items_of(spec), set(), bundles=BUNDLES)
    assert asking.driver() is None
    made: list[Record] = []

    def ask(length: int, index: int) -> None:
        made.append(record(length, index, shares[length], "failed" if (length, index) in failing else "answered"))
        asking.file(made[-1])

    for length in asking.in_full:
        for index in range(SAMPLES):
            ask(length, index)
    for lot in asking.lots():
        for (_, length), indices in lot.items():
            for index in indices:
                ask(length, index)
    return made


def items_of(spec: RunSpec) -> dict[tuple[str, int], int]:
    return {(task, length): spec.samples for task in spec.tasks for length in spec.lengths}


def figures(spec: RunSpec, records: list[Record]) -> tuple[Summary, str]:
    counts = {task: dict.fromkeys(map(str, spec.lengths), spec.samples) for task in spec.tasks}
    manifest = {
        "spec": spec.model_dump(mode="json"), "asked": counts, "model": {"name": "stub"}, "bundles": BUNDLES,
    }  # fmt: skip
    design = with_decisions(design_of(manifest), manifest, records)
    summary = summarise(records, design)
    return summary, verdict(summary, design)


def rows(summary: Summary) -> dict[int, tuple[str, bool | None]]:
    return {score.length: (score.stopped.verdict, score.stopped.passes) for score in summary.by_length if score.stopped}


def test_the_base_is_asked_in_full_and_the_others_until_they_are_certain() -> None:
    spec = spec_of()
    records = asked(spec, {250: 0.9, 500: 0.95, 1000: 0.9, 2000: 0.93, 4000: 0.6})
    summary, sentence = figures(spec, records)
    assert len(records) < (3 + 1) * SAMPLES
    told = rows(summary)
    assert [told[length] for length in (250, 500, 1000)] == [("exhausted", True)] * 3
    assert (told[2000], told[4000]) == (("above", True), ("below", False))
    assert sentence.startswith("effective length 2K: passes 76.5 (85 % of its base score, 90.0) at 2K, and not at 4K")
    assert "each length is certain at 95 %" in sentence
    whole = figures(spec_of(stop="never"), [record(length, index, share) for length, share in (
        (250, 0.9), (500, 0.95), (1000, 0.9), (2000, 0.93), (4000, 0.6)) for index in range(SAMPLES)])[0]  # fmt: skip
    assert whole.effective_length.relative.value == summary.effective_length.relative.value
    assert whole.base == summary.base


def test_before_the_base_is_known_nothing_is_decided() -> None:
    spec = spec_of()
    records = [record(250, index, 1.0) for index in range(100)]
    summary, sentence = figures(spec, records)
    assert set(rows(summary).values()) == {("open", None)}
    assert "no effective length" in sentence
    first = summary.by_length[0].stopped
    assert first is not None and (first.used, first.of) == (100, SAMPLES)


def test_a_base_trial_without_an_answer_leaves_the_verdict_to_both_ends() -> None:
    spec = spec_of()
    shares = {250: 0.9, 500: 0.95, 1000: 0.9, 2000: 0.93, 4000: 0.6}
    summary, _ = figures(spec, asked(spec, shares, failing=frozenset({(500, 3), (1000, 7)})))
    told = rows(summary)
    assert (told[2000], told[4000]) == (("above", True), ("below", False))
    many = frozenset((500, index) for index in range(40))
    summary, _ = figures(spec, asked(spec, shares, failing=many))
    told = rows(summary)
    # Cross-fitted, with too many to be tried: the threshold may be anything up to 85.
    assert (told[2000], told[4000]) == (("above", True), ("exhausted", None))


def test_the_effective_length_as_one_claim_leaves_shorter_lengths_alone() -> None:
    spec = spec_of(claim="effective")
    records = asked(spec, {250: 1.0, 500: 1.0, 1000: 1.0, 2000: 1.0, 4000: 1.0})
    summary, sentence = figures(spec, records)
    assert rows(summary)[2000] == ("unneeded", None) and rows(summary)[4000] == ("above", True)
    assert not any(entry.key.length == 2000 for entry in records)
    possible = summary.effective_length.relative.possible
    assert possible is not None and (possible.lengths, possible.below) == ((4000,), False)
    assert "the effective length is certain at 95 %" in sentence and "incomplete" not in sentence
    assert summary.cell("nolima_open", 2000).complete
    assert not summary.as_dict()["incomplete"]
    assert summary.effective_length.strict.no_claim == "not_asked"


@pytest.mark.parametrize(("at_1k", "possible", "below"), [(1.0, (1000,), False), (0.5, (), True)])
def test_where_all_fail_the_claim_goes_on_to_the_base_lengths(
    at_1k: float, possible: tuple[int, ...], below: bool
) -> None:
    spec = spec_of(claim="effective")
    records = asked(spec, {250: 1.0, 500: 1.0, 1000: at_1k, 2000: 0.2, 4000: 0.1})
    found = figures(spec, records)[0].effective_length.relative.possible
    assert found is not None and (found.lengths, found.below) == (possible, below)


def test_all_questions_of_a_needle_are_one_observation() -> None:
    bundles = bundles_of(spec_of(), Sources(offline=True))
    assert bundles == {"nolima_open": (2,) * 40}
    assert bundles_of(resolve("quick", {"tasks": "vt,qa_1"}), Sources(offline=True)) == {}


def test_subsets_of_a_stopped_run_claim_nothing_and_their_stopped_means_are_marked() -> None:
    spec = spec_of()
    records = [
        replace(one, factors={**one.factors, "hops": "onehop" if one.key.item.index % 5 < 2 else "twohop"})
        for one in asked(spec, {250: 1.0, 500: 1.0, 1000: 1.0, 2000: 1.0, 4000: 0.3})
    ]
    counts = {task: dict.fromkeys(map(str, spec.lengths), spec.samples) for task in spec.tasks}
    manifest = {
        "spec": spec.model_dump(mode="json"), "asked": counts, "model": {"name": "stub"}, "bundles": BUNDLES,
    }  # fmt: skip
    design = with_decisions(design_of(manifest), manifest, records)
    summary = summarise(records, design)
    whole, *parts = summary.subsets
    assert whole.effective == summary.effective_length.relative.value == 2000
    assert {part.effective for part in parts} == {None} and len(parts) == 2
    at = {length.length: length for length in whole.lengths}
    assert at[4000].low is None and at[1000].low is not None
    assert [text[0] == "≈" for text in subset_rows(summary, design)[0].scores] == [False, False, False, True, True]

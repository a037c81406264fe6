"""The figures that every kind of progress shows."""

from __future__ import annotations

import pytest

from leadline.items import NO_CONTEXT, Fit, ItemKey, TrialKey
from leadline.records import Outcome, Record
from leadline.report.tally import Tally, duration
from leadline.requests import Response
from leadline.run.prices import Bill, Price


class Clock:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def trial(
    task: str,
    length: int,
    index: int,
    text: str | None = "yes",
    outcome: Outcome = "answered",
    wording: str = "default",
) -> Record:
    key = TrialKey(ItemKey(task, 1, "{}", 1, index), length, wording)
    response = None if text is None else Response(text, output_tokens=10)
    return Record(key, Fit(1, length), None, None, length, {}, (("yes",),), {}, response, outcome)


CELLS = {("vt", 1024): (4, 4096), ("cwe", 1024): (2, 2048), ("vt", 2048): (4, 8192)}


def test_trials_tokens_and_time_left_are_of_this_invocation() -> None:
    clock = Clock()
    tally = Tally(at_most=False, clock=clock)
    tally.earlier(trial("vt", 1024, 7))
    clock.seconds = 150.0
    tally.begin(CELLS)
    assert (tally.done, tally.of, tally.tokens, tally.left_s) == (0, 10, 0, None)
    clock.seconds = 160.0
    tally.record(trial("vt", 1024, 0))
    tally.record(trial("vt", 2048, 0))
    assert (tally.done, tally.of, tally.tokens) == (2, 10, 3072)
    assert tally.tokens_per_s == pytest.approx(307.2)
    assert tally.left_s == pytest.approx((4096 + 2048 + 8192 - 3072) / 307.2)
    assert tally.sentence() == "2 of 10 trials, 3,072 prompt tokens, 307 a second, 37 s left"


def test_a_score_is_the_mean_of_the_tasks_with_what_was_known_before() -> None:
    tally = Tally()
    for index in (10, 11):
        tally.earlier(trial("vt", 1024, index))
    tally.earlier(trial("not asked now", 1024, 0, "no"))
    tally.begin(CELLS)
    assert [(length.name, length.done, length.of, length.score) for length in tally.lengths] == [
        ("1K", 0, 6, 100.0),
        ("2K", 0, 4, None),
    ]
    tally.record(trial("vt", 1024, 0, "no"))
    tally.record(trial("cwe", 1024, 0, "no"))
    tally.record(trial("cwe", 1024, 1, None, "failed"))
    (shortest, _) = tally.lengths
    assert shortest.score == pytest.approx(100 * (2 / 3 + 0) / 2)


def test_a_cell_that_closes_takes_its_trials_with_it() -> None:
    tally = Tally()
    tally.begin(CELLS)
    tally.record(trial("vt", 2048, 0))
    tally.record(trial("vt", 2048, 1, "", "over_length"))
    tally.record(trial("cwe", 1024, 0, None, "does_not_fit"))
    assert [(length.done, length.of) for length in tally.lengths] == [(0, 4), (2, 2)]
    assert tally.of == 6


def test_controls_cost_and_are_no_trials_of_a_length() -> None:
    tally = Tally(Bill(Price(1.0, 1.0, 1.0, "mine")))
    tally.begin(CELLS)
    tally.record(trial("vt", 1024, 0, wording=NO_CONTEXT))
    assert (tally.done, tally.of, tally.tokens) == (0, 10, 1024)
    assert tally.lengths[0].score is None


def test_money_and_the_bound_of_a_run_that_may_stop() -> None:
    clock = Clock()
    tally = Tally(Bill(Price(1000.0, 0.0, 1000.0, "mine")), at_most=True, clock=clock)
    tally.begin(CELLS)
    clock.seconds += 1
    tally.record(trial("vt", 1024, 0))
    assert tally.sentence() == ("1 of at most 10 trials, 1,024 prompt tokens, 1,024 a second, at most 13 s left, $1.02")


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (5_940, "99 min"), (7_200, "2.0 h")]
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said

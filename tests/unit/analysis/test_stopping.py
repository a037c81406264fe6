"""Sequential stopping: errors, exact ends, purity, and trials without an answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
import numpy.typing as npt
import pytest

from leadline.analysis.stopping import UNKNOWN, Bounds, Round, StopRule
from leadline.analysis.stopping_evidence import log_evidence

Floats = npt.NDArray[np.float64]

TASKS = ("needle", "chain", "question")
TARGETS = np.array([1, 5, 1])
ITEMS = 200
EQUAL = {count: np.full(count, 1 / count) for count in (1, 2)}


def population(means: Sequence[float], runs: int, seed: int = 1) -> Floats:
    """One set of items, each task's in a random order of its own in each run; shape (runs, ITEMS, tasks)."""
    rng = np.random.default_rng(seed)
    items = rng.binomial(TARGETS, np.array(means), (ITEMS, len(TASKS))) / TARGETS
    return rng.permuted(np.repeat(items[None], runs, axis=0), axis=1)


def rule_for(threshold: float, margin: float | None = None, items: int = ITEMS, error: float = 0.05) -> StopRule:
    return StopRule(dict.fromkeys(TASKS, items), threshold, margin, error, error)


def rounds_of(scores: Floats) -> list[Round]:
    return [{task: (score, score) for task, score in zip(TASKS, row, strict=True)} for row in scores.tolist()]


@pytest.mark.parametrize("means", [(0.97, 0.99, 0.6), (0.5, 0.5, 0.5), (1.0, 1.0, 0.2), (0.05, 0.02, 0.1)])
@pytest.mark.parametrize("side", ["above", "below"])
def test_a_mean_at_the_threshold_is_rarely_mistaken(means: tuple[float, ...], side: str) -> None:
    scores = population(means, runs=400)
    times = rule_for(float(scores[0].mean())).look_times(scores, scores)
    wrong = (times.above if side == "above" else times.below) < ITEMS
    # 5 % are allowed, and three standard errors of 400 runs.
    assert wrong.mean() <= 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5


@pytest.mark.parametrize(
    "values", [((0, 1, 1, 1), (1, 0.5, 0, 1)), ((0, 0, 0, 1), (1, 1, 1, 1)), ((0.5, 0.25, 1, 0.75),)]
)
@pytest.mark.parametrize("error", [0.8, 0.6, 0.4])
def test_every_order_of_a_tiny_protocol_together_errs_no_more_than_allowed(
    values: tuple[tuple[float, ...], ...], error: float
) -> None:
    orders = np.array([np.array(order).T for order in product(*(list(permutations(task)) for task in values))])
    items = np.array([len(task) for task in values], dtype=np.int64)
    mean = float(orders[0].mean())
    for scores, bound in ((orders, mean), (1 - orders, 1 - mean)):
        assert (log_evidence(scores, items, EQUAL[len(items)], bound)[:, -1] >= -np.log(error)).mean() <= error


@pytest.mark.parametrize("shares", [np.array([0.5, 0.5]), np.array([0.2, 0.8]), np.array([0.9, 0.1])])
def test_tasks_of_different_numbers_of_items_err_no_more_than_allowed(shares: Floats) -> None:
    tasks = ((1.0, 0.0), (0.0, 1.0, 1.0, 0.5))
    orders: list[Floats] = []
    for first, second in product(permutations(tasks[0]), permutations(tasks[1])):
        orders.append(np.array([[*first, np.nan, np.nan], second]).T)
    scores = np.array(orders)
    mean = float(shares @ (0.5, 0.625))
    for values, bound in ((scores, mean), (1 - scores, 1 - mean)):
        evidence = log_evidence(values, np.array([2, 4]), shares, bound)[:, -1]
        for error in (0.8, 0.6, 0.4):
            assert (evidence >= -np.log(error)).mean() <= error


@pytest.mark.parametrize(("score", "verdict", "passes"), [(1.0, "above", True), (0.0, "below", False)])
def test_perfect_and_hopeless_models_are_decided_in_a_few_rounds(score: float, verdict: str, passes: bool) -> None:
    decision = rule_for(0.856, items=500).decide(rounds_of(np.full((40, 3), score)))
    assert (decision.verdict, decision.passes) == (verdict, passes)
    assert decision.rounds <= 12
    assert decision.mean == (score, score)
    assert not decision.open


def test_an_exhausted_length_has_the_exact_answer() -> None:
    scores = np.tile([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]], (5, 1))
    exact = float(scores.mean())
    for threshold, passes in ((exact, True), (exact + 0.001, False), (exact - 0.001, True)):
        decision = rule_for(threshold, items=10).decide(rounds_of(scores))
        assert (decision.verdict, decision.passes, decision.rounds) == ("exhausted", passes, 10)


def test_a_mean_near_the_threshold_is_within_the_margin() -> None:
    scores = np.tile([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]], (250, 1))
    without = rule_for(float(scores.mean()), items=500).decide(rounds_of(scores))
    decision = rule_for(float(scores.mean()), 0.03, items=500).decide(rounds_of(scores))
    assert without.verdict == "exhausted"
    assert (decision.verdict, decision.passes) == ("within", None)
    assert decision.rounds < 400


@pytest.mark.parametrize("margin", [None, 0.02])
def test_a_prefix_decides_as_was_decided_then(margin: float | None) -> None:
    scores = population((0.95, 0.95, 0.7), runs=1)[0]
    rule = rule_for(0.8, margin)
    rounds = rounds_of(scores)
    final = rule.decide(rounds)
    assert final.verdict == "above"
    for asked in (0, 1, 2, 5, final.rounds - 1, final.rounds, final.rounds + 1, 150, len(rounds)):
        decision = rule.decide(rounds[:asked])
        assert decision.open == (asked < final.rounds)
        if not decision.open:
            assert decision == final


def test_no_round_says_nothing() -> None:
    decision = rule_for(0.8).decide([])
    assert (decision.verdict, decision.rounds, decision.mean) == ("open", 0, UNKNOWN)


def with_missing(rounds: list[Round], every: int) -> list[Round]:
    return [
        {task: UNKNOWN if number % every == 0 else ends for task, ends in scores.items()}
        for number, scores in enumerate(rounds)
    ]


def test_a_verdict_must_hold_for_both_ends_of_what_is_missing() -> None:
    rounds = rounds_of(np.full((100, 3), 1.0))
    rule = rule_for(0.856, items=100)
    few = rule.decide(with_missing(rounds, 20))
    assert few.verdict == "above"
    assert few.rounds > rule.decide(rounds).rounds
    assert few.mean[0] < few.mean[1] == 1.0
    many = rule.decide(with_missing(rounds, 4))
    assert (many.verdict, many.passes) == ("exhausted", None)
    assert many.mean == (0.75, 1.0)


def test_missing_trials_never_make_a_verdict_that_one_of_the_ends_contradicts() -> None:
    scores = population((0.9, 0.95, 0.6), runs=1)[0]
    missing = with_missing(rounds_of(scores), 10)
    for threshold in (0.6, 0.75, 0.8, 0.85, 0.95):
        rule = rule_for(threshold)
        decision = rule.decide(missing)
        for end in (0, 1):
            filled: list[Round] = [{task: (ends[end], ends[end]) for task, ends in row.items()} for row in missing]
            alone = rule.decide(filled)
            if decision.passes is not None:
                assert alone.passes == decision.passes
                assert alone.rounds <= decision.rounds


def test_a_task_with_fewer_items_is_left_out_once_it_has_none() -> None:
    rule = StopRule({"long": 40, "short": 5}, 0.5)
    known: Bounds = (1.0, 1.0)
    zero: Bounds = (0.0, 0.0)
    rounds: list[Round] = [
        {"long": known if number % 2 else zero, "short": known}
        if number < 5
        else {"long": known if number % 2 else zero}
        for number in range(40)
    ]
    decision = rule.decide(rounds)
    assert decision.passes is True
    # The short task is right throughout, the long one half the time.
    assert rule.decide(rounds[:5]).mean == (0.7, 0.7)


def test_what_no_rest_can_change_is_decided_for_certain() -> None:
    rule = rule_for(0.3, items=10, error=1e-9)
    decision = rule.decide(rounds_of(np.full((10, 3), 1.0)))
    assert (decision.verdict, decision.rounds) == ("above", 4)


@pytest.mark.parametrize(
    ("rounds", "message"),
    [
        ([{"needle": (1.0, 1.0), "chain": (1.0, 1.0)}], "no score of question"),
        ([dict.fromkeys(TASKS, (1.0, 1.5))], "from 0 to 1"),
        ([dict.fromkeys(TASKS, (1.0, 1.0))] * 4, "4 rounds of a protocol of 3"),
    ],
)
def test_rounds_that_are_none_are_refused(rounds: list[Round], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rule_for(0.5, items=3).decide(rounds)


@pytest.mark.parametrize(
    ("items", "threshold", "margin", "error"),
    [
        ({}, 0.5, None, 0.05),
        ({"a": 0}, 0.5, None, 0.05),
        ({"a": 1}, 1.5, None, 0.05),
        ({"a": 1}, 0.5, 0.0, 0.05),
        ({"a": 1}, 0.5, None, 0.0),
    ],
)
def test_rules_that_are_none_are_refused(
    items: dict[str, int], threshold: float, margin: float | None, error: float
) -> None:
    with pytest.raises(ValueError, match=r"stop rule|shares of 1|between 0 and 1"):
        StopRule(items, threshold, margin, error_above=error)


def test_weights_are_for_the_tasks_of_the_rule() -> None:
    rule = StopRule({"a": 4, "b": 4}, 0.6, weights={"a": 3, "b": 1})
    rounds: list[Round] = [{"a": (1.0, 1.0), "b": (0.0, 0.0)}] * 4
    decision = rule.decide(rounds)
    assert decision.passes is True
    assert decision.mean == (0.75, 0.75)
    for weights in ({"a": 1.0}, {"a": 1.0, "b": 0.0}):
        with pytest.raises(ValueError, match="weights"):
            StopRule({"a": 4, "b": 4}, 0.6, weights=weights)


def test_a_threshold_that_is_not_known_exactly_must_be_reached_or_missed_as_a_whole() -> None:
    rule = StopRule({"a": 10}, 0.5, slack=0.2)
    assert [rule.passes((mean, mean)) for mean in (0.4, 0.5, 0.6, 0.7)] == [False, None, None, True]
    items = 400
    wide = StopRule({"a": items}, 0.4, slack=0.2)
    rounds: list[Round] = [{"a": (float(number % 2), float(number % 2))} for number in range(items)]
    assert wide.decide(rounds).verdict == "exhausted" and wide.decide(rounds).passes is None
    good: list[Round] = [{"a": (float(number % 10 > 0), float(number % 10 > 0))} for number in range(items)]
    assert wide.decide(good).verdict == "above"
    assert wide.decide(good).rounds == StopRule({"a": items}, 0.6).decide(good).rounds
    with pytest.raises(ValueError, match="threshold"):
        StopRule({"a": 10}, 0.9, slack=0.2)

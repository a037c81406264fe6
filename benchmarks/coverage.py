"""How often the 95 % intervals hold the truth, by simulation.

    python benchmarks/coverage.py [--runs 2000] [--seed 1] [--kinds cell_binary,average]

Each run draws a made-up model (the true score of each task, at each length where the kind needs lengths), then its
answers, then the interval; the truth of the run is the true mean. A model is drawn anew for each run, from near
perfect to half wrong, so that coverage is an average over models; `cell_binary_near_1` and the like fix the hard end.
Items are shared between lengths: an item has a difficulty of its own at every length. Exit code 1 where a kind covers
less than nominal - 1.5 points.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy

from leadline.analysis.bounded_mean import betting_interval
from leadline.analysis.cells import Cell
from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.effective import EffectiveLength, all_shorter_pass, greatest_passing
from leadline.analysis.intervals import CONFIDENCE, Interval, wilson
from leadline.analysis.lengths import average_interval, length_scores
from leadline.analysis.standings import Threshold
from leadline.analysis.strata import make_stratum, stratified_interval

ALLOWED_POINTS = 1.5
LENGTHS = (4096, 8192, 16384, 32768)
SAMPLES = (5, 25, 100, 500)
TARGETS = (1, 1, 1, 1, 1, 4, 5, 10)
"""Wanted items of each made-up task: RULER has eight tasks of one and five of several."""

Outcome = tuple[bool, float]
"""Whether the interval held the truth, and its width (points; possibilities for a set)."""


def drawn_truths(random: Any, count: int) -> Any:
    """True scores of tasks, shape (count,): a third near perfect, the rest anywhere from 0.3 up."""
    near = 1 - random.beta(1, 40, count)
    return numpy.where(random.random(count) < 1 / 3, near, random.uniform(0.3, 1, count))


def drawn_scores(random: Any, truth: float, items: int, targets: int) -> Any:
    """Scores of one task's items: one target is right or wrong; of several, some are found, or none in one of 50."""
    if targets == 1:
        return (random.random(items) < truth).astype(float)
    lost = min(0.02, 1 - truth)
    found = random.binomial(targets, truth / (1 - lost) if lost < 1 else 0.0, items) / targets
    return numpy.where(random.random(items) < lost, 0.0, found)


def held(interval: Interval, truth: float) -> Outcome:
    """Whether the interval, 0 to 1, holds the truth."""
    low, high = interval
    return bool(low - 1e-9 <= truth <= high + 1e-9), 100 * (high - low)


def cell_binary(random: Any, samples: int) -> Outcome:
    """Wilson, a task of one target."""
    truth = float(drawn_truths(random, 1)[0])
    return held(wilson(int(random.binomial(samples, truth)), samples), truth)


def cell_fractional(random: Any, samples: int) -> Outcome:
    """Betting, a task of several targets."""
    truth = float(drawn_truths(random, 1)[0])
    return held(betting_interval(list(drawn_scores(random, truth, samples, int(random.choice([4, 5, 10]))))), truth)


def cell_fractional_near_1(random: Any, samples: int) -> Outcome:
    """The same where nearly all is right."""
    return held(betting_interval(list(drawn_scores(random, 0.99, samples, 5))), 0.99)


def _mean(random: Any, samples: int, truths: Any, targets: tuple[int, ...]) -> Outcome:
    strata = [
        make_stratum([(1.0, list(enumerate(drawn_scores(random, float(truth), samples, wanted))))])
        for truth, wanted in zip(truths, targets, strict=True)
    ]
    return held(stratified_interval(strata), float(truths.mean()))


def category_mean(random: Any, samples: int) -> Outcome:
    """Two tasks of several targets, as in aggregation."""
    return _mean(random, samples, drawn_truths(random, 2), (10, 3))


def length_mean(random: Any, samples: int) -> Outcome:
    """Tasks of all kinds."""
    return _mean(random, samples, drawn_truths(random, len(TARGETS)), TARGETS)


def length_mean_near_1(random: Any, samples: int) -> Outcome:
    """The same where nearly all is right."""
    return _mean(random, samples, numpy.full(len(TARGETS), 0.995), TARGETS)


def drawn_run(random: Any, samples: int) -> tuple[Design, list[Cell], Any]:
    """A run over all lengths with items that keep their difficulty, and its true scores, shape (tasks, lengths).

    A target is found where its difficulty is below a limit that falls along the lengths; half of the difficulty belongs
    to the item, so that lengths are correlated.
    """
    from scipy.special import ndtri

    tasks = tuple(
        TaskDesign(f"task_{place}", f"category_{place % 2}", binary=wanted == 1) for place, wanted in enumerate(TARGETS)
    )
    design = Design("simulated", "simulated", "published", LENGTHS, tasks, samples)
    start = drawn_truths(random, len(tasks))[:, None]
    truths = start * (1 - numpy.linspace(0, random.uniform(0, 0.4), len(LENGTHS)))[None, :]
    limits = ndtri(truths)
    cells: list[Cell] = []
    for place, task in enumerate(tasks):
        of_item = random.normal(size=(samples, 1, TARGETS[place]))
        noise = (of_item + random.normal(size=(samples, len(LENGTHS), TARGETS[place]))) / numpy.sqrt(2)
        scores = (noise < limits[place][None, :, None]).mean(axis=2)
        for at, length in enumerate(LENGTHS):
            of_length = scores[:, at].tolist()
            cells.append(
                Cell(
                    task.name, length, samples, {"answered": samples}, 100 * float(scores[:, at].mean()),
                    low=None, high=None, strict=None,
                    complete=True, absent=False, binary=task.binary, scores=tuple(enumerate(of_length)),
                )
            )  # fmt: skip
    return design, cells, truths


def _average(random: Any, samples: int, weights: tuple[float, ...]) -> Outcome:
    design, cells, truths = drawn_run(random, samples)
    interval = average_interval(cells, design, weights)
    assert interval is not None
    truth = float(numpy.average(truths.mean(axis=0), weights=weights))
    return held((interval[0] / 100, interval[1] / 100), truth)


def average(random: Any, samples: int) -> Outcome:
    """The plain mean over lengths."""
    return _average(random, samples, (1, 1, 1, 1))


def weighted_average(random: Any, samples: int) -> Outcome:
    """Weights 1, 2, 3, 4: wAvg (inc)."""
    return _average(random, samples, (1, 2, 3, 4))


def _in_set(found: EffectiveLength, true_length: int | None) -> Outcome:
    possible = found.possible
    assert possible is not None
    return possible.below if true_length is None else true_length in possible.lengths, float(possible.size)


def _set(random: Any, samples: int, rule: Callable[..., EffectiveLength], strict: bool) -> Outcome:
    design, cells, truths = drawn_run(random, samples)
    scores = length_scores(cells, design)
    true_scores = 100 * truths.mean(axis=0)
    # A threshold near the true scores is where a set can go wrong.
    asked = float(random.choice(true_scores) + random.normal(scale=2))
    passing = [bool(score >= asked) for score in true_scores]
    if strict:
        passing = [all(passing[: place + 1]) for place in range(len(passing))]
    true_length = max((length for length, passes in zip(LENGTHS, passing, strict=True) if passes), default=None)
    return _in_set(rule(scores, Threshold(asked, asked, asked)), true_length)


def effective_set(random: Any, samples: int) -> Outcome:
    """By greatest passing."""
    return _set(random, samples, greatest_passing, strict=False)


def effective_set_strict(random: Any, samples: int) -> Outcome:
    """With every shorter length passing too."""
    return _set(random, samples, all_shorter_pass, strict=True)


KINDS: dict[str, Callable[[Any, int], Outcome]] = {
    kind.__name__: kind
    for kind in (
        *(cell_binary, cell_fractional, cell_fractional_near_1),
        *(category_mean, length_mean, length_mean_near_1),
        *(average, weighted_average, effective_set, effective_set_strict),
    )
}


def main() -> int:
    """Print the table; 1 where a kind covers too little."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    started, worst = time.perf_counter(), 1.0
    print(f"{options.runs} runs of each kind over n = {', '.join(map(str, SAMPLES))} in turn, seed {options.seed}")
    print(f"{'kind':<24}{'nominal':>9}{'achieved':>10}{'by n':>30}{'width':>9}")
    for name in options.kinds.split(","):
        random = numpy.random.default_rng([options.seed, list(KINDS).index(name)])
        results = [KINDS[name](random, SAMPLES[run % len(SAMPLES)]) for run in range(options.runs)]
        share = sum(hit for hit, _ in results) / len(results)
        by_samples = [[hit for hit, _ in results[place :: len(SAMPLES)]] for place in range(len(SAMPLES))]
        parts = " ".join(f"{100 * sum(hits) / max(1, len(hits)):.1f}" for hits in by_samples)
        width = sum(width for _, width in results) / len(results)
        print(f"{name:<24}{100 * CONFIDENCE:>9.1f}{100 * share:>10.1f}{parts:>30}{width:>9.1f}", flush=True)
        worst = min(worst, share)
    print(f"{time.perf_counter() - started:.0f} s")
    return int(100 * worst < 100 * CONFIDENCE - ALLOWED_POINTS)


if __name__ == "__main__":
    sys.exit(main())

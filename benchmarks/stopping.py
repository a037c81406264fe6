"""What sequential stopping costs and how often it is right, on the published scores of RULER's 17 aligned models.

    python benchmarks/stopping.py [--runs 20] [--null-runs 50] [--seed 1] [--lot 1] [--samples 500] [--models]

Each run draws a made-up set of items for each model and length whose tasks have the printed means of their category
(tables 13 to 16: eight NIAH tasks, variable tracking, two of aggregation, two of QA), a score being the share of the
task's targets that were found. Cells where the print has only zeros are left out. The verdict of the whole set is held
against that of the rule, which sees it round by round.

Printed are the share of the fixed protocol's prompt tokens that the rule takes and how often it agrees, for the claim
of each length and for the effective length, with a margin of one point and without; then how often a verdict or claim
is wrong where the threshold is put exactly at the mean of the items, which is the hardest case. `--lot` is how many
rounds are asked before the rule looks. Exit code 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from leadline.analysis.stopping import Decision, StopRule
from leadline.analysis.stopping_forecast import TaskMeans, decide_many, draw_items, printed_means, settle_many
from leadline.analysis.stopping_joint import EffectiveRule
from leadline.analysis.thresholds import RULER_THRESHOLDS
from leadline.reference.tables import THIRTEEN, read_table

CONFIDENCE = 0.95
MARGIN = 0.01
THRESHOLD = RULER_THRESHOLDS["chat"].score / 100
GOALS_PERCENT = {("lengths", True): 10, ("lengths", False): 15, ("effective", True): 12, ("effective", False): 17}
AGREEMENT_PERCENT = 99
Scores = npt.NDArray[np.float64]
Models = dict[str, dict[int, TaskMeans]]


@dataclass
class Tally:
    """Of one claim: tokens asked, tokens of the fixed protocol, verdicts, and how many of them agree."""

    tokens: float = 0
    fixed: float = 0
    verdicts: int = 0
    agreeing: int = 0
    possible: int = 0

    @property
    def tokens_percent(self) -> float:
        """Share of the fixed protocol's tokens."""
        return 100 * self.tokens / self.fixed

    @property
    def agreement_percent(self) -> float:
        """Share of verdicts that agree."""
        return 100 * self.agreeing / self.verdicts


def shuffled_items(draws: np.random.Generator, means: TaskMeans, runs: int, samples: int) -> Scores:
    """One set of items, asked in another order in each run; shape (runs, samples, tasks)."""
    items = draw_items(draws, means, 1, samples)
    return draws.permuted(np.repeat(items, runs, axis=0), axis=1)


def protocol(items: Scores) -> dict[str, int]:
    """Items of each task, from their scores of shape (runs, samples, tasks)."""
    return {task: int(items.shape[1]) for task in THIRTEEN}


def decide_in_lots(rule: StopRule, scores: Scores, lot: int) -> list[Decision]:
    """What the rule says of each run, which looks after every lot of rounds; what a lot has too much is asked too."""
    return [
        replace(decision, rounds=min(rule.rounds, lot * -(-decision.rounds // lot)))
        for decision in decide_many(rule, scores)
    ]


def agrees(decision: Decision, mean: float) -> bool:
    """Whether a decision is what all the items say."""
    if decision.passes is None:
        return abs(mean - THRESHOLD) <= MARGIN + 1e-9
    return decision.passes == (mean >= THRESHOLD - 1e-9)


def claim_lengths(tally: Tally, scores: dict[int, Scores], margin: float | None, lot: int) -> dict[int, float]:
    """Decide each length by itself; how many rounds each took, on average."""
    rounds: dict[int, float] = {}
    for length, items in scores.items():
        rule = StopRule(protocol(items), THRESHOLD, margin, 1 - CONFIDENCE, 1 - CONFIDENCE)
        decisions = decide_in_lots(rule, items, lot)
        means = items.mean((1, 2))
        tally.tokens += length * sum(decision.rounds for decision in decisions)
        tally.fixed += length * items.shape[1] * len(items)
        tally.verdicts += len(items)
        tally.agreeing += sum(agrees(decision, mean) for decision, mean in zip(decisions, means, strict=True))
        rounds[length] = float(np.mean([decision.rounds for decision in decisions]))
    return rounds


def claim_effective(tally: Tally, scores: dict[int, Scores], margin: float | None, lot: int) -> None:
    """Settle the effective length, asking only what that takes."""
    lengths = tuple(read_table("ruler").lengths)
    joint = EffectiveRule(lengths, CONFIDENCE)
    decisions: dict[int, list[Decision]] = {}
    for length, items in scores.items():
        above, below = joint.errors(length)
        rule = StopRule(protocol(items), THRESHOLD, margin, above, below)
        decisions[length] = decide_in_lots(rule, items, lot)
    for run in range(len(next(iter(scores.values())))):
        taken, possible, none_possible = settle_many(joint, decisions, run)
        tally.tokens += sum(length * decision.rounds for length, decision in taken.items())
        passing = [length for length, items in scores.items() if items[run].mean() >= THRESHOLD - 1e-9]
        tally.fixed += sum(length * items.shape[1] for length, items in scores.items())
        tally.verdicts += 1
        tally.agreeing += (max(passing) in possible) if passing else none_possible
        tally.possible += len(possible) + none_possible


def wrong_at_mean(draws: np.random.Generator, models: Models, runs: int, samples: int) -> dict[str, list[float]]:
    """How often each side is said of a length whose items' mean is the threshold, in per cent, for each cell."""
    above: list[float] = []
    below: list[float] = []
    for cells in models.values():
        for means in cells.values():
            scores = shuffled_items(draws, means, runs, samples)
            times = StopRule(protocol(scores), float(scores[0].mean())).look_times(scores, scores)
            above.append(100 * float(np.mean(times.above < samples)))
            below.append(100 * float(np.mean(times.below < samples)))
    return {"above, mean at the threshold": above, "below, mean at the threshold": below}


def wrong_claims(draws: np.random.Generator, models: Models, runs: int, samples: int) -> dict[str, list[float]]:
    """How often the claim of the effective length leaves out the truth where each length's mean is the threshold.

    Once all six lengths fail by a hair; once the fourth from the greatest just passes, and the three beyond it fail.
    """
    lengths = tuple(read_table("ruler").lengths)
    joint = EffectiveRule(lengths, CONFIDENCE)
    none: list[float] = []
    fourth: list[float] = []
    for cells in models.values():
        above: list[npt.NDArray[np.bool_]] = []
        below: list[npt.NDArray[np.bool_]] = []
        means = next(iter(cells.values()))
        for length in reversed(lengths):
            scores = shuffled_items(draws, means, runs, samples)
            errors = joint.errors(length)
            rule = StopRule(protocol(scores), float(scores[0].mean()), None, *errors)
            times = rule.look_times(scores, scores)
            above.append((times.above < samples) & (times.above <= times.below))
            below.append((times.below < samples) & (times.below < times.above))
        none.append(100 * float(np.mean(np.any(above, axis=0))))
        fourth.append(100 * float(np.mean(np.any([*above[:3], below[3]], axis=0))))
    return {"claim, all fail by a hair": none, "claim, the fourth just passes": fourth}


def needle_grouping(draws: np.random.Generator, runs: int) -> dict[str, float]:
    """Share of NoLiMa's trials that a length five points above its threshold takes, in per cent, by what is one group.

    29 made-up needles of two questions at 130 places, pairs of means that differ by 12 points (standard deviation).
    """
    needles, questions, places, mean = 29, 2, 130, 0.85
    pairs = draws.normal(0, 0.12, (needles, questions))
    pairs = np.clip(pairs - pairs.mean() + mean, 0, 1)
    scores = (draws.random((runs, places, needles, questions)) < pairs).astype(np.float64)
    groupings = {"all pairs at one place": scores.mean((2, 3))[..., None], "a needle's questions": scores.mean(3)}
    shares: dict[str, float] = {}
    for grouping, grouped in groupings.items():
        rule = StopRule({str(stratum): places for stratum in range(grouped.shape[2])}, float(pairs.mean()) - 0.05)
        shares[grouping] = float(np.mean([100 * made.rounds / places for made in decide_many(rule, grouped)]))
    return shares


def main() -> int:
    """Print the table; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=20, help="runs of each model")
    parser.add_argument("--null-runs", type=int, default=50, help="orders of each cell's items at the threshold")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lot", type=int, default=1, help="rounds that are asked before the rule looks")
    parser.add_argument("--samples", type=int, default=500, help="items of each task")
    parser.add_argument("--models", action="store_true", help="show the rounds that each length takes")
    options = parser.parse_args()
    start = time.perf_counter()
    draws = np.random.default_rng(options.seed)
    models = printed_means()
    tallies = {key: Tally() for key in GOALS_PERCENT}
    for model, cells in models.items():
        scores = {length: draw_items(draws, means, options.runs, options.samples) for length, means in cells.items()}
        for with_margin in (True, False):
            margin = MARGIN if with_margin else None
            rounds = claim_lengths(tallies["lengths", with_margin], scores, margin, options.lot)
            claim_effective(tallies["effective", with_margin], scores, margin, options.lot)
            if options.models:
                shown = "  ".join(f"{length // 1024}K {mean:.1f}" for length, mean in rounds.items())
                print(f"{model:28} {'margin' if with_margin else '      '}  {shown}")
    print(f"{len(models)} models, {sum(map(len, models.values()))} cells, {options.runs} runs of each")
    print(f"{'claim':10} {'margin':8} {'tokens %':>9} {'goal':>5} {'agreement %':>12}")
    missed = False
    for (claim, with_margin), tally in tallies.items():
        goal = GOALS_PERCENT[claim, with_margin]
        missed |= tally.tokens_percent > goal or tally.agreement_percent < AGREEMENT_PERCENT
        said = f"   {tally.possible / tally.verdicts:.2f} possible lengths on average" if tally.possible else ""
        print(
            f"{claim:10} {'1 point' if with_margin else 'none':8} {tally.tokens_percent:9.2f} {goal:5} "
            f"{tally.agreement_percent:12.2f}{said}"
        )
    for grouping, share in needle_grouping(draws, options.runs).items():
        print(f"NoLiMa, 5 points above, one group is {grouping:22} {share:5.1f} % of trials")
    allowed = 100 * (1 - CONFIDENCE)
    hardest = (draws, models, options.null_runs, options.samples)
    for wrong, rates in (wrong_at_mean(*hardest) | wrong_claims(*hardest)).items():
        # Three standard errors of all the runs together.
        noise = 3 * (allowed * (100 - allowed) / (len(rates) * options.null_runs)) ** 0.5
        missed |= float(np.mean(rates)) > allowed + noise
        print(
            f"wrong: {wrong:30} {np.mean(rates):5.2f} % of runs, {max(rates):4.1f} % in the worst of {len(rates)} "
            f"cells; {allowed:.0f} allowed"
        )
    print(f"{time.perf_counter() - start:.0f} s")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())

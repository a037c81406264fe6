"""What ``--stop certain`` will probably cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from leadline.analysis.stopping_forecast import TARGETS, TaskMeans, expected_shares, nearest, printed_means
from leadline.analysis.summary import Summary
from leadline.errors import UsageError
from leadline.reference.tables import read_table
from leadline.run.certain import Target, judged_lengths, target_of
from leadline.run.forecast import Forecast
from leadline.spec import RunSpec


@dataclass(frozen=True, slots=True)
class StoppingForecast:
    """What a stop rule will probably leave of a run.

    Attributes:
        shares: of the full protocol's rounds, by length.
        prompt_tokens: about how many, over all lengths.
        of_tokens: prompt tokens of the full protocol.
        source: whose scores it is taken from, in words.
    """

    shares: Mapping[int, float]
    prompt_tokens: int
    of_tokens: int
    source: str

    @property
    def share(self) -> float:
        """Of the full protocol's prompt tokens."""
        return self.prompt_tokens / self.of_tokens if self.of_tokens else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The forecast as ``leadline plan --json`` prints it."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "share": self.share,
            "shares": {str(length): share for length, share in self.shares.items()},
            "source": self.source,
        }


@dataclass(frozen=True, slots=True)
class _Models:
    """Models whose scores are known.

    Attributes:
        means: by model, length and task, 0 to 1.
        bases: base score of each, 0 to 1, where there is one.
        source: whose they are, in words.
    """

    means: Mapping[str, Mapping[int, TaskMeans]]
    bases: Mapping[str, float]
    source: str

    def thresholds(self, target: Target, shortest: int) -> dict[str, float]:
        """What each of them would have to reach."""
        if target.threshold is not None:
            return dict.fromkeys(self.means, target.threshold)
        if target.base is not None:
            return {name: target.share * self.bases[name] for name in self.means}
        return {name: target.share * fmean(nearest(of, shortest).values()) for name, of in self.means.items()}


def stopping_forecast(
    spec: RunSpec, made: Forecast, bundles: Mapping[str, Sequence[int]], earlier: Summary | None = None
) -> StoppingForecast:
    """What stopping will probably cost, if the model is like those of the papers' tables, or as in an earlier run.

    A threshold that is a share of the model's own score is taken from the same scores; what is compared with the
    shortest length is as if that were known.

    Args:
        spec: of the run.
        made: of the full protocol.
        bundles: of the tasks whose neighbouring items share a text.
        earlier: figures of a run, whose means are taken instead of the papers'.

    Raises:
        UsageError: see `target_of`; or the earlier run lacks what is to be forecast.
    """
    target = target_of(spec)
    models = _published(spec, target) if earlier is None else _earlier(spec, target, earlier)
    lengths = judged_lengths(spec.lengths, target.base)
    trials = {length: max(cell.trials for cell in made.cells if cell.length == length) for length in lengths}
    items, targets = {length: max(1, count) for length, count in trials.items()}, TARGETS
    if target.base is not None:
        # Each needle is a stratum, whose questions at one place are one observation.
        needles = bundles[spec.tasks[0]]
        items = {length: max(1, count // sum(needles)) for length, count in trials.items()}
        targets = {f"needle {number}": questions for number, questions in enumerate(needles)}
        models = _of_needles(models, tuple(targets))
    shortest = min(spec.lengths)
    shares = expected_shares(
        lengths,
        items,
        models.thresholds(target, shortest),
        spec.margin / 100 or None,
        spec.confidence,
        spec.claim,
        models.means,
        seed=spec.seed,
        targets=targets,
        given=None if target.threshold is not None or target.base is not None else shortest,
    )
    shares = {length: shares.get(length, 1.0) for length in spec.lengths}
    tokens = sum(shares[cell.length] * cell.prompt_tokens for cell in made.cells)
    return StoppingForecast(shares, round(tokens) + made.beside_tokens, made.prompt_tokens, models.source)


def _published(spec: RunSpec, target: Target) -> _Models:
    """The models of the papers' tables, with the tasks that are asked, or all where none of them is in the tables."""
    if target.base is not None:
        rows = [row for row in read_table("nolima").rows if row.base is not None]
        means = {
            row.model: {length: {"all": score / 100} for length, score in row.scores.items() if score is not None}
            for row in rows
        }
        return _Models(means, {row.model: (row.base or 0.0) / 100 for row in rows}, "the models of NoLiMa's table 3")
    printed = printed_means()
    known = {task for of in printed.values() for means in of.values() for task in means}
    kept = known.intersection(spec.tasks) or known
    return _Models(
        {
            name: {length: {task: means[task] for task in means if task in kept} for length, means in of.items()}
            for name, of in printed.items()
        },
        {},
        "the models of RULER's tables",
    )


def _earlier(spec: RunSpec, target: Target, run: Summary) -> _Models:
    """The model of an earlier run."""
    means: dict[int, dict[str, float]] = {}
    for cell in run.cells:
        if cell.score is not None and cell.task in spec.tasks:
            means.setdefault(cell.length, {})[cell.task] = cell.score / 100
    asked = sum(cell.n for cell in run.cells if cell.task in spec.tasks)
    if not means:
        raise UsageError(
            f"--from: that run has no score of {', '.join(spec.tasks)}: give a run that has asked one of these tasks"
        )
    base = run.base.score if run.base is not None else None
    if target.base is not None and not base:
        raise UsageError("--from: that run has no base score: give one that has asked the base lengths")
    bases = {} if base is None else {run.model: base / 100}
    return _Models({run.model: means}, bases, f"an earlier run of {run.model} did ({asked:,} trials)")


def _of_needles(models: _Models, needles: Sequence[str]) -> _Models:
    """The same where every needle scores the model's mean."""
    means = {
        name: {length: dict.fromkeys(needles, fmean(means.values())) for length, means in of.items()}
        for name, of in models.means.items()
    }
    return _Models(means, models.bases, models.source)

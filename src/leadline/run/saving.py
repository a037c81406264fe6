"""What ``--stop certain`` will probably cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from leadline.analysis.stopping_forecast import expected_shares, printed_means
from leadline.run.certain import target_of
from leadline.run.forecast import Forecast
from leadline.spec import RunSpec


@dataclass(frozen=True, slots=True)
class StoppingForecast:
    """What a stop rule will probably leave of a run.

    Attributes:
        shares: of the full protocol's rounds, by length.
        prompt_tokens: about how many, over all lengths.
        of_tokens: prompt tokens of the full protocol.
    """

    shares: Mapping[int, float]
    prompt_tokens: int
    of_tokens: int

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
        }


def stopping_forecast(spec: RunSpec, made: Forecast) -> StoppingForecast:
    """What stopping will probably cost, if the model is like those of RULER's tables.

    Where the threshold is a share of the model's own score, it is taken to be that share of the published models' mean
    at the same length; the shortest length is asked as far as the one that takes longest.

    Raises:
        UsageError: see `target_of`.
    """
    target = target_of(spec)
    threshold = target.threshold if target.threshold is not None else target.share * _published_mean(min(spec.lengths))
    shares = expected_shares(
        spec.lengths, spec.samples, threshold, spec.margin / 100 or None, spec.confidence, seed=spec.seed
    )
    if target.threshold is None:
        shares[min(spec.lengths)] = max(shares[length] for length in spec.lengths if length != min(spec.lengths))
    tokens = sum(shares[cell.length] * cell.prompt_tokens for cell in made.cells)
    return StoppingForecast(shares, round(tokens), made.prompt_tokens)


def _published_mean(length: int) -> float:
    """Mean score, 0 to 1, of the published models at the length nearest to this one."""
    scores = [
        fmean(means[min(means, key=lambda other: abs(math.log(other / length)))].values())
        for means in printed_means().values()
    ]
    return fmean(scores)

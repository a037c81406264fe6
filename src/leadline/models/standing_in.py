"""What counts tokens for a model whose own tokenizer is not at hand, whoever serves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from leadline.requests import PermanentError, TransientError
from leadline.tokenizers.stand_in import STAND_IN, StandIn, calibrate

if TYPE_CHECKING:
    from leadline.models.registry import ModelOptions


def stand_in_for(options: ModelOptions, told: Callable[[str], int]) -> StandIn:
    """A stand-in whose ratio to the model's own tokenizer is told by the answers to a few short questions.

    Its ratio stays unknown where the model may not be asked, or does not tell how many tokens it read.

    Args:
        options: what the model was opened with.
        told: prompt tokens of a request with this text, as the model's side counts them.
    """
    from leadline.data.loading import load_tokenizer

    standing_in = load_tokenizer(STAND_IN, offline=options.offline)
    if not options.asking:
        return StandIn(standing_in)
    try:
        return StandIn(standing_in, calibrate(standing_in, told))
    except (PermanentError, TransientError, ValueError):
        return StandIn(standing_in)

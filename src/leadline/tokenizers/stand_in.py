"""What to count with where a model's own tokenizer is not at hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from leadline.tokenizers.base import Tokenizer

STAND_IN = "tiktoken/o200k_base"
"""A vocabulary of the size that recent models have."""

_OF_ENCODING = {
    "cl100k_base": "tiktoken/cl100k_base",
    "o200k_base": "tiktoken/o200k_base",
    "o200k_harmony": "tiktoken/o200k_base",  # differs in its special tokens alone
}

RATIO_STEP = 0.01
"""Ratios are rounded up to this, so that a run that goes on finds the one that it began with."""

SHORT = "Which of these towns lies by a lake?"
"""What a template adds stands in the count of this text too, and falls out of every ratio."""


def _uuids(count: int) -> str:
    """Made from a product, so that they are the same ones everywhere and look like nothing."""
    digits = "".join(f"{(number + 1) * 0x9E3779B97F4A7C15 % 2**64:016x}" for number in range(2 * count))
    parts = [digits[32 * number : 32 * number + 32] for number in range(count)]
    return "\n".join(
        f"The special uuid is: {text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}." for text in parts
    )


def _numbers(count: int) -> str:
    return "\n".join(
        f"The special number is: {(number + 1) * 0x9E3779B97F4A7C15 % 9_000_000 + 1_000_000}."
        for number in range(count)
    )


PROBES: Mapping[str, Callable[[], str]] = {
    "noise": lambda: "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.\n" * 10,
    "prose": lambda: (
        (
            "It was late when the surveyor, whose mare had gone lame beyond Ashbourne, climbed the turnpike to the "
            "lighted inn; and though the landlord swore there wasn't a bed to be had, he was given the settle by the "
            "kitchen fire, a plate of cold mutton, and (what he valued more) somebody's forgotten almanack. He read of "
            "tides, eclipses, and the price of barley until the candle guttered. Nobody, he thought, had ever measured "
            "anything worth measuring without first being thoroughly uncomfortable. "
        )
        * 2
    ),
    "uuids": lambda: _uuids(9),
    "numbers": lambda: _numbers(25),
}
"""Texts of a few hundred tokens each, of the kinds that haystacks are made of."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a model's counts differ from the stand-in's.

    Attributes:
        ratios: the model's tokens for one of the stand-in's, by kind of text.
    """

    ratios: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """The greatest of them, so that no request is longer than it is meant to be."""
        return math.ceil(round(max(self.ratios.values()) / RATIO_STEP, 6)) * RATIO_STEP

    @property
    def error(self) -> float:
        """By which share of its length a text of another kind may be shorter than it is meant to be."""
        return 1 - min(self.ratios.values()) / self.ratio

    @property
    def described(self) -> str:
        """Both in words."""
        kinds = ", ".join(f"{kind} {ratio:.2f}" for kind, ratio in self.ratios.items())
        return (
            f"the model's tokens for one of the stand-in's: {kinds}; lengths count with {self.ratio:.2f}, so that "
            f"none is longer than it says and some may be shorter by up to {self.error:.0%}"
        )


def calibrate(tokenizer: Tokenizer, told: Callable[[str], int]) -> Calibration:
    """How a model's counts of the probes differ from a tokenizer's; asks one question for each and one more.

    Args:
        tokenizer: what stands in.
        told: prompt tokens of a request with this text, as the model's side counts them.

    Raises:
        ValueError: what is told cannot be a count of these texts.
    """
    short_told, short_ours = told(SHORT), tokenizer.count(SHORT)
    texts = {kind: make() for kind, make in PROBES.items()}
    ratios = {kind: (told(text) - short_told) / (tokenizer.count(text) - short_ours) for kind, text in texts.items()}
    if min(ratios.values()) <= 0:
        raise ValueError(f"prompt tokens do not grow with the prompt: {ratios}")
    return Calibration(ratios)


def openai_encoding(model: str) -> str | None:
    """The name of the tokenizer of one of OpenAI's models, or None of any other; ``openai/`` may stand before it."""
    import tiktoken

    vendor, _, rest = model.rpartition("/")
    if vendor not in ("", "openai"):
        return None
    try:
        return _OF_ENCODING.get(tiktoken.encoding_name_for_model(rest))
    except KeyError:
        return None


class StandIn:
    """Another model's tokenizer.

    Vocabularies of 32 thousand and of 200 thousand entries differ by up to a quarter on English prose, so a length is
    only about that long; ``--tokenizer`` with the model's own makes it exact. Counts are always the stand-in's own:
    a calibration belongs to totals, because a part's share of a token cannot be counted.

    Attributes:
        calibration: how the model's counts differ, or None where that is not known.
    """

    exact = False

    def __init__(self, tokenizer: Tokenizer, calibration: Calibration | None = None) -> None:
        self.id = f"stand-in/{tokenizer.id}" + ("" if calibration is None else f"*{calibration.ratio:.2f}")
        self.calibration = calibration
        self.bos_tokens = tokenizer.bos_tokens
        self.encode = tokenizer.encode
        self.count = tokenizer.count
        self.count_in_place = tokenizer.count_in_place
        self.offsets = tokenizer.offsets

    @property
    def details(self) -> dict[str, float]:
        """What is told of it among a model's facts: its ratio and error, or nothing where they are not known."""
        if self.calibration is None:
            return {}
        return {
            "tokenizer_ratio": round(self.calibration.ratio, 2),
            "tokenizer_error": round(self.calibration.error, 3),
        }

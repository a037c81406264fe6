"""A stand-in for a tokenizer that is not at hand, and how its counts are mended."""

from __future__ import annotations

import math

import pytest

from leadline.data.loading import load_tokenizer
from leadline.tokenizers.stand_in import PROBES, STAND_IN, StandIn, calibrate

OURS = load_tokenizer(STAND_IN)


def test_a_template_falls_out_of_the_ratio() -> None:
    known = calibrate(OURS, lambda text: OURS.count(text) + 23)
    assert known.ratio == pytest.approx(1.0)
    assert known.error == pytest.approx(0.0)


def test_the_greatest_ratio_is_taken_and_the_spread_is_the_error() -> None:
    other = load_tokenizer("tiktoken/cl100k_base")
    digits = sum(character.isdigit() for character in PROBES["numbers"]())

    def told(text: str) -> int:
        """One token for each digit, as some vocabularies have it."""
        return 7 + other.count(text) + sum(character.isdigit() for character in text) // 2

    known = calibrate(OURS, told)
    assert digits > 0
    assert known.ratio >= max(known.ratios.values())
    assert known.ratio - max(known.ratios.values()) <= 0.01
    assert known.ratios["noise"] < known.ratios["numbers"]
    assert known.error == pytest.approx(1 - min(known.ratios.values()) / known.ratio)
    assert f"{known.error:.0%}" in known.described


def test_no_text_is_longer_than_its_scaled_count() -> None:
    other = load_tokenizer("tiktoken/cl100k_base")
    known = calibrate(OURS, other.count)
    for make in PROBES.values():
        text = make()
        assert other.count(text) <= math.ceil(OURS.count(text) * known.ratio) + 1


def test_the_name_tells_of_the_ratio_because_items_depend_on_it() -> None:
    known = calibrate(OURS, lambda text: 2 * OURS.count(text))
    assert StandIn(OURS).id == f"stand-in/{STAND_IN}"
    assert StandIn(OURS, known).id == f"stand-in/{STAND_IN}*2.00"
    assert StandIn(OURS, known).count("one two three") == OURS.count("one two three")


def test_a_count_that_does_not_grow_is_no_count() -> None:
    with pytest.raises(ValueError, match="do not grow"):
        calibrate(OURS, lambda text: 100)

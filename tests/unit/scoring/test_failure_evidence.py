from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from leadline.scoring.failure_evidence import LONG_CHARACTERS, folded_white_space

WHITE_SPACE = [character for character in map(chr, range(sys.maxunicode + 1)) if character.isspace()]


@given(st.lists(st.sampled_from([*WHITE_SPACE, "a", "é", "\u200b", "\N{GRINNING FACE}"]), max_size=60).map("".join))
def test_a_long_text_is_folded_like_a_short_one(text: str) -> None:
    long = f"{text}{'b c' * LONG_CHARACTERS}{text}"
    assert folded_white_space(long) == " ".join(long.split())
    assert folded_white_space(text) == " ".join(text.split())


def test_every_kind_of_white_space_is_folded() -> None:
    long = "word ".join([*WHITE_SPACE, "x" * LONG_CHARACTERS])
    assert folded_white_space(long) == " ".join(long.split())

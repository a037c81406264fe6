"""Where the sentences of a text begin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

LONGEST_CHARACTERS = 400
"""A sentence longer than this is cut at spaces: depth and filling need units of a reasonable size."""

FEWEST_WORDS = 3
"""A sentence shorter than this joins the next: nobody would plant a needle between "Yes." and what follows it."""


def sentence_starts(text: str) -> npt.NDArray[np.int64]:
    """Characters at which the sentences of a text begin, and a final sentinel, shape (sentences + 1,).

    Args:
        text: text in which every run of white space is one space, without any at its ends. Sentence i is
            ``text[starts[i] : starts[i + 1] - 1]``; the sentinel is ``len(text) + 1``, or 0 where there is no text.

    The boundaries are those of the nupunkt package (the Punkt algorithm of Kiss and Strunk, 2006, with a model of its
    own and no download), kept only where a space stands, which leaves the text as it is.
    """
    if not text:
        return np.zeros(1, dtype=np.int64)
    starts = _cut_long(text, _join_short(text, [0, *boundaries(text)]))
    return np.array([*starts, len(text) + 1], dtype=np.int64)


def boundaries(text: str) -> list[int]:
    """Characters behind a space at which a sentence begins, without the text's own beginning, ascending."""
    from nupunkt import sent_spans

    found: set[int] = set()
    for start, _ in sent_spans(text):
        if start > 0 and text[start] == " ":
            found.add(start + 1)
        elif start > 0 and text[start - 1] == " ":
            found.add(start)
    return sorted(found)


def _join_short(text: str, starts: Sequence[int]) -> list[int]:
    kept = list(starts[:1])
    for start in starts[1:]:
        if text.count(" ", kept[-1], start - 1) + 1 >= FEWEST_WORDS:
            kept.append(start)
    if len(kept) > 1 and text.count(" ", kept[-1]) + 1 < FEWEST_WORDS:
        kept.pop()
    return kept


def _cut_long(text: str, starts: Sequence[int]) -> list[int]:
    """Cut a long sentence into the fewest parts that are short enough, all about as long."""
    cut: list[int] = []
    for start, following in zip(starts, [*starts[1:], len(text) + 1], strict=True):
        cut.append(start)
        end = following - 1
        while (length := end - cut[-1]) > LONGEST_CHARACTERS:
            parts = -(-length // LONGEST_CHARACTERS)
            space = text.rfind(" ", cut[-1], cut[-1] + length // parts + 1)
            if space < 0:  # a word longer than a part
                space = text.find(" ", cut[-1], end)
            if space < 0:
                break
            cut.append(space + 1)
    return cut

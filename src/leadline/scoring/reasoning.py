"""Reasoning inside an answer's text, told apart from the answer."""

from __future__ import annotations

from typing import NamedTuple

from leadline.scoring.matching import THINK, ReasoningMarkers, without_reasoning


class Parts(NamedTuple):
    """An answer and the reasoning before it.

    Attributes:
        answer: the text without reasoning.
        reasoning: the text of all reasoning blocks, without their markers.
        ended: no block was left open.
    """

    answer: str
    reasoning: str
    ended: bool


def split_reasoning(text: str, markers: ReasoningMarkers = THINK) -> Parts:
    """Take the reasoning out of a text, by the rules of `leadline.scoring.matching.without_reasoning`.

    A closing marker that was never opened ends reasoning that the chat template had opened. An opening marker that is
    never closed begins reasoning that did not end.
    """
    answer, blocks, ended = text, list[str](), True
    for opening, closing in markers:
        rest = answer
        while closing in rest:
            before, _, rest = rest.partition(closing)
            blocks.append(before.partition(opening)[2] if opening in before else before)
        if opening in rest:
            ended = False
            blocks.append(rest.partition(opening)[2])
        answer = without_reasoning(answer, ((opening, closing),))
    return Parts(answer, "\n".join(block.strip() for block in blocks if block.strip()), ended)

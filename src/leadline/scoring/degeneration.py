"""Texts that are no answer: loops of a broken model, and the prompt handed back."""

from __future__ import annotations

import math

LOOP_CHARACTERS = 64
"""A shorter text is never called a loop."""

LOOP_UNIT_CHARACTERS = 8
"""The longest unit whose repetition is a loop. Sentences that a base model repeats are longer, and stay answers."""

ECHO_CHARACTERS = 200
"""The shortest stretch of the prompt whose repetition is an echo: longer than any answer that is asked for."""

ECHO_SHARE = 0.8
"""Share of the answer that one stretch of the prompt must cover."""

_SEARCH_CHARACTERS = 20_000_000
"""Work after which the search for a copied stretch gives up; only a huge answer in a repeating prompt reaches it."""


def is_loop(text: str) -> bool:
    """Whether the *whole* text is one short unit over and over, or is made of one or two characters.

    That is what a broken KV cache or a wrong quantisation writes (``????``, ``the the the``).
    """
    text = text.strip()
    if len(text) < LOOP_CHARACTERS:
        return False
    if len(set(text)) < 3:
        return True
    return any(text[unit:] == text[:-unit] for unit in range(1, LOOP_UNIT_CHARACTERS + 1))


def copied_stretch(answer: str, prompt: str) -> tuple[int, int] | None:
    """First and last (exclusive) character of the answer's longest stretch that stands verbatim in the prompt.

    Only a stretch of at least `ECHO_CHARACTERS` that covers `ECHO_SHARE` of the answer is returned. Every such
    stretch covers the answer's middle, so it is enough to look for the middle and to grow each place where it stands.
    In repeated noise the middle stands at many places, and only one of them is where it was copied from.
    """
    needed = max(ECHO_CHARACTERS, math.ceil(ECHO_SHARE * len(answer)))
    if len(answer) < needed:
        return None
    first, last = len(answer) - needed, needed
    core = answer[first:last]
    longest: tuple[int, int] | None = None
    size, at, work = needed - 1, prompt.find(core), 0
    while at >= 0 and work < _SEARCH_CHARACTERS:
        left = _common(answer[:first][::-1], prompt[max(0, at - first) : at][::-1])
        right = _common(answer[last:], prompt[at + len(core) : at + len(core) + first])
        if left + len(core) + right > size:
            longest = first - left, last + right
            size = left + len(core) + right
        if size == len(answer):
            break
        work += len(answer)
        at = prompt.find(core, at + 1)
    return longest


def _common(one: str, other: str) -> int:
    """Length of the longest common beginning."""
    for index, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return index
    return min(len(one), len(other))

"""Text that others wrote, made fit to be shown: nothing in it can hide, turn the line round or steer a terminal."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of Unicode without a picture of their own: control, format (bidirectional marks and zero-width signs among
them), halves of surrogate pairs, private, unassigned, separators of lines and paragraphs."""

_KEPT = "\n\t"


def is_hidden(character: str) -> bool:
    """Whether a character has no picture of its own."""
    return unicodedata.category(character) in _HIDDEN


def code_point(character: str) -> str:
    """The character's name in Unicode's notation, in brackets: ``[U+202E]``."""
    return f"[U+{ord(character):04X}]"


def visible(text: str) -> str:
    """The text with every hidden character named by its code point; line ends and tabs stay.

    What a model, a server or a file says goes to a terminal or a page through here: an escape character could
    otherwise repaint the screen, and a bidirectional mark turn what stands around it. See Unicode Technical Report 36,
    "Unicode security considerations", section 2.
    """
    if text.isprintable():
        return text
    return "".join(
        code_point(character) if character not in _KEPT and is_hidden(character) else character for character in text
    )

"""Texts with numbers at their beginning and in their middle; an answer without one tells of a prompt that was cut."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.requests import Response

ANSWER_TOKENS = 48
PLACES = ("beginning", "middle")
NAMES = ("harbour", "meadow")

LINES = (
    "The ferry leaves the pier before the market opens.\n",
    "Nobody had counted the chairs in the long hall.\n",
    "Rain came over the hills and stayed until supper.\n",
    "A letter lay on the table under two grey stones.\n",
    "The baker kept his scales in a cupboard of oak.\n",
    "On the far bank a horse drank from the river.\n",
    "Her brother painted the boat green in the spring.\n",
    "The clock in the tower was slow by some minutes.\n",
)
"""What fills a probe. The same lines at every length, so that a tokenizer that is not the model's own is wrong by the
same share at all of them."""

_SHEETS = ("amber", "birch", "coral", "delta", "ember", "fjord", "grove", "hazel", "inlet", "juniper")


def words_of(number: str) -> str:
    """A title that no other text has, one word for each digit."""
    return " ".join(_SHEETS[int(digit)] for digit in number)


@dataclass(frozen=True, slots=True)
class Probe:
    """A text, its two numbers and a question about them.

    Attributes:
        title: what it begins with, which no other has.
        numbers: the number at its beginning and the one in its middle.
        lines: what fills it.
    """

    title: str
    numbers: tuple[str, str]
    lines: tuple[str, ...]

    @property
    def message(self) -> str:
        """The user's message."""
        first, second = (
            f"One of the special magic numbers for {name} is: {number}.\n"
            for name, number in zip(NAMES, self.numbers, strict=True)
        )
        half = len(self.lines) // 2
        return (
            f"Sheet {self.title}.\nTwo special magic numbers stand in this text. Remember them.\n{first}"
            f"{''.join(self.lines[:half])}{second}{''.join(self.lines[half:])}"
            f"What are the special magic numbers for {' and '.join(NAMES)} in the text above?"
        )

    @property
    def answer_prefix(self) -> str:
        """How the answer begins."""
        return f" The special magic numbers for {' and '.join(NAMES)} in the text above are"

    def found(self, response: Response) -> frozenset[str]:
        """At which places the answer found its number."""
        told = (response.text or "").replace(",", "")
        return frozenset(place for place, number in zip(PLACES, self.numbers, strict=True) if number in told)

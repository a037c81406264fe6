"""What an examination of a model's endpoint finds, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["ok", "note", "problem"]
Figure = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        check: what was looked at.
        severity: `problem` where a run's figures would be wrong or missing, `note` where it is good to know.
        what: what was found, in words.
        remedy: the flag or the setting that mends it, or None.
        figures: the same in numbers, units in the names.
    """

    check: str
    severity: Severity
    what: str
    remedy: str | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict[str, Figure])

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON takes it."""
        return {
            "check": self.check,
            "severity": self.severity,
            "what": self.what,
            "remedy": self.remedy,
            "figures": dict(self.figures),
        }


@dataclass(frozen=True, slots=True)
class Spent:
    """What an examination took.

    Attributes:
        calls: requests to the model, those that were refused included.
        prompt_tokens: as the model's side counts them, or by our own count where it does not tell.
        output_tokens: the same for answers.
        seconds: from the first check to the last.
    """

    calls: int
    prompt_tokens: int
    output_tokens: int
    seconds: float

    def as_dict(self) -> dict[str, int | float]:
        """The figures as JSON takes them."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "output_tokens": self.output_tokens,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Examination:
    """All findings about one model, in the order of the checks."""

    model: str
    findings: tuple[Finding, ...]
    spent: Spent

    @property
    def problems(self) -> int:
        """How many findings are problems."""
        return sum(finding.severity == "problem" for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """The examination as JSON takes it."""
        return {
            "model": self.model,
            "problems": self.problems,
            "findings": [finding.as_dict() for finding in self.findings],
            "spent": self.spent.as_dict(),
        }

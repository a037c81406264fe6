"""A record: one trial's line of JSON. Scores, cells and verdicts are recomputed from records alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from leadline.items import Factor, Fit, Sample, TrialKey
from leadline.requests import Response

Outcome = Literal[
    "answered",
    "truncated_output",
    "truncated_prompt",
    "refused",
    "filtered",
    "over_length",
    "degenerate",
    "failed",
    "does_not_fit",
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

ASK_AGAIN: frozenset[Outcome] = frozenset({"failed", "truncated_prompt"})
"""Outcomes that the next run of the same trial asks again; all others are final."""


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of one trial.

    Attributes:
        key: which trial.
        fit: its size, from which key and data make the prompt again; None where the trial could not be made.
        prompt_tokens: tokens of the whole request by the local tokenizer.
        factors, answers, facts: from the plan.
        response: what the backend reported; None where nothing was asked.
        outcome: whether the trial is valid.
        failure: why a valid answer is wrong, where that is judged.
        notes: what a reader of the record should know, in words.
    """

    key: TrialKey
    fit: Fit | None
    item_hash: str | None
    prompt_hash: str | None
    prompt_tokens: int | None
    factors: Mapping[str, Factor]
    answers: tuple[tuple[str, ...], ...]
    facts: Mapping[str, Any]
    response: Response | None
    outcome: Outcome
    failure: str | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        sample: Sample,
        response: Response,
        outcome: Outcome,
        failure: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> Record:
        """The record of a sample that was asked."""
        return cls(
            key=sample.key,
            fit=sample.fit,
            item_hash=sample.item_hash,
            prompt_hash=sample.prompt_hash,
            prompt_tokens=sample.fit.prompt_tokens,
            factors=sample.plan.factors,
            answers=sample.plan.answers,
            facts=sample.plan.facts,
            response=response,
            outcome=outcome,
            failure=failure,
            notes=notes,
        )

    def to_json(self) -> str:
        """The record as one line, without its newline."""
        data = {
            "key": self.key.as_dict(),
            "fit": None if self.fit is None else self.fit.as_dict(),
            "item_hash": self.item_hash,
            "prompt_hash": self.prompt_hash,
            "prompt_tokens": self.prompt_tokens,
            "factors": dict(self.factors),
            "answers": self.answers,
            "facts": dict(self.facts),
            "response": None if self.response is None else self.response.as_dict(),
            "outcome": self.outcome,
            "failure": self.failure,
            "notes": self.notes,
        }
        return json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, line: str) -> Record:
        """The record that `to_json` wrote.

        Raises:
            ValueError: the line is not such a record.
        """
        try:
            data = json.loads(line)
            return cls(
                key=TrialKey.from_dict(data["key"]),
                fit=None if data["fit"] is None else Fit.from_dict(data["fit"]),
                item_hash=data["item_hash"],
                prompt_hash=data["prompt_hash"],
                prompt_tokens=data["prompt_tokens"],
                factors=data["factors"],
                answers=tuple(tuple(forms) for forms in data["answers"]),
                facts=data["facts"],
                response=None if data["response"] is None else Response(**data["response"]),
                outcome=_outcome(data["outcome"]),
                failure=data["failure"],
                notes=tuple(data["notes"]),
            )
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"not a record: {error!r}") from error


def _outcome(name: str) -> Outcome:
    for outcome in OUTCOMES:
        if outcome == name:
            return outcome
    raise ValueError(f"unknown outcome {name!r}")

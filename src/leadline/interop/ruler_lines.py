"""A run's trials as lines of RULER's files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leadline.interop.ruler_samples import Remaker
from leadline.records import Outcome, Record
from leadline.scoring.matching import clean, recall
from leadline.scoring.policy import POLICY


@dataclass(frozen=True, slots=True)
class ToolLine:
    """A trial as the tool writes it; `prediction` None where the model's answer is not known."""

    index: int
    input: str
    answer_prefix: str
    outputs: Sequence[str]
    tokens: int
    prediction: str | None
    outcome: Outcome
    failure: str | None

    def sample(self) -> dict[str, Any]:
        """The line of the samples' file. Both counts are of the whole request, its template included."""
        return {
            "index": self.index,
            "input": self.input,
            "outputs": list(self.outputs),
            "length": self.tokens,
            "length_w_model_temp": self.tokens,
            "answer_prefix": self.answer_prefix,
        }

    def predicted(self) -> dict[str, Any]:
        """The line of the predictions' file."""
        return {
            "index": self.index,
            "pred": self.prediction,
            "input": self.input + self.answer_prefix,
            "outputs": list(self.outputs),
            "others": {"outcome": self.outcome, "failure": self.failure},
            "truncation": -1,
            "length": self.tokens,
        }


def tool_lines(records: Sequence[Record], samples: int, remaker: Remaker) -> Iterator[ToolLine]:
    """The lines of one cell; none where the task does not fit the length.

    Args:
        records: of the cell, the newest of each trial.
        samples: trials that were asked for. Those that were not asked because the length is beyond the model's context
            score 0, here as there, and so have an empty prediction.
        remaker: makes the prompts again.
    """
    if any(POLICY[record.outcome] == "absent" for record in records):
        return
    indices = [record.key.item.index for record in records]
    numbers = indices if len(set(indices)) == len(indices) else range(len(indices))
    for number, record in zip(numbers, records, strict=True):
        answers = record.answers or remaker.answers(record.key)
        if answers is not None:
            prompt = remaker.prompt(record)
            yield ToolLine(
                index=number,
                input="" if prompt is None else prompt.text,
                answer_prefix="" if prompt is None else prompt.answer_prefix,
                outputs=_outputs(answers),
                tokens=-1 if record.prompt_tokens is None else record.prompt_tokens + remaker.output_tokens(record.key),
                prediction=_prediction(record),
                outcome=record.outcome,
                failure=record.failure,
            )
    beyond = next((record for record in records if record.outcome == "over_length"), None)
    for index in range(samples if beyond is not None else 0):
        if beyond is not None and index not in indices:
            key = replace(beyond.key, item=replace(beyond.key.item, index=index))
            answers = remaker.answers(key)
            if answers is not None:
                yield ToolLine(index, "", "", _outputs(answers), -1, "", "over_length", None)


def _outputs(answers: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """The tool's references: the forms of the only target of a question, else each target's first form."""
    return answers[0] if len(answers) == 1 else tuple(forms[0] for forms in answers)


def _prediction(record: Record) -> str | None:
    """The answer as it is scored, without reasoning; empty where another one would score, None where none is scored."""
    treatment = POLICY[record.outcome]
    if treatment == "incomplete" or (treatment == "as_it_is" and record.response is None):
        return None
    text = "" if record.response is None else clean(record.response.text or "")
    return "" if treatment == "zero" and record.answers and recall(text, record.answers) > 0 else text

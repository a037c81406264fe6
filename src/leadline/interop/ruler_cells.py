"""The trials of RULER's files: one record for each prediction, with what its prompt tells."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from leadline.interop.ruler_files import CellFiles, Row
from leadline.interop.ruler_pairs import Pair, Tally, read_pairs
from leadline.interop.ruler_texts import shape, understand
from leadline.interop.understood import Understood
from leadline.items import Fit, ItemKey, Plan, Sample, TrialKey, canonical_json, digest
from leadline.records import Outcome, Record
from leadline.requests import Response
from leadline.scoring.failures import failure_kind
from leadline.scoring.matching import clean, recall
from leadline.scoring.outcomes import judge
from leadline.scoring.trials import score
from leadline.spec import RunSpec
from leadline.tasks.base import Task
from leadline.tasks.registry import make_task

MARK = "ruler"
"""What the parameters of an imported item say of where it is from, so that it is never taken for one of ours."""


@dataclass(slots=True)
class ImportedCell:
    """One task at one length, read.

    Attributes:
        files, tally: what was read, and what was found in it.
        records: of the predictions.
        not_understood: prompts that are not of the task's template.
        without_prompt: predictions whose prompt stands in no file.
    """

    files: CellFiles
    tally: Tally
    records: list[Record] = field(default_factory=list[Record])
    not_understood: int = 0
    without_prompt: int = 0

    @property
    def name(self) -> str:
        """The cell as a notice names it."""
        return f"{self.files.task} at {self.files.length}"

    @property
    def score(self) -> float | None:
        """Our own figure in per cent."""
        scored = [each.recall for each in map(score, self.records) if each is not None]
        return 100 * math.fsum(scored) / len(scored) if scored else None


def read_cell(files: CellFiles) -> ImportedCell:
    """Read a cell's files.

    Raises:
        DataError: a file cannot be read.
    """
    task = make_task(files.task).at_length(files.length)
    cell = ImportedCell(files, Tally())
    indices: list[int] = []
    for pair in read_pairs(files, cell.tally, any_of_them=task.family == "qa"):
        if pair.prediction is not None:
            cell.records.append(_record(cell, task, pair, pair.prediction))
            indices.append(pair.sample.index)
    if cell.tally.numbered:
        cell.records = [_renumbered(record, index) for record, index in zip(cell.records, indices, strict=True)]
    return cell


def _record(cell: ImportedCell, task: Task, pair: Pair, prediction: Row) -> Record:
    """The record of a prediction; why it is wrong is judged where its prompt is understood."""
    row, text = pair.sample, prediction.prediction or ""
    outputs = row.outputs or ()
    answers = (outputs,) if task.family == "qa" else tuple((output,) for output in outputs)
    understood = None if row.input is None else understand(task, row.input, outputs)
    cell.without_prompt += row.input is None
    cell.not_understood += row.input is not None and understood is None
    params = task.params.model_dump(exclude={"output_tokens"}) | {"imported": MARK}
    item = ItemKey(task.name, task.version, canonical_json(params), _seed(), pair.number)
    facts = shape(task, outputs) if understood is None else understood.facts
    plan = Plan(item, {} if understood is None else understood.factors, answers, facts)
    key = TrialKey(item, cell.files.length)
    tokens = None if row.length is None else max(0, row.length - task.params.output_tokens)
    response = Response(text, "unknown")
    outcome, notes = _outcome(response, row, answers)
    failure = None
    item_hash = None
    if understood is not None:
        sample = _sample(key, plan, understood, row, tokens, task)
        failure, item_hash = failure_kind(sample, text, outcome), sample.item_hash
    remark = () if task.remark is None else (task.remark,)
    return Record(
        key=key,
        fit=None,
        item_hash=item_hash,
        prompt_hash=None,
        prompt_tokens=tokens,
        factors=plan.factors,
        answers=answers,
        facts=facts,
        response=response,
        outcome=outcome,
        failure=failure,
        notes=(*notes, *remark),
    )


def _outcome(response: Response, row: Row, answers: tuple[tuple[str, ...], ...]) -> tuple[Outcome, tuple[str, ...]]:
    """A trial's outcome. The tool matches every text, so a text that matches anything stays an answer."""
    judged = judge(response, expected_prompt_tokens=None, exact_tokenizer=False, prompt_text=row.input, answers=answers)
    if judged.outcome != "answered" and recall(clean(response.text or ""), answers) > 0:
        why = ", ".join(judged.notes) or judged.outcome
        return "answered", (f"{why}, which RULER's tool matches as it is",)
    return judged.outcome, judged.notes


def _sample(key: TrialKey, plan: Plan, understood: Understood, row: Row, tokens: int | None, task: Task) -> Sample:
    """The prompt as a sample; its size is not known, and its tokens at most what the length leaves."""
    at_most = max(0, key.length - task.params.output_tokens)
    return Sample(
        key=key,
        plan=plan,
        fit=Fit(len(understood.spans), at_most if tokens is None else tokens),
        messages=({"role": "user", "content": understood.text},),
        answer_prefix=row.answer_prefix,
        spans=understood.spans,
        item_hash=digest(understood.text, row.answer_prefix),
        prompt_hash=digest((row.input or "") + row.answer_prefix),
        max_tokens=task.params.output_tokens,
    )


def _renumbered(record: Record, index: int) -> Record:
    return replace(record, key=replace(record.key, item=replace(record.key.item, index=index)))


def _seed() -> int:
    """The seed's default: the files do not tell theirs."""
    return RunSpec.model_fields["seed"].default

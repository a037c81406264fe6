"""Files as RULER's tool leaves them, made of leadline's own samples and of a few lines written by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leadline.data.sources import Sources
from leadline.items import Fit, Sample, TrialKey
from leadline.prompt import NAMED, Frame, assemble
from leadline.tasks.base import item_key
from leadline.tasks.registry import make_task

LLAMA = Frame("llama3", "prefill", *NAMED["llama3"][:2], turn_middle=NAMED["llama3"][1], turn_end=NAMED["llama3"][2])
SIZES = {"cwe": 30, "fwe": 12}
SOURCES = Sources(offline=True)


def make_sample(name: str, index: int = 0, length: int = 4096, frame: Frame = LLAMA) -> Sample:
    """A sample of a task that needs no data."""
    task = make_task(name)
    item = item_key(task, 42, index)
    plan = task.plan(item, SOURCES)
    fit = Fit(SIZES.get(name, 40), 900)
    return assemble(task.draft(plan, fit, SOURCES), TrialKey(item, length), plan, fit, frame, task.params.output_tokens)


def row_of(sample: Sample, index: int | None = None) -> dict[str, Any]:
    """A sample as a line of the tool's file of samples."""
    return {
        "index": sample.key.item.index if index is None else index,
        "input": LLAMA.before + sample.text + LLAMA.middle,
        "outputs": [forms[0] for forms in sample.plan.answers],
        "length": 1000,
        "length_w_model_temp": 1010,
        "answer_prefix": sample.answer_prefix,
    }


def predicted(row: Mapping[str, Any], text: str | None) -> dict[str, Any]:
    """A prediction as a line of the tool's file of predictions."""
    kept = {"index": row["index"], "pred": text, "input": row.get("input", ""), "outputs": row["outputs"]}
    return kept | {"others": {}, "truncation": -1, "length": row.get("length", -1)}


@dataclass(frozen=True)
class ToolFolder:
    """A folder of the tool's results for one model."""

    root: Path
    model: str = "some-model"

    def length(self, length: int) -> Path:
        return self.root / self.model / "synthetic" / str(length)

    def samples(self, task: str, rows: Sequence[Mapping[str, Any]], length: int = 4096) -> Path:
        return _write(self.length(length) / "data" / task / "validation.jsonl", rows)

    def predictions(self, name: str, rows: Sequence[Mapping[str, Any]], length: int = 4096) -> Path:
        return _write(self.length(length) / "pred" / f"{name}.jsonl", rows)

    def both(self, task: str, rows: Sequence[Mapping[str, Any]], texts: Sequence[str], length: int = 4096) -> None:
        self.samples(task, rows, length)
        self.predictions(task, [predicted(row, text) for row, text in zip(rows, texts, strict=True)], length)


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def tool(tmp_path: Path) -> ToolFolder:
    return ToolFolder(tmp_path / "benchmark_root")

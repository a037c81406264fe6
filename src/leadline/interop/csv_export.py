"""A run's records as a table: one row for each trial."""

from __future__ import annotations

from pathlib import Path

from leadline.errors import UsageError
from leadline.interop.ruler_scores import csv_text
from leadline.interop.run_records import RunRecords
from leadline.items import canonical_json
from leadline.records import Record
from leadline.run.store import write_atomically
from leadline.scoring.trials import score

COLUMNS = (
    *("task", "version", "params", "seed", "index", "length", "wording"),
    *("outcome", "score", "strict", "failure", "depth"),
    *("prompt_tokens", "server_prompt_tokens", "cached_tokens", "output_tokens", "latency_s"),
    *("item_hash", "prompt_hash", "answer"),
)
"""Scores are 0 to 1. What is not known is empty."""


def export_csv(run: RunRecords, path: Path) -> int:
    """Write a run's newest records to a file, and return their number.

    Raises:
        UsageError: the folder of the file does not exist.
        RunFolderError: it cannot be written.
    """
    if not path.parent.is_dir():
        raise UsageError(f"-o {path}: the folder {path.parent} does not exist: make it first")
    write_atomically(path, csv_text([COLUMNS, *(_row(record) for record in run.records)]))
    return len(run.records)


def _row(record: Record) -> list[object]:
    key, response, scored = record.key, record.response, score(record)
    counts = (
        [None] * 4
        if response is None
        else [response.prompt_tokens, response.cached_tokens, response.output_tokens, response.latency_s or None]
    )
    return [
        *(key.item.task, key.item.version, canonical_json(key.as_dict()["params"]), key.item.seed, key.item.index),
        *(key.length, key.wording, record.outcome),
        *((None, None) if scored is None else (scored.recall, scored.strict)),
        *(record.failure, record.factors.get("depth"), record.prompt_tokens, *counts),
        *(record.item_hash, record.prompt_hash, None if response is None else response.text),
    ]

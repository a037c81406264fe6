"""A run as its exports read it: manifest, design, and the newest record of every trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.analysis.design import Design
from leadline.errors import UsageError
from leadline.items import TrialKey
from leadline.records import Record
from leadline.run.manifest import design_of, read_manifest
from leadline.run.store import Damage, read_records


@dataclass(frozen=True, slots=True)
class RunRecords:
    """A run that is read.

    Attributes:
        records: the newest of each trial, by task in the design's order, then by length and index.
        damaged: lines that were skipped.
    """

    folder: Path
    manifest: Mapping[str, Any]
    design: Design
    records: tuple[Record, ...]
    damaged: int

    def of(self, task: str, length: int) -> list[Record]:
        """The records of a cell, by index; without controls."""
        keyed = ((record.key, record) for record in self.records)
        return [record for key, record in keyed if (key.item.task, key.length) == (task, length) and not key.is_control]


def read_run(folder: Path, *, skip_damaged: bool = False) -> RunRecords:
    """Read a run's folder.

    Raises:
        RunFolderError: it is none, or a record is damaged.
        UsageError: it has no record.
    """
    manifest = read_manifest(folder)
    design = design_of(manifest)
    damage = Damage()
    newest: dict[TrialKey, Record] = {}
    for record in read_records(folder, skip_damaged=skip_damaged, damage=damage):
        newest[record.key] = record
    order = {task.name: place for place, task in enumerate(design.tasks)}
    records = [record for record in newest.values() if record.key.item.task in order]
    if not records:
        raise UsageError(f"{folder} has no records: let the run ask something first")
    records.sort(key=lambda record: (order[record.key.item.task], record.key.length, record.key.item.index))
    return RunRecords(folder, manifest, design, tuple(records), damage.lines)

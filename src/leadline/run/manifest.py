"""A run's ``run.json``: the resolved spec, versions, hashes, and what the model said of itself."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from leadline import __version__
from leadline.analysis.base_score import BaseRule
from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.thresholds import RULER_THRESHOLDS
from leadline.errors import RunFolderError
from leadline.prompt import Frame
from leadline.requests import ModelFacts
from leadline.run.identity import identity_hash
from leadline.run.store import write_atomically
from leadline.spec import RunSpec
from leadline.suites import suite_names
from leadline.tasks.registry import RULER_TASKS, make_task
from leadline.values import parse_threshold, parse_weights

FORMAT = 1
"""Version of a run's folder; a folder of another version is refused."""

MANIFEST = "run.json"
KEYS = ("created", "asked", "spec", "identity", "model")
"""What a reader of a run's folder relies on."""

PACKAGES = (
    "openvino-genai",
    "xllamacpp",
    "transformers",
    "torch",
    "inspect-ai",
    "openai",
    "numpy",
    "tiktoken",
    "tokenizers",
    "wonderwords",
)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The ``run.json`` of a run's folder.

    Raises:
        RunFolderError: the folder is not a run's, or of another version.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RunFolderError(
            f"{folder} is not a run's folder: it has no {MANIFEST}; a run is at RUNS/<model>/<suite>-<id>"
        ) from error
    except (OSError, ValueError) as error:
        raise RunFolderError(f"{path} cannot be read ({error}): restore it, or run again with another --out") from error
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if found != FORMAT:
        raise RunFolderError(
            f"{folder} has format {found!r} and this leadline reads format {FORMAT}: use the leadline that wrote it"
        )
    missing = [key for key in KEYS if key not in manifest]
    if missing:
        raise RunFolderError(
            f"{path} is incomplete (it has no {', '.join(missing)}): restore it, or run again with another --out"
        )
    return manifest


def merged_manifest(
    folder: Path,
    spec: RunSpec,
    facts: ModelFacts,
    frame: Frame,
    identity: Mapping[str, Any],
    items: Mapping[tuple[str, int], int] | None = None,
) -> dict[str, Any]:
    """The manifest of a run that begins or goes on now.

    `asked` is everything that was asked for so far, over all invocations: samples by task and length. `items` says how
    many there are of each task and length, where that is fewer than `spec.samples`.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    asked = {
        task: {str(length): (items or {}).get((task, length), spec.samples) for length in spec.lengths}
        for task in spec.tasks
    }
    created = now
    if (folder / MANIFEST).exists():
        old = read_manifest(folder)
        created = old["created"]
        asked = _joined(old["asked"], asked)
        # Said once of a model, it stays said: a later invocation need not repeat it.
        spec = spec.model_copy(update={"trained_length": spec.trained_length or old["spec"].get("trained_length")})
    return {
        "format": FORMAT,
        "id": identity_hash(identity),
        "created": created,
        "asked": asked,
        "spec": spec.model_dump(mode="json"),
        "identity": dict(identity),
        "model": {"name": facts.name, **facts.details},
        "frame": {
            "name": frame.name,
            "mode": frame.mode,
            "before": frame.before,
            "middle": frame.middle,
            "after": frame.after,
            "turn_middle": frame.turn_middle,
            "turn_end": frame.turn_end,
        },
        "versions": _versions(),
    }


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write ``run.json``.

    Raises:
        RunFolderError: it cannot be written.
    """
    write_atomically(folder / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def design_of(manifest: Mapping[str, Any]) -> Design:
    """What the analysis needs to know of a run, from its manifest alone.

    Raises:
        RunFolderError: its spec is not one that this leadline knows.
    """
    try:
        spec = RunSpec.model_validate(manifest["spec"])
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(str(part) for part in problem["loc"])
        raise RunFolderError(
            f"the spec in {MANIFEST} cannot be used ({key}: {problem['msg']}): use the leadline that wrote it"
        ) from error
    asked: dict[str, dict[str, int]] = manifest["asked"]
    tasks = [make_task(name, spec.changes(name)) for name in asked]
    asked_of = spec.verdict.threshold
    name, score = (asked_of, None) if isinstance(asked_of, str) else (None, asked_of)
    named = None if name is None else RULER_THRESHOLDS[name]
    lengths = sorted({int(length) for samples in asked.values() for length in samples})
    return Design(
        suite=spec.suite,
        model=manifest["model"]["name"],
        protocol=spec.protocol,
        lengths=tuple(lengths),
        tasks=tuple(TaskDesign(task.name, task.category, binary=task.targets == 1) for task in tasks),
        samples=max(max(samples.values()) for samples in asked.values()),
        asked={(task, length): asked[task].get(str(length), 0) for task in asked for length in lengths},
        k=spec.k,
        threshold_absolute=score if named is None else named.score,
        threshold_relative=spec.verdict.relative,
        base=None if spec.verdict.base_times is None else BaseRule(spec.verdict.base_times, spec.verdict.base_lengths),
        claims_tasks=() if asked_of is None else RULER_TASKS if named is not None else tuple(asked),
        threshold_name=name,
        category_thresholds={} if named is None else named.categories,
        category_tasks={} if named is None else _tasks_by_category(),
        weights={length: weight for length, weight in spec.weights.items() if length in lengths},
        control_length=spec.suite_shortest if spec.suite in suite_names() else None,
    )


def with_rule(manifest: Mapping[str, Any], threshold: str | None, weights: str | None) -> dict[str, Any]:
    """The manifest with another threshold or other weights; what is None stays.

    Raises:
        UsageError: the threshold is none, or a weight is of a length that was not asked.
    """
    spec: dict[str, Any] = dict(manifest["spec"])
    if threshold is not None:
        spec["verdict"] = {**spec["verdict"], "threshold": parse_threshold(threshold)}
    if weights is not None:
        spec["weights"] = parse_weights(weights, spec["k"])
        spec["lengths"] = sorted({int(length) for samples in manifest["asked"].values() for length in samples})
    return {**manifest, "spec": spec}


def _tasks_by_category() -> dict[str, tuple[str, ...]]:
    """RULER's thirteen tasks by category."""
    category_of = {name: make_task(name, {}).category for name in RULER_TASKS}
    return {
        category: tuple(name for name in RULER_TASKS if category_of[name] == category)
        for category in category_of.values()
    }


def _joined(before: Mapping[str, Mapping[str, int]], now: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """The greater number of samples of each task and length."""
    joined = {task: dict(samples) for task, samples in before.items()}
    for task, samples in now.items():
        for length, count in samples.items():
            cells = joined.setdefault(task, {})
            cells[length] = max(count, cells.get(length, 0))
    return joined


def _versions() -> dict[str, str]:
    versions = {"leadline": __version__, "python": platform.python_version(), "platform": platform.platform()}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions

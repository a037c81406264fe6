"""Thresholds and weights of a run's design, and others in their place."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.errors import UsageError
from leadline.run.manifest import design_of, with_rule
from leadline.spec import resolve
from leadline.tasks.registry import RULER_TASKS


@pytest.fixture
def manifest() -> dict[str, Any]:
    spec = resolve("ruler", {"lengths": "4k,8k", "samples": 5, "weights": "4k=3,8k=1"})
    asked = {task: {"4096": 5, "8192": 5} for task in spec.tasks}
    return {"spec": spec.model_dump(mode="json"), "asked": asked, "model": {"name": "a-model"}}


def test_a_named_threshold_brings_one_for_each_category(manifest: dict[str, Any]) -> None:
    design = design_of(manifest)
    assert (design.threshold_absolute, design.threshold_name, design.claims_tasks) == (85.6, "chat", RULER_TASKS)
    assert design.category_thresholds == {"retrieval": 96.9, "tracing": 89.7, "aggregation": 84.8, "qa": 49.7}
    assert set(design.category_thresholds) == set(design.category_tasks) == set(design.categories)
    assert design.weights == {4096: 3.0, 8192: 1.0}


def test_the_base_threshold(manifest: dict[str, Any]) -> None:
    design = design_of(with_rule(manifest, "base", None))
    assert design.threshold_absolute == 79.4
    assert design.category_thresholds == {"retrieval": 90.9, "tracing": 58.8, "aggregation": 73.1, "qa": 48.6}


def test_a_number_of_ones_own_speaks_of_the_tasks_that_were_asked(manifest: dict[str, Any]) -> None:
    few = {**manifest, "asked": {"vt": manifest["asked"]["vt"]}}
    design = design_of(with_rule(few, "60", None))
    assert (design.threshold_absolute, design.threshold_name, design.claims_tasks) == (60, None, ("vt",))
    assert design.category_thresholds == {}


def test_other_weights(manifest: dict[str, Any]) -> None:
    assert design_of(with_rule(manifest, None, "8k=1")).weights == {8192: 1.0}
    with pytest.raises(UsageError, match="no length of this run"):
        design_of(with_rule(manifest, None, "16k=1"))

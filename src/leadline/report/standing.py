"""A run among the models of the papers, for its page: the marked table, or why it is in none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.analysis.design import Design
from leadline.analysis.several import RunOfSeveral, comparable_groups
from leadline.analysis.summary import Summary
from leadline.reference.tables import THIRTEEN
from leadline.report.ranking import Ranking, published_rankings, published_table

_THIS = Path("this run")
"""Stands for the run's folder in the sentences, which the page need not name."""


@dataclass(frozen=True, slots=True)
class StandingSection:
    """What the page shows.

    Attributes:
        table: the published models with the run, whose row has a link; None where they are not comparable.
        about: what the table is.
        source: where it is from.
        reason: why there is none; empty where there is one.
    """

    table: Ranking | None
    about: str
    source: str
    reason: str


def standing_section(summary: Summary, design: Design, manifest: Mapping[str, Any]) -> StandingSection | None:
    """The section; None where nothing was measured."""
    if not any(score.score is not None for score in summary.by_length):
        return None
    shared = [task.name for task in design.tasks if task.name in THIRTEEN]
    if design.base is None and len(shared) < len(THIRTEEN):
        reason = (
            f"not comparable: the published averages are over RULER's 13 tasks, and this run has {len(shared)} of them"
        )
        return StandingSection(None, "", "", reason)
    run = RunOfSeveral(_THIS, summary, design, "", changed=changed_parameters(manifest))
    published, reasons = published_rankings(comparable_groups([run]), {id(run): summary.model})
    if not published:
        return StandingSection(None, "", "", "; ".join(reasons))
    (found,) = published
    info = found.table.info
    return StandingSection(published_table(found, {str(_THIS): 1}), info.about, info.source, "")


def changed_parameters(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Parameters that the user changed, by the names of their options, which a published figure does not share."""
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        return ()
    return (*spec.get("set", {}), *(["max-tokens"] if spec.get("max_tokens") is not None else []))

"""Several runs with all that is said of them: groups, families, partings, published rows, and the charts of each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from leadline.analysis.correlation import TaskCorrelation
from leadline.analysis.families import Family, described, families_of
from leadline.analysis.parting import Parting, partings_of
from leadline.analysis.several import Comparable, RunOfSeveral, comparable_groups, correlation_of, distinct_names
from leadline.report.charts import ROOMY_PX
from leadline.report.claimed import ClaimedRow, claimed_against_effective, claimed_row, claimed_text, claimed_values
from leadline.report.compared import comparison_charts
from leadline.report.correlation import correlation_figure
from leadline.report.drawing import Chart
from leadline.report.families import family_charts
from leadline.report.parting import parting_chart
from leadline.report.ranking import PublishedRanking, published_dicts, published_rankings

SHORT_LETTERS = 12
"""Letters that a row's name has room for on a telephone."""

MARKED_AT = 0.95
"""Threshold whose redundant tasks carry an asterisk in the heat map."""


@dataclass(frozen=True)
class SeveralRuns:
    """Several runs with all that a page says of them.

    Attributes:
        runs: in the order in which they were named.
        groups: those that may share an axis and a table.
        families: models of one name.
        partings: models that were asked RULER's tasks and NoLiMa's.
        correlation: of the tasks, or why there is none.
        published: the papers' tables with the runs that are comparable with them.
        not_published: why the others are in none, a sentence each.
        remarks: what keeps the runs from being alike, in sentences without a full stop.
    """

    runs: tuple[RunOfSeveral, ...]
    groups: tuple[Comparable, ...]
    families: tuple[Family, ...]
    partings: tuple[Parting, ...]
    correlation: TaskCorrelation | str
    published: tuple[PublishedRanking, ...]
    not_published: tuple[str, ...]
    remarks: tuple[str, ...]

    @cached_property
    def names(self) -> list[str]:
        """Of the runs, no two alike."""
        return distinct_names(self.runs)

    @cached_property
    def group_charts(self) -> list[list[Chart]]:
        """The charts of each group."""
        endings = _endings(self.groups)
        return [
            [*comparison_charts(group, ending), *_claimed(group, ending)]
            for group, ending in zip(self.groups, endings, strict=True)
        ]

    @cached_property
    def parting_charts(self) -> list[Chart | None]:
        """The chart of each parting; None where one side has nothing to be a share of."""
        return [parting_chart(parting, f"parting_{number}") for number, parting in enumerate(self.partings, start=1)]

    @cached_property
    def family_charts(self) -> list[Chart]:
        """The chart of each family."""
        return family_charts(self.families)

    def figures(self) -> dict[str, dict[str, Any]]:
        """Every chart of the page as a Vega-Lite description with its data, by name."""
        charts = [chart for charts in self.group_charts for chart in charts]
        charts += self.family_charts + [chart for chart in self.parting_charts if chart is not None]
        figures = {chart.name: chart.data() for chart in charts}
        if not isinstance(self.correlation, str):
            figures["task_correlation"] = correlation_figure(self.correlation, MARKED_AT)
        return figures

    def as_dict(self) -> dict[str, Any]:
        """What the page says beyond the single runs, as JSON: scores in per cent, lengths in tokens."""
        return {
            "groups": [
                {
                    "suite": group.suite,
                    "protocol": group.protocol,
                    "k": group.k,
                    "tasks": list(group.tasks),
                    "runs": [
                        {"name": name, "folder": str(run.folder), "average": group.average(run)}
                        | {"claimed": run.claimed_tokens, "effective_length": run.effective.as_dict()}
                        for name, run in group.named
                    ],
                }
                for group in self.groups
            ],
            "published": published_dicts(self.published),
            "not_published": list(self.not_published),
            "families": [
                {
                    "name": family.name,
                    "runs": [
                        {"name": member.name, "folder": str(member.run.folder), "trained": member.trained_tokens}
                        for member in family.members
                    ],
                }
                for family in self.families
            ],
            "partings": [parting.as_dict() for parting in self.partings],
            "remarks": list(self.remarks),
        }


def several_runs(
    runs: Sequence[RunOfSeveral],
    families: Mapping[str, Sequence[Path]] | None = None,
) -> SeveralRuns:
    """All that a page says of these runs.

    Args:
        runs: in the order of the page.
        families: folders by the name of their family; None finds families by the models' names.

    Raises:
        UsageError: a family cannot be drawn.
    """
    groups = comparable_groups(runs)
    names = {id(run): name for run, name in zip(runs, distinct_names(runs), strict=True)}
    published, reasons = published_rankings(groups, names)
    return SeveralRuns(
        runs=tuple(runs),
        groups=groups,
        families=families_of(groups, families),
        partings=partings_of(groups),
        correlation=correlation_of(runs),
        published=published,
        not_published=reasons,
        remarks=(*_apart(groups), *_differing(groups)),
    )


def _endings(groups: Sequence[Comparable]) -> list[str]:
    """What the names of each group's charts end in: nothing where there is one group, else its suite, and a number."""
    if len(groups) == 1:
        return [""]
    endings: list[str] = []
    for group in groups:
        ending = "_" + re.sub(r"[^A-Za-z0-9-]+", "-", f"{group.suite}-{group.protocol}")
        same = sum(other == ending or other.startswith(f"{ending}-") for other in endings)
        endings.append(f"{ending}-{same + 1}" if same else ending)
    return endings


def _apart(groups: Sequence[Comparable]) -> list[str]:
    """Which runs share no axis, where there are several groups."""
    if len(groups) < 2:
        return []
    told = "; ".join(f"{described(group)} (K = {group.k:,}): {', '.join(group.names)}" for group in groups)
    return [
        f"Other suites, protocols or tasks are other questions, and stand in tables and charts of their own: {told}"
    ]


def _differing(groups: Sequence[Comparable]) -> list[str]:
    """Tasks of one name that are not the same in all runs of a group, and so in none of its common means."""
    told: list[str] = []
    for group in groups:
        names = dict.fromkeys(task for run in group.runs for task in run.tasks)
        differing = [
            name for name in names if len({run.variants.get(name) for run in group.runs if name in run.tasks}) > 1
        ]
        if differing:
            told.append(
                f"Not the same task in all runs of {described(group)} (version or parameters): {', '.join(differing)}"
            )
    return told


def _claimed(group: Comparable, ending: str) -> list[Chart]:
    """Claimed against effective length of the models that claim one, or that are compared with one that does."""
    if not any(run.claimed_tokens for run in group.runs):
        return []
    rows = [
        claimed_row(name, run.summary, run.design, run.claimed_tokens)
        for name, run in group.named
        if run.design.lengths
    ]  # fmt: skip
    return [
        Chart(
            f"claimed_and_effective{ending}",
            lambda width: claimed_against_effective(rows if width >= ROOMY_PX else _shortened(rows), width),
            lambda: claimed_values(rows),
            claimed_text(rows),
            "Claimed against effective length, on a logarithmic axis. A line spans the tested lengths; broad: what"
            " cannot be excluded at 95 %.",
        )
    ]


def _shortened(rows: Sequence[ClaimedRow]) -> list[ClaimedRow]:
    """The rows with names that fit a telephone: cut in the middle, since names of one family begin alike."""
    short: list[str] = []
    for row in rows:
        end = (SHORT_LETTERS - 1) * 2 // 3
        start = SHORT_LETTERS - 1 - end
        name = row.name if len(row.name) <= SHORT_LETTERS else f"{row.name[:start]}…{row.name[-end:]}"
        short.append(f"{name[:start]}…{len(short) + 1}" if name in short else name)
    return [replace(row, name=name) for row, name in zip(rows, short, strict=True)]

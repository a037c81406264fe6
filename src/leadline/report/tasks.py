"""Score by length of every task: a small chart for each, in the groups of the table."""

from __future__ import annotations

from typing import Any

from leadline.analysis.design import Design, TaskDesign
from leadline.analysis.summary import Summary
from leadline.analysis.verdict import format_length
from leadline.report.drawing import Chart
from leadline.report.panels import Line, Panel, PanelGroup, Point, small_multiples


def tasks_chart(summary: Summary, design: Design) -> Chart | None:
    """The chart of a run; None where it has one task, which the chart of the mean shows, or nothing to show."""
    groups = _groups(summary, design)
    if sum(len(group.panels) for group in groups) < 2:
        return None
    thresholds = any(panel.threshold is not None for group in groups for panel in group.panels)
    incomplete = any(
        not point.complete for group in groups for panel in group.panels for point in panel.lines[0].points
    )
    return Chart(
        name="score_by_task",
        make=lambda width: small_multiples(groups, design.lengths, design.k, width),
        rows=lambda: _rows(summary, design),
        text=f"Small line charts of the score in per cent by length, one for each task. {_told(groups, design)}.",
        caption="Score in per cent by length, one chart for each task, with 95 % intervals."
        + (f" Dotted lines: {_meaning(design)}." if thresholds else "")
        + (" Hollow points are incomplete." if incomplete else ""),
    )


def _groups(summary: Summary, design: Design) -> list[PanelGroup]:
    groups: list[PanelGroup] = []
    for category in design.categories:
        tasks = [task for task in design.tasks if task.category == category]
        panels = tuple(panel for task in tasks if (panel := _panel(task, summary, design)) is not None)
        if panels:
            groups.append(PanelGroup(category if len(design.categories) > 1 else "", panels))
    return groups


def _panel(task: TaskDesign, summary: Summary, design: Design) -> Panel | None:
    cells = [summary.cell(task.name, length) for length in design.lengths]
    points = tuple(
        Point(cell.length, cell.score, cell.low, cell.high, cell.complete) for cell in cells if cell.score is not None
    )
    return Panel(task.name, (Line(task.name, points),), _threshold(task, summary, design)) if points else None


def _threshold(task: TaskDesign, summary: Summary, design: Design) -> float | None:
    """That of the task's category, or of its own base score; else the one that the verdict goes by."""
    if design.base is not None:
        return next((one.threshold for one in summary.subsets if one.factor == "all" and one.task == task.name), None)
    lengths = summary.effective_length
    if lengths.absolute.no_claim is None:
        return design.category_thresholds.get(task.category, lengths.absolute.threshold)
    return lengths.relative.threshold if lengths.relative.no_claim is None else None


def _meaning(design: Design) -> str:
    if design.base is not None:
        return "the share of its own base score that a task must keep"
    if design.category_thresholds:
        return "the threshold of the category, which its tasks must reach on average"
    return "the threshold, which the mean of all tasks must reach"


def _rows(summary: Summary, design: Design) -> list[dict[str, Any]]:
    return [
        {
            "category": task.category,
            "task": task.name,
            "length": length,
            "n": cell.n,
            "score": cell.score,
            "low": cell.low,
            "high": cell.high,
            "threshold": _threshold(task, summary, design),
            "complete": cell.complete,
        }
        for task in design.tasks
        for length in design.lengths
        for cell in (summary.cell(task.name, length),)
    ]


def _told(groups: list[PanelGroup], design: Design) -> str:
    return "; ".join(
        f"{panel.title}: "
        + ", ".join(f"{format_length(point.length, design.k)} {point.score:.0f}" for point in panel.lines[0].points)
        for group in groups
        for panel in group.panels
    )

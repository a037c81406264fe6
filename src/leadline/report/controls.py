"""What a run's controls say, in sentences: its suite's shortest length, and questions without their documents."""

from __future__ import annotations

from leadline.analysis.design import Design
from leadline.analysis.no_context import NoContext
from leadline.analysis.summary import Summary
from leadline.analysis.verdict import format_length


def control_sentences(summary: Summary, design: Design) -> list[str]:
    """One for each control that was asked beside the run's lengths; no full stops."""
    told: list[str] = []
    control = summary.control
    if control is not None and not control.own and control.score is not None:
        told.append(
            f"control at {format_length(control.length, design.k)}, which is no length of this run: "
            f"{control.score:.1f} ({control.n} trials)"
        )
    return told + [_without(one, summary, design) for one in summary.no_context]


def _without(one: NoContext, summary: Summary, design: Design) -> str:
    """What was known without documents, beside the score with them, and how often that is what was said with them."""
    asked = "1 question" if one.n == 1 else f"{one.n} questions"
    told = (
        f"{one.task} without documents: {one.score:.1f} ({one.low:.1f} to {one.high:.1f}, {asked})"
        f"{_with(one.task, summary, design)}"
    )
    if not one.wrong:
        return told
    return (
        f"{told}; of {one.wrong} wrong answers to these questions with documents, {one.same} "
        f"({100 * one.same / one.wrong:.0f} %) are what it says without"
    )


def _with(task: str, summary: Summary, design: Design) -> str:
    """The task's scores with documents at its shortest and its greatest length."""
    cells = [cell for cell in summary.cells if cell.task == task and cell.score is not None]
    ends = cells[:1] if len(cells) < 2 else [cells[0], cells[-1]]
    told = [f"{cell.score:.1f} at {format_length(cell.length, design.k)}" for cell in ends]
    return f", with them {' and '.join(told)}" if told else ""

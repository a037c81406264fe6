"""What a run that stops when it is certain says of itself: how much it asked, and what that saved."""

from __future__ import annotations

from leadline.analysis.design import Design
from leadline.analysis.lengths import LengthScore
from leadline.analysis.stopped import StoppedLength, StoppedRun
from leadline.analysis.verdict import format_length

MARK = "≈"
"""Stands at the mean of a length that was stopped."""

MARK_MEANS = (
    "stopped when the verdict was certain: the mean is where the rule happened to stop, so read the verdict; "
    "no averages over lengths"
)


def marked(text: str, score: LengthScore) -> str:
    """A mean with its marks: stopped early, or not complete."""
    return (MARK if score.early else "") + text + ("" if score.complete else "*")


def stopped_sentences(design: Design) -> list[str]:
    """For each length how much was asked of how much, and what that saved; nothing where the run has no stop rule."""
    run = design.stopped
    if run is None:
        return []
    lengths = [
        f"at {format_length(length, design.k)}: {stopped.used} of {stopped.of} samples of each task, "
        f"{_said(length, stopped, run)}"
        for length, stopped in run.lengths.items()
    ]
    sentences = [f"asked: {'; '.join(lengths)}"]
    if run.protocol_tokens:
        sentences.append(
            f"prompt tokens: {run.asked_tokens:,} of about {run.protocol_tokens:,} that all samples take "
            f"({run.saved_share:.0%} saved)".replace("%", " %")
        )
    late = sum(stopped.late for stopped in run.lengths.values())
    if late:
        sentences.append(f"answers that came after a verdict, kept and left out of the figures: {late:,}")
    return sentences


def _said(length: int, stopped: StoppedLength, run: StoppedRun) -> str:
    if length in run.references and stopped.verdict != "open":
        return "what the others are compared with"
    said = {
        "within": f"undecided, within {run.margin or 0:g} points",
        "exhausted": "all" if stopped.passes is not None else "all, and too many without an answer to decide",
        "open": "not decided yet",
        "unneeded": "not needed: a greater length passes",
    }
    return said.get(stopped.verdict, stopped.verdict)

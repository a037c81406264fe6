"""One difficulty at a time (RULER, figures 2 and 3): tasks of a run that differ in one parameter, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leadline.analysis.design import Design
from leadline.analysis.summary import Summary
from leadline.analysis.verdict import format_length
from leadline.report.drawing import Chart
from leadline.report.panels import Line, Panel, PanelGroup, Point, small_multiples

TYPES = "types_of_key_and_value"
"""Two parameters that RULER's figure 2 varies as one."""

NAMES = {
    "num_keys": "keys",
    "num_values": "values for a key",
    "num_queries": "queries",
    "type_haystack": "haystack",
    TYPES: "types",
    "num_hops": "hops",
    "num_chains": "chains",
    "name_length": "letters of a name",
    "alpha": "exponent of the frequencies",
    "vocabulary_size": "size of the vocabulary",
    "word_length": "letters of a word",
    "num_cw": "words to name",
    "context": "context",
    "dataset": "data set",
}
"""What parameters are called."""

_BUDGET = "output_tokens"
"""Grows with what is asked for, and is no difficulty of its own."""

_TOGETHER = ("type_key", "type_value")


@dataclass(frozen=True, slots=True)
class Sweep:
    """Tasks that differ in one parameter.

    Attributes:
        parameter: its name.
        values: each value as text with its task, numbers ascending, else in the order of the design.
        others: the parameters that its tasks share.
    """

    parameter: str
    values: tuple[tuple[str, str], ...]
    others: Mapping[str, Any]

    @property
    def kind(self) -> tuple[str, frozenset[str]]:
        """The parameter, and its family, which is told by the parameters that its tasks have."""
        return self.parameter, frozenset(self.others)

    def title(self, first: Sweep) -> str:
        """What varies, and what is fixed otherwise than in the first sweep of the same parameter and family."""
        varied = NAMES.get(self.parameter, self.parameter)
        fixed = [
            f"{'' if name == TYPES else NAMES.get(name, name) + ' '}{'none' if value is None else value}"
            for name, value in self.others.items()
            if first.others.get(name) != value
        ]
        return f"{_common(self)}: {varied}" + (f" ({'; '.join(fixed)})" if fixed else "")


def sweeps_of(design: Design, manifest: Mapping[str, Any]) -> list[Sweep]:
    """The sweeps of a run, by parameter; variants of NoLiMa are none, since they have a chart of their own."""
    params = {task.name: known for task in design.tasks if (known := _params(task.name, manifest))}
    sweeps: list[Sweep] = []
    if design.base is not None:
        return sweeps
    for parameter in dict.fromkeys(name for known in params.values() for name in known):
        alike: dict[str, dict[str, Any]] = {}
        others: dict[str, dict[str, Any]] = {}
        for task, known in params.items():
            if parameter in known:
                rest = {name: value for name, value in known.items() if name != parameter}
                others[repr(rest)] = rest
                alike.setdefault(repr(rest), {})[task] = known[parameter]
        sweeps += [
            Sweep(parameter, _ordered(values), others[rest])
            for rest, values in alike.items()
            if len({repr(value) for value in values.values()}) > 1
        ]
    return sweeps


def sweeps_chart(summary: Summary, design: Design, manifest: Mapping[str, Any]) -> Chart | None:
    """The chart of a run; None where no two tasks differ in one parameter alone, or nothing was scored."""
    first: dict[tuple[str, frozenset[str]], Sweep] = {}
    shown = [
        (sweep, panel)
        for sweep in sweeps_of(design, manifest)
        if (panel := _panel(sweep, first.setdefault(sweep.kind, sweep), summary, design)) is not None
    ]
    if not shown:
        return None
    groups = (PanelGroup("", tuple(panel for _, panel in shown)),)
    return Chart(
        name="score_by_difficulty",
        make=lambda width: small_multiples(groups, design.lengths, design.k, width),
        rows=lambda: [row for sweep, _ in shown for row in _rows(sweep, summary, design)],
        text="Line charts of the score in per cent by length, one for each parameter in which tasks differ. "
        + "; ".join(_told(panel, design) for _, panel in shown)
        + ".",
        caption="Score in per cent by length of tasks that differ in one parameter, as in figures 2 and 3 of the RULER"
        " paper, with 95 % intervals.",
    )


def _params(task: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A task's parameters as its run knows them, types of keys and values as one."""
    identity = manifest.get("identity")
    tasks = identity.get("tasks") if isinstance(identity, Mapping) else None
    of_task = tasks.get(task) if isinstance(tasks, Mapping) else None
    known = dict(of_task.get("params") or {}) if isinstance(of_task, Mapping) else {}
    known.pop(_BUDGET, None)
    if all(name in known for name in _TOGETHER):
        known[TYPES] = ", ".join(str(known.pop(name)) for name in _TOGETHER)
    return known


def _ordered(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    pairs = list(values.items())
    if all(isinstance(value, int | float) for _, value in pairs):
        pairs.sort(key=lambda pair: pair[1])
    return tuple(("none" if value is None else f"{value}", task) for task, value in pairs)


def _panel(sweep: Sweep, first: Sweep, summary: Summary, design: Design) -> Panel | None:
    lines: list[Line] = []
    for value, task in sweep.values:
        cells = [summary.cell(task, length) for length in design.lengths]
        points = tuple(
            Point(cell.length, cell.score, cell.low, cell.high, cell.complete)
            for cell in cells
            if cell.score is not None
        )
        if points:
            lines.append(Line(value, points))
    if len(lines) < 2:
        return None
    return Panel(sweep.title(first), tuple(lines))


def _common(sweep: Sweep) -> str:
    """The tasks' names as far as they are the same; the first one where they are not."""
    names = [task for _, task in sweep.values]
    parts = [name.split("_") for name in names]
    same = 0
    while all(len(part) > same for part in parts) and len({part[same] for part in parts}) == 1:
        same += 1
    return "_".join(parts[0][:same]) or names[0]


def _rows(sweep: Sweep, summary: Summary, design: Design) -> list[dict[str, Any]]:
    return [
        {
            "parameter": sweep.parameter,
            "value": value,
            "task": task,
            "length": length,
            "n": cell.n,
            "score": cell.score,
            "low": cell.low,
            "high": cell.high,
        }
        for value, task in sweep.values
        for length in design.lengths
        for cell in (summary.cell(task, length),)
    ]


def _told(panel: Panel, design: Design) -> str:
    return f"{panel.title}: " + ", ".join(
        f"{line.name} {line.points[0].score:.0f} at {format_length(line.points[0].length, design.k)} and"
        f" {line.points[-1].score:.0f} at {format_length(line.points[-1].length, design.k)}"
        for line in panel.lines
    )

"""The table of a run on the console: tasks by lengths, category means, the mean, who passes, the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analysis.cells import Cell
from leadline.analysis.design import Design
from leadline.analysis.effective import EffectiveLength
from leadline.analysis.failures import Failures
from leadline.analysis.findings import Findings
from leadline.analysis.lengths import LengthScore
from leadline.analysis.positions import Positions
from leadline.analysis.summary import Summary
from leadline.analysis.verdict import format_effective, format_figure, format_length
from leadline.report.controls import control_sentences
from leadline.report.failures import kind_name, kinds_of, wrong_answers
from leadline.report.names import name_sentences
from leadline.report.spent import counts_sentences
from leadline.report.stopped import MARK, MARK_MEANS, marked, stopped_sentences
from leadline.report.subsets import base_sentences, subset_rows
from leadline.visible import visible

_COLUMN_GAP = 2
_TITLE = "task"

_PIPE_COLUMNS = 80
"""Columns of the table of failure kinds where there is no terminal to tell."""


def show(summary: Summary, design: Design, verdict: str, file: TextIO, findings: Findings | None = None) -> None:
    """Write the table and the verdict to a file, and between them how and where it fails, where that is known.

    On a terminal a table that is too wide is split by lengths. Anywhere else it is plain text as wide as it has to be:
    no colours, and no figure is ever cut.
    """
    console = Console(file=file, highlight=False)
    dash = "–" if _can_write("–", file) else "-"
    mark = MARK if _can_write(MARK, file) else "~"
    rows, lengths = _rows(summary, design, dash, mark), range(len(design.lengths))
    blocks = _blocks(rows, lengths, console.width) if console.is_terminal else [lengths]
    if not console.is_terminal:
        width = max(_PIPE_COLUMNS, _width(rows, lengths, _TITLE))
        console = Console(file=file, highlight=False, no_color=True, width=width)
    for block in blocks:
        console.print(_table(rows, block, design))
    beside = control_sentences(summary, design)
    _say(console, [*_remarks(summary, design, dash), *_stopped(design, mark), *beside], dash)
    _show_subsets(console, summary, design, dash)
    _say(console, name_sentences(summary), dash)
    if findings is not None:
        _show_kinds(console, findings.failures, design, dash)
        _say(console, _places(findings.positions, design), dash)
    _say(console, ["", verdict[:1].upper() + verdict[1:] + "."], dash)


def _say(console: Console, lines: Sequence[str], dash: str) -> None:
    for line in lines:
        plain = visible(line).replace("–", dash)
        # Printed without wrapping of ours: a terminal wraps by itself, and a pipe gets whole lines.
        console.print(Text(plain, style="bold" if line and line[-1] == "." else "dim"), soft_wrap=True)


def _show_subsets(console: Console, summary: Summary, design: Design, dash: str) -> None:
    """NoLiMa's table: base score, threshold, effective length and scores of each task and subset of its pairs."""
    found = [one for one in subset_rows(summary, design) if one.factor != "group"]
    if not found:
        return
    console.print()
    names = [one.name if one.is_task else f"  {one.name}" for one in found]
    name_width, base_width = max(map(len, names)), max(len(one.base) for one in found)
    rows = [
        _Row(
            f"{name:{name_width}}  {one.base:>{base_width}}  {one.effective}", one.scores, "bold" if one.is_task else ""
        )
        for name, one in zip(names, found, strict=True)
    ]
    title = "pairs, base score, effective length"
    for block in _blocks(rows, range(len(design.lengths)), console.width, title):
        console.print(_table(rows, block, design, title))
    _say(console, base_sentences(summary, design), dash)


def _show_kinds(console: Console, failures: Failures, design: Design, dash: str) -> None:
    """The table of failure kinds, at the lengths that have any, split by lengths where it is too wide."""
    rows = _kinds(failures, design, dash)
    if not rows:
        return
    console.print()
    failing = [place for place, length in enumerate(design.lengths) if wrong_answers(failures, length)]
    title = "how it fails"
    for block in _blocks(rows, failing, console.width if console.is_terminal else _PIPE_COLUMNS, title):
        console.print(_table(rows, block, design, title))
    _say(console, ["in per cent of the wrong answers at each length, over all tasks"], dash)


class _Row:
    """A line of the table: its name, one text per length, and how it looks."""

    def __init__(self, name: str, texts: Sequence[str], style: str = "", ends: bool = False) -> None:
        self.name, self.texts, self.style, self.ends = visible(name), tuple(texts), style, ends


def _stopped(design: Design, mark: str) -> list[str]:
    """How much a run that stops when it is certain has asked; a full stop would make a line bold."""
    return [*([f"{mark} {MARK_MEANS}"] if design.stopped_lengths else []), *stopped_sentences(design)]


def _rows(summary: Summary, design: Design, dash: str, mark: str) -> list[_Row]:
    rows = [
        _Row(task.name, [_cell(summary.cell(task.name, length), dash) for length in design.lengths])
        for task in design.tasks
    ]
    rows[-1:] = [_Row(row.name, row.texts, row.style, ends=True) for row in rows[-1:]]
    if len(design.categories) > 1:
        means = [
            _Row(category, [_category(score, category, dash) for score in summary.by_length], "italic")
            for category in design.categories
        ]
        means[-1].ends = True
        rows += means
    rows.append(_Row("mean", [_mean(score, summary, dash, mark) for score in summary.by_length], "bold"))
    for name, length in _thresholds(summary, design):
        rows.append(_Row(name, [_pass(score, length, dash) for score in summary.by_length]))
    return rows


def _thresholds(summary: Summary, design: Design) -> list[tuple[str, EffectiveLength]]:
    lengths = summary.effective_length
    rows: list[tuple[str, EffectiveLength]] = []
    if lengths.absolute.no_claim is None and lengths.absolute.threshold is not None:
        rows.append((f"reaches {lengths.absolute.threshold:g}", lengths.absolute))
    if lengths.relative.no_claim is None and lengths.relative.threshold is not None:
        rows.append((f"keeps {100 * (design.share or 0):g} %", lengths.relative))
    return rows


def _cell(cell: Cell, dash: str) -> str:
    if cell.absent or (cell.score is None and cell.complete):
        return dash
    return ("?" if cell.score is None else f"{cell.score:.1f}") + ("" if cell.complete else "*")


def _category(score: LengthScore, category: str, dash: str) -> str:
    value = score.categories[category]
    return dash if value is None else f"{value:.1f}" + ("*" if category in score.incomplete_categories else "")


def _mean(score: LengthScore, summary: Summary, dash: str, mark: str) -> str:
    if score.score is None:
        return dash
    lengths = summary.effective_length
    bound = (lengths.absolute if lengths.absolute.no_claim is None else lengths.relative).threshold
    text = f"{score.score:.1f}" if bound is None else format_figure(score.score, bound, 1)
    return marked(text, score).replace(MARK, mark)


def _pass(score: LengthScore, length: EffectiveLength, dash: str) -> str:
    answer = length.passed(score)
    return dash if answer is None else "yes" if answer else "no"


def _kinds(failures: Failures, design: Design, dash: str) -> list[_Row]:
    """Failure kinds by length; empty where no wrong answer has a kind."""
    found = {(rate.length, rate.kind): rate for rate in failures.by_length}
    rows = [
        _Row(
            kind_name(kind),
            [f"{rate.rate:.0f}" if (rate := found.get((length, kind))) else dash for length in design.lengths],
        )
        for kind in kinds_of(failures.by_length)
    ]
    if rows:
        counts = [str(wrong_answers(failures, length) or dash) for length in design.lengths]
        rows.append(_Row("wrong answers, n", counts, "dim"))
    return rows


def _places(positions: Positions, design: Design) -> list[str]:
    """Whether the middle of the context differs from its ends, over all lengths or at some; nothing where not."""
    overall = positions.curve()
    if overall is not None and overall.middle is not None and overall.middle.seen:
        return [f"where it fails: {overall.middle.sentence()}, over all lengths"]
    told = [
        f"{curve.middle.sentence()} at {format_length(curve.length, design.k)}"
        for curve in positions.grid()
        if curve.length is not None and curve.middle is not None and curve.middle.seen
    ]
    return [f"where it fails: {', '.join(told)}"] if told else []


def _table(rows: Sequence[_Row], block: Sequence[int], design: Design, title: str = _TITLE) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _COLUMN_GAP, 0, 0), show_edge=False)
    table.add_column(title, no_wrap=True, min_width=_name_width(rows, title))
    for index in block:
        name = format_length(design.lengths[index], design.k)
        table.add_column(name, justify="right", no_wrap=True, min_width=_column_width(rows, index, name))
    for row in rows:
        cells = [Text(row.texts[index], style=_colour(row.texts[index])) for index in block]
        table.add_row(Text(row.name), *cells, style=row.style)
        if row.ends:
            table.add_row("")
    return table


def _colour(text: str) -> str:
    return {"yes": "green", "no": "red"}.get(text, "")


def _name_width(rows: Sequence[_Row], title: str) -> int:
    return max(len(title), *(Text(row.name).cell_len for row in rows))


def _column_width(rows: Sequence[_Row], index: int, name: str = "") -> int:
    return max(len(name), *(len(row.texts[index]) for row in rows))


def _width(rows: Sequence[_Row], block: Sequence[int], title: str) -> int:
    """Width that the table takes, with room for the longest header."""
    columns = sum(max(8, _column_width(rows, index)) + _COLUMN_GAP for index in block)
    return _name_width(rows, title) + columns + _COLUMN_GAP


def _blocks(rows: Sequence[_Row], lengths: Sequence[int], width: int, title: str = _TITLE) -> list[list[int]]:
    """The lengths in blocks whose tables fit the width; a block has one length at least."""
    blocks: list[list[int]] = [[]]
    for index in lengths:
        if blocks[-1] and _width(rows, [*blocks[-1], index], title) > width:
            blocks.append([])
        blocks[-1].append(index)
    return blocks


def _remarks(summary: Summary, design: Design, dash: str) -> list[str]:
    """What a reader must know to read the table: how many trials, and what the marks mean."""
    counts = sorted({cell.n for cell in summary.cells if cell.score is not None})
    remarks: list[str] = []
    if counts:
        trials = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        remarks.append(f"scores in per cent, {trials} trial{'s' if counts[-1] != 1 else ''} in each cell")
    averages = [
        (name, value, summary.intervals.get(key))
        for name, key, value in (
            ("average", "average", summary.average),
            ("to long", "wavg_inc", summary.wavg_inc),
            ("to short", "wavg_dec", summary.wavg_dec),
            ("your weights", "wavg_user", summary.wavg_user),
        )
        if value is not None
    ]
    if averages:
        told = [
            f"{name} {value:.1f}" + (f" ({around[0]:.1f} to {around[1]:.1f})" if around else "")
            for name, value, around in averages
        ]
        remarks.append(f"over lengths, with 95 % intervals: {', '.join(told)}")
    verdicts = [
        f"{category} {format_effective(length, design.shortest, design.k)} ({length.threshold:g})"
        for category, length in summary.category_effective_length.items()
        if length.threshold is not None and length.no_claim != "not_asked"
    ]
    if verdicts:
        remarks.append(f"effective length by category (threshold): {', '.join(verdicts)}")
    if any(cell.absent for cell in summary.cells):
        left_out = ", ".join(summary.left_out_tasks)
        remarks.append(f"{dash} not asked, or does not fit this length; left out of every mean: {left_out}")
    if not all(cell.complete for cell in summary.cells):
        remarks.append("* incomplete: trials failed, were not read whole, or are still to be asked")
    tokens = summary.tokens
    if tokens.cached is not None and tokens.prompt:
        share = tokens.cached / tokens.prompt
        remarks.append(
            f"the server says that {tokens.cached:,} of {tokens.prompt:,} prompt tokens ({share:.0%}) "
            "came from its cache"
        )
    return [*remarks, *counts_sentences(tokens)]


def _can_write(text: str, file: TextIO) -> bool:
    try:
        text.encode(getattr(file, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True

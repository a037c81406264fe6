"""What a terminal shows of a run that goes on, at the widths that terminals have, and that a pipe shows none of it."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from leadline.cli.progress import ConsoleProgress
from leadline.report.tally import Tally
from leadline.run.prices import Bill, Price
from tests.unit.report.test_tally import trial

STYLE = re.compile("\x1b\\[[0-9;]*m")
CELLS = {(task, length): (500, 500 * length) for task in ("vt", "cwe") for length in (4096, 8192, 131072)}


def told(tally: Tally) -> Tally:
    tally.begin(CELLS)
    for index in range(120):
        tally.record(trial("vt", 4096, index, "yes" if index % 3 else "no"))
        tally.record(trial("cwe", 131072, index))
    return tally


@pytest.mark.parametrize("width", [60, 80, 132])
def test_it_fits_the_terminal(width: int) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=width, no_color=True)
    progress = ConsoleProgress(told(Tally(Bill(Price(2.5, 10, 2.5, "mine")), at_most=True)), console)
    with console.capture() as captured:
        console.print(progress.drawn())
    lines = [line.rstrip() for line in STYLE.sub("", captured.get()).splitlines()]
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert "score so far" in lines[0]
    for name, trials, score in (
        ("4K", "120 of 1,000", "66.7"),
        ("8K", "0 of 1,000", ""),
        ("128K", "120 of 1,000", "100.0"),
    ):
        (line,) = [line for line in lines if line.strip().startswith(f"{name} ")]
        assert trials in line
        assert line.endswith(score)
        assert ("━" in line) == (trials[0] != "0")
    assert "240 of at most 3,000 trials" in text
    assert "$40.57" in text


def test_a_pipe_gets_what_the_run_has_to_say_and_nothing_else() -> None:
    written = io.StringIO()
    with ConsoleProgress(Tally(), Console(file=written, width=40)) as progress:
        progress.say("going on with the run of yesterday \x1b[31m, which is a long line that nobody wraps")
        progress.begin(CELLS)
        progress.record(trial("vt", 4096, 0))
    said = "going on with the run of yesterday [U+001B][31m, which is a long line that nobody wraps\n"
    assert written.getvalue() == said

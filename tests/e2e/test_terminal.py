"""A run as a terminal shows it."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo terminals of this kind"),
]

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_a_terminal(folder: Path, columns: int, *arguments: str) -> str:
    """Everything that a command wrote to a terminal of so many columns."""
    import fcntl
    import pty
    import termios

    mine, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "leadline", *arguments],
        cwd=folder,
        env=environment | {"TERM": "xterm-256color"},
        stdin=its,
        stdout=its,
        stderr=its,
    )
    os.close(its)
    written = bytearray()
    try:
        while part := os.read(mine, 1 << 16):
            written += part
    except OSError:  # Linux: the other side is closed
        pass
    finally:
        os.close(mine)
    assert process.wait() == 0
    return written.decode()


@pytest.mark.parametrize("columns", [60, 80])
def test_progress_by_length_and_nothing_of_it_stays(tmp_path: Path, columns: int) -> None:
    asked = (
        "run",
        "quick",
        "--model",
        "reader/limit?tokens=2500",
        "--lengths",
        "1k,2k,4k",
        "--tasks",
        "vt,niah_single_2",
    )
    for samples in ("30", "60"):
        seen = on_a_terminal(tmp_path, columns, *asked, "--samples", samples, "--price", "2.5,10")
        assert "\x1b[?25l" in seen  # the cursor is hidden while the bars stand there,
        assert "\x1b[?25h" in seen  # and is given back
        lines = [line.rstrip() for line in CONTROL.sub("", seen).replace("\r", "\n").splitlines()]
        bars = [line for line in lines if "━" in line]
        assert max(map(len, bars)) <= columns
        assert {line.split()[0] for line in bars} == {"1K", "2K", "4K"}
        assert bars[-1].split()[-4:] == ["60", "of", "60", "0.0"]
        assert next(line for line in reversed(bars) if line.startswith("1K")).endswith("100.0")
        assert any(line.startswith("180 of 180 trials, ") for line in lines)
        assert any("left, $" in line for line in lines) or any(line.endswith("left,") for line in lines)
    # The second invocation asks the other half, and its scores speak of all.
    assert "going on with the run" in seen


def test_a_run_that_may_stop_says_at_most(tmp_path: Path) -> None:
    asked = (
        "run",
        "quick",
        "--model",
        "reader/oracle",
        "--lengths",
        "1k,2k",
        "--tasks",
        "niah_single_1",
        "--samples",
        "200",
    )
    seen = on_a_terminal(tmp_path, 100, *asked, "--stop", "certain")
    assert re.search(r"\d+ of at most 400 trials", CONTROL.sub("", seen))

"""The real command line in processes of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

PATIENCE_S = 120

Invoke = Callable[..., "Ended"]


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its only output, which is one JSON value."""
        return json.loads(self.out)


class Command:
    """A command that runs."""

    def __init__(self, folder: Path, arguments: tuple[str, ...], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "leadline", *arguments],
            cwd=folder,
            env={**os.environ, "COLUMNS": "120", **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ended(self) -> Ended:
        """Wait for its end."""
        out, err = self._process.communicate(timeout=PATIENCE_S)
        return Ended(self._process.returncode, out, err)

    def running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """End it, whether a test waited for it or not."""
        self._process.kill()
        with self._process:
            self._process.wait()

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)


class Shell:
    """Starts commands in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: list[Command] = []

    def start(self, *arguments: str, **environment: str) -> Command:
        """Start a command and do not wait."""
        command = Command(self.folder, arguments, environment)
        self._started.append(command)
        return command

    def __call__(self, *arguments: str, **environment: str) -> Ended:
        """Run a command to its end."""
        return self.start(*arguments, **environment).ended()

    def close(self) -> None:
        for command in self._started:
            command.stop()

    def run_folders(self, parent: str = "runs") -> list[Path]:
        """The folders of all runs below `parent`."""
        return sorted(path.parent for path in (self.folder / parent).glob("*/*/run.json"))

    def lines(self, parent: str = "runs") -> list[str]:
        """Every complete line of every records file below `parent`."""
        return [
            line
            for path in sorted((self.folder / parent).glob("*/*/records-*.jsonl"))
            for line in path.read_text(encoding="utf-8").splitlines(keepends=True)
            if line.endswith("\n")
        ]

    def wait_for_lines(self, command: Command, count: int, parent: str = "runs") -> None:
        """Wait until so many records are on disk, or the command has ended."""
        deadline = time.monotonic() + PATIENCE_S
        while command.running() and len(self.lines(parent)) < count:
            assert time.monotonic() < deadline, "no records"
            time.sleep(0.01)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    made = Shell(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared_shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A folder that the tests of a module share."""
    made = Shell(tmp_path_factory.mktemp("shared"))
    yield made
    made.close()


def invoke_in(folder: Path, *arguments: str) -> Ended:
    """Run the command line in this process, which saves its start, in a folder."""
    from leadline.cli import main

    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        patch.chdir(folder)
        patch.setenv("COLUMNS", "120")
        patch.setattr("sys.argv", ["leadline", *arguments])
        main()
    assert isinstance(ended.value.code, int)
    return Ended(ended.value.code, out.getvalue(), err.getvalue())


@pytest.fixture
def invoke(shell: Shell) -> Invoke:
    """Runs the command line in this process, in the shell's folder."""
    return partial(invoke_in, shell.folder)

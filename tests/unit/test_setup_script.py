"""The set-up script: how it chooses the demo's samples, when it makes the environment anew, and how it fails."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def load(name: str) -> Any:
    """Import a script by its path: scripts are no package."""
    specification = importlib.util.spec_from_file_location(f"leadline_scripts_{name}", SCRIPTS / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


setup = load("setup")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("pyproject.toml", "requirements.lock", "requirements-dev.lock"):
        (tmp_path / name).write_text(f"{name}\n")
    return tmp_path


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Replace every installer by one that only notes what it was asked for; `venv` leaves a folder with pip in it."""
    commands: list[list[str]] = []

    def run_quietly(environment: Any, command: list[str], doing: str) -> None:
        commands.append(command)
        if "venv" in command:
            shutil.rmtree(environment.folder, ignore_errors=True)
            (environment.folder / "lib/python3.11/site-packages/pip").mkdir(parents=True)

    monkeypatch.setattr(setup.Environment, "run_quietly", run_quietly)
    return commands


@pytest.mark.parametrize(
    ("elapsed_s", "first_s", "samples"),
    [
        (60, 20, 5),
        (110, 80, 5),
        (150, 80, 4),
        (300, 90, 3),
        (400, 95, 2),
        (500, 200, 1),
        (700, 300, 1),
        (5, 0.0, 5),
    ],
)
def test_as_many_samples_as_fit_are_asked_for(elapsed_s: float, first_s: float, samples: int) -> None:
    assert setup.samples_that_fit(elapsed_s, first_s) == samples


@pytest.mark.parametrize("first_s", [0.5, 7.0, 33.0, 64.0, 120.0])
def test_the_expected_end_stays_within_the_budget(first_s: float) -> None:
    for elapsed_s in range(0, 500, 7):
        samples = setup.samples_that_fit(elapsed_s, first_s)
        if samples > 1:
            assert elapsed_s + 1.15 * (samples - 1) * first_s <= setup.DEMO_BUDGET_S
        if samples < 5:
            assert elapsed_s + 1.15 * samples * first_s > setup.DEMO_BUDGET_S


def test_a_second_call_installs_nothing(project: Path, installed: list[list[str]]) -> None:
    setup.Environment(project).ensure("run")
    count = len(installed)
    setup.Environment(project).ensure("run")
    assert count == 3
    assert len(installed) == count


def test_hashes_are_required(project: Path, installed: list[list[str]]) -> None:
    setup.Environment(project).ensure("run")
    assert installed[1][-3:] == ["--require-hashes", "-r", "requirements.lock"]


def test_the_tests_add_to_the_demos_environment(project: Path, installed: list[list[str]]) -> None:
    environment = setup.Environment(project)
    environment.ensure("run")
    installed.clear()
    environment.ensure("dev")
    assert not any("venv" in command for command in installed)
    assert installed[0][-1] == "requirements-dev.lock"
    installed.clear()
    environment.ensure("run")
    assert installed == []


def change_lock(project: Path) -> None:
    (project / "requirements.lock").write_text("another\n")


def change_pyproject(project: Path) -> None:
    (project / "pyproject.toml").write_text("another\n")


def remove_stamp(project: Path) -> None:
    (project / ".venv" / "leadline-setup.json").unlink()


def cut_stamp(project: Path) -> None:
    stamp = project / ".venv" / "leadline-setup.json"
    stamp.write_text(stamp.read_text()[:20])


@pytest.mark.parametrize("change", [change_lock, change_pyproject, remove_stamp, cut_stamp])
def test_an_environment_that_is_stale_or_half_made_is_made_anew(
    change: Callable[[Path], None], project: Path, installed: list[list[str]]
) -> None:
    setup.Environment(project).ensure("run")
    installed.clear()
    change(project)
    setup.Environment(project).ensure("run")
    assert "venv" in installed[0]
    assert len(installed) == 3


def test_a_failed_addition_leaves_no_stamp(
    project: Path, installed: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = setup.Environment(project)
    environment.ensure("run")

    def run_quietly(environment: Any, command: list[str], doing: str) -> None:
        raise setup.SetupError("no network")

    monkeypatch.setattr(setup.Environment, "run_quietly", run_quietly)
    with pytest.raises(setup.SetupError):
        environment.ensure("dev")
    assert environment.levels() == ()


def absent(name: str) -> None:
    """Stand for a module or a program that is not there."""


def present(name: str) -> str:
    return name


def test_uv_steps_in_where_python_has_no_venv(
    project: Path, installed: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "find_spec", absent)
    monkeypatch.setattr(setup.shutil, "which", present)

    setup.Environment(project).ensure("run")
    assert installed[0][:2] == ["uv", "venv"]


def test_neither_venv_nor_uv_is_one_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "find_spec", absent)
    monkeypatch.setattr(setup.shutil, "which", absent)
    with pytest.raises(setup.SetupError, match=r"apt install python3-venv.*uv") as caught:
        setup.Environment(project).ensure("run")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (
            "WARNING: Retrying after NewConnectionError\nERROR: No matching distribution found for rich",
            "check the network",
        ),
        ("error: Failed to fetch: x\n  Caused by: dns error", "check the network"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "the disk is full"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "lock file"),
        ("ERROR: No matching distribution found for openvino==2026.4.1\n\nnotice: x", "platform.*openvino==2026.4.1"),
        ("ERROR: something new\n\nhint: see above", "something new"),
        ("", "it said nothing"),
    ],
)
def test_an_installers_failure_becomes_one_line(output: str, said: str) -> None:
    line = setup.reason_in(output, "installing")
    assert "\n" not in line
    assert re.search(said, line)


def test_an_old_python_is_told_what_to_do() -> None:
    assert "3.11 or newer and this is 3.9" in setup.python_complaint((3, 9))
    assert setup.python_complaint((3, 11)) is None
    assert setup.python_complaint((3, 13)) is None


def demo(project: Path, codes: list[int]) -> tuple[int, list[tuple[list[str], bool]]]:
    """Run the demo on a `leadline` that does nothing but end with the next code; give what it was asked."""
    asked: list[tuple[list[str], bool]] = []

    def run(command: list[str], root: Path, discard_output: bool) -> int:
        asked.append((command[1:], discard_output))
        return codes.pop(0)

    return setup.demo(setup.Environment(project), setup.time.monotonic(), run), asked


@pytest.mark.usefixtures("installed")
def test_the_demo_measures_the_model_and_then_the_reader(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, asked = demo(project, [0] * 7)
    assert code == 0
    assert asked == [
        *((["data", "get", name], False) for name in ("local", "essays", "cl100k_base")),
        (["run", "quick", "--model", "local", "--samples", "1", "--lengths", "1k", "--json"], True),
        (["run", "quick", "--model", "local", "--samples", "1", "--json"], True),
        (["run", "quick", "--model", "local"], False),
        (["run", "quick", "--model", "reader/window?tokens=2048"], False),
    ]
    assert "5 of 5 samples" in capsys.readouterr().out


@pytest.mark.usefixtures("installed")
def test_a_slow_machine_gets_fewer_samples_and_is_told_how_to_go_on(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:

    def two(elapsed_s: float, first_s: float) -> int:
        return 2

    monkeypatch.setattr(setup, "samples_that_fit", two)
    _, asked = demo(project, [0] * 7)
    assert asked[5] == (["run", "quick", "--model", "local", "--samples", "2", "--lengths", "1k,2k,4k"], False)
    assert "run quick --model local\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("elapsed_s", "probe_s", "lengths"),
    [
        (60, 40, ["1k", "2k", "4k"]),
        (60, 108, ["1k", "2k", "4k"]),
        (60, 109, ["1k", "2k"]),
        (400, 68, ["1k", "2k"]),
        (400, 69, ["1k"]),
        (600, 1, ["1k"]),
    ],
)
def test_a_very_slow_machine_gets_fewer_lengths(elapsed_s: float, probe_s: float, lengths: list[str]) -> None:
    assert setup.lengths_that_fit(elapsed_s, probe_s) == lengths


@pytest.mark.usefixtures("installed")
def test_with_fewer_lengths_one_sample_is_all(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def one(elapsed_s: float, probe_s: float) -> list[str]:
        return ["1k"]

    monkeypatch.setattr(setup, "lengths_that_fit", one)
    _, asked = demo(project, [0] * 6)
    assert asked[4] == (["run", "quick", "--model", "local", "--samples", "1", "--lengths", "1k"], False)


@pytest.mark.usefixtures("installed")
def test_a_run_that_fails_ends_the_demo_in_one_line(project: Path) -> None:
    with pytest.raises(setup.SetupError, match=r"ended with exit code 3") as caught:
        demo(project, [0, 0, 0, 0, 3])
    assert "\n" not in str(caught.value)
    with pytest.raises(KeyboardInterrupt):
        demo(project, [130])


def test_arguments_after_test_go_to_pytest(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []
    levels: list[str] = []

    def ensure(environment: Any, level: str) -> None:
        levels.append(level)

    monkeypatch.setattr(setup.Environment, "ensure", ensure)

    def call(command: list[str], root: Path) -> int:
        called.append(command[1:])
        return 0

    monkeypatch.setattr(setup, "call", call)
    assert setup.main(["test", "tests/unit", "-x"]) == 0
    assert setup.main(["test-all"]) == 0
    assert [command[:2] for command in called] == [["-m", "pytest"], ["-m", "pytest"]]
    assert [command[-2:] for command in called] == [["tests/unit", "-x"], ["-m", ""]]
    assert levels == ["dev", "dev"]


def test_the_base_installs_constraints_are_the_locks_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    lock = (
        "# made by\nrich==15.0.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\nidna==3.20 ; python_version > '3'\n"
    )
    assert load("check_base_install").constraints_from(lock) == "rich==15.0.0\nidna==3.20 ; python_version > '3'\n"

"""Makes the project's environment and runs the demo, the tests and the checks in it; needs nothing but Python itself.

`make demo` and its sisters are one-line calls of this file; without make, run `python scripts/setup.py demo`. Pythons
older than the project's must be able to read it (no newer syntax), so that they get a sentence and not a traceback.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

OLDEST_PYTHON = (3, 11)
LOCK_OF_LEVEL = {"run": "requirements.lock", "dev": "requirements-dev.lock"}  # dev holds all of run
DEMO_DATA = ["local", "essays", "cl100k_base"]
DEMO_LENGTHS = ["1k", "2k", "4k"]
GROWTH = 1.6  # how much longer twice the tokens take, when loading the model is part of the time
DEMO_BUDGET_S = 510.0  # of ten minutes, the rest is for the second reader and for what the estimate misses
DEMO_SAMPLES = 5  # per task and length, as suite `quick` has them
SAFETY = 1.15  # the first sample may have been a quick one
SOURCE_ALONE = "rouge-score"
SIDE_BY_SIDE = ["-n", "auto", "--maxprocesses", "4", "--dist", "loadfile"]  # a file's tests share what they set up
EXTRAS = "hf,inspect,fast"
PINNED_EXTRAS = ["torch==2.13.0"]  # of all that the extras bring, what is large and ties others to itself
TESTS_OF_EXTRAS = [
    "tests/unit/models/test_inspect.py",
    "tests/unit/models/test_transformers.py",
    "tests/unit/tokenizers/test_fast.py",
    "tests/contract/test_backends.py",
]
DEMO_RUN = ["run", "quick", "--model", "local"]
READER_RUN = ["run", "quick", "--model", "reader/window?tokens=2048"]


def python_complaint(version: "tuple[int, int]") -> "str | None":
    """Say why a Python of this version will not do, or None where it will."""
    if version >= OLDEST_PYTHON:
        return None
    return (
        f"leadline needs Python 3.11 or newer and this is {version[0]}.{version[1]}: "
        "install a newer one and name it, as in `make demo PYTHON=python3.12`"
    )


COMPLAINT = python_complaint(sys.version_info[:2])
if COMPLAINT:  # here, not in main: the annotations further down are already too new
    sys.exit(f"setup: {COMPLAINT}")


class SetupError(Exception):
    """Something the user can put right; the message is one line and says how."""


def reason_in(output: str, doing: str) -> str:
    """Turn an installer's output into one line that names what to do."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    last = (errors or lines or ["it said nothing"])[-1]
    causes = {
        "the disk is full: free 3 GB here and in the temporary folder, then run it again": (
            "no space left|errno 28|os error 28|winerror 112|disk quota"
        ),
        "a package is not the one that the lock file names: empty pip's cache, then run it again": (
            "do not match the hashes|hash mismatch"
        ),
        "the package index cannot be reached: check the network and the proxy, then run it again": (
            "connection|name resolution|timed out|service not known|dns error|getaddrinfo|failed to fetch"
        ),
        f"no build for this platform, use 64-bit Python 3.11 to 3.13 ({last})": (
            "no matching distribution|no solution found|no wheels"
        ),
    }
    for advice, signs in causes.items():
        if re.search(signs, output, re.IGNORECASE):
            return f"{doing}: {advice}"
    return f"{doing}: {last}"


def lengths_that_fit(elapsed_s: float, probe_s: float) -> "list[str]":
    """Tell which of the suite's lengths one sample of every task can be asked at within the demo's time.

    `probe_s` are the seconds that the shortest length took; a length of twice the tokens takes less than twice as
    long, since loading the model is in the time as well.
    """
    lengths = DEMO_LENGTHS[:1]
    further_s = 0.0
    for doublings, length in enumerate(DEMO_LENGTHS[1:], start=1):
        further_s += GROWTH**doublings * probe_s
        if elapsed_s + further_s > DEMO_BUDGET_S:
            break
        lengths = [*lengths, length]
    return lengths


def samples_that_fit(elapsed_s: float, first_s: float) -> int:
    """Tell how many samples per task and length fit into the demo's time.

    `elapsed_s` are the seconds since the start, `first_s` those that the first sample took. Between 1 and 5.
    """
    further = int((DEMO_BUDGET_S - elapsed_s) / (SAFETY * max(first_s, 0.001)))
    return 1 + min(max(further, 0), DEMO_SAMPLES - 1)


class Environment:
    """The virtual environment in `.venv`: made from a lock file, with a stamp that is written last."""

    def __init__(self, root: Path, folder: "Path | None" = None) -> None:
        self.root = root
        self.folder = folder or root / ".venv"
        self.stamp = self.folder / "leadline-setup.json"
        self.scripts = self.folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = self.scripts / ("python.exe" if os.name == "nt" else "python")

    def tool(self, name: str) -> str:
        """Give the path of a command that is installed in the environment."""
        return str(self.scripts / (name + ".exe" if os.name == "nt" else name))

    def site_packages(self) -> Path:
        """Give the folder that packages are installed into."""
        return next(iter(self.folder.glob("lib/python*/site-packages")), self.folder / "Lib" / "site-packages")

    def stamp_text(self, levels: Sequence[str]) -> str:
        """Describe a finished environment: what it was made from, by which Python, and where."""
        digests: dict[str, str] = {}
        for level in levels:
            digest = hashlib.sha256()
            for name in ("pyproject.toml", LOCK_OF_LEVEL[level]):
                digest.update((self.root / name).read_bytes())
            digests[level] = digest.hexdigest()
        where = {"python": "{}.{}".format(*sys.version_info), "folder": str(self.folder)}
        return json.dumps({"levels": digests, **where}, indent=2, sort_keys=True) + "\n"

    def levels(self) -> "tuple[str, ...]":
        """List what is wholly and currently installed: nothing, `run`, or `run` and `dev`."""
        found = self.stamp.read_text(encoding="utf-8") if self.stamp.is_file() else ""
        for levels in (("run",), ("run", "dev")):
            if found == self.stamp_text(levels):
                return levels
        return ()

    def ensure(self, level: str) -> None:
        """Make the environment, or add what it lacks, or do nothing where it is as it should be."""
        present = self.levels()
        if level in present:
            return
        lock = LOCK_OF_LEVEL[level]
        print(f"{'adding to' if present else 'making'} {self.folder.name} from {lock}, a minute or two ...", flush=True)
        started = time.monotonic()
        if present:
            self.stamp.unlink()
        else:
            self.create()
        # `--only-binary`: a package without a build for this platform is said at once, not after minutes of compiling.
        # One is published as source alone; it is plain Python, so that building it takes seconds.
        built = ["--only-binary=:all:", f"--no-binary={SOURCE_ALONE}"]
        self.install([*built, "--require-hashes", "-r", lock], f"installing {lock}")
        # The build backend is in the lock as well, so nothing unpinned is fetched to install the project itself.
        self.install(["--no-deps", "--no-build-isolation", "-e", "."], "installing leadline itself")
        self.stamp.write_text(self.stamp_text(("run",) if level == "run" else ("run", "dev")), encoding="utf-8")
        print(f"{self.folder.name} is ready after {time.monotonic() - started:.0f} s", flush=True)

    def ensure_extras(self) -> None:
        """Make the tests' environment with the optional backends in it, or do nothing where it is there."""
        self.ensure("dev")
        stamp = self.folder / "leadline-extras.txt"
        if stamp.is_file():  # where anything has changed, the whole folder was made anew
            return
        print(f"adding the extras {EXTRAS} to {self.folder.name}: 1.5 GB ...", flush=True)
        self.install(["--only-binary=:all:", *PINNED_EXTRAS, "-e", f".[{EXTRAS}]"], "installing the extras")
        stamp.write_text(EXTRAS, encoding="utf-8")

    def create(self) -> None:
        """Make the empty environment, through venv and pip or else through uv."""
        if Path(sys.prefix).resolve() == self.folder.resolve():
            raise SetupError(
                f"{self.folder.name} must be made anew, but this Python lives in it: run `deactivate` first"
            )
        if find_spec("venv") and find_spec("ensurepip"):
            self.run_quietly([sys.executable, "-m", "venv", "--clear", str(self.folder)], "making the environment")
        elif shutil.which("uv"):
            self.run_quietly(
                ["uv", "venv", "--quiet", "--clear", "--python", sys.executable, str(self.folder)],
                "making the environment",
            )
        else:
            raise SetupError(
                "this Python has no venv and pip: install them (Debian, Ubuntu: `apt install python3-venv`) or uv"
            )

    def install(self, arguments: "list[str]", doing: str) -> None:
        """Install into the environment with its own pip or, where uv made it without one, with uv."""
        if (self.site_packages() / "pip").is_dir():
            installer = [str(self.python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
            installer += [
                "--quiet",
                "--no-compile",
            ]  # Python compiles what is used when it is; all takes 20 s and 80 MB
        else:
            installer = ["uv", "pip", "install", "--quiet", "--python", str(self.python)]
        self.run_quietly(installer + arguments, doing)

    def run_quietly(self, command: "list[str]", doing: str) -> None:
        """Run a command and keep its output to itself unless it fails; then raise the reason in one line."""
        done = subprocess.run(
            command,
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if done.returncode:
            raise SetupError(reason_in(done.stdout, doing))


def call(command: "list[str]", root: Path, discard_output: bool = False) -> int:
    """Run a command in the foreground and return its exit code.

    Ctrl-C reaches the command as well; it is given the time to end by itself, since a run then saves what it has.
    """
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL if discard_output else None)
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.wait()
        raise


def demo(environment: Environment, started: float, run: "Callable[[list[str], Path, bool], int]" = call) -> int:
    """Measure the model in the box, then a reader whose true depth is known; in less than ten minutes."""
    environment.ensure("run")
    leadline = environment.tool("leadline")
    shown = os.path.relpath(leadline, environment.root)

    def step(arguments: "list[str]", quiet: bool = False) -> None:
        print(f"\n$ {shlex.join([shown, *arguments])}", flush=True)
        code = run([leadline, *arguments], environment.root, quiet)
        if code == 130:
            raise KeyboardInterrupt
        if code:
            raise SetupError(
                f"`leadline {shlex.join(arguments)}` ended with exit code {code}: see above for what it said"
            )

    def timed(arguments: "list[str]") -> float:
        before = time.monotonic()
        step([*DEMO_RUN, *arguments, "--json"], quiet=True)
        return time.monotonic() - before

    print("\nfirst the model and the data, then one sample of every task, to see how fast this machine is")
    for name in DEMO_DATA:
        step(["data", "get", name])
    probe_s = timed(["--samples", "1", "--lengths", DEMO_LENGTHS[0]])
    lengths = lengths_that_fit(time.monotonic() - started, probe_s)
    samples = 1
    if len(lengths) == len(DEMO_LENGTHS):
        first_s = probe_s + timed(["--samples", "1"])
        samples = samples_that_fit(time.monotonic() - started, first_s)
    print(
        f"\n{samples} of {DEMO_SAMPLES} samples at {', '.join(lengths)} fit into the demo's time on this machine",
        end="",
    )
    whole = samples == DEMO_SAMPLES and lengths == DEMO_LENGTHS
    print("" if whole else f"; what is missing, later: {shlex.join([shown, *DEMO_RUN])}")
    limits = [] if whole else ["--samples", str(samples), "--lengths", ",".join(lengths)]
    step([*DEMO_RUN, *limits])
    print("\nnow a reader that sees the last 2048 tokens only: the tool must find 2K")
    step(READER_RUN)
    minutes, seconds = divmod(round(time.monotonic() - started), 60)
    print(f"\nthe demo took {minutes} min {seconds} s; open the two pages named above (report.html) in a browser")
    return 0


def check(environment: Environment) -> int:
    """Run every static check and the base install's; report all that fail, not the first only."""
    environment.ensure("dev")
    python = str(environment.python)
    checks = {
        "lint": [python, "-m", "ruff", "check", "."],
        "format": [python, "-m", "ruff", "format", "--check", "."],
        "types": [environment.tool("pyright"), "--pythonpath", python],
        "architecture": [environment.tool("lint-imports")],
        "base install": [python, "scripts/check_base_install.py"],
    }
    failed: list[str] = []
    for name, command in checks.items():
        print(f"\n== {name}", flush=True)
        if call(command, environment.root):
            failed.append(name)
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nall checks passed")
    return 1 if failed else 0


def lock(root: Path) -> int:
    """Write both lock files anew from pyproject.toml: every platform and Python, hashes, and no addresses."""
    import tomllib  # not there before Python 3.11

    if not shutil.which("uv"):
        raise SetupError("renewing the lock files needs uv: `pip install uv`")
    build = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    build.append("editables>=0.5")  # hatchling asks for it when it installs in place
    options = (
        "--quiet --universal --python-version 3.11 --fork-strategy fewest --upgrade --generate-hashes --extra local"
    )
    hidden = ["--no-emit-index-url", "--no-emit-find-links", "--no-annotate", "--custom-compile-command", "make lock"]
    for level, name in LOCK_OF_LEVEL.items():
        extra = ["--group", "dev", "--constraints", LOCK_OF_LEVEL["run"]] if level == "dev" else []
        command = ["uv", "pip", "compile", "pyproject.toml", "-", *options.split(), *hidden, *extra, "-o", name]
        if subprocess.run(command, cwd=root, input="\n".join(build), text=True, check=False).returncode:
            raise SetupError(f"{name} was not renewed: what uv said stands above")
    return 0


def carry_out(command: str, rest: list[str], started: float) -> int:
    """Do what one command asks for; `rest` goes to pytest. Returns the exit code."""
    environment = Environment(Path(__file__).resolve().parent.parent)
    if command == "lock":
        return lock(environment.root)
    if command == "demo":
        return demo(environment, started)
    if command == "check":
        return check(environment)
    if command == "test-extras":
        extras = Environment(environment.root, environment.root / ".venv-extras")
        extras.ensure_extras()
        return call([str(extras.python), "-m", "pytest", *(rest or TESTS_OF_EXTRAS)], environment.root)
    if command in ("env", "docs"):
        environment.ensure("run")
        made = [str(environment.python), "scripts/make_docs.py"]
        return call(made, environment.root) if command == "docs" else 0
    environment.ensure("dev")
    everything = ["-m", ""] if command == "test-all" else []
    return call([str(environment.python), "-m", "pytest", *SIDE_BY_SIDE, *everything, *rest], environment.root)


def main(arguments: Sequence[str]) -> int:
    """Read the command line, carry it out, and say each failure in one line."""
    started = time.monotonic()
    parser = argparse.ArgumentParser(description="Set leadline up in .venv and use it there.")
    commands = {
        "env": "make .venv with what leadline needs",
        "demo": "measure the small model in the box, then a reader of known depth",
        "test": "run the everyday tests (what follows goes to pytest)",
        "test-all": "run every test, the slow ones too (what follows goes to pytest)",
        "test-extras": "run the tests of the optional backends in .venv-extras (what follows goes to pytest)",
        "check": "lint, format, types, architecture, base install",
        "docs": "make the parts of the documentation that come out of the tool",
        "lock": "renew the lock files (needs uv)",
    }
    verbs = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, help_text in commands.items():
        verbs.add_parser(name, help=help_text)
    options, rest = parser.parse_known_args(arguments)
    if rest and not options.command.startswith("test"):
        parser.error(f"unknown argument: {rest[0]}")
    try:
        return carry_out(options.command, rest, started)
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"setup: {reason_in(str(error), options.command)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"setup: interrupted; `python scripts/setup.py {options.command}` goes on from here", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

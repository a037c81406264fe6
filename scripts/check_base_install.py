"""Installs leadline without extras into a throw-away environment and checks its size and how fast its help appears."""

import re
import subprocess
import sys
import tempfile
import time
from importlib.metadata import distributions
from pathlib import Path

from setup import Environment, SetupError

LARGEST_MB = 400.0  # megabytes of 10^6 bytes, byte code and pip itself not counted
LONGEST_HELP_S = 0.3
HELP_RUNS = 5


def constraints_from(lock: str) -> str:
    """Keep the pinned versions of a lock file and drop its hashes, which pip does not take together with a folder."""
    return (
        "\n".join(re.sub(r"\s*\\$", "", line) for line in lock.splitlines() if not line.startswith((" ", "#"))) + "\n"
    )


def sizes_mb(site_packages: Path) -> dict[str, float]:
    """Give the size of each installed distribution in megabytes, largest first, without byte code."""
    sizes: dict[str, float] = {}
    for distribution in distributions(path=[str(site_packages)]):
        paths = [Path(str(file.locate())) for file in distribution.files or [] if file.suffix != ".pyc"]
        sizes[distribution.name] = sum(path.stat().st_size for path in paths if path.is_file()) / 1e6
    for own in ("pip", "setuptools"):  # they belong to the environment and come with every Python
        sizes.pop(own, None)
    return dict(sorted(sizes.items(), key=lambda entry: -entry[1]))


def fastest_help_s(leadline: str) -> float:
    """Give the wall time of `leadline --help` in seconds: the best of several, since the first compiles byte code."""
    times: list[float] = []
    for _ in range(HELP_RUNS):
        started = time.perf_counter()
        subprocess.run([leadline, "--help"], stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> int:
    """Install, measure, print, and say which limit is broken; the exit code is 1 then."""
    root = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory(prefix="leadline-base-") as name:
        environment = Environment(root, Path(name) / "venv")
        constraints = Path(name) / "constraints.txt"
        constraints.write_text(constraints_from((root / "requirements.lock").read_text(encoding="utf-8")))
        try:
            environment.create()
            environment.install(["--constraint", str(constraints), "."], "installing the base package")
        except SetupError as error:
            print(f"check_base_install: {error}", file=sys.stderr)
            return 2
        sizes = sizes_mb(environment.site_packages())
        help_s = fastest_help_s(environment.tool("leadline"))
    size_mb = sum(sizes.values())
    largest = ", ".join(f"{package} {size:.0f}" for package, size in list(sizes.items())[:8])
    print(f"base install: {size_mb:.0f} MB without byte code, at most {LARGEST_MB:.0f} ({largest})")
    print(f"leadline --help: {help_s:.2f} s, less than {LONGEST_HELP_S:.1f}")
    return 0 if size_mb <= LARGEST_MB and help_s < LONGEST_HELP_S else 1


if __name__ == "__main__":
    sys.exit(main())

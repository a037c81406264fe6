"""Pages that the tool made, opened in a real browser.

The browser is the system's, since Playwright's own would be a download of hundreds of megabytes. The pages are made by
commands in processes of their own: Playwright holds an event loop in this one, in which no run could begin.
"""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ..e2e.conftest import Shell

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW_TO = "apt-get install chromium (or another of the Chromium family), or set LEADLINE_BROWSER to one"


class Pages(NamedTuple):
    """Files that `leadline report` wrote."""

    one: Path
    nolima: Path
    several: Path


def refuse(reason: str) -> None:
    """Skip with a reason, or fail where a browser is a must."""
    if os.environ.get("LEADLINE_NEEDS_BROWSER") == "1":
        pytest.fail(f"LEADLINE_NEEDS_BROWSER=1, but {reason}")
    pytest.skip(reason)


def browser_path() -> str:
    """The browser of the system."""
    named = os.environ.get("LEADLINE_BROWSER")
    found = next(filter(None, map(shutil.which, [named] if named else BROWSERS)), None)
    if found is None:
        refuse(f"{named or 'no Chromium'} is not on the PATH: {HOW_TO}")
    assert found is not None
    return found


def needed(module: str, package: str) -> Any:
    """A module of a package that these tests need."""
    try:
        return importlib.import_module(module)
    except ImportError:
        refuse(f"the package {package} cannot be imported: pip install {package}")
        raise


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser without a window; it ends with the module, and with it the event loop that it holds."""
    executable = browser_path()
    with needed("playwright.sync_api", "playwright").sync_playwright() as playwright:
        # Root, as in a container, gets no sandbox from Chromium; the pages are our own.
        opened = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page of a desk's width, where every error of a script is one of the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield opened
    context.close()
    assert errors == []


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    """Pages of a run whose reader fails above 2K, of NoLiMa, and of two runs together."""
    browser_path()  # no browser, no runs
    shell = Shell(tmp_path_factory.mktemp("pages"))
    runs = [
        ("quick", "reader/window?tokens=2048", "4", "1k,2k,4k"),
        ("quick", "reader/middle?dip=60", "2", "1k,2k,4k"),
        ("nolima-quick", "reader/literal", "2", "1k,2k"),
    ]
    started = [
        shell.start("run", suite, "--model", model, "--samples", samples, "--lengths", lengths, "--out", f"run-{place}")
        for place, (suite, model, samples, lengths) in enumerate(runs)
    ]
    for ended in [command.ended() for command in started]:
        assert ended.code == 0, ended.err
    one, other, nolima = [shell.run_folders(f"run-{place}")[0] for place in range(len(runs))]
    made = Pages(shell.folder / "one.html", shell.folder / "nolima.html", shell.folder / "several.html")
    for path, folders in zip(made, ([one], [nolima], [one, other]), strict=True):
        ended = shell("report", *map(str, folders), "-o", str(path))
        assert ended.code == 0, ended.err
    yield made
    shell.close()

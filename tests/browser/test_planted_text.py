"""What a model, its name and its server may say: shown as text, run by nobody, steering neither page nor terminal."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.servers.faulty import Fault, FaultyServer

from ..e2e.conftest import Ended, Shell
from .conftest import browser_path

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page

pytestmark = pytest.mark.slow

PLANTED = "window.planted = true; alert(1)"
HALF_SURROGATE = "\ud800"
PLANTS = (
    f"<script>{PLANTED}</script>",
    f"</pre></bdi></script><script>{PLANTED}</script>",
    f'<img src=x onerror="{PLANTED}">',
    f'"><svg onload="{PLANTED}">',
    f'<a href="javascript:{PLANTED}">press me</a>',
    f"<details open ontoggle='{PLANTED}'>",
    f'<meta http-equiv="refresh" content="0;url=javascript:{PLANTED}">',
    "{{ 7 * 7 }}{% raw %}",
    "\x1b[2J\x1b[31mred\x1b]0;title\x07",
    "\x9b31mred",
    "one \u202ereversed\u202c two \u2066isolated",
    f"half {HALF_SURROGATE} pair",
    "<b>" * 3_500_000,
)
MODEL = f"m<script>{PLANTED}</script>\x1b[31m\u202e"
LABEL = f'"><img src=x onerror="{PLANTED}">\x1b[2J\u2066'
BIDIRECTIONAL = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")

MOST_BYTES = 3_000_000
MOST_OPENING_S = 3.0


class Planted(NamedTuple):
    """A run whose model wrote all that."""

    shell: Shell
    folder: Path
    ran: Ended
    page: Path


def server() -> FaultyServer:
    asked = iter(range(10**9))
    return FaultyServer(
        lambda body, number: (
            Fault("error", 400, {"error": {"message": PLANTS[8] + PLANTS[0]}}) if number == 20 else None
        ),
        answer=lambda prompt: PLANTS[next(asked) % len(PLANTS)],
    )


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planted]:
    browser_path()  # no browser, no run
    shell = Shell(tmp_path_factory.mktemp("planted"))
    with server() as serving:
        ran = shell(
            *("run", "quick", "--model", f"openai/{MODEL}", "--label", LABEL, "--base-url", serving.base_url),
            *("--endpoint", "completions", "--tokenizer", "tiktoken/cl100k_base", "--lengths", "1k,2k"),
            *("--tasks", "niah_single_1,niah_multikey_1,vt,cwe", "--samples", "5"),
            OPENAI_API_KEY="none",
        )
    assert ran.code in (0, 3), ran.err
    (folder,) = shell.run_folders()
    page = shell.folder / "page.html"
    ended = shell("report", str(folder), "-o", str(page))
    assert (ended.code, ended.err) == (0, "")
    yield Planted(shell, folder, ran, page)
    shell.close()


def test_the_plants_are_in_the_records(planted: Planted) -> None:
    """Else the tests below would see nothing because there is nothing."""
    texts = [json.loads(line)["response"]["text"] or "" for line in planted.shell.lines()]
    for plant in PLANTS:
        assert any(plant[:1000] in text for text in texts), plant[:100]
    assert max(map(len, texts)) > 10_000_000


def opened(page: Page, path: Path) -> list[str]:
    """Open a page; give what it asked for, dialogs included."""
    seen: list[str] = []

    def refuse(dialog: Dialog) -> None:
        seen.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("dialog", refuse)
    page.on("request", lambda request: seen.append(request.url))
    started = time.monotonic()
    page.goto(path.as_uri(), wait_until="load")
    assert time.monotonic() - started < MOST_OPENING_S
    for summary in page.locator("details > summary").all():
        summary.click()
    page.wait_for_load_state("networkidle")
    return seen


def test_nothing_that_was_planted_runs(page: Page, planted: Planted) -> None:
    assert opened(page, planted.page) == [planted.page.as_uri()]
    assert page.evaluate("window.planted") is None
    assert page.locator("script").count() == 1
    assert page.locator("img, iframe, [onerror], [onload], [ontoggle], a[href^='javascript:']").count() == 0


def test_it_is_shown_as_text(page: Page, planted: Planted) -> None:
    opened(page, planted.page)
    text = page.locator("main").inner_text()
    assert f"m<script>{PLANTED}</script>[U+001B][31m[U+202E]" in text
    assert "onerror" in text.partition("The set-up of this run")[2]
    assert "[U+" in text
    assert not BIDIRECTIONAL.search(page.content())
    assert not CONTROL.search(page.content().replace("\r", ""))


def test_a_page_stays_small(planted: Planted) -> None:
    assert planted.page.stat().st_size < MOST_BYTES
    planted.page.read_text(encoding="utf-8")  # no half of a pair is left


def test_a_script_that_came_through_would_not_run(page: Page, planted: Planted, tmp_path: Path) -> None:
    """The page's own policy lets its one script run and no other, should the escaping ever have a hole."""
    text = planted.page.read_text(encoding="utf-8")
    assert text.count("<main>") == 1
    holed = tmp_path / "holed.html"
    holed.write_text(text.replace("<main>", f"<main><script>{PLANTED}</script>{PLANTS[2]}"), encoding="utf-8")
    blocked: list[str] = []
    other = page.context.new_page()
    other.on("console", lambda message: blocked.append(message.text))
    other.goto(holed.as_uri())
    other.wait_for_load_state("networkidle")
    assert other.evaluate("window.planted") is None
    assert other.locator("button.sort").count() > 0
    assert any("Content Security Policy" in message for message in blocked)


def test_a_page_of_several_runs_is_as_safe(page: Page, planted: Planted) -> None:
    ended = planted.shell(
        "run", "quick", "--model", "reader/empty", "--samples", "1", "--lengths", "1k,2k", "--out", "o"
    )
    assert ended.code == 0, ended.err
    path = planted.shell.folder / "several.html"
    ended = planted.shell("report", str(planted.folder), str(planted.shell.run_folders("o")[0]), "-o", str(path))
    assert (ended.code, ended.err) == (0, "")
    assert opened(page, path) == [path.as_uri()]
    assert page.evaluate("window.planted") is None
    assert page.locator("script").count() == 1
    assert not BIDIRECTIONAL.search(page.content())


@pytest.mark.parametrize("arguments", [("score",), ("report",), ("score", "--json")])
def test_no_command_repeats_it_to_a_terminal(planted: Planted, arguments: tuple[str, ...]) -> None:
    ended = planted.shell(arguments[0], str(planted.folder), *arguments[1:])
    assert ended.code == 0
    for text in (ended.out, ended.err, planted.ran.out, planted.ran.err):
        assert not CONTROL.search(text)
        assert not BIDIRECTIONAL.search(text)

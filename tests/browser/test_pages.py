"""The pages of a run, of NoLiMa and of several runs, as people see, read, print and steer them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from .conftest import Pages, needed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

SCORES = '[aria-label^="Scores"] > table[data-sorted]'
"""The tables of tasks by lengths."""

KINDS = ("one", "nolima", "several")
TELEPHONE_PX = 380

MARKS = """svg => [...svg.querySelectorAll('[class*="mark-"] path, [class*="mark-"] text')].filter(mark => {
  const box = mark.getBoundingClientRect();
  return box.width > 0 || box.height > 0;
}).length"""
"""How many marks of a drawing have a size."""


@pytest.fixture(params=KINDS)
def path(request: pytest.FixtureRequest, pages: Pages) -> Path:
    return getattr(pages, request.param)


def column(page: Page, place: int) -> list[str]:
    """Texts of a column of the first table of scores, without the small figures."""
    script = (
        """([table, place]) => [...table.rows].slice(1).map(row => row.cells[place].firstChild.textContent.trim())"""
    )
    return page.evaluate(script, [page.locator(SCORES).first.element_handle(), place])


def test_charts_are_drawn(page: Page, path: Path) -> None:
    page.goto(path.as_uri())
    drawings = [svg for svg in page.locator("svg").all() if svg.is_visible()]
    assert drawings
    for svg in drawings:
        box = svg.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) > 100
        assert svg.evaluate(MARKS) > 1


def test_nothing_is_fetched(page: Page, path: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_load_state("networkidle")
    assert asked == [path.as_uri()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, path: Path, scheme: Literal["light", "dark"]) -> None:
    axe = needed("axe_playwright_python.sync_playwright", "axe-playwright-python").Axe()
    # The page's policy keeps every script but its own out, axe among them.
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(path.as_uri())
    for details in page.locator("details > summary").all():
        details.click()
    found: list[dict[str, Any]] = axe.run(page).response["violations"]
    context.close()
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in grave] == []


def test_a_telephone_shows_it_without_sideways_scrolling(page: Page, path: Path) -> None:
    page.set_viewport_size({"width": TELEPHONE_PX, "height": 800})
    page.goto(path.as_uri())
    for details in page.locator("details > summary").all():
        details.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= TELEPHONE_PX
    for narrow, wide in zip(page.locator(".narrow").all(), page.locator(".wide").all(), strict=True):
        assert narrow.is_visible()
        assert not wide.is_visible()
        box = narrow.locator("svg").bounding_box()
        assert box is not None
        assert 200 < box["width"] < TELEPHONE_PX


def test_on_paper_nothing_is_folded(page: Page, path: Path) -> None:
    page.goto(path.as_uri())
    folded = page.locator("details > :not(summary)")
    assert all(not part.is_visible() for part in folded.all())
    page.emulate_media(media="print")
    for part in folded.all():
        assert part.is_visible()
    for shown in page.locator(".wide").all():
        assert shown.is_visible()
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert len(printed) > 20_000


def test_folded_parts_open_with_a_key(page: Page, pages: Pages) -> None:
    page.goto(pages.one.as_uri())
    for summary in page.locator("details > summary").all():
        inside = summary.locator("xpath=following-sibling::*").first
        assert not inside.is_visible()
        summary.focus()
        page.keyboard.press("Enter")
        assert inside.is_visible()


def test_a_pressed_head_sorts_and_says_so(page: Page, pages: Pages) -> None:
    """Categories stand by their mean and tasks by their score within them; the mean stays at the end."""
    page.goto(pages.one.as_uri())
    was = column(page, 0)
    head = page.locator(SCORES).first.locator("thead th").last
    assert head.get_attribute("aria-sort") is None
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    names = column(page, 0)
    scores = dict(zip(names, column(page, -1 + page.locator(SCORES).first.locator("thead th").count()), strict=True))
    assert sorted(names) == sorted(was)
    retrieval = names[names.index("retrieval") + 1 :][:8]
    assert all(name.startswith("niah") for name in retrieval)
    figures = [float(scores[name]) for name in retrieval]
    assert figures == sorted(figures)
    assert len(set(figures)) > 1
    groups = [float(scores[name]) for name in names if name in ("retrieval", "tracing", "aggregation", "qa")]
    assert groups == sorted(groups)
    assert names[-2:] == was[-2:]

    page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "descending"
    names = column(page, 0)
    retrieval = names[names.index("retrieval") + 1 :][:8]
    assert [float(scores[name]) for name in retrieval] == sorted(figures, reverse=True)
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") is None
    assert column(page, 0) == was


def test_a_column_without_figures_stands_last(page: Page, pages: Pages) -> None:
    """Tasks of the page of several runs stand by name and by figure, and a dash has none."""
    page.goto(pages.several.as_uri())
    heads = page.locator(SCORES).first.locator("thead th")
    heads.nth(0).locator("button").click()
    heads.nth(0).locator("button").click()
    tasks = [name for name in column(page, 0) if "_" in name or name in ("vt", "cwe", "fwe")]
    assert tasks == sorted(tasks, reverse=True)
    for _ in range(2):
        heads.nth(1).locator("button").click()
        assert heads.nth(0).get_attribute("aria-sort") is None
        assert column(page, 0)[len(tasks) - 1] == "qa_2"
        assert column(page, 1)[len(tasks) - 1] == "–"


def test_without_script_the_page_is_whole(browser: Browser, path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("table").first.is_visible()
    assert page.locator("svg").first.is_visible()
    assert page.locator("button").count() == 0
    if page.locator("details").count():
        page.locator("details > summary").first.click()
        assert page.locator("details > :not(summary)").first.is_visible()
    context.close()

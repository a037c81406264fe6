from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from leadline.analysis.several import RunOfSeveral
from leadline.errors import RunFolderError
from leadline.reference.tables import THIRTEEN
from leadline.report.several import SeveralRuns, several_runs
from leadline.report.several_page import render_page_of_several, write_page_of_several
from tests.unit.analysis.runs_of_several import NOLIMA, RULER
from tests.unit.analysis.runs_of_several import run_of as made

from .conftest import HOSTILE, Run, run_of

VOID = {"meta", "br", "path", "line", "rect"}


class Balanced(HTMLParser):
    """Checks that every element is closed in its turn, and collects what could run or load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.scripts = 0
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        links = [value for name, value in attrs if name in ("src", "href") and value]
        self.outside += [link for link in links if not link.startswith(("#", "data:text/csv"))]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def one_of(run: Run, folder: str = "runs/one") -> RunOfSeveral:
    return RunOfSeveral(Path(folder), run.summary, run.design, run.verdict)


@pytest.fixture
def runs() -> list[RunOfSeveral]:
    return [
        one_of(run_of()),
        one_of(run_of(wrong_from=2048), "runs/two"),
        one_of(run_of(wrong_from=1024), "runs/three"),
    ]


def balanced(page: str) -> Balanced:
    parser = Balanced()
    parser.feed(page)
    return parser


def test_every_run_has_its_verdict_and_table_and_all_of_it_is_escaped(runs: list[RunOfSeveral]) -> None:
    page = render_page_of_several(several_runs(runs))
    parser = balanced(page)
    assert (parser.open, parser.scripts, parser.outside) == ([], 1, [])
    assert HOSTILE not in page
    assert page.count('<section id="run-') == 3
    assert "runs/two" in page
    for run in runs:
        assert escape(run.verdict.partition(": ")[0][1:]) in page
    assert "(2)</a>" in page, "a second run of a model is told apart"
    assert "Redundant tasks by threshold" in page


def test_the_data_of_a_run_holds_all_lines_of_its_chart(mixed_suites: SeveralRuns) -> None:
    page = render_page_of_several(mixed_suites)
    for run in mixed_suites.runs:
        for name in ("mean", *(run.design.categories if len(run.design.categories) > 1 else ())):
            assert f"%0A{name},{run.design.shortest}," in page


def test_without_a_correlation_it_says_why() -> None:
    page = render_page_of_several(several_runs([made(RULER, "a", tasks=("niah",)), made(RULER, "b", tasks=("vt",))]))
    assert "A correlation needs two tasks" in page
    assert "Redundant" not in page


def test_a_run_without_records_has_a_place(empty: Run, runs: list[RunOfSeveral]) -> None:
    page = render_page_of_several(several_runs([one_of(empty), replace(runs[0], folder=Path("x"))]))
    assert balanced(page).open == []
    assert page.count('<section id="run-') == 2
    alone = several_runs([one_of(empty), replace(one_of(empty), folder=Path("x"))])
    assert alone.figures() == {}
    assert balanced(render_page_of_several(alone)).open == []


def test_a_page_that_cannot_be_written_is_said(runs: list[RunOfSeveral], tmp_path: Path) -> None:
    several = several_runs(runs)
    write_page_of_several(tmp_path / "page.html", several)
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(RunFolderError, match="-o"):
        write_page_of_several(tmp_path, several)


@pytest.fixture(scope="module")
def mixed_suites() -> SeveralRuns:
    fails = {4096: 40, 8192: 10, 16384: 0}
    return several_runs(
        [
            made(RULER, "yi-6b", claimed=8192),
            made(fails, "yi-34b", claimed=4096),
            made(RULER, "other", protocol="sound"),
            made(NOLIMA | {4000: 10, 8000: 0}, "yi-6b", suite="nolima-open"),
            made(NOLIMA | {8000: 0}, "yi-6b", suite="nolima"),
        ]
    )


def values_of(chart: dict[str, Any]) -> list[dict[str, Any]]:
    """All values of a chart, wherever Altair has put them."""
    return [value for values in _values(chart) for value in values]


def _values(part: Any) -> list[list[dict[str, Any]]]:
    if isinstance(part, list):
        return [found for each in part for found in _values(each)]
    if not isinstance(part, dict):
        return []
    own = (
        [part["values"]]
        if isinstance(part.get("values"), list) and part["values"] and isinstance(part["values"][0], dict)
        else []
    )
    sets = [rows for rows in part.get("datasets", {}).values()]
    return (
        own
        + sets
        + [found for key, each in part.items() if key not in ("values", "datasets") for found in _values(each)]
    )


def test_no_chart_holds_scores_of_two_suites(mixed_suites: SeveralRuns) -> None:
    figures = mixed_suites.figures()
    assert set(figures) == {
        "models_compared_ruler-published",
        "model_panels_ruler-published",
        "claimed_and_effective_ruler-published",
        "family_1",
        "parting_1",
        "parting_2",
        "task_correlation",
    }
    for name in ("parting_1", "parting_2"):
        rows = values_of(figures[name])
        assert not any("score" in row for row in rows), "raw scores of two tests have no common axis"
        suites = {row["suite"] for row in rows if "suite" in row}
        assert suites in ({"ruler", "nolima-open"}, {"ruler", "nolima"})
    compared = [row for row in values_of(figures["models_compared_ruler-published"]) if "model" in row]
    assert {row["model"] for row in compared} == {"yi-6b", "yi-34b"}
    assert {row["length"] for row in compared} == set(RULER)


def test_the_page_says_which_runs_stand_apart_and_why(mixed_suites: SeveralRuns) -> None:
    page = render_page_of_several(mixed_suites)
    assert balanced(page).open == []
    for words in (
        "stand in tables and charts of their own",
        "nolima-open, published protocol (K = 1,000): yi-6b",
        "Where RULER and NoLiMa part",
        "they part above 2,000 tokens, where nolima-open ends and ruler goes on",
        "nolima and nolima-open have different needles",
        "Runs of NoLiMa are ranked among no published rows",
    ):
        assert words in page


def test_every_chart_has_words_a_caption_and_its_data(mixed_suites: SeveralRuns) -> None:
    page = render_page_of_several(mixed_suites)
    figures = re.findall(r"<figure class=\"card\">.*?</figure>", page, flags=re.DOTALL)
    assert len(figures) == 6 + len(mixed_suites.runs), "the charts of the page and one of each run"
    for figure in figures:
        assert len(re.findall(r'role="img" aria-label="[^"]{20,}"', figure)) == 2, "a wide and a narrow drawing"
        assert re.search(r"<figcaption>\w", figure)
        link = re.search(r'href="data:text/csv;charset=utf-8,([^"]*)"', figure)
        assert link is not None
        rows = list(csv.DictReader(io.StringIO(unquote(link[1]))))
        assert len(rows) >= 2


def test_a_line_is_dashed_beyond_what_its_model_was_trained_for(mixed_suites: SeveralRuns) -> None:
    lines = [
        layer for layer in mixed_suites.figures()["family_1"]["layer"] if layer["mark"].get("type") == "line"
    ]  # fmt: skip
    joined: dict[bool, dict[str, list[int]]] = {False: {}, True: {}}
    sets = mixed_suites.figures()["family_1"].get("datasets", {})
    for line in lines:
        data = line["data"]
        for row in data["values"] if "values" in data else sets[data["name"]]:
            joined["strokeDash" in line["mark"]].setdefault(row["model"], []).append(row["length"])
    assert joined == {
        False: {"6b (trained 8K)": [4096, 8192], "34b (trained 4K)": [4096]},
        True: {"6b (trained 8K)": [8192, 16384], "34b (trained 4K)": [4096, 8192, 16384]},
    }


def test_a_comparable_run_stands_among_the_published_rows_by_its_effective_length() -> None:
    lengths = {4096 * 2**place: 40 for place in range(6)}
    whole = made(lengths | {65536: 20, 131072: 0}, "mine", tasks=THIRTEEN)
    sound = made(lengths, "sound", tasks=THIRTEEN, protocol="sound")
    short = made(RULER, "short", tasks=THIRTEEN)
    changed = made(lengths, "changed", tasks=THIRTEEN, changed=("niah.num_keys",))
    several = several_runs([whole, sound, short, changed])
    (table,) = several.as_dict()["published"]
    order = [(row["effective_length"]["value"] or 0, row["average"] or 0) for row in table["rows"]]
    assert order == sorted(order, reverse=True)
    assert [row["model"] for row in table["rows"]].index("mine") == 10, "the seventh of those with 32K"
    assert "its cells have 40 trials or more" in table["notes"][0]
    for words in (
        "sound is not among them: its protocol is sound",
        "short has not measured 32K",
        "changed is not among",
    ):
        assert any(words in reason for reason in several.not_published)
    page = render_page_of_several(several)
    assert page.count('<tr class="ours">') == 1


def test_base_models_stand_in_the_table_of_base_models() -> None:
    lengths = {4096 * 2**place: 40 for place in range(6)}
    runs = [made(lengths, name, tasks=THIRTEEN, threshold=79.4, threshold_name="base") for name in "ab"]
    assert [table["table"] for table in several_runs(runs).as_dict()["published"]] == ["ruler-base"]


def test_many_models_are_told_apart() -> None:
    several = several_runs([made(RULER, f"model-{number:02}") for number in range(20)])
    chart = several.figures()["models_compared"]
    point = next(layer for layer in chart["layer"] if layer["mark"].get("type") == "point")["encoding"]
    looks = list(zip(point["color"]["scale"]["range"], point["shape"]["scale"]["range"], strict=True))
    assert len(set(looks)) == 20


def test_a_column_sorts_by_length_and_not_by_text(mixed_suites: SeveralRuns) -> None:
    page = render_page_of_several(mixed_suites)
    (table,) = re.findall(r"Runs of ruler, published protocol.*?</table>", page, flags=re.DOTALL)
    assert re.findall(r'data-sort="([^"]+)">(&gt;16K|4K)<', table) == [
        ("16384.5", "&gt;16K"),
        ("4096.0", "4K"),
        ("4096", "4K"),
    ]


def test_long_names_of_one_family_stay_apart_on_a_telephone() -> None:
    names = ["an-organisation/a-model-7B", "an-organisation/a-model-70B", "an-organisation/b-model-70B", "short"]
    several = several_runs([made(RULER, name, claimed=8192) for name in names])
    (chart,) = [chart for chart in several.group_charts[0] if chart.name == "claimed_and_effective"]
    for width, whole in ((640, True), (250, False)):
        shown = {row["name"] for row in values_of(chart.make(width)) if "name" in row}
        assert len(shown) == len(names)
        assert (shown == set(names)) == whole
        assert whole or max(map(len, shown)) <= 12

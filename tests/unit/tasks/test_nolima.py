"""NoLiMa: the design, the pairing of its variants, what is planted where."""

from __future__ import annotations

import json
from collections import Counter as Tally
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.data.sources import Sources
from leadline.errors import UsageError
from leadline.haystacks.books import Book
from leadline.items import NO_CONTEXT, Fit, Plan, Sample, TrialKey
from leadline.prompt import FrameCounter, named_frame
from leadline.sampler import Sampler
from leadline.scoring.failures import failure_kind
from leadline.tasks.base import item_key
from leadline.tasks.distractor import distractor_depth
from leadline.tasks.nolima import CHOICES, LAST_TOKENS, Nolima
from leadline.tasks.registry import make_task
from leadline.tokenizers.counting import Counter
from tests.unit.needles.official import NAMES, official_entries
from tests.unit.run.conftest import WordTokenizer

VARIANTS = ("default", "direct", "choices", "cot", "distractor")
PAIRS = 80
BOOKS = 5
BOOK_NAMES = ("Ishmael", "Ahab", "Stubb", "Flask", "Starbuck")


@cache
def shelf() -> tuple[Book, ...]:
    """Books of lines of 14 to 33 words, with a name in every third of them."""
    books: list[Book] = []
    for number in range(1, BOOKS + 1):
        lines = [
            " ".join(["whale"] * (13 + (place * 7 + number) % 20))
            + f" {BOOK_NAMES[(place // 3) % 5]}." * (place % 3 == 0)
            for place in range(4_000)
        ]
        books.append(Book.from_text(f"book_{number}", "\n".join(lines), BOOK_NAMES))
    return tuple(books)


class Shelf(Sources):
    """Sources whose books are made here."""

    def books(self, name: str) -> tuple[Book, ...]:
        return shelf()


@cache
def sampler() -> Sampler:
    tokenizer = WordTokenizer()
    frame = named_frame("base", tokenizer)
    return Sampler(frame, FrameCounter(Counter(tokenizer), frame), Shelf(offline=True), 42)


def task_of(variant: str = "default", **changes: object) -> Nolima:
    task = make_task("nolima_open" if variant == "default" else f"nolima_open_{variant}", changes)
    assert isinstance(task, Nolima)
    return task


def fit_of(task: Nolima, plan: Plan, length: int) -> Fit:
    fit = sampler().fit(task, plan, length)
    assert fit is not None
    return fit


def plans(task: Nolima, count: int) -> list[Plan]:
    return [sampler().plan(task, index) for index in range(count)]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("runs", [1, 2, 3, 5, 10])
def test_any_beginning_of_the_design_is_balanced(variant: str, runs: int) -> None:
    task = task_of(variant)
    pairs = 40 if variant == "direct" else PAIRS
    made = plans(task, runs * pairs)
    assert set(Tally(plan.factors["pair"] for plan in made).values()) == {runs}
    assert set(Tally(plan.factors["book"] for plan in made).values()) == {runs * pairs // BOOKS}
    depths = Tally(plan.factors["depth"] for plan in made)
    per_needle = pairs // 40
    assert len(depths) == 26
    # A depth has at most two needles more than another, each with all its questions.
    assert max(depths.values()) - min(depths.values()) <= 2 * per_needle


@given(st.integers(0, PAIRS * 129))
@settings(max_examples=10, deadline=None)
def test_any_80_items_in_a_row_ask_each_pair_once(start: int) -> None:
    asked = {sampler().plan(task_of(), index).factors["pair"] for index in range(start, start + PAIRS)}
    assert len(asked) == PAIRS


@pytest.mark.parametrize("grid", ["11", "6"])
def test_the_whole_design_meets_each_pair_once_in_each_cell(grid: str) -> None:
    task = task_of(depths=grid)
    count = task.items(sampler().sources)
    assert count == PAIRS * int(grid) * BOOKS
    met = {(plan.factors["pair"], plan.factors["depth"], plan.factors["book"]) for plan in plans(task, count)}
    assert len(met) == count


@pytest.mark.parametrize("samples", [1, 80, 1_234, 10_400, 20_000])
def test_rounds_hold_each_item_once(samples: int) -> None:
    task = task_of()
    asked = [index for share in task.rounds(samples, sampler().sources) for index in share]
    assert sorted(asked) == list(range(min(samples, PAIRS * 26 * BOOKS)))


def test_rounds_of_the_whole_design_are_made_of_whole_cells_spread_over_depths_and_books() -> None:
    task = task_of()
    first = [sampler().plan(task, index) for index in next(task.rounds(10_400, sampler().sources))]
    cells = Tally((plan.factors["depth"], plan.factors["book"]) for plan in first)
    assert set(cells.values()) == {PAIRS}
    assert len({depth for depth, _ in cells}) == len(cells) == 13
    assert max(Tally(book for _, book in cells).values()) <= 4


@pytest.mark.parametrize("grid", ["26", "11", "6"])
def test_the_index_of_a_pair_in_a_cell_leads_back_to_it(grid: str) -> None:
    task = task_of(depths=grid)
    design = task._design(sampler().sources, 42)  # pyright: ignore[reportPrivateUsage]
    seen: set[int] = set()
    for slot in range(0, PAIRS, 7):
        for cell in range(design.cells):
            index = design.index(slot, cell)
            pair, place = design.at(index, int(grid))
            assert pair is design.pairs[slot]
            assert round(place.depth * (int(grid) - 1)) == cell % int(grid)
            seen.add(index)
    assert len(seen) == len(range(0, PAIRS, 7)) * design.cells


def test_a_group_has_one_name_at_a_place_whatever_is_asked() -> None:
    named: dict[tuple[object, ...], set[str]] = {}
    for variant in VARIANTS:
        task = task_of(variant, depths="6")
        for plan in plans(task, task.items(sampler().sources)):
            place = (plan.factors["group"], plan.factors["book"], plan.factors["depth"])
            named.setdefault(place, set()).add(plan.facts["name"])
    assert len(named) == 8 * 6 * BOOKS
    assert all(len(names) == 1 for names in named.values())
    assert len(set.union(*named.values())) == 32, "every name is drawn somewhere"


@pytest.mark.parametrize("variant", ["choices", "cot", "distractor"])
def test_variants_of_the_same_pairs_are_paired_item_by_item(variant: str) -> None:
    for plain, other in zip(plans(task_of(), 200), plans(task_of(variant), 200), strict=True):
        assert {**other.factors, "variant": "default"} == plain.factors
        assert other.answers == plain.answers


def test_another_seed_draws_other_names_and_places() -> None:
    task = task_of()
    one = [task.plan(item_key(task, 42, index), sampler().sources) for index in range(PAIRS)]
    two = [task.plan(item_key(task, 43, index), sampler().sources) for index in range(PAIRS)]
    assert [plan.factors["pair"] for plan in one] != [plan.factors["pair"] for plan in two]
    assert [plan.facts["name"] for plan in one] != [plan.facts["name"] for plan in two]


def test_an_item_is_the_same_at_all_lengths_of_a_grid() -> None:
    task = task_of()
    keys = {item_key(task.at_length(length), 42, 7) for length in (250, 1_000, 32_000)}
    assert len(keys) == 1
    coarse = task.at_length(64_000)
    assert coarse.params.depths == "11"
    assert task.at_length(128_000) == coarse
    assert task.at_length(63_999).params.depths == "26"
    assert item_key(coarse, 42, 7) not in keys
    assert {plan.factors["depth"] for plan in plans(coarse, 2 * PAIRS)} == {10.0 * step for step in range(11)}
    assert task_of(depths="6").at_length(64_000).params.depths == "6"


def test_a_key_holds_what_the_item_depends_on() -> None:
    params = json.loads(item_key(task_of("choices", output_tokens=50), 42, 0).params)
    assert params == {
        "needles": "open",
        "haystack": "open",
        "variant": "choices",
        "sweep": "full",
        "depths": "26",
        "context": "book",
    }


def test_the_last_2k_sweep_counts_tokens_from_the_end() -> None:
    task = task_of(sweep="last-2k")
    book_tokens = WordTokenizer()
    seen: set[float] = set()
    for plan in plans(task, 40):
        from_end = plan.factors["from_end"]
        assert isinstance(from_end, int)
        assert "depth" not in plan.factors
        for length in (1_000, 4_000, 8_000):
            fit = fit_of(task, plan, length)
            assert fit.window is not None
            after = book_tokens.count(task.book(plan, sampler().sources).text[fit.places[0] : fit.window[1]])
            assert after == pytest.approx(from_end * min(length, LAST_TOKENS) / LAST_TOKENS, abs=1)
        seen.add(from_end)
    assert min(seen) == 0
    assert max(seen) == LAST_TOKENS


def test_wrong_choices_stand_in_the_haystack() -> None:
    task = task_of("choices")
    places: Tally[int] = Tally()
    for plan in plans(task, 60):
        fit = fit_of(task, plan, 1_000)
        assert fit.window is not None
        text = task.book(plan, sampler().sources).text[slice(*fit.window)]
        sample = sampler().sample(task, plan, fit, 1_000)
        offered = sample.text.rpartition("one of these four: ")[2].partition(".")[0].split(", ")
        assert len(set(offered)) == CHOICES
        name = plan.facts["name"]
        places[offered.index(name)] += 1
        assert all(other in text for other in offered if other != name)
        assert name not in text
    assert set(places) == set(range(CHOICES)), "the right one stands anywhere"


def test_where_too_few_names_occur_the_sets_own_fill_up() -> None:
    task = task_of("choices")
    plan = sampler().plan(task, 3)
    fit = fit_of(task, plan, 60)
    sample = sampler().sample(task, plan, fit, 60)
    offered = sample.text.rpartition("one of these four: ")[2].partition(".")[0].split(", ")
    assert len(set(offered)) == CHOICES
    assert set(offered) - {plan.facts["name"]} <= {*BOOK_NAMES, *plan.facts["names"]}


@given(st.floats(0, 1), st.integers(500, 128_000), st.floats(0, 1, exclude_max=True))
def test_a_distractor_is_away_from_the_needle_and_from_the_ends(depth: float, length: int, spread: float) -> None:
    place = distractor_depth(depth, length, spread)
    assert 0.2 <= place <= 0.8
    assert abs(place - depth) >= 0.2 - 1e-9


@pytest.mark.parametrize(("depth", "place"), [(0.0, 0.7), (0.5, 0.7), (0.6, 0.5), (0.75, 0.5), (0.76, 0.6), (1.0, 0.6)])
def test_below_500_tokens_a_distractor_stands_at_a_fixed_depth(depth: float, place: float) -> None:
    assert {distractor_depth(depth, length, spread) for length in (250, 499) for spread in (0.0, 0.9)} == {place}


@pytest.mark.parametrize("length", [500, 1_000, 4_000])
def test_a_distractor_keeps_its_distance_in_the_text(length: int) -> None:
    task, tokenizer = task_of("distractor"), WordTokenizer()
    for plan in plans(task, 80):
        fit = fit_of(task, plan, length)
        assert fit.window is not None
        text = task.book(plan, sampler().sources).text
        needle, other = (tokenizer.count(text[fit.window[0] : place]) / length for place in fit.places)
        assert abs(other - needle) >= 0.2 - 1e-9
        assert 0.2 <= other <= 0.8
        sample = sampler().sample(task, plan, fit, length)
        (sentence,) = sample.span_texts("distractor")
        assert all(keyword in sentence for keyword in sampler_keywords(plan))
        assert plan.facts["name"] not in sentence
        assert task.notes(plan, fit, sampler().sources) == ()


def test_a_distractor_that_cannot_keep_its_distance_is_noted() -> None:
    task = task_of("distractor")
    plan = plans(task, 1)[0]
    fit = fit_of(task, plan, 1_000)
    assert fit.window is not None
    start, end = fit.window
    for share in (0.05, 0.95):
        place = start + round(share * (end - start))
        (note,) = task.notes(plan, replace(fit, places=(fit.places[0], place)), sampler().sources)
        assert f"the distractor stands at {100 * share:.0f} %" in note
    (beside,) = task.notes(plan, replace(fit, places=(fit.places[0], fit.places[0] + 20)), sampler().sources)
    assert "keep its distances" in beside


def sampler_keywords(plan: Plan) -> list[str]:
    return plan.facts["question_keywords"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_spans_say_what_each_part_of_the_message_is(variant: str) -> None:
    task = task_of(variant)
    for plan in plans(task, 10):
        fit = fit_of(task, plan, 500)
        assert fit.window is not None
        sample = sampler().sample(task, plan, fit, 500)
        (needle,), (question,) = sample.span_texts("needle"), sample.span_texts("question")
        assert plan.facts["name"] in needle
        assert question.endswith("?")
        assert sample.text.count(question) == 1
        text = task.book(plan, sampler().sources).text
        assert "".join(sample.span_texts("haystack")) == text[slice(*fit.window)]
        assert len(sample.span_texts("distractor")) == (variant == "distractor")
        assert sample.system == "You are a helpful assistant."


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_sample_is_made_again_by_key_and_fit_without_a_tokenizer(variant: str) -> None:
    task = task_of(variant)
    blind = Sampler(sampler().frame, cast(FrameCounter, None), Shelf(offline=True), 0)
    for plan in plans(task, 4):
        fit = fit_of(task, plan, 1_000)
        sample = sampler().sample(task, plan, fit, 1_000)
        key = TrialKey.from_dict(json.loads(json.dumps(sample.key.as_dict())))
        kept = Fit.from_dict(json.loads(json.dumps(fit.as_dict())))
        assert blind.remake(task, key, kept, sample.prompt_hash) == sample


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_wrong_answer_has_a_kind(variant: str) -> None:
    task = task_of(variant)
    plan = sampler().plan(task, 1)
    sample = sampler().sample(task, plan, fit_of(task, plan, 500), 500)
    kinds = {
        answer: failure_kind(sample, answer, "answered")
        for answer in (plan.facts["name"], "", "Stubb", "Nobody of that sort", plan.facts["question"])
    }
    assert list(kinds.values()) == [None, "empty", "distractor_value", "not_in_context", "copied_context"]
    assert failure_kind(sample, "It may well be that the", "truncated_output") is not None


def test_a_book_that_is_too_short_has_no_fit() -> None:
    task = task_of()
    assert sampler().fit(task, sampler().plan(task, 0), 1_000_000) is None


def test_hard_pairs_of_our_own_await_measurements() -> None:
    with pytest.raises(UsageError, match="chosen once several models have been measured"):
        sampler().plan(make_task("nolima_open_hard"), 0)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(official_entries()), encoding="utf-8")
    return file


def texts_of(own: Path, variant: str, length: int = 300) -> dict[str, tuple[Plan, str]]:
    task = make_task(
        "nolima" if variant == "default" else f"nolima_{variant}", {"needles": str(own), "haystack": "open"}
    )
    assert isinstance(task, Nolima)
    made: dict[str, tuple[Plan, str]] = {}
    for plan in plans(task, len(sampler().sources.needles(str(own), variant).pairs)):
        sample = sampler().sample(task, plan, fit_of(task, plan, length), length)
        made[str(plan.factors["pair"])] = plan, sample.text
    return made


def test_a_file_in_the_official_format_is_asked_as_it_says(own: Path) -> None:
    made = texts_of(own, "default")
    assert set(made) == {
        *(f"0901/T0{test}/{hops}" for test in (1, 2) for hops in ("onehop", "twohop", "twohop2")),
        "0901Inv/T01/onehop",
        "0902/T01/onehop",
    }
    plan, text = made["0901/T01/twohop2"]
    assert text.startswith("Text {x}: ")
    assert text.endswith("\nAsk: Which character knows {5} spires? {}")
    assert f"\nLast week, {plan.facts['name']} rowed along the Vltava {{at dawn}}.\n" in text
    assert plan.answers == ((plan.facts["name"],),)
    plan, text = made["0901Inv/T01/onehop"]
    assert plan.factors["order"] == "inverted"
    assert f"Which character knows Prague, {plan.facts['name']} or another?" in text
    assert "snippet" in text, "where the file has no template, ours"
    plan, text = made["0902/T01/onehop"]
    assert plan.answers == (("hen", "chicken"),)
    assert "\nThere was a hen in the yard.\n" in text


def test_variants_of_a_file_take_from_it_what_they_need(own: Path) -> None:
    assert set(texts_of(own, "direct")) == {"0901/T01/direct", "0901/T02/direct"}
    distracted = texts_of(own, "distractor", 1_000)
    assert {name.rpartition("/")[2] for name in distracted} == {"onehop", "twohop"}
    assert "\nA map of Bohemia lay open.\n" in distracted["0901/T01/twohop"][1]
    plan, text = texts_of(own, "choices")["0901/T02/onehop"]
    assert "It is one of these four: " in text
    assert plan.facts["names"] == NAMES
    assert "at most three sentences" in texts_of(own, "cot")["0901/T01/onehop"][1]
    with pytest.raises(UsageError, match=r"which pairs of mine\.json are hard is not known"):
        texts_of(own, "hard")


@pytest.mark.parametrize("variant", VARIANTS)
def test_closed_book_asks_every_question_with_its_name_and_no_text(variant: str) -> None:
    task = task_of(variant)
    closed = task.without_context()
    assert closed is not None
    assert closed.without_context() is None
    asked: dict[str, Sample] = {}
    for plan, bare in zip(plans(task, task.pairs(sampler().sources)), plans(closed, 80), strict=False):
        assert (bare.answers, bare.factors) == (plan.answers, plan.factors)
        fit = fit_of(closed, bare, 1_000)
        assert (fit.window, fit.size) == (None, 0)
        assert fit.prompt_tokens < 100
        assert closed.notes(bare, fit, sampler().sources) == ()
        sample = sampler().sample(closed, bare, fit, 1_000, NO_CONTEXT)
        assert sample.span_texts("haystack", "needle", "distractor") == []
        assert sample.span_texts("question") == [bare.facts["question"]]
        assert (bare.facts["name"] in sample.text) == (variant == "choices")
        restored = Fit.from_dict(json.loads(json.dumps(fit.as_dict())))
        assert sampler().remake(closed, sample.key, restored, sample.prompt_hash) == sample
        asked[str(bare.factors["pair"])] = sample
    assert len(asked) == task.pairs(sampler().sources)
    for sample in asked.values() if variant == "choices" else ():
        offered = sample.text.partition("one of these four: ")[2].partition(".")[0].split(", ")
        assert len(set(offered)) == CHOICES
        assert set(offered) <= set(sample.plan.facts["names"])

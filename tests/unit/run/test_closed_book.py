"""Which of NoLiMa's questions are asked without a text, and what a run keeps of its names."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from leadline.data.sources import Sources
from leadline.items import NO_CONTEXT
from leadline.run.closed_book import closed_book_controls
from leadline.run.controls import Control
from leadline.run.name_tokens import name_tokens
from leadline.spec import RunSpec, resolve
from leadline.tasks.base import Task
from leadline.tasks.nolima import Nolima

from .conftest import WordTokenizer

SOURCES = Sources(offline=True)


def spec_of(variant: str, *, closed_book: bool = True, **settings: object) -> RunSpec:
    changes = {f"nolima.{name}": value for name, value in settings.items()}
    options = {"variant": variant, "lengths": "500,1k", "set": changes, "closed_book": closed_book}
    return resolve("nolima-open", options)


def tasks_of(variant: str) -> list[Task]:
    return spec_of(variant).make_tasks()


def controls_of(spec: RunSpec) -> list[Control]:
    return closed_book_controls(spec, spec.make_tasks(), SOURCES)


@pytest.mark.parametrize(
    ("variant", "asked"),
    [
        ("default", {"nolima_open": 80}),
        ("default,cot,distractor", {"nolima_open": 80}),
        ("cot,distractor", {"nolima_open_cot": 80}),
        ("direct,choices", {"nolima_open_direct": 40, "nolima_open_choices": 80}),
    ],
)
def test_each_question_is_asked_once(variant: str, asked: dict[str, int]) -> None:
    controls = controls_of(spec_of(variant))
    assert {control.task.name: len(set(control.keys(42))) for control in controls} == asked
    for control in controls:
        assert isinstance(control.task, Nolima)
        assert control.task.params.context == "none"
        assert all((key.length, key.wording, key.is_control) == (250, NO_CONTEXT, True) for key in control.keys(42))


def test_without_the_option_or_without_needles_there_is_none() -> None:
    assert controls_of(spec_of("default", closed_book=False)) == []
    assert controls_of(spec_of("default", context="none")) == [], "the run asks without a text itself"
    assert controls_of(resolve("quick", {"tasks": "vt"})) == []


@dataclass
class Estimate(WordTokenizer):
    exact: bool = False


def test_tokens_of_names_are_kept_where_they_are_the_models_own() -> None:
    counts = name_tokens(tasks_of("default,choices"), SOURCES, WordTokenizer())
    assert len(counts) == 32
    assert set(counts.values()) == {1}
    assert name_tokens(tasks_of("default"), SOURCES, Estimate()) == {}
    assert name_tokens(resolve("quick", {"tasks": "vt"}).make_tasks(), SOURCES, WordTokenizer()) == {}

"""Families of models, by name and as they are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.analysis.families import Family, families_of, stem
from leadline.analysis.several import RunOfSeveral, comparable_groups
from leadline.errors import UsageError

from .runs_of_several import NOLIMA, RULER, run_of


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("Qwen2.5-7B-Instruct", "Qwen2.5-Instruct"),
        ("Qwen2.5-14B-Instruct-1M", "Qwen2.5-Instruct"),
        ("llama3.1:70b", "llama3.1"),
        ("mistralai/Mixtral-8x22B-v0.1", "mistralai/Mixtral-v0.1"),
        ("Qwen3-30B-A3B", "Qwen3"),
        ("phi-3-mini-128k-instruct", "phi-3-mini-instruct"),
        ("smollm-360M", "smollm"),
        ("reader/limit?tokens=8192", "reader/limit"),
        ("gpt-4o", "gpt-4o"),
        ("claude-3-opus-20240229", "claude-3-opus-20240229"),
        ("7B", "7B"),
    ],
)
def test_a_family_is_a_name_without_sizes_and_lengths(model: str, name: str) -> None:
    assert stem(model) == name


def found(runs: list[RunOfSeveral], given: dict[str, list[Path]] | None = None) -> list[tuple[str, list[str]]]:
    return [
        (family.name, [member.name for member in family.members])
        for family in families_of(comparable_groups(runs), given)
    ]


def test_sizes_and_lengths_of_one_name_are_a_family_ascending() -> None:
    runs = [run_of(RULER, name) for name in ("yi-34b", "yi-6b-200k", "yi-6b", "gpt-4o")]
    assert found(runs) == [("yi", ["6b", "6b, 200k", "34b"])]


def test_one_suite_has_no_family_with_another() -> None:
    assert found([run_of(RULER, "yi-6b"), run_of(NOLIMA, "yi-34b", suite="nolima-open"), run_of(RULER, "x")]) == []


def test_all_runs_are_a_family_only_where_a_trained_length_is_known() -> None:
    runs = [run_of(RULER, "yi-6b"), run_of(RULER, "yi-34b")]
    assert found(runs) == []
    assert found([runs[0], run_of(RULER, "yi-34b", claimed=4096)]) == [("yi", ["6b", "34b"])]
    assert found(runs, {"all": [run.folder for run in runs]}) == [("all", ["yi-6b", "yi-34b"])]


def test_one_model_under_several_labels_is_told_apart_by_them() -> None:
    runs = [run_of(RULER, "yi-6b", label=label, claimed=claimed) for label, claimed in (("4K", 4096), ("yarn", 32768))]
    (family,) = families_of(comparable_groups(runs))
    assert isinstance(family, Family)
    assert {(member.name, member.trained_tokens) for member in family.members} == {
        ("6b, 4K", 4096),
        ("6b, yarn", 32768),
    }


def test_a_family_that_cannot_be_drawn_is_said() -> None:
    runs = [run_of(RULER, "a"), run_of(RULER, "b"), run_of(NOLIMA, "a", suite="nolima-open")]
    for folders, words in (
        ([Path("elsewhere"), runs[0].folder], "elsewhere is none of the runs of this page"),
        ([runs[0].folder, runs[0].folder], "has one run"),
        ([runs[0].folder, runs[2].folder], "they share no axis"),
    ):
        with pytest.raises(UsageError, match=words):
            found(runs, {"f": folders})

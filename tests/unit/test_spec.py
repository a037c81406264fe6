"""What a run is asked to do, from suite, file and options."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UsageError
from leadline.spec import RunSpec, parse_set, resolve
from leadline.suites import suite_names
from leadline.values import parse_length


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("4096", 4096), ("4k", 4096), ("4K", 4096), ("128K", 131072), ("1M", 1 << 20), ("0.5k", 512), (" 8k ", 8192)],
)
def test_lengths_parse(text: str, tokens: int) -> None:
    assert parse_length(text) == tokens


@pytest.mark.parametrize(("text", "tokens"), [("4k", 4000), ("1M", 1_000_000), ("4096", 4096)])
def test_a_suite_may_count_by_thousands(text: str, tokens: int) -> None:
    assert parse_length(text, 1000) == tokens


@pytest.mark.parametrize("text", ["", "0", "-4k", "4 k b", "k", "4.3", "5M", "1e3", "4kk", "NaN", "٤k.٥", "0k"])
def test_what_is_no_length_is_named(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_length(text)
    assert repr(text) in str(caught.value)


@given(st.integers(1, 4 * 1024 * 1024))
def test_any_number_of_tokens_is_a_length(tokens: int) -> None:
    assert parse_length(str(tokens)) == parse_length(tokens) == tokens


@pytest.mark.parametrize("suite", suite_names())
def test_every_suite_resolves(suite: str) -> None:
    spec = resolve(suite, {})
    assert spec.suite == suite
    assert [task.name for task in spec.make_tasks()] == list(spec.tasks)
    assert list(spec.lengths) == sorted(spec.lengths)
    assert spec.samples >= 1


def test_options_come_before_the_file_and_the_file_before_the_suite(tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text("samples: 7\nlengths: [8k, 1024]\nset:\n  niah.num_keys: 3\n  vt.num_hops: 2\nseed: 5\n")
    spec = resolve(None, {"samples": 9, "set": {"niah.num_keys": 6}, "seed": None}, file)
    assert (spec.suite, spec.samples, spec.seed, spec.lengths) == ("quick", 9, 5, (1024, 8192))
    assert spec.set == {"niah.num_keys": 6, "vt.num_hops": 2}


def test_a_spec_that_was_written_resolves_to_itself() -> None:
    spec = resolve("quick", {"lengths": "2k,1k,2k", "tasks": "vt, niah_single_2", "set": {"vt.num_hops": 2}})
    assert spec.lengths == (1024, 2048)
    assert spec.tasks == ("vt", "niah_single_2")
    assert RunSpec.model_validate(spec.model_dump(mode="json")) == spec


def test_a_setting_of_a_task_comes_before_its_familys() -> None:
    spec = resolve("quick", {"set": {"niah_single_2.num_keys": 9, "niah.num_keys": 4}, "max_tokens": 16})
    params = {task.name: task.params.model_dump() for task in spec.make_tasks()}
    assert params["niah_single_2"]["num_keys"] == 9
    assert params["niah_single_1"]["num_keys"] == 4
    assert {values["output_tokens"] for values in params.values()} == {16}


def test_settings_are_read_as_yaml() -> None:
    assert parse_set(["niah.num_keys=8", "vt.examples=none"]) == {"niah.num_keys": 8, "vt.examples": "none"}


@pytest.mark.parametrize("shard", ["3/2", "0/2", "1", "a/b", "1/0", "1/2/3", "-1/2"])
def test_a_shard_is_one_of_n(shard: str) -> None:
    with pytest.raises(UsageError, match="is not i/n"):
        resolve("quick", {"shard": shard})
    assert resolve("quick", {"shard": "2/4"}).shard_of() == (1, 4)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("sampels: 3", "'sampels': did you mean samples"),
        ("- 1", "holds no keys"),
        ("a: [", "is not YAML"),
        ("samples: many", "'many'"),
        ("set: 5", "set: 5"),
        ("set: {nish.num_keys: 3}", "'nish'"),
        ("set: {num_keys: 3}", "'num_keys=3'"),
        ("lengths: 4.5", "4.5"),
        ("lengths: []", "lengths"),
        ("tasks: []", "tasks"),
        ("tasks: 4", "tasks"),
        ("k: abc\nlengths: 4k", "'abc'"),
        ("verdict: {threshold: 200}", "200"),
        ("suite: [quick]", "['quick']"),
        ("protocol: sound-ish", "'sound-ish'"),
    ],
)
def test_a_file_that_cannot_be_used_names_what_is_wrong(text: str, named: str, tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        resolve(None, {}, file)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("threshold", "resolved"), [("chat", "chat"), ("base", "base"), ("90", 90.0), (None, "chat")])
def test_a_threshold_by_name_or_number(threshold: str | None, resolved: str | float) -> None:
    verdict = resolve("ruler", {"threshold": threshold}).verdict
    assert (verdict.threshold, verdict.relative) == (resolved, 0.85)


def test_weights_are_lengths_of_the_run() -> None:
    assert resolve("ruler", {"weights": "4k=5, 128K=0.5"}).weights == {4096: 5.0, 131072: 0.5}
    again = resolve("ruler", {"weights": "4k=5"}).model_dump(mode="json")
    assert RunSpec.model_validate(again).weights == {4096: 5.0}


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("threshold", "chatty", "'chatty' is neither chat nor base"),
        ("threshold", "101", "'101'"),
        ("threshold", "nan", "'nan'"),
        ("weights", "4k", "weight '' of '4k'"),
        ("weights", "4k=-1", "weight '-1'"),
        ("weights", "4k=0", "all 0"),
        ("weights", "512=1", "512 tokens, which is no length of this run"),
    ],
)
def test_a_threshold_or_weight_that_is_none(option: str, value: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        resolve("ruler", {option: value})

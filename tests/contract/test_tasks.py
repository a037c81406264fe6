import json
from pathlib import Path

import pytest

from leadline.tasks.registry import NOLIMA_VARIANTS, RULER_TASKS, TASKS, make_task
from leadline.testing import check_task
from tests.unit.needles.official import official_entries

from .conftest import sampler

OTHERS = [name for name, (family, _) in TASKS.items() if name not in RULER_TASKS and family != "nolima"]
VARIANTS = [suffix for suffix, variant in NOLIMA_VARIANTS.items() if variant != "hard"]
"""Which pairs are the hard ones is known of the official files alone."""


@pytest.mark.parametrize("name", RULER_TASKS)
def test_every_task_keeps_the_contract(name: str, tokenizer_name: str) -> None:
    check_task(make_task(name), sampler(tokenizer_name), (1024, 4096, 8192))


@pytest.mark.parametrize("name", OTHERS)
def test_every_other_configuration_keeps_the_contract(name: str) -> None:
    check_task(make_task(name), sampler("cl100k_base"), (2048, 8192), indices=range(2))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("niah", {"type_key": "number", "type_value": "word", "num_keys": 3}),
        ("niah", {"type_key": "word", "type_value": "word", "num_values": 2}),
        ("niah", {"type_key": "uuid", "type_value": "number", "type_haystack": "needle", "num_queries": 2}),
        ("niah", {"type_key": "number", "type_value": "number", "type_haystack": "needle"}),
        ("niah", {"num_keys": 60, "type_haystack": "essay"}),
        ("niah", {"num_queries": 2, "num_values": 3, "num_keys": 5, "type_haystack": "repeat"}),
        ("vt", {"num_chains": 3, "num_hops": 2}),
        ("vt", {"examples": "turns"}),
        ("cwe", {"num_cw": 5, "freq_cw": 12, "freq_ucw": 2, "examples": "none"}),
        ("cwe", {"examples": "turns", "freq_cw": 20}),
        ("fwe", {"alpha": 1.5, "top_k": 5, "word_length": 5, "output_tokens": 80}),
        ("fwe", {"alpha": 3.5, "vocabulary_size": 50}),
        ("qa", {"distractors": "uniform", "questions": "shuffled"}),
        ("qa", {"dataset": "hotpotqa", "questions": "shuffled", "distractors": "uniform"}),
        ("vt", {"num_hops": 8, "name_length": 7, "examples": "none", "output_tokens": 80}),
    ],
)
@pytest.mark.parametrize("counted", ["cl100k_base", "smollm2"])
def test_parameters_keep_the_contract(name: str, changes: dict[str, object], counted: str) -> None:
    check_task(make_task(name, changes), sampler(counted), (2600, 6000), indices=range(2))


def test_essays_begin_at_one_of_five_places_whatever_the_length() -> None:
    task, made = make_task("niah_single_2", {"haystack_start": "random"}), sampler("cl100k_base")
    check_task(task, made, (1024, 4096), indices=range(2))
    starts = [made.plan(task, index).facts["start"] for index in range(60)]
    assert len(set(starts)) == 5


@pytest.mark.parametrize("suffix", VARIANTS)
@pytest.mark.parametrize("sweep", ["full", "last-2k"])
def test_our_own_needles_keep_the_contract(suffix: str, sweep: str, tokenizer_name: str) -> None:
    task = make_task(f"nolima_open{suffix}", {"sweep": sweep})
    check_task(task, sampler(tokenizer_name), (250, 2_000, 8_000, 64_000), indices=(0, 1, 177))


@pytest.mark.parametrize("suffix", VARIANTS)
def test_files_in_the_official_format_keep_the_contract(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(official_entries()), encoding="utf-8")
    task = make_task(f"nolima{suffix}", {"needles": str(file), "haystack": "open"})
    check_task(task, sampler("cl100k_base"), (500, 4_000), indices=range(9))

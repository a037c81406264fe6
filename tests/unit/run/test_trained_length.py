"""``--trained-length``: what the user says of the model is kept with the run, and changes nothing else of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.errors import UsageError
from leadline.prompt import named_frame
from leadline.requests import ModelFacts
from leadline.run.identity import identity
from leadline.run.manifest import merged_manifest, write_manifest
from leadline.spec import RunSpec, resolve

from .conftest import WordTokenizer

FACTS = ModelFacts("some-model")
FRAME = named_frame("base", WordTokenizer())


def manifest_of(folder: Path, spec: RunSpec) -> dict[str, object]:
    made = merged_manifest(folder, spec, FACTS, FRAME, identity(spec, FACTS, "words", FRAME, {}))
    write_manifest(folder, made)
    return made["spec"]


@pytest.mark.parametrize(("suite", "tokens"), [("ruler", 32768), ("nolima-open", 32000)])
def test_it_is_written_in_the_k_of_the_suite(suite: str, tokens: int) -> None:
    assert resolve(suite, {"trained_length": "32k"}).trained_length == tokens
    assert resolve(suite, {}).trained_length is None


def test_it_must_be_a_length() -> None:
    with pytest.raises(UsageError, match="'32q' is not a number of tokens"):
        resolve("ruler", {"trained_length": "32q"})


def test_it_is_no_part_of_what_makes_a_run() -> None:
    with_it, without = resolve("ruler", {"trained_length": "32k"}), resolve("ruler", {})
    assert identity(with_it, FACTS, "words", FRAME, {}) == identity(without, FACTS, "words", FRAME, {})


def test_once_said_it_stays_until_another_is_said(tmp_path: Path) -> None:
    for said, kept in ((None, None), ("32k", 32768), (None, 32768), ("64k", 65536)):
        assert manifest_of(tmp_path, resolve("ruler", {"trained_length": said}))["trained_length"] == kept

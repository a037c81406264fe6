"""Where RULER and NoLiMa part, on runs whose effective lengths are known."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from leadline.analysis.parting import Parting, partings_of
from leadline.analysis.several import RunOfSeveral, comparable_groups

from .runs_of_several import NOLIMA, RULER, run_of


def parting(ruler: Mapping[int, int], nolima: Mapping[int, int]) -> Parting:
    (found,) = partings_of(comparable_groups([run_of(ruler), run_of(nolima, suite="nolima-open")]))
    return found


def upto(lengths: Mapping[int, int], greatest: int, beyond: int = 0) -> dict[int, int]:
    return {length: 40 if length <= greatest else beyond for length in lengths}


@pytest.mark.parametrize(
    ("ruler", "nolima", "words"),
    [
        (RULER, upto(NOLIMA, 2000), "they part above 2,000 tokens, where nolima-open ends and ruler goes on"),
        (upto(RULER, 4096), NOLIMA, "they part above 4,096 tokens, where ruler ends and nolima-open goes on"),
        (upto(RULER, 4096), upto(NOLIMA, 4000), "they end at the same length"),
        (RULER, NOLIMA, "they do not part up to 8,000 tokens, the greatest that nolima-open was asked at"),
        (upto(RULER, 8192), NOLIMA, "they do not part up to 8,000 tokens"),
        (
            upto({4096: 0, 8192: 0}, 8192),
            upto(NOLIMA | {16000: 0}, 8000),
            "cannot be said, because ruler was asked up to 8,192 tokens alone",
        ),
        (upto(RULER, 0), upto(NOLIMA, 2000), "cannot be said, because ruler was asked from 4,096 tokens on alone"),
        (upto(RULER, 0), NOLIMA, "they part below 4,096 tokens, where ruler ends and nolima-open goes on"),
        (
            upto(RULER, 4096),
            upto(NOLIMA, 500),
            "they part below 1,000 tokens, where nolima-open ends and ruler goes on",
        ),
        (upto(RULER, 0), upto(NOLIMA, 500), "neither passes at any length that it was asked at"),
        (RULER, upto(NOLIMA, 0), "by nolima-open no effective length is claimed: where they part cannot be said"),
    ],
)
def test_the_sentence_says_what_the_two_lengths_allow(
    ruler: dict[int, int], nolima: dict[int, int], words: str
) -> None:
    assert words in parting(ruler, nolima).sentence


def test_each_has_its_own_rule() -> None:
    told = parting({4096: 36, 8192: 36, 16384: 0}, upto(NOLIMA, 2000)).sentence
    assert "by ruler it is 8K (8,192 tokens; a score of 85.6)" in told
    assert "by nolima-open it is 2K (2,000 tokens; 85 % of the base score, 85.0)" in told


def test_lengths_that_may_be_the_same_are_said_to_be() -> None:
    sure = parting(RULER, upto(NOLIMA, 2000)).sentence
    unsure = parting({4096: 40, 8192: 36, 16384: 30}, upto(NOLIMA, 4000, beyond=33)).sentence
    assert ("overlap" in sure, "overlap" in unsure) == (False, True)


def test_shares_are_of_the_score_where_length_is_no_difficulty() -> None:
    found = parting({4096: 36, 8192: 18, 16384: 0}, upto(NOLIMA, 2000, beyond=10))
    assert [share.share for share in found.tasks.shares] == pytest.approx([100, 50, 0])
    assert (found.tasks.of, found.tasks.of_score) == ("its score at 4K", 90)
    assert found.tasks.must_keep == pytest.approx(100 * 85.6 / 90)
    assert [share.share for share in found.needles.shares] == pytest.approx([100, 100, 100, 100, 25, 25])
    assert (found.needles.of, found.needles.must_keep) == ("its base score", pytest.approx(85))
    data = found.as_dict()
    assert [side["k"] for side in data["sides"]] == [1024, 1000]
    assert data["sentence"] == found.sentence


def test_only_one_model_with_one_label_is_a_pair_and_never_two_sets_of_needles() -> None:
    def pairs(*runs: RunOfSeveral) -> list[tuple[str, str]]:
        return [(each.tasks.name, each.needles.name) for each in partings_of(comparable_groups(runs))]

    open_set, official = run_of(NOLIMA, suite="nolima-open"), run_of(NOLIMA, suite="nolima")
    assert pairs(open_set, official) == []
    assert pairs(run_of(RULER, "other"), open_set) == []
    assert pairs(run_of(RULER, label="yarn"), open_set) == []
    assert pairs(run_of(RULER, protocol="sound"), open_set, official) == [
        ("ruler (sound)", "nolima-open"),
        ("ruler (sound)", "nolima"),
    ]


def test_nothing_to_be_a_share_of() -> None:
    found = parting(RULER, upto(NOLIMA, 0))
    assert found.needles.shares == ()
    assert found.needles.must_keep is None

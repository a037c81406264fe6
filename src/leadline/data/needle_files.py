"""Needle sets by name: our own, the official files where the user has them, or a file of the user's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from leadline.data.cache import cache_folder
from leadline.errors import UsageError
from leadline.needles.open_set import load_open_set
from leadline.needles.reading import read_needle_file
from leadline.needles.sets import NeedleSet
from leadline.needles.templates import TEMPLATES

OPEN, OFFICIAL = "open", "official"

OFFICIAL_FILES = {
    "default": "needle_set.json",
    "direct": "needle_set_ONLYDirect.json",
    "choices": "needle_set_MC.json",
    "cot": "needle_set_w_CoT.json",
    "distractor": "needle_set_w_Distractor.json",
    "hard": "needle_set_hard.json",
}
"""The published files, one for each variant."""


def official_folder() -> Path:
    """Where the official files are kept once they have been fetched."""
    return cache_folder() / "nolima-official"


def load_needles(name: str, variant: str) -> NeedleSet:
    """A needle set in one of its variants.

    Args:
        name: ``open``, ``official``, or a file in the official format.
        variant: how its pairs are asked.

    Raises:
        UsageError: there is no such set or variant, or the official files have not been fetched.
        DataError: a file is not in the format.
    """
    if name == OPEN:
        return load_open_set(variant)
    if name == OFFICIAL:
        path = official_folder() / OFFICIAL_FILES[variant]
        if not path.is_file():
            raise UsageError(
                f"the official needle file {path.name} is not here: its licence is non-commercial, so it is fetched "
                "only on request with  leadline data get nolima-official, or given with --needles FILE and "
                "--haystack DIR; the suite nolima-open needs neither"
            )
        return replace(read_needle_file(path), name="nolima")
    return _as(variant, read_needle_file(Path(name).expanduser()))


def _as(variant: str, needles: NeedleSet) -> NeedleSet:
    """The pairs of a user's file as a variant asks them: the file's own wording, but where the variant brings one.

    Raises:
        UsageError: the file has no pair that the variant asks.
    """
    direct = variant == "direct" or all(pair.hops == "direct" for pair in needles.pairs)
    pairs = [pair for pair in needles.pairs if (pair.hops == "direct") == direct]
    if variant == "hard":
        raise UsageError(
            f"--variant hard: which pairs of {needles.name} are hard is not known: leave the others out of it"
        )
    if variant == "distractor":
        pairs = [pair for pair in pairs if pair.distractor_template is not None]
    else:
        pairs = [replace(pair, distractor_template=None) for pair in pairs]
    if variant in ("choices", "cot"):
        pairs = [replace(pair, task_template=TEMPLATES[variant]) for pair in pairs]
    if not pairs:
        missing = {"direct": "direct questions", "distractor": "distractors"}.get(variant, "pairs")
        raise UsageError(f"--variant {variant}: {needles.name} has no {missing}: choose another variant")
    return replace(needles, pairs=tuple(pairs))

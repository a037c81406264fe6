"""Families of models: one model in several sizes, or trained for several lengths (RULER, figure 4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from leadline.analysis.lengths import LengthScore
from leadline.analysis.several import Comparable, RunOfSeveral
from leadline.errors import UsageError

_FIGURE = re.compile(r"[-_ :/]?(?<![A-Za-z0-9.])a?\d+(?:\.\d+)?(?:x\d+(?:\.\d+)?)?[bkm](?![A-Za-z0-9])", re.IGNORECASE)
"""A size or a length in a model's name, with what stands before it: ``-7B``, ``-8x22b``, ``:70b``, ``-128k``."""

_OPTIONS = re.compile(r"\?.*")
"""The options in a reader's name."""


@dataclass(frozen=True, slots=True)
class Member:
    """One model of a family.

    Attributes:
        name: what tells it apart within the family: its size, its length, or all of its name.
        scores: by length, ascending, over the tasks that all runs of its group have.
        trained_tokens: the length that it was trained for; None where nobody says.
    """

    name: str
    run: RunOfSeveral
    scores: tuple[LengthScore, ...]
    trained_tokens: int | None


@dataclass(frozen=True, slots=True)
class Family:
    """Models of one name, measured by one suite. `group` is the comparable runs that they are among."""

    name: str
    group: Comparable
    members: tuple[Member, ...]


def families_of(groups: Sequence[Comparable], given: Mapping[str, Sequence[Path]] | None = None) -> tuple[Family, ...]:
    """The families among runs.

    Those that are given by name, else those that the models' names tell: names that are equal without sizes and
    lengths. A family of two models at least is drawn; one that is all of its group only where it is given or a trained
    length is known, since its chart would else be that of the group.

    Args:
        groups: of comparable runs.
        given: folders of runs by the family's name.

    Raises:
        UsageError: a given folder is none of the runs, a family has one run, or runs that share no axis.
    """
    if given:
        return tuple(_given(name, folders, groups) for name, folders in given.items())
    found: list[Family] = []
    for group in groups:
        by_stem: dict[str, list[RunOfSeveral]] = {}
        for run in group.runs:
            by_stem.setdefault(stem(run.summary.model), []).append(run)
        found += [
            _family(name, group, runs)
            for name, runs in by_stem.items()
            if len(runs) > 1 and (len(runs) < len(group.runs) or any(run.claimed_tokens for run in runs))
        ]
    return tuple(found)


def stem(model: str) -> str:
    """A model's name without sizes, lengths and a reader's options: ``Qwen2.5`` of ``Qwen2.5-7B-1M``."""
    return _FIGURE.sub("", _OPTIONS.sub("", model)) or model


def _given(name: str, folders: Sequence[Path], groups: Sequence[Comparable]) -> Family:
    place_of = {run.folder.resolve(): (group, run) for group in groups for run in group.runs}
    missing = [folder for folder in folders if folder.resolve() not in place_of]
    if missing:
        raise UsageError(f"--family {name}: {missing[0]} is none of the runs of this page: name its folder there too")
    found = [place_of[folder.resolve()] for folder in dict.fromkeys(folder.resolve() for folder in folders)]
    if len(found) < 2:
        raise UsageError(f"--family {name} has one run: name two at least, with commas between them")
    group = found[0][0]
    for other, run in found:
        if other is not group:
            raise UsageError(
                f"--family {name}: {found[0][1].folder} is of {described(group)} and {run.folder} of "
                f"{described(other)}, and they share no axis: name runs of the same suite, protocol and tasks"
            )
    return _family(name, group, [run for _, run in found])


def described(group: Comparable) -> str:
    """The suite and protocol of a group, in words."""
    return f"{group.suite}, {group.protocol} protocol"


def _family(name: str, group: Comparable, runs: Sequence[RunOfSeveral]) -> Family:
    names = {id(run): name for name, run in group.named}
    short = [_told_apart(run, name) for run in runs]
    if "" in short or len(set(short)) < len(short):
        short = [names[id(run)] for run in runs]
    members = tuple(
        Member(each, run, group.scores(run), run.claimed_tokens) for each, run in zip(short, runs, strict=True)
    )
    return Family(name, group, tuple(sorted(members, key=lambda member: _size(member.name))))


def _told_apart(run: RunOfSeveral, name: str) -> str:
    """What a model's name has beyond that of its family, and the run's label."""
    model = run.summary.model
    if stem(model) != name:
        return ""
    sizes = [each.lstrip("-_ :/") for each in _FIGURE.findall(_OPTIONS.sub("", model))]
    options = [option[1:] for option in _OPTIONS.findall(model)]
    return ", ".join([*sizes, *options, *([run.label] if run.label else [])])


def _size(name: str) -> tuple[float, str]:
    """Sizes ascend by their number, whatever their digits: 7B before 14B, 500M before 1B."""
    number = re.search(r"(\d+(?:\.\d+)?)([bkm]?)", name, re.IGNORECASE)
    if number is None:
        return 0.0, name
    return float(number[1]) * {"k": 1e3, "m": 1e6, "b": 1e9}.get(number[2].lower(), 1.0), name

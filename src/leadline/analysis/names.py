"""NoLiMa's answers by name: whether some names are found more often than others, and what guessing one would score."""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from leadline.analysis.dealing import Place, p_of_labels
from leadline.analysis.strata import make_stratum, stratified_interval
from leadline.records import Record
from leadline.scoring.matching import clean
from leadline.scoring.trials import Scored

DIFFER_BELOW = 0.05
"""Names are said to differ where p is below this."""

CHOICES = 4
"""Names that the variant `choices` offers."""


@dataclass(frozen=True, slots=True)
class Chance:
    """What guessing scores on a task: one of the `names` that could be drawn, or of those that the question offers."""

    task: str
    names: int

    @property
    def score(self) -> float:
        """In per cent."""
        return 100 / self.names


def chance_of(record: Record) -> Chance | None:
    """What guessing scores on a record's task; None where its answer is no name that was drawn."""
    name, names = record.facts.get("name"), record.facts.get("names")
    if not name or not isinstance(names, list | tuple) or record.answers != ((name,),):
        return None
    offered = CHOICES if record.factors.get("variant") == "choices" else len(names)
    return Chance(sys.intern(record.key.item.task), offered)


def place_of(record: Record) -> str:
    """The place of a record whose answer is a name: all trials about it have one draw of a name in common."""
    axes = (record.factors.get(axis) for axis in ("group", "book", "depth", "from_end"))
    return sys.intern(":".join(map(str, (*axes, record.facts["name"], record.key.item.seed))))


@dataclass(frozen=True, slots=True)
class NameScore:
    """What was asked and answered with one name, or with the names of one number of tokens. Scores in per cent.

    Attributes:
        name: the name; for several of them what they have in common.
        n: trials whose right answer it is.
        low, high: 95 % interval of `score`, over places.
        difference: points above what the trials of the same task, length and group score on average.
        answered_wrongly: wrong answers that hold it, where another name was right.
        tokens: its tokens within a sentence; None where no tokenizer was at hand.
    """

    name: str
    n: int
    score: float
    low: float
    high: float
    difference: float
    answered_wrongly: int
    tokens: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The name as it stands in the summary."""
        return {
            "name": self.name,
            "n": self.n,
            "score": self.score,
            "low": self.low,
            "high": self.high,
            "difference": self.difference,
            "answered_wrongly": self.answered_wrongly,
            "tokens": self.tokens,
        }


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a run.

    Attributes:
        chances: of each task.
        by_name: the names that were drawn, in the set's order.
        p: probability that names without any influence differ at least as much; None where nothing can differ.
        wrong: wrong answers.
        wrong_naming: those that hold another name of the set.
        places: what the figures rest on.
        by_tokens: names of one token and names of several, where both are among them.
        p_tokens: the same as `p` for these two.
    """

    chances: tuple[Chance, ...]
    by_name: tuple[NameScore, ...]
    p: float | None
    wrong: int
    wrong_naming: int
    places: tuple[Place, ...]
    by_tokens: tuple[NameScore, ...] = ()
    p_tokens: float | None = None

    def with_tokens(self, tokens: Mapping[str, int]) -> Names:
        """The same with the number of tokens of each name."""
        kinds = {name: "one token" if count == 1 else "several tokens" for name, count in tokens.items()}
        drawn = [one.name for one in self.by_name]
        if any(name not in tokens for name in drawn):
            return self
        wrongly = Counter[str]()
        for one in self.by_name:
            wrongly[kinds[one.name]] += one.answered_wrongly
        labels = {name: kinds[name] for name in drawn}
        two = len(set(labels.values())) > 1
        return replace(
            self,
            by_name=tuple(replace(one, tokens=tokens[one.name]) for one in self.by_name),
            by_tokens=_scores(self.places, labels, ("one token", "several tokens"), wrongly) if two else (),
            p_tokens=p_of_labels(self.places, labels) if two else None,
        )

    def as_dict(self) -> dict[str, Any]:
        """The names as they stand in the summary."""
        return {
            "chance": [{"task": one.task, "names": one.names, "score": one.score} for one in self.chances],
            "p": self.p,
            "places": len(self.places),
            "wrong": self.wrong,
            "wrong_naming": self.wrong_naming,
            "by_name": [one.as_dict() for one in self.by_name],
            "by_tokens": [one.as_dict() for one in self.by_tokens],
            "p_tokens": self.p_tokens,
        }


class _Trial(NamedTuple):
    task: str
    length: int
    group: str
    place: str
    name: str
    score: float
    others: tuple[str, ...]


class NameCount:
    """Counts records, oldest first: the newest record of a key counts. A few words are kept of each."""

    def __init__(self) -> None:
        self._trials: dict[Hashable, _Trial] = {}
        self._chances: dict[str, Chance] = {}
        self._order: dict[str, None] = {}

    def add(self, record: Record, scored: Scored | None) -> None:
        """Count one more record, with its scores; what has no name as its answer, and controls, are left out."""
        key, item = record.key, record.key.item
        if key.is_control or (chance := chance_of(record)) is None:
            return
        task = sys.intern(item.task)
        trial = (task, item.version, sys.intern(item.params), item.seed, item.index, key.length, key.wording)
        if scored is None or record.response is None or record.outcome == "over_length":
            self._trials.pop(trial, None)
            return
        name, names = record.facts["name"], record.facts["names"]
        self._chances.setdefault(task, chance)
        self._order.update(dict.fromkeys(map(sys.intern, names)))
        answer = clean(record.response.text or "")
        group, name = sys.intern(str(record.factors.get("group", ""))), sys.intern(name)
        others = () if scored.recall else tuple(sys.intern(other) for other in names if other in answer)
        self._trials[trial] = _Trial(task, key.length, group, place_of(record), name, scored.recall, others)

    def result(self) -> Names | None:
        """The names; None where no trial had one."""
        if not self._trials:
            return None
        trials = list(self._trials.values())
        places = _places(trials)
        drawn = {place.name for place in places}
        order = tuple(name for name in self._order if name in drawn)
        labels = {name: name for name in order}
        wrong = [trial for trial in trials if not trial.score]
        return Names(
            chances=tuple(chance for _, chance in sorted(self._chances.items())),
            by_name=_scores(places, labels, order, Counter(other for trial in wrong for other in trial.others)),
            p=p_of_labels(places, labels),
            wrong=len(wrong),
            wrong_naming=sum(bool(trial.others) for trial in wrong),
            places=places,
        )


def _places(trials: Sequence[_Trial]) -> tuple[Place, ...]:
    alike: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    at_place: dict[str, list[_Trial]] = defaultdict(list)
    for trial in trials:
        alike[trial.task, trial.length, trial.group].append(trial.score)
        at_place[trial.place].append(trial)
    means = {key: math.fsum(scores) / len(scores) for key, scores in alike.items()}
    return tuple(
        Place(
            found[0].group,
            found[0].name,
            tuple(sorted(trial.score for trial in found)),
            math.fsum(trial.score - means[trial.task, trial.length, trial.group] for trial in found),
        )
        for _, found in sorted(at_place.items())  # records come in any order, and p must not depend on it
    )


def _scores(
    places: Sequence[Place], labels: Mapping[str, str], order: Sequence[str], wrongly: Mapping[str, int]
) -> tuple[NameScore, ...]:
    """Of each label, in this order, the score over the places of its names; trials of one place are one unit."""
    of_label: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        of_label[labels[place.name]].append(place)
    made: list[NameScore] = []
    for label in order:
        scores = [(number, score) for number, place in enumerate(of_label[label]) for score in place.scores]
        stratum = make_stratum([(1.0, scores)])
        low, high = stratified_interval([stratum])
        above = math.fsum(place.above for place in of_label[label]) / len(scores)
        made.append(
            NameScore(label, len(scores), 100 * stratum.mean, 100 * low, 100 * high, 100 * above, wrongly.get(label, 0))
        )
    return tuple(made)

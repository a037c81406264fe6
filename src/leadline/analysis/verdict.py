"""The verdict: a run's figures in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from leadline.analysis.base_score import BaseRule
from leadline.analysis.design import Design
from leadline.analysis.effective import EffectiveLength
from leadline.analysis.intervals import CONFIDENCE
from leadline.analysis.lengths import LengthScore
from leadline.analysis.standings import EffectiveSet, Standing, passes
from leadline.analysis.summary import Summary


def format_length(tokens: int, k: int) -> str:
    """A length as people write it: ``4K``, ``1M``, and ``512`` where it is no whole number of K."""
    if tokens and tokens % (k * k) == 0:
        return f"{tokens // (k * k)}M"
    if tokens and tokens % k == 0:
        return f"{tokens // k}K"
    return str(tokens)


def format_effective(length: EffectiveLength, shortest: int, k: int) -> str:
    """An effective length as a label: ``4K``, ``<4K``, ``>128K``, or ``–`` where none is claimed."""
    if length.censored == "below":
        return f"<{format_length(shortest, k)}"
    if length.value is None:
        return "–"
    return (">" if length.censored == "above" else "") + format_length(length.value, k)


def format_share(design: Design) -> str:
    """What a length must keep, as a label: ``85 % of 1K``, ``85 % of the base score``."""
    of = "the base score" if design.base is not None else format_length(design.shortest, design.k)
    return f"{_share(design)} of {of}"


def format_figure(value: float, bound: float, decimals: int) -> str:
    """A figure with so many decimals, or as many more as show on which side of the bound it is."""
    for places in range(decimals, 6):
        text = f"{value:.{places}f}"
        if (float(text) >= bound) == (value >= bound - 1e-9):
            return text
    return repr(value)


def format_set(length: EffectiveLength, shortest: int, greatest: int, k: int) -> str:
    """All effective lengths that cannot be excluded: ``4K``, ``<4K or 4K``, ``64K or >128K``; empty where unknown."""
    if length.possible is None:
        return ""
    names = [f"<{format_length(shortest, k)}"] if length.possible.below else []
    names += [(">" if tokens == greatest else "") + format_length(tokens, k) for tokens in length.possible.lengths]
    return enumerated(names, "or")


def verdict(summary: Summary, design: Design) -> str:
    """What the run found, in one sentence without a full stop, for people who read nothing else."""
    if design.base is not None:
        summary, design = _at_tested_lengths(summary, design, design.base)
    lengths = summary.effective_length
    main = lengths.absolute if lengths.absolute.no_claim is None else lengths.relative
    clauses = [_main_clause(summary, design, main)]
    if main.no_claim is None:
        clauses += _certainty(summary, design, main)
    # A run that stopped by one threshold has means that say little of another.
    both = lengths.absolute.no_claim is None and lengths.relative.no_claim is None and not design.stopped_lengths
    if both and design.lengths:
        whole = _own(summary, design).replace("its score", "its own score")
        clauses.append(f"by {_share(design)} of {whole} it is {_label(lengths.relative, design)}")
    if lengths.absolute.no_claim == "missing_tasks":
        clauses.append(_missing_tasks(summary, design))
    strict = lengths.strict
    if (
        main.no_claim is None
        and strict.no_claim is None
        and (main.value, main.censored) != (strict.value, strict.censored)
    ):
        clauses.append(f"with every shorter length passing too, it is {_label(strict, design)}")
    if main.undecided and main.no_claim != "incomplete":
        clauses.append(_incomplete(main.undecided, design))
    weak = None if summary.control is None else summary.control.caveat(_k(summary.control.length, design))
    return "; ".join([*clauses, *([] if weak is None else [weak])])


def _at_tested_lengths(summary: Summary, design: Design, rule: BaseRule) -> tuple[Summary, Design]:
    """The same without the lengths that only serve the base score."""
    tested = tuple(length for length in design.lengths if length >= rule.shortest)
    scores = tuple(score for score in summary.by_length if score.length >= rule.shortest)
    return replace(summary, by_length=scores), replace(design, lengths=tested, weights={})


def _own(summary: Summary, design: Design) -> str:
    """What a relative threshold is a share of."""
    if summary.base is not None and summary.base.score is not None:
        return f"its base score, {summary.base.score:.1f}"
    return f"its score at {_k(design.lengths[0], design)}"


def _main_clause(summary: Summary, design: Design, main: EffectiveLength) -> str:
    """What passes for certain and what fails for certain; the first of the cases that holds.

    Where no length has an interval, the scores alone decide.
    """
    if main.no_claim is not None:
        return _no_claim(summary, design, main)
    standings = _standings(summary.by_length, main)
    by_length = dict(zip(design.lengths, standings, strict=True))
    passing = [length for length in design.lengths if by_length[length] == "passes" and length <= (main.value or 0)]
    beyond = passing[-1] if passing else main.value or 0
    failing = [length for length in design.lengths if by_length[length] == "fails" and length > beyond]
    asked = _asked(main, summary, design)
    if passing and passing[-1] == design.lengths[-1]:
        told = f"passes {asked} at {_k(passing[-1], design)}, the greatest length tested"
    elif passing:
        told = f"passes {asked} at {_k(passing[-1], design)}"
        told += f", and not at {_k(failing[0], design)}" if failing else ""
    elif main.value is None:
        # Shorter lengths, which may well pass, serve the base score alone.
        tested = "tested" if design.base is None else f"from {_k(design.base.shortest, design)} on"
        told = f"does not pass {asked} at any length {tested}"
    else:
        told = f"passes {asked} at no length for certain"
        told += f", and not at {_k(failing[0], design)}" if failing else ""
    return f"effective length {_label(main, design)}: {told}"


def _certainty(summary: Summary, design: Design, main: EffectiveLength) -> list[str]:
    """What stays open, which lengths could be the effective one, and the scores on both sides of the threshold."""
    standings = _standings(summary.by_length, main)
    sure = max((place for place, standing in enumerate(standings) if standing == "passes"), default=-1)
    incomplete = set(main.undecided)
    open_lengths = [
        _k(score.length, design)
        for place, (score, standing) in enumerate(zip(summary.by_length, standings, strict=True))
        if standing == "undecided" and place > sure and score.length not in incomplete
    ]
    clauses = [f"undecided at {enumerated(open_lengths, 'and')}"] if open_lengths else []
    stopped = design.stopped
    of_rule = {} if stopped is None else stopped.lengths
    within = [_k(length, design) for length in main.decided if of_rule[length].verdict == "within"]
    if within and stopped is not None:
        clauses.append(f"within {stopped.margin or 0:g} points of the threshold at {enumerated(within, 'and')}")
    if stopped is not None and stopped.effective is not None and main.possible is not None:
        clauses.append(_claimed(main.possible, main, design))
    elif main.decided and main.confidence is not None and not within:
        clauses.append(f"each length is certain at {_percent(main.confidence)}")
    elif main.possible is not None and main.possible.size > 1 and design.lengths:
        possible = format_set(main, design.shortest, design.lengths[-1], design.k)
        clauses.append(f"at {_percent(CONFIDENCE)} it could be {possible}")
    clauses.append(_figures(summary, design, main))
    return clauses


def _claimed(possible: EffectiveSet, main: EffectiveLength, design: Design) -> str:
    """The effective length as one claim, by a stop rule."""
    if possible.size == 1:
        return f"the effective length is certain at {_percent(possible.confidence)}"
    names = format_set(main, design.shortest, design.lengths[-1], design.k)
    return f"certain at {_percent(possible.confidence)} is that the effective length is {names}"


def _percent(confidence: float) -> str:
    return f"{confidence:.1%}".replace(".0%", "%").replace("%", " %")


def _standings(scores: Sequence[LengthScore], main: EffectiveLength) -> tuple[Standing, ...]:
    if main.decided or any(score.low is not None for score in scores):
        return main.standings
    named: dict[bool | None, Standing] = {True: "passes", False: "fails", None: "undecided"}
    return tuple(named[passes(score, main.threshold or 0.0)] for score in scores)


def _asked(main: EffectiveLength, summary: Summary, design: Design) -> str:
    """The threshold as a number; a relative one with what it is a share of."""
    if main is summary.effective_length.absolute:
        return f"{main.threshold or 0.0:g}"
    return f"{main.threshold or 0.0:.1f} ({_share(design)} of {_own(summary, design)})"


def _figures(summary: Summary, design: Design, main: EffectiveLength) -> str:
    """The scores at the effective length and at the next one that does not reach the threshold."""
    asked = main.threshold or 0.0
    told = [
        f"{format_figure(score.score, asked, 1)} at {_k(score.length, design)}"
        for score in _deciding(summary.by_length, main)
        if score.score is not None
    ]
    return f"it scores {enumerated(told, 'and')}"


def _deciding(scores: Sequence[LengthScore], length: EffectiveLength) -> list[LengthScore]:
    """The length that passes and the next one that fails; the shortest where none passes."""
    if length.value is None or length.threshold is None:
        return list(scores[:1])
    failing = [score for score in scores if score.length > length.value and length.passed(score) is False]
    return [score for score in scores if score.length == length.value] + failing[:1]


def enumerated(names: Sequence[str], word: str) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return f" {word} ".join(part for part in (", ".join(names[:-1]), names[-1]) if part) if names else ""


def _no_claim(summary: Summary, design: Design, length: EffectiveLength) -> str:
    if not summary.by_length:
        return "no effective length: nothing was measured"
    if length.no_claim == "incomplete" and len(summary.left_out_tasks) == len(design.tasks):
        return "no effective length: no task fits all lengths"
    shortest = summary.by_length[0]
    at = _k(shortest.length, design)
    base = enumerated([_k(tokens, design) for tokens in design.base.lengths], "and") if design.base is not None else ""
    scores = ", ".join(f"{_score(score)} at {_k(score.length, design)}" for score in summary.by_length)
    told = {
        "zero_at_shortest": f": it scores 0 at {at}, so there is nothing to keep",
        "one_length": f": it scores {_score(shortest)} at {at}, and no other length was measured",
        "incomplete": f" yet: {_incomplete(length.undecided, design)}" if length.undecided else " yet",
        "no_base": f": the base score needs every pair at {base}; it scores {scores}",
        "zero_base": ": its base score is 0, so there is nothing to keep",
    }
    missing = f", because no threshold is set: it scores {scores}"
    return "no effective length" + told.get(length.no_claim or "", missing)


def _missing_tasks(summary: Summary, design: Design) -> str:
    measured = {task.name for task in design.tasks} - set(summary.left_out_tasks)
    claimed = set(design.claims_tasks)
    return (
        f"no absolute effective length is claimed, because {design.threshold_absolute:g} speaks of {len(claimed)} "
        f"tasks and {len(claimed & measured)} of them could be measured at all lengths"
    )


def _incomplete(lengths: Sequence[int], design: Design) -> str:
    names = enumerated([_k(length, design) for length in lengths], "and")
    if len(lengths) == 1:
        return f"{names} is incomplete and neither passes nor fails"
    return f"{names} are incomplete and neither pass nor fail"


def _score(score: LengthScore) -> str:
    return "–" if score.score is None else f"{score.score:.1f}"


def _label(length: EffectiveLength, design: Design) -> str:
    return format_effective(length, design.shortest, design.k)


def _share(design: Design) -> str:
    return f"{100 * (design.share or 0.0):g} %"


def _k(tokens: int, design: Design) -> str:
    return format_length(tokens, design.k)

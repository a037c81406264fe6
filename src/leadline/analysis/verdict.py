"""The verdict: a run's figures in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.analysis.design import Design
from leadline.analysis.effective import EffectiveLength, passes
from leadline.analysis.intervals import CONFIDENCE
from leadline.analysis.lengths import LengthScore
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


def format_figure(value: float, bound: float, decimals: int) -> str:
    """A figure with so many decimals, or as many more as show on which side of the bound it is."""
    for places in range(decimals, 6):
        text = f"{value:.{places}f}"
        if (float(text) >= bound) == (value >= bound - 1e-9):
            return text
    return repr(value)


def verdict(summary: Summary, design: Design) -> str:
    """What the run found, in one sentence without a full stop."""
    lengths = summary.effective_length
    main = lengths.absolute if lengths.absolute.no_claim is None else lengths.relative
    clauses = [_main_clause(summary, design, main)]
    if lengths.absolute.no_claim is None and lengths.relative.no_claim is None and design.lengths:
        clauses.append(
            f"by {_share(design)} of its own score at {_k(design.lengths[0], design)} "
            f"it is {_label(lengths.relative, design)}"
        )
    if lengths.absolute.no_claim == "missing_tasks":
        clauses.append(_missing_tasks(summary, design))
    if main.no_claim is None and (main.value, main.censored) != (lengths.strict.value, lengths.strict.censored):
        clauses.append(f"with every shorter length passing too, it is {_label(lengths.strict, design)}")
    if main.undecided and main.no_claim != "incomplete":
        clauses.append(_incomplete(main.undecided, design))
    has_intervals = all(score.low is not None for score in summary.by_length)
    if main.no_claim is None and main.confidence is None and has_intervals and not main.undecided:
        clauses.append(f"with this many trials it is not certain at {CONFIDENCE:.0%}".replace("%", " %"))
    return "; ".join(clauses)


def _main_clause(summary: Summary, design: Design, length: EffectiveLength) -> str:
    if length.no_claim is not None:
        return _no_claim(summary, design, length)
    shown = [score for score in _deciding(summary.by_length, length) if score.score is not None]
    if length is summary.effective_length.absolute:
        return f"effective length {_label(length, design)}: {_absolute(shown, length, design)}"
    return f"effective length {_label(length, design)}: {_relative(shown, summary.by_length[0], design)}"


def _deciding(scores: Sequence[LengthScore], length: EffectiveLength) -> list[LengthScore]:
    """The length that passes and the next one that fails; the shortest where none passes."""
    if length.value is None or length.threshold is None:
        return list(scores[:1])
    threshold = length.threshold
    failing = [score for score in scores if score.length > length.value and passes(score, threshold) is False]
    return [score for score in scores if score.length == length.value] + failing[:1]


def _absolute(shown: Sequence[LengthScore], length: EffectiveLength, design: Design) -> str:
    asked = length.threshold or 0.0
    figures = [
        f"{format_figure(score.score, asked, 1)} at {_k(score.length, design)}"
        for score in shown
        if score.score is not None
    ]
    return f"it scores {' and '.join(figures)} ({asked:g} is asked for)"


def _relative(shown: Sequence[LengthScore], shortest: LengthScore, design: Design) -> str:
    base, asked = shortest.score or 0.0, 100 * (design.threshold_relative or 0.0)
    kept = [
        (_k(score.length, design), f"{format_figure(100 * score.score / base, asked, 0)} %")
        for score in shown
        if score.score is not None and score is not shortest
    ]
    if not kept:
        return f"no longer length could be judged against its score at {_k(shortest.length, design)}"
    (length, share), *others = kept
    rest = "".join(f", at {other} {other_share}" for other, other_share in others)
    at = _k(shortest.length, design)
    return f"at {length} it keeps {share} of its score at {at} ({_share(design)} is asked for){rest}"


def _no_claim(summary: Summary, design: Design, length: EffectiveLength) -> str:
    if not summary.by_length:
        return "no effective length: nothing was measured"
    shortest = summary.by_length[0]
    at = _k(shortest.length, design)
    if length.no_claim == "zero_at_shortest":
        return f"no effective length: it scores 0 at {at}, so there is nothing to keep"
    if length.no_claim == "one_length":
        return f"no effective length: it scores {_score(shortest)} at {at}, and no other length was measured"
    if length.no_claim == "incomplete":
        if len(summary.left_out_tasks) == len(design.tasks):
            return "no effective length: no task fits all lengths"
        return f"no effective length yet: {_incomplete(length.undecided, design)}"
    scores = ", ".join(f"{_score(score)} at {_k(score.length, design)}" for score in summary.by_length)
    return f"no effective length, because no threshold is set: it scores {scores}"


def _missing_tasks(summary: Summary, design: Design) -> str:
    measured = {task.name for task in design.tasks} - set(summary.left_out_tasks)
    claimed = set(design.claims_tasks)
    return (
        f"no absolute effective length is claimed, because {design.threshold_absolute:g} speaks of {len(claimed)} "
        f"tasks and {len(claimed & measured)} of them could be measured at all lengths"
    )


def _incomplete(lengths: Sequence[int], design: Design) -> str:
    names = [_k(length, design) for length in lengths]
    if len(names) == 1:
        return f"{names[0]} is incomplete and neither passes nor fails"
    return f"{', '.join(names[:-1])} and {names[-1]} are incomplete and neither pass nor fail"


def _score(score: LengthScore) -> str:
    return "–" if score.score is None else f"{score.score:.1f}"


def _label(length: EffectiveLength, design: Design) -> str:
    return format_effective(length, design.lengths[0], design.k)


def _share(design: Design) -> str:
    return f"{100 * (design.threshold_relative or 0.0):g} %"


def _k(tokens: int, design: Design) -> str:
    return format_length(tokens, design.k)

"""A reader that is worse in the middle of the context: the tool must see the dip, its size, and none where none is."""

from __future__ import annotations

import math
from collections.abc import Iterator

from leadline.analysis.intervals import CONFIDENCE
from leadline.analysis.middle import MIDDLE, MiddleAgainstEnds
from leadline.analysis.placed import DEEPEST
from leadline.analysis.positions import PositionCount, Positions
from leadline.analysis.verdict import format_length
from leadline.calibration.checks import SURE, Check, equal, inside
from leadline.calibration.coverage import READER as LEVEL_READER
from leadline.calibration.measuring import Bench, Measured
from leadline.models.curves import chance_in_the_middle
from leadline.records import Record
from leadline.scoring.trials import score

DIP = 80
"""Per cent."""

READER = f"middle?dip={DIP}"
TASKS = ("niah_single_1", "niah_multivalue")
LENGTH = 1024


def dip_checks(bench: Bench, samples: int) -> Iterator[Check]:
    """The middle third against the outer thirds, for one needle and for several."""
    measured = bench.measure("ruler", READER, tasks=list(TASKS), lengths=[LENGTH], samples=samples)
    sure, plain = _positions(measured, SURE), _positions(measured, CONFIDENCE)
    for task in TASKS:
        middle, told = _middle(sure, task), _middle(plain, task)
        where, n = f"{task} at {format_length(LENGTH, measured.run.design.k)}", samples
        if middle is None or told is None:
            yield equal("position", READER, where, "middle against ends", true="compared", found="not compared", n=n)
            continue
        yield inside(
            "position",
            READER,
            where,
            "middle minus ends, points",
            true=_true_difference([record for record in measured.run.records if record.key.item.task == task]),
            found=middle.difference,
            interval=(middle.low, middle.high),
            n=n,
        )
        seen = "worse" if told.high < 0 else "not seen"
        yield equal("position", READER, where, "middle against ends", true="worse", found=seen, n=n)


def _middle(positions: Positions, task: str) -> MiddleAgainstEnds | None:
    curve = positions.curve(task, LENGTH)
    return None if curve is None else curve.middle


def no_dip_checks(measured: Measured) -> Iterator[Check]:
    """The logistic reader does not know where a needle stands, so there must be nothing to see."""
    positions = _positions(measured, SURE)
    for task in measured.run.design.tasks:
        curve = positions.curve(task.name)
        if curve is not None and curve.middle is not None:
            yield inside(
                "position",
                LEVEL_READER,
                task.name,
                "middle minus ends, points",
                true=0.0,
                found=curve.middle.difference,
                interval=(curve.middle.low, curve.middle.high),
                n=sum(cell.n for cell in measured.run.summary.cells if cell.task == task.name),
            )


def _positions(measured: Measured, confidence: float) -> Positions:
    count = PositionCount(measured.run.design)
    for record in measured.run.records:
        count.add(record, score(record))
    return count.result(confidence)


def _true_difference(records: list[Record]) -> float:
    """By the reader's curve at the places where what was asked for stood, in points."""
    middle, ends = list[float](), list[float]()
    for record in records:
        places = {needle["value"]: needle["place"] for needle in record.facts["needles"]}
        for forms in record.answers:
            place = places[forms[0]]
            part = middle if MIDDLE[0] <= DEEPEST * place < MIDDLE[1] else ends
            part.append(chance_in_the_middle(place, DIP / 100))
    return 100 * (math.fsum(middle) / len(middle) - math.fsum(ends) / len(ends))

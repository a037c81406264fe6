"""The score tables of the papers: models by lengths, with what the print says of its own scores beside them."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from leadline.errors import UsageError
from leadline.reference.sources import SOURCES

Benchmark = Literal["ruler", "nolima"]
Kind = Literal["chat", "base"]
KINDS: tuple[Kind, ...] = get_args(Kind)

RETRIEVAL = (
    "niah_single_1",
    "niah_single_2",
    "niah_single_3",
    "niah_multikey_1",
    "niah_multikey_2",
    "niah_multikey_3",
    "niah_multivalue",
    "niah_multiquery",
)
TRACING, AGGREGATION, QA = ("vt",), ("cwe", "fwe"), ("qa_1", "qa_2")
THIRTEEN = (*RETRIEVAL, *TRACING, *AGGREGATION, *QA)

K: Mapping[Benchmark, int] = {"ruler": 1024, "nolima": 1000}
"""Tokens in a K."""

BASE_TIMES = 0.85
"""Share of the base score that NoLiMa asks of a length."""


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table's name and meaning.

    Attributes:
        name: on the command line.
        file: in this package.
        benchmark: whose lengths and thresholds these are; two benchmarks never share a table.
        tasks: of RULER, whose mean the scores are; empty where no run of the suite can stand in the table.
        baselines: table whose baseline rows give the thresholds; None where the print sets none.
        paper_models: the models are those of RULER's table 4.
        note: what a reader must know besides.
    """

    name: str
    file: str
    benchmark: Benchmark
    tasks: tuple[str, ...] = ()
    baselines: str | None = None
    paper_models: bool = True
    note: str = ""

    @property
    def k(self) -> int:
        """Tokens in a K."""
        return K[self.benchmark]

    @property
    def source(self) -> str:
        """Paper or page, and table."""
        return str(SOURCES[self.file])

    @property
    def about(self) -> str:
        """What the scores are."""
        return SOURCES[self.file].holds


TABLES: dict[str, TableInfo] = {
    info.name: info
    for info in (
        TableInfo("ruler", "ruler_table3_aligned_13tasks.csv", "ruler", THIRTEEN, "ruler"),
        TableInfo("ruler-base", "ruler_table12_base_13tasks.csv", "ruler", THIRTEEN, "ruler-base"),
        TableInfo("niah", "ruler_table13_niah.csv", "ruler", RETRIEVAL, "niah"),
        TableInfo("vt", "ruler_table14_vt.csv", "ruler", TRACING, "vt"),
        TableInfo("aggregation", "ruler_table15_aggregation.csv", "ruler", AGGREGATION, "aggregation"),
        TableInfo("qa", "ruler_table16_qa.csv", "ruler", QA, "qa"),
        TableInfo("passkey", "ruler_table10_passkey.csv", "ruler", note="the print sets no threshold"),
        TableInfo("vanilla-niah", "ruler_table11_vanilla_niah.csv", "ruler", note="the print sets no threshold"),
        TableInfo("later", "ruler_readme_leaderboard.csv", "ruler", THIRTEEN, "ruler", paper_models=False),
        TableInfo("nolima", "nolima_table3_main.csv", "nolima", paper_models=False),
        TableInfo("nolima-hard", "nolima_hard.csv", "nolima", paper_models=False),
        TableInfo(
            "nolima-long",
            "nolima_v3_long.csv",
            "nolima",
            paper_models=False,
            note="no effective length: the shorter lengths and the base scores stand in other tables",
        ),
    )
}
"""By name, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What the print says of a row's own scores; None where it says nothing."""

    average: float | None
    wavg_inc: float | None
    wavg_dec: float | None
    rank_inc: int | None
    rank_dec: int | None
    effective: str | None
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """A model's scores as printed.

    Attributes:
        model: label in the table.
        kind: chat (aligned) or base.
        claimed: the length the model is sold with, as printed, or None.
        scores: per cent by length in tokens, ascending; None where the table has a gap.
        base: NoLiMa's base score in per cent, or None.
        printed: to be held against what the scores say.
    """

    model: str
    kind: Kind
    claimed: str | None
    scores: Mapping[int, float | None]
    base: float | None
    printed: Printed


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its rows in the order of the print, and the score in per cent that a length must reach, by kind."""

    info: TableInfo
    lengths: tuple[int, ...]
    rows: tuple[Row, ...]
    thresholds: Mapping[Kind, float]


def length_tokens(text: str, k: int) -> int:
    """Tokens of a printed length such as ``128K`` or ``1M``.

    Raises:
        ValueError: it is no such length.
    """
    match = re.fullmatch(r"(\d+)([KM])", text)
    if match is None:
        raise ValueError(f"{text!r} is not a length such as 128K")
    return int(match[1]) * (k if match[2] == "K" else k * k)


@cache
def read_table(name: str) -> Table:
    """A table by its name.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in TABLES:
        raise UsageError(f"there is no table {name!r}: give one of {', '.join(TABLES)}")
    info = TABLES[name]
    lines = _lines(info)
    lengths = {column: length_tokens(column, info.k) for column in lines[0] if re.fullmatch(r"\d+K", column)}
    # The print's baseline rows (Llama2-7B at 4K) have one figure, which is the threshold of the rows of their kind.
    scored = [line for line in lines if any(line[column] for column in lengths)]
    return Table(
        info=info,
        lengths=tuple(lengths.values()),
        rows=tuple(_row(line, lengths) for line in scored),
        thresholds={} if info.baselines is None else _thresholds(TABLES[info.baselines]),
    )


def _lines(info: TableInfo) -> list[dict[str, str]]:
    text = (files("leadline.reference") / info.file).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _thresholds(info: TableInfo) -> dict[Kind, float]:
    return {
        "base" if "base)" in line["model"] else "chat": float(line["avg"])
        for line in _lines(info)
        if not line["4K"] and line["avg"]
    }


def _row(line: Mapping[str, str], lengths: Mapping[str, int]) -> Row:
    return Row(
        model=line["model"],
        kind="base" if "-base" in line["model"] else "chat",
        claimed=line.get("claimed") or None,
        scores={tokens: _figure(line[column]) for column, tokens in lengths.items()},
        base=_figure(line.get("base_score")),
        printed=Printed(
            average=_figure(line.get("avg")),
            wavg_inc=_figure(line.get("wavg_inc")),
            wavg_dec=_figure(line.get("wavg_dec")),
            rank_inc=_rank(line.get("rank_inc")),
            rank_dec=_rank(line.get("rank_dec")),
            effective=line.get("effective") or None,
            threshold=_figure(line.get("threshold")),
        ),
    )


def _figure(text: str | None) -> float | None:
    return float(text) if text and text != "-" else None


def _rank(text: str | None) -> int | None:
    return int(text) if text else None

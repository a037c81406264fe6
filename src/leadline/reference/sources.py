"""Where each file of this package comes from.

All of them hold figures and names alone: facts about measurements, which no licence covers. No needle, prompt, text
or code of the papers is among them.
"""

from __future__ import annotations

from dataclasses import dataclass

RULER = "RULER (arXiv 2404.06654)"
RULER_REPOSITORY = "RULER's public leaderboard (README of github.com/NVIDIA/RULER)"
NOLIMA = "NoLiMa (arXiv 2502.05167)"
NOLIMA_REPOSITORY = "NoLiMa's public results (README of github.com/adobe-research/NoLiMa)"


@dataclass(frozen=True, slots=True)
class Source:
    """A file's origin.

    Attributes:
        work: paper or page.
        place: its table, or the part of the page; empty where the page has one table.
        holds: what the figures are.
    """

    work: str
    place: str
    holds: str

    def __str__(self) -> str:
        return f"{self.work}, {self.place}" if self.place else self.work


SOURCES: dict[str, Source] = {
    "ruler_table3_aligned_13tasks.csv": Source(RULER, "table 3", "mean of 13 tasks, aligned models"),
    "ruler_table4_models.csv": Source(RULER, "table 4", "the 37 models, each of a series on a line of its own"),
    "ruler_table10_passkey.csv": Source(RULER, "table 10", "passkey retrieval"),
    "ruler_table11_vanilla_niah.csv": Source(RULER, "table 11", "vanilla needle in a haystack"),
    "ruler_table12_base_13tasks.csv": Source(RULER, "table 12", "mean of 13 tasks, base models"),
    "ruler_table13_niah.csv": Source(RULER, "table 13", "mean of the 8 retrieval tasks"),
    "ruler_table14_vt.csv": Source(RULER, "table 14", "variable tracking"),
    "ruler_table15_aggregation.csv": Source(RULER, "table 15", "mean of the 2 aggregation tasks"),
    "ruler_table16_qa.csv": Source(RULER, "table 16", "mean of the 2 question-answering tasks"),
    "ruler_readme_leaderboard.csv": Source(RULER_REPOSITORY, "", "mean of 13 tasks, models since the paper as well"),
    "nolima_table1_overlap.csv": Source(NOLIMA, "table 1", "ROUGE precision of questions against what answers them"),
    "nolima_table3_main.csv": Source(NOLIMA_REPOSITORY, "main table", "accuracy by length and base score"),
    "nolima_table_ablations.csv": Source(NOLIMA, "tables 4 and 6", "accuracy by length under changed conditions"),
    "nolima_hard.csv": Source(NOLIMA_REPOSITORY, "NoLiMa-Hard", "accuracy by length on the ten hardest pairs"),
    "nolima_v3_long.csv": Source(NOLIMA, "appendix of version 3", "accuracy at 64K and 128K, 11 depths"),
}
"""By file name."""

"""Word frequencies of an aggregation sample (RULER, figure 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leadline.report.charts import FONT, INK, SERIES_COLOURS

_ANSWERS, _OTHERS = "asked for", "others"


def word_frequencies(counts: Mapping[str, int], answers: Sequence[str], title: str, *, log: bool) -> dict[str, Any]:
    """How often each word stands in a sample, by rank, as a Vega-Lite description.

    Args:
        counts: occurrences of each word.
        answers: the words that are asked for; they are marked.
        title: of the chart.
        log: both axes logarithmic, where a power law is a straight line.
    """
    import altair as alt

    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    values = [
        {"rank": rank, "count": count, "kind": _ANSWERS if word in answers else _OTHERS}
        for rank, (word, count) in enumerate(ranked, start=1)
    ]
    scale = alt.Scale(type="log" if log else "linear", nice=not log)
    chart = (
        alt.Chart(alt.Data(values=values), title=title)
        .mark_point(filled=True, size=36, opacity=0.9)
        .encode(
            x=alt.X("rank:Q", title="rank of the word", scale=scale),
            y=alt.Y("count:Q", title="occurrences", scale=scale),
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=[_ANSWERS, _OTHERS], range=[SERIES_COLOURS[1], SERIES_COLOURS[0]]),
                legend=alt.Legend(title=None, orient="top-right"),
            ),
            shape=alt.Shape("kind:N", scale=alt.Scale(domain=[_ANSWERS, _OTHERS], range=["diamond", "circle"])),
        )
        .properties(width=320, height=240, background="white")
        .configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(labelColor=INK, titleColor=INK, gridOpacity=0.4)
    )
    return chart.to_dict()

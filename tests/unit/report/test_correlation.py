from __future__ import annotations

from leadline.analysis.correlation import TaskScores, task_correlation
from leadline.report.charts import to_svg
from leadline.report.correlation import correlation_heat_map


def test_the_heat_map_holds_every_pair_in_the_order_of_the_clustering() -> None:
    rows = ((1.0, 2.0, 3.0), (3.0, 1.0, 2.0), (1.0, 2.0, 3.1), (5.0, 5.0, 5.0))
    points = (("a", 1), ("a", 2), ("b", 1))
    correlation = task_correlation(TaskScores(("keys", "vt", "lines", "passkey"), points, rows))
    chart = correlation_heat_map(correlation, threshold=0.9)
    cells = chart["layer"][0]["data"]["values"] if "data" in chart["layer"][0] else chart["data"]["values"]
    assert len(cells) == 16
    order = chart["layer"][0]["encoding"]["y"]["sort"]
    assert [label.removesuffix(" *") for label in order] == list(correlation.order)
    assert [label for label in order if label.endswith(" *")] == [f"{correlation.redundant(0.9).dropped[0]} *"]
    assert {cell["text"] for cell in cells if "passkey" in (cell["task"], cell["other"])} == {"–"}
    assert to_svg(chart).startswith("<svg")

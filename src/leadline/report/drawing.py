"""A chart with all that goes with it: its drawings, its words, its data; for a page, and for a paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from leadline.errors import UsageError
from leadline.report.charts import INK, WIDE_PX, Drawing, draw, drawable, to_svg

FileKind = Literal["svg", "png"]

PAPER, PAPER_INK = "#ffffff", "#1a1a1a"
"""Background and ink of a chart that stands by itself, where no text around it gives a colour."""

PNG_SCALE = 2.5
"""Pixels of a PNG for each pixel of a page: 240 dots an inch where the chart is as wide as on the page."""

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart of a run.

    Attributes:
        name: what it is called in Python, in JSON and as a file.
        make: its Vega-Lite description, with its data, for a width in pixels.
        rows: the values that it shows, for a table of them; all rows have the same keys.
        text: the chart in words, for those who cannot see it.
        caption: what it shows.
    """

    name: str
    make: Callable[[int], dict[str, Any]]
    rows: Callable[[], Rows]
    text: str
    caption: str

    def data(self) -> dict[str, Any]:
        """The Vega-Lite description at its usual width, which takes its ink from the text around it."""
        return self.make(WIDE_PX)

    def drawing(self) -> Drawing:
        """The chart for a page, with its values to be downloaded."""
        return replace(draw(self.make, self.text, self.caption), name=self.name, table=data_link(self.rows()))


def data_link(rows: Rows) -> str:
    """A link that holds these rows as CSV, so that a page needs no network and no script to hand them out."""
    return "data:text/csv;charset=utf-8," + quote(as_csv(rows), safe=",.:/+-()")


def as_csv(rows: Rows) -> str:
    """The rows as CSV, with a head; None is an empty field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    # A text from a model can hold half a surrogate pair, which no encoding can write.
    return text.getvalue().encode("utf-8", errors="replace").decode("utf-8")


def on_paper(description: Mapping[str, Any]) -> dict[str, Any]:
    """The same chart with dark ink on white."""
    inked: dict[str, Any] = _inked(description)
    return inked | {"background": PAPER, "padding": 10}


def make_folder(folder: Path, kind: FileKind) -> None:
    """Make the folder that charts of a kind are to go into, where it does not exist.

    Raises:
        UsageError: it is a file, or cannot be made.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--{kind} {folder} is a file: name a folder, one file goes into it for each chart")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, kind, error) from error


def write_charts(charts: Mapping[str, Mapping[str, Any]], folder: Path, kind: FileKind) -> list[Path]:
    """Write each chart into a file of its name, dark on white.

    Args:
        charts: Vega-Lite descriptions by name.
        folder: made where it does not exist.
        kind: of the files.

    Raises:
        UsageError: the folder is a file, or cannot be made or written into.
    """
    make_folder(folder, kind)
    written: list[Path] = []
    for name, description in charts.items():
        path = folder / f"{name}.{kind}"
        drawn = _file_of(on_paper(description), kind)
        try:
            path.write_bytes(drawn)
        except OSError as error:
            raise _unwritable(path, kind, error) from error
        written.append(path)
    return written


def _unwritable(path: Path, kind: FileKind, error: OSError) -> UsageError:
    return UsageError(f"--{kind}: {path} cannot be written ({error.strerror}): name another folder")


def _file_of(description: dict[str, Any], kind: FileKind) -> bytes:
    if kind == "svg":
        return to_svg(description).encode("utf-8", errors="replace")
    import vl_convert

    return vl_convert.vegalite_to_png(drawable(description), scale=PNG_SCALE)


def _inked(value: Any) -> Any:
    if isinstance(value, Mapping):
        # What a chart holds as data is left as it is, whatever it is called.
        return {key: item if key in {"values", "datasets"} else _inked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_inked(item) for item in value]
    return PAPER_INK if value == INK else value

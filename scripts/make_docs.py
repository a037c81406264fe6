"""Makes the parts of the documentation that come out of the tool itself: `make docs`."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from collections import Counter as Tally
from pathlib import Path
from typing import Any

import vl_convert
from rich.console import Console
from rich.text import Text

import leadline
from leadline.data.cache import sha256_of
from leadline.data.loading import load_tokenizer
from leadline.data.question_cache import kept_questions
from leadline.data.sources import Sources
from leadline.haystacks.documents import QuestionSet
from leadline.items import Sample
from leadline.prompt import FrameCounter, named_frame
from leadline.report.frequencies import word_frequencies
from leadline.sampler import Sampler
from leadline.tasks.registry import FAMILIES, RULER_TASKS, TASKS, make_task
from leadline.tokenizers.counting import Counter

DOCS = Path(__file__).resolve().parent.parent / "docs"
SHOWN = 160
LENGTHS = (512, 1024, 2048)
PICTURE_COLUMNS = 84


class MadeUpQuestions(Sources):
    """Sources whose questions are made up: the texts of the real data sets are not ours to print."""

    def questions(self, name: str) -> QuestionSet:
        """The fixture in the format of this data set."""
        file = DOCS.parent / "tests" / "fixtures" / f"questions_{name}.json"
        return kept_questions(sha256_of(file), lambda: file)


def make_sampler() -> Sampler:
    """Samples in the base template, counted with cl100k_base, under seed 42."""
    tokenizer = load_tokenizer("cl100k_base")
    frame = named_frame("base", tokenizer)
    return Sampler(frame, FrameCounter(Counter(tokenizer), frame), MadeUpQuestions(), 42)


def smallest(sampler: Sampler, name: str, lengths: tuple[int, ...] = LENGTHS) -> tuple[Sample, int]:
    """Item 0 of a task at the shortest of some lengths that it fits."""
    for length in lengths:
        task = make_task(name).at_length(length)
        plan = sampler.plan(task, 0)
        fit = sampler.fit(task, plan, length)
        if fit is not None:
            return sampler.sample(task, plan, fit, length), length
    raise SystemExit(f"{name} fits none of {lengths}")


def marked(sample: Sample) -> str:
    """The message with its needles between marks and its long stretches cut short."""
    parts: list[str] = []
    position = 0
    for span in sample.spans:
        parts.append(sample.text[position : span.start])
        text = sample.text[span.start : span.end]
        if span.kind in ("needle", "gold"):
            text = f">>>{text}<<<"
        if span.kind == "haystack" and sample.plan.factors.get("haystack") == "essay":
            text = f"[... {len(text):,} characters of the essays ...]"
        if len(text) > 3 * SHOWN:
            text = f"{text[:SHOWN]} [... {len(text) - 2 * SHOWN:,} characters ...] {text[-SHOWN:]}"
        parts.append(text)
        position = span.end
    return "".join(parts) + sample.text[position:]


def tasks_page(sampler: Sampler) -> str:
    """One small sample of each of the thirteen tasks."""
    lines = [
        "# The thirteen tasks, a sample of each",
        "",
        "Made by `make docs` from item 0 of each task under seed 42, at the shortest of 512, 1K and 2K tokens that it",
        "fits, in the base template. Needles and golden documents stand between `>>>` and `<<<`, which are not part of",
        "the prompt; long stretches are cut short. The essays are left out, and the questions are made up and few,",
        "since the real texts are not ours to print. `leadline sample TASK` shows everything.",
        "",
    ]
    for name in RULER_TASKS:
        sample, length = smallest(sampler, name)
        family, changes = TASKS[name]
        given = ", ".join(f"`{key}={value}`" for key, value in changes.items()) or "its defaults"
        answers = "; ".join(" | ".join(forms) for forms in sample.plan.answers)
        lines += [
            f"## {name}",
            "",
            f"{FAMILIES[family].about.capitalize()} ({FAMILIES[family].source}); {given}. "
            f"{length} tokens: {sample.fit.prompt_tokens} of prompt, {sample.max_tokens} for the answer.",
            "",
            "```text",
            marked(sample),
            "```",
            "",
            f"Answer prefix: `{sample.answer_prefix}`",
            "",
            f"Wanted: `{answers}`",
            "",
        ]
    lines += [
        "## How often words stand in cwe and fwe",
        "",
        "![occurrences of words by rank in a sample of cwe at 4K](images/frequencies_cwe.svg)",
        "![occurrences of words by rank in a sample of fwe at 4K](images/frequencies_fwe.svg)",
        "",
        "As in the paper's figure 1: common words stand 30 times and all others 3 times; coded words follow a Zeta",
        "distribution, whose first rank is the noise token `...`.",
        "",
    ]
    return "\n".join(lines)


def frequencies(sampler: Sampler, name: str) -> dict[str, int]:
    """Occurrences of each word in the haystack of item 0 at 4K."""
    sample, _ = smallest(sampler, name, (4096,))
    words = " ".join(sample.span_texts("haystack")).split()
    return dict(Tally(word for word in words if not re.fullmatch(r"\d+\.", word)))


PYTHON_PAGE = """\
# From Python

What the command line does, `import leadline` does too; the import itself costs nothing. Each block below is run by
`make docs`, one after the other, and what stands below it is what it printed.

## Measure

```python
import leadline

run = leadline.measure(
    "quick",
    "reader/window?tokens=2048",
    tasks=["niah_single_1", "niah_multikey_3", "vt"],
    lengths="1k,2k,4k",
    samples=4,
)
print(run.sentence)
```

The keywords are the options of `leadline run`, and what is left out is the suite's. Lengths may be `"1k,2k"` or
`[1024, "2k"]`, and `set={"niah.num_keys": 8}` changes a parameter. The same call again asks nothing new, and one with
more samples or lengths goes on with the same run. `progress=True` shows how far it is; a function is called with every
record as it comes. The call works in a notebook too, and returns when the run has ended.

## Look at the figures

```python
run.show()
```

```python
for row in run.table():
    if row["length"] == 4096:
        print(f"{row['task']:16} {row['score']:5.1f} ({row['low']:.0f} to {row['high']:.0f}), n = {row['n']}")
```

`run.table()` is what `pandas.DataFrame(...)` and `polars.DataFrame(...)` take as it is. `run.summary` has every figure
(`run.summary.effective_length.relative.value`), `run.chart()` is an Altair chart (`run.chart().save("scores.svg")`),
and a run that ends a notebook's cell shows itself: verdict, table and chart. `run.folder` holds `report.html`.

## Look at the answers

```python
wrong = [record for record in run.records.newest() if record.failure]
first = min(wrong, key=lambda record: (record.key.item.task, record.key.length, record.key.item.index))
print(f"{len(wrong)} wrong answers; {first.key.item.task} at {first.key.length}, item {first.key.item.index}:")
print(f"wanted {first.answers}, got {first.response.text!r}")
```

`run.records` reads from disk as it goes, so that it takes no memory; without `.newest()` it gives the records of trials
that were asked again, too. `run.findings` says where in the text the model fails, and how.
`leadline.open_run("runs/MODEL/quick-1a2b3c4d")` opens a run that is there already.

## Look at what is asked

```python
sample = leadline.sample("vt", "1k", index=3)
print(sample.plan.answers)
print(sample.span_texts("question"))
```

## Which tasks tell the same story

```python
others = [
    leadline.measure("quick", model, tasks=["niah_single_1", "niah_multikey_3", "vt"], lengths="1k,2k,4k", samples=4)
    for model in ("reader/window?tokens=1024", "reader/limit?tokens=2048")
]
correlation = leadline.correlate([run, *others])
print(f"{correlation.between('niah_single_1', 'vt'):.2f}")
print(correlation.redundant(0.9).dropped)
```

The correlation is over every pair of model and length, as in figure 5 of the RULER paper; `leadline report RUN RUN RUN`
draws it.

## When something is wrong

```python
from leadline.errors import LeadlineError

try:
    leadline.measure("quick", "reader/oracle", lengths="4q")
except LeadlineError as error:
    print(error)
```

Every mistake raises a subclass of `LeadlineError`, with the line that the command line prints.
"""
"""The page on Python, with nothing below its blocks."""

BLOCK = re.compile(r"```python\n(.*?)```\n", re.DOTALL)


def python_page() -> str:
    """The page with what each of its blocks printed, run one after the other in a folder of their own."""
    names: dict[str, Any] = {}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return re.sub(
                r"```python\n(.*?)```\n", lambda block: block[0] + printed(block[1], names), PYTHON_PAGE, flags=re.S
            )
        finally:
            os.chdir(before)


def printed(block: str, names: dict[str, Any]) -> str:
    """What a block of code prints, as a block of text."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block, "docs/python.md", "exec"), names)
    text = "\n".join(line.rstrip() for line in out.getvalue().splitlines())
    return f"\n```text\n{text}\n```\n" if text else ""


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        """Colours, as people see them."""
        return True


def measured() -> leadline.Run:
    """The newest run of suite `quick` on the model in the box below `runs`; a small one is made where there is none."""
    folders = [path.parent for path in (DOCS.parent / "runs").glob("local/quick-*/run.json")]
    if folders:
        return leadline.open_run(max(folders, key=lambda folder: (folder / "run.json").stat().st_mtime))
    print("asking the model in the box, one sample of each task: some minutes", flush=True)
    return leadline.measure(samples=1, lengths="1k,2k,4k", out=DOCS.parent / "runs", progress=True)


def verdict_picture(run: leadline.Run) -> str:
    """The table and the verdict as a terminal shows them, as an SVG that fetches no font."""
    os.environ |= {"COLUMNS": str(PICTURE_COLUMNS), "TERM": "xterm-256color"}
    terminal = Terminal()
    run.show(terminal)
    console = Console(record=True, file=io.StringIO(), width=PICTURE_COLUMNS, force_terminal=True)
    console.print(Text.from_ansi(terminal.getvalue()))
    title = f"leadline run {run.summary.suite} --model local"
    drawn = console.export_svg(title=title, unique_id="verdict")
    return re.sub(r"\s*@font-face \{.*?\}", "", drawn, flags=re.DOTALL)


def main() -> None:
    """Write everything."""
    sampler = make_sampler()
    (DOCS / "images").mkdir(exist_ok=True)
    (DOCS / "tasks.md").write_text(tasks_page(sampler), encoding="utf-8")
    for name in ("cwe", "fwe"):
        answers = [forms[0] for forms in sampler.plan(make_task(name), 0).answers]
        chart = word_frequencies(frequencies(sampler, name), answers, f"{name} at 4K", log=name == "fwe")
        svg = vl_convert.vegalite_to_svg(chart)
        (DOCS / "images" / f"frequencies_{name}.svg").write_text(svg, encoding="utf-8")
    (DOCS / "python.md").write_text(python_page(), encoding="utf-8")
    picture = DOCS / "images" / "verdict.svg"
    picture.write_text(verdict_picture(measured()), encoding="utf-8")
    print(f"wrote {DOCS / 'tasks.md'} and its pictures, {DOCS / 'python.md'}, {picture}")


if __name__ == "__main__":
    main()

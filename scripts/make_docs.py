"""Makes the parts of the documentation that come out of the tool itself: `make docs`."""

from __future__ import annotations

import re
from collections import Counter as Tally
from pathlib import Path

import vl_convert

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
    print(f"wrote {DOCS / 'tasks.md'} and its pictures")


if __name__ == "__main__":
    main()

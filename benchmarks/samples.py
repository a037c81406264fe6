"""Milliseconds per sample beside two references, in one run: joining the finished pieces, one pass of a tokenizer.

    python benchmarks/samples.py [--lengths 4k,32k,128k,1m] [--tasks vt,cwe] [--tokenizer cl100k_base] [--repeat 5]
    python benchmarks/samples.py --first [--lengths 128k] [--tasks vt,cwe] [--tokenizer gguf/model.gguf]

Times are the processor's for this process, so that what else the machine does disturbs them less (--first: by clock).
"sample" is plan, fit and draft together, hashing apart; "join" puts the finished pieces together; "pass" encodes the
finished text once with the named tokenizer; "ratio" is sample / pass. What all items share (texts, pools, counts of
words) is warm; what one item draws is not: between two makings of an item more others are made than are kept.

With --first every task starts a fresh interpreter, which tells the seconds from after the import to its first sample
(the tokenizer and the texts are loaded in that time; their caches on disk are warm) and its resident memory.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leadline.data.loading import load_tokenizer
from leadline.data.sources import Sources
from leadline.items import Draft
from leadline.prompt import FrameCounter, named_frame
from leadline.sampler import Sampler
from leadline.spec import TASKS_OF_ALL
from leadline.tasks.base import Task
from leadline.tasks.registry import make_task
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.counting import Counter
from leadline.values import parse_length

ITEMS = 12
"""More than the eight whose draws the tasks keep."""

TEXTS = 3
"""Items whose text is joined and encoded: a pass takes long and varies little."""

FIRST_LENGTHS = "128k"
LENGTHS = "4k,32k,128k,1m"


@dataclass(frozen=True, slots=True)
class Row:
    """Medians over items of the best of some repetitions, in milliseconds."""

    sample_ms: float
    join_ms: float
    pass_ms: float


def elapsed_ms(work: Callable[[], object]) -> float:
    """Milliseconds of processor time that one call takes."""
    started = time.process_time()
    work()
    return 1000 * (time.process_time() - started)


def resident_mb() -> float:
    """The greatest resident memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)


def sampler_of(tokenizer: Tokenizer) -> Sampler:
    """Samples in the base template."""
    frame = named_frame("base", tokenizer)
    return Sampler(frame, FrameCounter(Counter(tokenizer), frame), Sources(), 42)


def draft(sampler: Sampler, task: Task, index: int, length: int) -> Draft | None:
    """The pieces of one item, or None where it does not fit."""
    plan = sampler.plan(task, index)
    fit = sampler.fit(task, plan, length)
    return None if fit is None else task.draft(plan, fit, sampler.sources)


def measure(sampler: Sampler, tokenizer: Tokenizer, task: Task, length: int, repeat: int) -> Row | None:
    """The row of a task at a length; None where no item fits."""
    found = [draft(sampler, task, index, length) for index in range(TEXTS)]
    made = [[piece.text for piece in known.pieces] for known in found if known is not None]
    if not made:
        return None
    # Every item once, then every item again: an item's own draws have been dropped by the time that it comes again.
    rounds = [
        [elapsed_ms(lambda index=index: draft(sampler, task, index, length)) for index in range(ITEMS)]
        for _ in range(repeat + 1)
    ]
    joins = [min(elapsed_ms(lambda pieces=pieces: "".join(pieces)) for _ in range(repeat)) for pieces in made]
    texts = ["".join(pieces) for pieces in made]
    passes = [min(elapsed_ms(lambda text=text: tokenizer.encode(text)) for _ in range(2)) for text in texts]
    samples = [min(times) for times in zip(*rounds[1:], strict=True)]  # the first round has warmed what items share
    return Row(statistics.median(samples), statistics.median(joins), statistics.median(passes))


def print_speeds(tasks: Sequence[str], lengths: Sequence[str], name: str, repeat: int) -> None:
    """The table of milliseconds per sample."""
    tokenizer = load_tokenizer(name)
    sampler = sampler_of(tokenizer)
    print(f"tokenizer {tokenizer.id}; milliseconds; median of {ITEMS} items, best of {repeat}")
    print(f"{'task':<18}{'length':>8}{'sample':>10}{'join':>9}{'pass':>10}{'ratio':>8}{'peak MB':>9}")
    for task_name in tasks:
        for length in lengths:
            task = make_task(task_name).at_length(parse_length(length))
            row = measure(sampler, tokenizer, task, parse_length(length), repeat)
            if row is None:
                print(f"{task_name:<18}{length:>8}  does not fit")
                continue
            print(
                f"{task_name:<18}{length:>8}{row.sample_ms:>10.2f}{row.join_ms:>9.2f}{row.pass_ms:>10.2f}"
                f"{row.sample_ms / row.pass_ms:>8.3f}{resident_mb():>9,.0f}",
                flush=True,
            )
    print(
        "peak MB: greatest resident memory of this one process until then, all the tasks above and the passes included"
    )


def print_firsts(tasks: Sequence[str], lengths: Sequence[str], name: str) -> None:
    """The table of first samples, each in an interpreter of its own."""
    print(f"tokenizer {name}; seconds from after the import to the first sample, in a fresh process")
    print(f"{'task':<18}{'length':>8}{'first s':>10}{'peak MB':>9}")
    for task_name in tasks:
        for length in lengths:
            command = [sys.executable, __file__, "--one", task_name, "--lengths", length, "--tokenizer", name]
            told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            print(f"{task_name:<18}{length:>8}{float(told[0]):>10.2f}{float(told[1]):>9,.0f}", flush=True)


def print_one(task_name: str, length: str, name: str) -> None:
    """Seconds to the first sample of this process and its resident memory: what `print_firsts` reads."""
    started = time.perf_counter()
    task = make_task(task_name).at_length(parse_length(length))
    draft(sampler_of(load_tokenizer(name)), task, 0, parse_length(length))
    print(time.perf_counter() - started, resident_mb())


def main() -> None:
    """Print one of the two tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lengths", help=f"{LENGTHS}, or {FIRST_LENGTHS} with --first, where not given")
    options.add_argument("--tasks", default=",".join(TASKS_OF_ALL))
    options.add_argument("--tokenizer", default="cl100k_base")
    options.add_argument("--repeat", type=int, default=5)
    options.add_argument("--first", action="store_true", help="the first sample of a fresh process instead")
    options.add_argument("--one", metavar="TASK", help=argparse.SUPPRESS)
    given = options.parse_args()
    lengths = (given.lengths or (FIRST_LENGTHS if given.first else LENGTHS)).split(",")
    if given.one:
        print_one(given.one, lengths[0], given.tokenizer)
        return
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"Python {platform.python_version()}, {machine}")
    if given.first:
        print_firsts(given.tasks.split(","), lengths, given.tokenizer)
    else:
        print_speeds(given.tasks.split(","), lengths, given.tokenizer, given.repeat)


if __name__ == "__main__":
    main()

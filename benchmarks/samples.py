"""Seconds per sample beside two references, in one run: joining the finished pieces, and one pass of a tokenizer.

    python benchmarks/samples.py [--lengths 4k,32k,128k,1m] [--tasks vt,cwe] [--tokenizer cl100k_base] [--repeat 5]

Plan, fit and draft are timed together, best of some items each made several times, with every cache warm; hashing is
apart. "join" puts the finished pieces together; "pass" encodes the finished text once with the named tokenizer.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable

from leadline.data.loading import load_tokenizer
from leadline.data.sources import Sources
from leadline.items import Draft, Fit
from leadline.prompt import FrameCounter, named_frame
from leadline.sampler import Sampler
from leadline.spec import TASKS_OF_ALL, parse_length
from leadline.tasks.base import Task
from leadline.tasks.registry import make_task
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.counting import Counter

ITEMS = 5


def best(work: Callable[[], object], repeat: int) -> float:
    """Seconds of the fastest of some calls."""
    times: list[float] = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def measure(sampler: Sampler, tokenizer: Tokenizer, task: Task, length: int, repeat: int) -> tuple[float, float, float]:
    """Median over some items of the seconds for a sample, for joining its pieces, and for one pass of the tokenizer."""
    rows: list[tuple[float, float, float]] = []
    for index in range(ITEMS):
        made: list[Draft] = []

        def sample(index: int = index, made: list[Draft] = made) -> None:
            plan = sampler.plan(task, index)
            fit = sampler.fit(task, plan, length)
            if fit is not None:
                made[:] = [task.draft(plan, Fit(fit.size, fit.prompt_tokens), sampler.sources)]

        sample()
        if not made:
            continue
        pieces = [piece.text for piece in made[0].pieces]
        text = "".join(pieces)
        rows.append(
            (
                best(sample, repeat),
                best(lambda p=pieces: "".join(p), repeat),
                best(lambda t=text: tokenizer.encode(t), 2),
            )
        )
    if not rows:
        return float("nan"), float("nan"), float("nan")
    return (
        statistics.median(row[0] for row in rows),
        statistics.median(row[1] for row in rows),
        statistics.median(row[2] for row in rows),
    )


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lengths", default="4k,32k,128k,1m")
    options.add_argument("--tasks", default=",".join(TASKS_OF_ALL))
    options.add_argument("--tokenizer", default="cl100k_base")
    options.add_argument("--repeat", type=int, default=5)
    given = options.parse_args()
    tokenizer = load_tokenizer(given.tokenizer)
    frame = named_frame("base", tokenizer)
    sampler = Sampler(frame, FrameCounter(Counter(tokenizer), frame), Sources(), 42)
    print(f"tokenizer {tokenizer.id}; milliseconds, median of {ITEMS} items, best of {given.repeat}")
    print(f"{'task':<18}{'length':>8}{'sample':>10}{'join':>9}{'pass':>9}{'sample/pass':>13}")
    for name in given.tasks.split(","):
        for length in given.lengths.split(","):
            task = make_task(name).at_length(parse_length(length))
            sample_s, join_s, pass_s = measure(sampler, tokenizer, task, parse_length(length), given.repeat)
            print(
                f"{name:<18}{length:>8}{1000 * sample_s:>10.2f}{1000 * join_s:>9.2f}{1000 * pass_s:>9.2f}"
                f"{sample_s / pass_s:>13.2f}",
                flush=True,
            )
    resident_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    print(f"greatest resident memory: {resident_mb:,.0f} MB")


if __name__ == "__main__":
    main()

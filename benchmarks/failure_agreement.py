"""How far the rules for failure kinds agree with labels made by reading: rows are labels, columns what the rules say.

    python benchmarks/failure_agreement.py [--labels tests/data/labelled_answers.jsonl] [--list] [--offline]

Each sample is made again from its key and fit, and its hash must be the one that the label was made for. Behind the
table stand, for every kind, how many of its labels the rules find and how many of the rules' verdicts the labels
confirm. With --list each disagreement follows with its answer and the reason of its label.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from leadline.data.loading import load_tokenizer
from leadline.data.sources import Sources
from leadline.prompt import FrameCounter, named_frame
from leadline.sampler import Sampler
from leadline.scoring.failures import KINDS, FailureKind, failure_kind
from leadline.scoring.failures_labelled import Agreement, LabelledAnswer
from leadline.tasks.registry import make_task
from leadline.tokenizers.counting import Counter

LABELS = Path(__file__).parent.parent / "tests" / "data" / "labelled_answers.jsonl"
SHOWN_CHARACTERS = 100


def sampler_of(offline: bool) -> Sampler:
    """Makes samples again; which tokenizer and frame does not matter, since nothing is counted."""
    tokenizer = load_tokenizer("cl100k_base", offline=offline)
    frame = named_frame("base", tokenizer)
    return Sampler(frame, FrameCounter(Counter(tokenizer), frame), Sources(offline=offline), 42)


def judged(sampler: Sampler, labelled: LabelledAnswer) -> FailureKind | None:
    """What the rules say."""
    key = labelled.key
    task = make_task(key.item.task, json.loads(key.item.params)).at_length(key.length)
    sample = sampler.remake(task, key, labelled.fit, None)
    if sample.item_hash != labelled.item_hash:
        sys.exit(f"{key.item.task} {key.item.index} at {key.length} is another item now: label its answer anew")
    return failure_kind(sample, labelled.answer, labelled.outcome)


def table(agreement: Agreement) -> str:
    """Counts by label and rule, as text; kinds that occur in neither are left out."""
    kinds: list[FailureKind] = [kind for kind in KINDS if agreement.labelled(kind) or agreement.judged(kind)]
    columns: list[FailureKind | None] = [*kinds, None] if agreement.judged(None) else [*kinds]
    width = max(map(len, KINDS)) + 2
    lines = [" " * width + "".join(f"{number:>5}" for number in range(1, len(columns) + 1)) + "    found confirmed"]
    for number, label in enumerate(kinds, 1):
        cells = "".join(f"{agreement.counts.get((label, kind), 0) or '.':>5}" for kind in columns)
        found = f"{agreement.both(label)}/{agreement.labelled(label)}"
        confirmed = f"{agreement.both(label)}/{agreement.judged(label)}"
        lines.append(f"{number:>2} {label:<{width - 3}}{cells}{found:>9}{confirmed:>10}")
    if None in columns:
        lines.append(f"column {len(columns)}: the rules find nothing wrong")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=Path, default=LABELS)
    parser.add_argument("--list", action="store_true", help="print each disagreement")
    parser.add_argument("--offline", action="store_true", help="fetch nothing")
    options = parser.parse_args(arguments)
    lines = options.labels.read_text(encoding="utf-8").splitlines()
    answers = [LabelledAnswer.from_json(line) for line in lines]
    sampler = sampler_of(options.offline)
    kinds: list[FailureKind | None] = [judged(sampler, answer) for answer in answers]
    agreement = Agreement.of((answer.label, kind) for answer, kind in zip(answers, kinds, strict=True))
    share = 100 * agreement.agreed / agreement.answers
    print(table(agreement))
    print(f"agreed {agreement.agreed} of {agreement.answers}: {share:.1f} %, kappa {agreement.kappa():.2f}")
    if options.list:
        for answer, kind in zip(answers, kinds, strict=True):
            if answer.label != kind:
                key, said = answer.key, json.dumps(answer.answer[:SHOWN_CHARACTERS])
                print(f"\n{key.item.task} {key.item.index} at {key.length}: label {answer.label}, rules {kind}")
                print(f"  {said}\n  {answer.reason}")


if __name__ == "__main__":
    main(sys.argv[1:])

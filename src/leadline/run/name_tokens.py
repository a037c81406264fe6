"""How many tokens NoLiMa's names have: written down with a run, since its records know no tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.tasks.base import Sources, Task
from leadline.tasks.nolima import Nolima
from leadline.tokenizers.base import Tokenizer


def name_tokens(tasks: Sequence[Task], sources: Sources, tokenizer: Tokenizer) -> dict[str, int]:
    """Tokens of each name that may be drawn, counted within a sentence; none where the tokenizer only estimates."""
    if not tokenizer.exact:
        return {}
    names = list(dict.fromkeys(name for task in tasks if isinstance(task, Nolima) for name in task.names(sources)))
    counts = tokenizer.count_in_place([f" {name}" for name in names], "said", ".")
    return dict(zip(names, counts.tolist(), strict=True))

"""What a server's own chat template adds to the messages, found out by counting a few of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from leadline.errors import ModelError
from leadline.prompt import TemplateCost
from leadline.requests import PermanentError
from leadline.tokenizers.base import Tokenizer

Messages = list[dict[str, str]]

SHORT = "Which of these towns lies by a lake?"
LONG = (
    "Of 1,204 letters in the box, 37 were written before the bridge was built; the others name neither the river nor "
    "the two mills beside it. Which of them mention 'fog', and on which days?"
)
BEGUN = " The answer is"
VARIES_TOKENS = 2
"""By so much the two may differ: a template that trims, or a merge across its edge."""


def measured_cost(
    count: Callable[[Messages], int], tokenizer: Tokenizer, *, prefill: bool, known: Literal["counted", "asked"]
) -> TemplateCost:
    """What the template adds, from two messages of different text, two turns, and a system message.

    Where the two differ by more than an edge, the tokenizer is not the model's own: the shorter one, in which there is
    less to miscount, decides.

    Args:
        count: tokens of a request with these messages, as the server counts them.
        tokenizer: what this run counts with.
        prefill: the last message is an answer that has been begun.
        known: how `count` knows.
    """

    def around(messages: Messages) -> int:
        return count(messages) - sum(tokenizer.count(message["content"]) for message in messages)

    def asked(text: str) -> Messages:
        begun: Messages = [{"role": "assistant", "content": BEGUN}] if prefill else []
        return [{"role": "user", "content": text}, *begun]

    short, long = around(asked(SHORT)), around(asked(LONG))
    overhead = max(short, long) if abs(short - long) <= VARIES_TOKENS else short
    earlier: Messages = [{"role": "user", "content": LONG}, {"role": "assistant", "content": SHORT}]
    turn = around([*earlier, *asked(SHORT)]) - short
    try:
        system = around([{"role": "system", "content": SHORT}, *asked(LONG)]) - long
    except (ModelError, PermanentError):
        # The template takes no system message; a task that has one will be refused by the server, in its words.
        return TemplateCost(max(0, overhead), max(0, turn), known)
    return TemplateCost(max(0, overhead), max(0, turn), known, system)

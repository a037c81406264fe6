"""What leadline needs of a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt


@runtime_checkable
class Tokenizer(Protocol):
    """Counts tokens the way one model does.

    Text may hold the model's special tokens (a rendered chat template does); they count as themselves. No BOS or EOS
    is ever added by these methods: `bos_tokens` says how many the model's own loader puts before a text.
    """

    @property
    def id(self) -> str:
        """Name for the run's identity, for example ``tiktoken/cl100k_base``, with a hash where it comes from a file."""
        ...

    @property
    def exact(self) -> bool:
        """Whether counts are the model's own rather than an estimate."""
        ...

    @property
    def bos_tokens(self) -> int:
        """How many tokens the model's loader adds before a text that has none of them yet (0 or 1)."""
        ...

    def encode(self, text: str) -> list[int]:
        """Token ids of the text."""
        ...

    def count(self, text: str) -> int:
        """Number of tokens of the text."""
        ...

    def count_in_place(self, texts: Sequence[str], before: str, after: str) -> npt.NDArray[np.int32]:
        """Tokens that each text takes between `before` and `after`, shape (len(texts),).

        That is count(before + text + after) - count(before + after): what a text costs where it stands, which its
        count alone does not tell (a leading space, a newline run, a dummy prefix).
        """
        ...

    def offsets(self, text: str) -> npt.NDArray[np.int64]:
        """Character at which each token of the text begins, shape (tokens,), never decreasing."""
        ...

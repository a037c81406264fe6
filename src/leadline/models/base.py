"""What a backend is."""

from __future__ import annotations

from typing import Protocol

from leadline.requests import Abilities, ModelFacts, Request, Response
from leadline.tokenizers.base import Tokenizer


class Backend(Protocol):
    """Something that answers requests.

    `answer` reports facts and never judges them. It raises `leadline.requests.TransientError` for a call that may
    succeed later and `leadline.requests.PermanentError` for one that will not.
    """

    def abilities(self) -> Abilities:
        """What it can do."""
        ...

    def facts(self) -> ModelFacts:
        """What it says of itself."""
        ...

    def tokenizer(self) -> Tokenizer:
        """The model's own tokenizer."""
        ...

    async def answer(self, request: Request) -> Response:
        """The answer to one request."""
        ...

    async def aclose(self) -> None:
        """Let go of everything it holds. Calling it twice does no harm."""
        ...

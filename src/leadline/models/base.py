"""What a backend is."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from leadline.prompt import TemplateCost
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


@runtime_checkable
class ServesTemplate(Protocol):
    """A backend whose server renders the chat template, and that can tell what the template adds."""

    def template_cost(self, tokenizer: Tokenizer) -> TemplateCost:
        """Tokens that the template adds to texts counted by `tokenizer`; may ask the server, once per run."""
        ...

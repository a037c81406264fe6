"""A backend for leadline in a package of its own: it repeats the last words of what it is asked."""

from __future__ import annotations

from leadline.data.loading import load_tokenizer
from leadline.models.registry import ModelOptions
from leadline.requests import Abilities, ModelFacts, Request, Response
from leadline.tokenizers.base import Tokenizer

WORDS = 5


def open_parrot(rest: str, options: ModelOptions) -> Parrot:
    """The model ``parrot/NAME``: what the entry point names, called with what stands behind the slash."""
    return Parrot(rest, load_tokenizer(options.tokenizer or "cl100k_base", offline=options.offline))


class Parrot:
    """Everything that leadline asks of a backend; `leadline.testing.check_backend` checks it."""

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self._name = name
        self._tokenizer = tokenizer

    def abilities(self) -> Abilities:
        """It reads rendered text and goes on from any beginning of an answer."""
        return Abilities(prefill=True, template="local", max_concurrency=4)

    def facts(self) -> ModelFacts:
        """Its name, and what else belongs to a run's identity."""
        return ModelFacts(f"parrot/{self._name}", {"words": WORDS})

    def tokenizer(self) -> Tokenizer:
        """What its prompts are counted with."""
        return self._tokenizer

    async def answer(self, request: Request) -> Response:
        """The end of the prompt."""
        assert request.text is not None
        said = " ".join(request.text.split()[-WORDS:])
        tokens = self._tokenizer.count(request.text)
        return Response(said, prompt_tokens=tokens, output_tokens=self._tokenizer.count(said))

    async def aclose(self) -> None:
        """Nothing to let go of."""

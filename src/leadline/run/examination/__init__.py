"""An examination of a model's endpoint: what it is, what it truly accepts, and what will go wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

from leadline.data.sources import Sources
from leadline.errors import ModelError
from leadline.models.base import Backend
from leadline.models.dialects import PLAIN, dialects
from leadline.models.registry import ModelOptions, open_model
from leadline.requests import Response
from leadline.run.examination.asking import Asker, UnansweredError
from leadline.run.examination.conduct import (
    ask_twice,
    examine_determinism,
    examine_finish,
    examine_prefill,
    examine_speed,
    judge_cache,
    unasked,
)
from leadline.run.examination.findings import Examination, Figure, Finding
from leadline.run.examination.length import (
    TOLERANCE_SHARE,
    TOLERANCE_TOKENS,
    Control,
    ask_control,
    examine_length,
)
from leadline.run.framing import open_sampler
from leadline.spec import RunSpec
from leadline.tokenizers.stand_in import StandIn

LONG_TOKENS = 2048
"""Of the prompt that is asked twice: providers keep no prefix of less than 1,024 tokens."""

OWN_DETAILS = ("server", "engine", "server_version", "tokenizer_ratio", "tokenizer_error")
"""Details that are told in another place, or found out by us."""

LONG_SHARE = 0.8
"""Of what the endpoint accepts, where that is less."""


@runtime_checkable
class Recognised(Protocol):
    """A backend that knows by what its server was recognised."""

    @property
    def recognised_by(self) -> str:
        """What gave the server away."""
        ...


async def examine(
    spec: RunSpec, max_length: int | None = None, say: Callable[[str], None] | None = None
) -> Examination:
    """Examine the model of a specification.

    Args:
        spec: the model and how it is reached; of everything else only template and tokenizer matter.
        max_length: the greatest length to try, in tokens.
        say: told which check is under way.

    Raises:
        LeadlineError: the model cannot be opened, or no request can have an answer.
    """
    backend = open_model(spec.model, ModelOptions.of(spec))
    try:
        sampler = open_sampler(spec, backend, Sources(offline=spec.offline))
        asker = Asker(backend, sampler, spec.reasoning_tokens)
        findings = await _Doctor(spec, backend, asker, say or (lambda check: None)).findings(max_length)
        return Examination(backend.facts().name, tuple(findings), asker.spent)
    finally:
        await backend.aclose()


class _Doctor:
    """The checks in their order, each of which may fail without the others."""

    def __init__(self, spec: RunSpec, backend: Backend, asker: Asker, say: Callable[[str], None]) -> None:
        self._backend = backend
        self._asker = asker
        self._say = say
        self._kind = spec.model.partition("/")[0]
        details = backend.facts().details
        self._server = str(details.get("server") or details.get("engine") or "")

    async def findings(self, max_length: int | None) -> list[Finding]:
        self._say("endpoint")
        found = [self._endpoint()]
        try:
            control = await ask_control(self._asker)
        except UnansweredError as error:
            found.append(Finding("answers", "problem", f"a prompt of a few hundred tokens gets no answer: {error}"))
            return found
        self._say("length")
        claimed = self._backend.abilities().context_tokens
        length, accepted = await examine_length(self._asker, control, claimed, max_length, self._server, self._kind)
        found.append(length)
        if self._kind == "reader":
            checks = ("prefill", "tokens", "BOS", "prefix cache", "finish reason", "determinism", "speed")
            return [*found, *unasked(checks, "a reader is no model; it looks at the sample")]
        found.append(await self._tried("prefill", lambda: examine_prefill(self._asker)))
        found += await self._with_long_prompt(control, accepted)
        found.append(await self._tried("finish reason", lambda: examine_finish(self._asker)))
        found.append(await self._tried("determinism", lambda: examine_determinism(self._asker, self._server)))
        return found

    async def _with_long_prompt(self, control: Control, accepted: int) -> list[Finding]:
        """Tokens, BOS, prefix cache and speed, for which one long prompt serves."""
        self._say("prefix cache")
        wanted = int(min(LONG_TOKENS, LONG_SHARE * accepted / control.ratio))
        try:
            probe, first, second = await ask_twice(self._asker, wanted)
        except (UnansweredError, ModelError) as error:
            checks = ("prefix cache", "speed")
            failed = [Finding(check, "problem", f"could not be tried: {error}") for check in checks]
            return [self._tokens([(control.ours, control.response)]), self._bos([control.response]), *failed]
        ours = self._asker.count(probe)
        tokens = ours if first.prompt_tokens is None else first.prompt_tokens
        return [
            self._tokens([(control.ours, control.response), (ours, first)]),
            self._bos([control.response, first]),
            judge_cache(first, second, tokens, self._server, self._kind),
            await self._tried("speed", lambda: examine_speed(self._asker, first, tokens)),
        ]

    async def _tried(self, check: str, examine_it: Callable[[], Awaitable[Finding]]) -> Finding:
        self._say(check)
        try:
            return await examine_it()
        except (UnansweredError, ModelError) as error:
            return Finding(check, "problem", f"could not be tried: {error}")

    def _endpoint(self) -> Finding:
        facts, abilities = self._backend.facts(), self._backend.abilities()
        dialect = dialects().get(self._server) if self._kind in ("openai", "ollama") else None
        name = dialect.title if dialect is not None else self._server or facts.name
        parts = (
            [f"{name} (recognised by {self._backend.recognised_by})"]
            if isinstance(self._backend, Recognised)
            else [name]
        )
        if (version := facts.details.get("server_version")) is not None:
            parts.append(f"version {version}")
        told = [
            f"{key.replace('_', ' ')} {value}"
            for key, value in facts.details.items()
            if key not in OWN_DETAILS and value is not None
        ]
        parts.append(f"it says: {', '.join(told)}" if told else "it says nothing of itself")
        parts.append(f"{abilities.max_concurrency} requests at a time")
        figures = {
            "server": self._server or None,
            "version": version,
            "verified": dialect.verified if dialect else None,
        }
        if dialect is not None and dialect.name == PLAIN:
            return Finding("endpoint", "note", "; ".join(parts), "name its model's tokenizer with --tokenizer", figures)
        return Finding("endpoint", "ok", "; ".join(parts), None, figures)

    def _tokens(self, counts: list[tuple[int, Response]]) -> Finding:
        """Our count against the one that is told, at two lengths."""
        tokenizer = self._asker.counter.counter.tokenizer
        pairs = [(ours, response.prompt_tokens) for ours, response in counts]
        figures: dict[str, Figure] = {f"ours_{number}": ours for number, (ours, _) in enumerate(pairs, 1)}
        figures |= {f"told_{number}": told or 0 for number, (_, told) in enumerate(pairs, 1)}
        if any(told is None for _, told in pairs):
            what = "the prompt's tokens are not told: a prompt that is cut shows in no single answer"
            return Finding("tokens", "note", what, None, dict.fromkeys(figures))
        listed = ", ".join(f"{told:,} told for {ours:,}" for ours, told in pairs if told is not None)
        drifts = [told - ours for ours, told in pairs if told is not None]
        near = all(
            abs(drift) <= max(TOLERANCE_TOKENS, TOLERANCE_SHARE * ours)
            for drift, (ours, _) in zip(drifts, pairs, strict=True)
        )
        how = f"{listed} ({tokenizer.id})"
        remedy = "--tokenizer hf/NAME or gguf/FILE with the model's own"
        if isinstance(tokenizer, StandIn) and tokenizer.calibration is not None:
            figures |= {"ratio": tokenizer.calibration.ratio, "error": round(tokenizer.calibration.error, 3)}
            what = f"another tokenizer stands in for the model's; {tokenizer.calibration.described} ({how})"
            return Finding("tokens", "note", what, remedy, figures)
        ratio = sum(told or 0 for _, told in pairs) / sum(ours for ours, _ in pairs)
        figures |= {"ratio": round(ratio, 3)}
        if near:
            return Finding("tokens", "ok", f"the counts agree: {how}", None, figures)
        if tokenizer.exact:
            what = (
                f"the counts differ, {ratio:.2f} to 1: {how}; the tokenizer is not the model's, or the server miscounts"
            )
            return Finding("tokens", "problem", what, remedy, figures)
        what = f"another tokenizer stands in for the model's, {ratio:.2f} to 1: {how}"
        return Finding("tokens", "note", what, remedy, figures)

    def _bos(self, responses: list[Response]) -> Finding:
        told = [response.bos_tokens for response in responses if response.bos_tokens is not None]
        if not told:
            return Finding("BOS", "ok", "cannot be told: no token ids are shown")
        most = max(told)
        figures = {"bos_tokens": most}
        if most > 1:
            what = f"prompts begin with {most} tokens for the beginning of text: template and tokenizer each add one"
            return Finding("BOS", "problem", what, "take it out of the chat template, or --endpoint chat", figures)
        return Finding("BOS", "ok", f"prompts begin with {most} token for the beginning of text", None, figures)

"""How an endpoint behaves: answers that were begun, prefix cache, finish reasons, determinism, speed."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence

from leadline.requests import Request, Response
from leadline.run.examination.asking import Asker
from leadline.run.examination.findings import Finding
from leadline.run.examination.probes import Probe
from leadline.run.examination.remedies import cache_remedy, determinism_remedy

SHORT_ANSWER_TOKENS = 16
"""Models that reason refuse to be cut after one token."""

BEGUN_DIGITS = 3
"""Of a number of nine: tokenizers cut numbers after each digit, or after every third."""

CACHE_TIME_SHARE = 0.6
CACHE_TIME_S = 0.05
"""A prefix cache that is not told of shows where the same prompt takes less than this share of the time, and by so
many seconds less; shorter times are noise."""

SMALLEST_CACHED_SHARE = 0.5
SAME_REQUESTS = 3
BURST = 4
COUNTED_TOKENS = (8, 72)
FEWEST_TOKENS = 16
FEWEST_S = 0.02
"""Fewer tokens, or a shorter time, tell nothing of a speed."""

_TOPICS = ("a mountain in winter", "a workshop of clocks", "a garden after rain")
_LONG = "Write a long story about a harbour and the people who live beside it."


async def examine_prefill(asker: Asker) -> Finding:
    """Whether an answer that was begun is gone on from: the beginning ends inside a number."""
    number = str(secrets.randbelow(9 * 10**8) + 10**8)
    begun, rest = f"The special magic number for harbour is: {number[:BEGUN_DIGITS]}", number[BEGUN_DIGITS:]
    message = (
        f"One of the special magic numbers for harbour is: {number}.\n"
        "What is the special magic number for harbour in the text above?\n"
    )
    in_messages = asker.frame.template == "server"
    if in_messages:
        asked = asker.request(message, "", SHORT_ANSWER_TOKENS, [(rest,)])
        asked = _with_prefill(asked, begun)
    else:
        asked = asker.request(message, begun, SHORT_ANSWER_TOKENS, [(rest,)])
    told = ((await asker.ask(asked)).text or "").strip()
    echoed = told.startswith(begun)
    told = told.removeprefix(begun).lstrip()
    able = asker.backend.abilities().prefill
    figures = {"continued": told.startswith(rest), "echoed": echoed, "used": able}
    echo = " (it sends the beginning back, which is taken off)" if echoed else ""
    if told.startswith(rest):
        if able:
            return Finding("prefill", "ok", f"an answer that was begun is gone on from{echo}", None, figures)
        what = f"an answer that was begun is gone on from{echo}, but nothing is known of this server that says so"
        return Finding("prefill", "note", what, "--endpoint completions begins answers on any server", figures)
    if number not in told and not told.startswith(number):
        what = f"cannot be told: neither the number nor the rest of it stands in the answer {told[:40]!r}"
        return Finding("prefill", "note", what, None, {**figures, "continued": None})
    what = f"an answer that was begun is not gone on from: it begins again{echo}"
    if able:
        return Finding("prefill", "problem", what, "--endpoint completions, or look at the chat template", figures)
    what += "; answer prefixes end the user's turn"
    return Finding("prefill", "ok", what, "--endpoint completions begins answers on any server", figures)


def _with_prefill(request: Request, begun: str) -> Request:
    return Request(request.max_tokens, messages=request.messages, prefill=begun, sample=request.sample)


async def ask_twice(asker: Asker, prompt_tokens: int) -> tuple[Probe, Response, Response]:
    """The same long prompt two times, new to the server at the first."""
    probe = asker.probe(prompt_tokens)
    return (
        probe,
        await asker.ask_probe(probe, SHORT_ANSWER_TOKENS),
        await asker.ask_probe(probe, SHORT_ANSWER_TOKENS),
    )


def judge_cache(first: Response, second: Response, prompt_tokens: int, server: str, kind: str) -> Finding:
    """Whether the second of two equal requests was answered from a prefix cache."""
    cached, seconds = second.cached_tokens, (first.latency_s, second.latency_s)
    figures = {
        "prompt_tokens": prompt_tokens,
        "cached_tokens": cached,
        "first_s": round(seconds[0], 3),
        "second_s": round(seconds[1], 3),
    }
    times = f"{seconds[0]:.2f} s, then {seconds[1]:.2f} s"
    if cached is not None and cached >= SMALLEST_CACHED_SHARE * prompt_tokens:
        what = f"on: {cached:,} of {prompt_tokens:,} tokens of the same prompt came from it ({times})"
        return Finding("prefix cache", "ok", what, None, figures)
    if seconds[1] < CACHE_TIME_SHARE * seconds[0] and seconds[0] - seconds[1] > CACHE_TIME_S:
        what = f"on, by the time that the same prompt took ({times}); cached tokens are not told"
        return Finding("prefix cache", "ok", what, None, figures)
    told = "nothing is told of cached tokens" if cached is None else f"{cached:,} cached tokens are told"
    what = f"no sign of one: the same prompt took {times}, and {told}"
    return Finding("prefix cache", "note", what, cache_remedy(server, kind), figures)


async def examine_finish(asker: Asker) -> Finding:
    """Whether an answer that the budget cut after one token says so."""
    response = await asker.ask(asker.request(_LONG, "", 1))
    tokens = asker.output_tokens(response)
    figures = {"finish_reason": response.finish_reason, "output_tokens": tokens, "budget_tokens": 1}
    budget = 1 + asker.reasoning_tokens
    if tokens > budget + 1:
        what = f"with a budget of {budget} token the answer has {tokens}: the budget is not kept"
        return Finding("finish reason", "problem", what, "look at the server's max_tokens", figures)
    if response.finish_reason == "length":
        return Finding("finish reason", "ok", "an answer that was cut says so", None, figures)
    remedy = "--max-tokens N, so many that no answer is cut"
    if response.finish_reason == "unknown":
        what = "no reason is given why an answer ended; where the budget is used up, it is taken as cut"
        return Finding("finish reason", "note", what, remedy, figures)
    what = f"an answer that was cut after {tokens} token says {response.finish_reason!r}: cut answers look complete"
    return Finding("finish reason", "problem", what, remedy, figures)


async def examine_determinism(asker: Asker, server: str) -> Finding:
    """Whether the same request has the same answer: alone, and among others at the same time."""
    asked = asker.request("Write three sentences about a harbour at dawn.", "", 48)
    alone = [(await asker.ask(asked)).text for _ in range(SAME_REQUESTS)]
    steady = len(set(alone)) == 1
    figures = {"alone": steady, "among_others": None}
    told = f"the same request {SAME_REQUESTS} times alone: {'one answer' if steady else f'{len(set(alone))} answers'}"
    if asker.backend.abilities().max_concurrency == 1:
        what = f"{told}; it takes one request at a time"
    else:
        others = [asker.request(f"Write three sentences about {topic}.", "", 48) for topic in _TOPICS]
        burst = await asyncio.gather(*(asker.ask(each) for each in (asked, *others)))
        same = burst[0].text in alone
        figures["among_others"] = same
        what = f"{told}; in a burst of {BURST}: {'the same' if same else 'another'}"
        steady = steady and same
    if steady:
        return Finding("determinism", "ok", what, None, figures)
    return Finding("determinism", "note", what, determinism_remedy(server), figures)


async def examine_speed(asker: Asker, long: Response, long_tokens: int) -> Finding:
    """Tokens per second of reading and of writing, each from two requests, so that what both take falls out.

    Args:
        asker: asks.
        long: the first answer to a long prompt.
        long_tokens: that prompt's.
    """
    few, many = [await asker.ask(asker.request(_LONG, "", budget)) for budget in COUNTED_TOKENS]
    written = asker.output_tokens(many) - asker.output_tokens(few)
    writing_s = many.latency_s - few.latency_s
    decode = written / writing_s if written >= FEWEST_TOKENS and writing_s >= FEWEST_S else None
    probe = asker.probe(1)
    short = await asker.ask_probe(probe, SHORT_ANSWER_TOKENS)
    read = long_tokens - (asker.count(probe) if short.prompt_tokens is None else short.prompt_tokens)
    reading_s = long.latency_s - short.latency_s
    if decode is not None:
        reading_s -= (asker.output_tokens(long) - asker.output_tokens(short)) / decode
    prefill = read / reading_s if read > 0 and reading_s >= FEWEST_S else None
    figures = {
        "prefill_tokens_per_s": None if prefill is None else round(prefill, 1),
        "decode_tokens_per_s": None if decode is None else round(decode, 1),
    }
    parts = [_speed("prefill", prefill), _speed("decode", decode)]
    return Finding("speed", "ok", ", ".join(parts) + ", one request at a time", None, figures)


def _speed(name: str, tokens_per_s: float | None) -> str:
    return f"{name} too short to measure" if tokens_per_s is None else f"{name} {tokens_per_s:,.0f} tokens/s"


def unasked(checks: Sequence[str], why: str) -> list[Finding]:
    """Findings for checks that do not apply."""
    return [Finding(check, "ok", f"does not apply: {why}") for check in checks]

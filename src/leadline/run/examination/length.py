"""How long a prompt a model's endpoint truly reads: tried, with few calls, by bisection."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from leadline.requests import Response
from leadline.run.examination.asking import Asker, UnansweredError
from leadline.run.examination.findings import Finding
from leadline.run.examination.probes import ANSWER_TOKENS, PLACES
from leadline.run.examination.remedies import length_remedy

DEFAULT_TOKENS = 32_768
"""What is tried where neither the endpoint nor the user names a length."""

CONTROL_TOKENS = 400
"""A prompt that any endpoint reads whole: what it says of this one, longer ones are measured by."""

SUITE_TOKENS = 4096
"""The greatest length of the suite that is asked where none is named."""

TOLERANCE_TOKENS = 16
TOLERANCE_SHARE = 0.02
"""By so much a count may fall short: the template's few tokens, and what they are of the short prompt's."""

PRECISION = 0.05
"""The bisection ends where the bounds differ by less than this share."""

BEYOND = 0.04
"""By so much more than the likely limit is tried; a cut of less than half of it would not be seen."""

MOST_CALLS = 12


@dataclass(frozen=True, slots=True)
class Control:
    """What the short prompt showed.

    Attributes:
        ours: its tokens by our own count.
        told: its tokens as the model's side counts them, or None.
        found: the places whose number the answer found; of any other the model's silence says nothing.
        response: the answer.
    """

    ours: int
    told: int | None
    found: frozenset[str]
    response: Response

    @property
    def ratio(self) -> float:
        """The other side's tokens for one of ours; 1 where the two are as good as equal, or nothing is told."""
        if self.told is None or abs(self.told - self.ours) <= TOLERANCE_TOKENS:
            return 1.0
        return self.told / self.ours


@dataclass(frozen=True, slots=True)
class Arrival:
    """What became of a prompt.

    Attributes:
        tokens: of the whole request, the answer's included, in the other side's tokens.
        state: read whole, read in part without a word, or refused.
        told: prompt tokens that the other side says it read.
        missing: places whose number was found in the short prompt and not in this one.
        limit_tokens: the longest request it accepts, as a refusal says.
        message: the refusal.
    """

    tokens: int
    state: Literal["whole", "cut", "refused"]
    told: int | None = None
    missing: tuple[str, ...] = ()
    limit_tokens: int | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far an endpoint reads.

    Attributes:
        whole: the longest request that was read whole.
        beyond: the shortest one that was not; None where everything tried was read.
        unread: the longest request that was counted whole and whose numbers were not found.
        calls: requests that this took.
    """

    whole: int
    beyond: Arrival | None
    unread: Arrival | None
    calls: int


async def ask_control(asker: Asker) -> Control:
    """Ask the short prompt.

    Raises:
        UnansweredError: even this one gets no answer.
    """
    probe = asker.probe(CONTROL_TOKENS)
    response = await asker.ask_probe(probe)
    return Control(asker.count(probe), response.prompt_tokens, probe.found(response), response)


async def try_length(asker: Asker, control: Control, tokens: int) -> Arrival:
    """What becomes of a request of so many tokens, the answer's included."""
    answer = ANSWER_TOKENS + asker.reasoning_tokens
    probe = asker.probe(int((tokens - answer) / control.ratio))
    expected = asker.count(probe) * control.ratio
    asked = round(expected) + answer
    try:
        response = await asker.ask_probe(probe)
    except UnansweredError as error:
        return Arrival(asked, "refused", limit_tokens=error.limit_tokens, message=str(error))
    found = probe.found(response)
    missing = tuple(place for place in PLACES if place in control.found and place not in found)
    told = response.prompt_tokens
    if told is None:
        return Arrival(asked, "cut" if missing else "whole", None, missing)
    short = told < expected - max(TOLERANCE_TOKENS, TOLERANCE_SHARE * expected)
    return Arrival(asked, "cut" if short else "whole", told, missing)


class _Search:
    """The bounds of what is read whole, as they close in."""

    def __init__(self, attempt: Callable[[int], Awaitable[Arrival]], known: int) -> None:
        self._attempt = attempt
        self._just_above = False
        self.whole = known
        self.beyond: Arrival | None = None
        self.unread: Arrival | None = None
        self.calls = 0

    async def reads(self, tokens: int) -> bool:
        """Whether a request of so many tokens is read whole."""
        arrival = await self._attempt(tokens)
        self.calls += 1
        if arrival.state != "whole":
            self.beyond = arrival
            return False
        self.whole = max(self.whole, arrival.tokens)
        if arrival.missing:
            self.unread = arrival
        return True

    def next_guess(self) -> int | None:
        """What to try next between the bounds; None where they are near enough.

        Contexts are powers of two as a rule, so these come first, then a little more than the greatest that was read,
        and then the middle, by ratio.
        """
        if self.beyond is None or self.calls >= MOST_CALLS or self.beyond.tokens <= self.whole * (1 + PRECISION):
            return None
        middle = (self.whole * self.beyond.tokens) ** 0.5
        power: int = 2 ** round(math.log2(middle))
        if self.whole * (1 + PRECISION) < power < self.beyond.tokens / (1 + PRECISION):
            return power
        if not self._just_above:
            self._just_above = True
            return round(self.whole * (1 + BEYOND))
        return round(middle)


async def find_reach(attempt: Callable[[int], Awaitable[Arrival]], known: int, most: int, answer: int) -> Reach:
    """Find the longest request that is read whole.

    The longest one is sent first. Where that is not read, the limit that a refusal names, or what was left of the
    prompt, is tried next and a little more than that; where this does not settle it, bisection does.

    Args:
        attempt: sends a request of about so many tokens.
        known: tokens of a request that was read whole already.
        most: the greatest length to try.
        answer: tokens of it that are the answer's.
    """
    search = _Search(attempt, known)
    if most > known and not await search.reads(most) and (beyond := search.beyond) is not None:
        hint = beyond.limit_tokens if beyond.told is None else beyond.told + answer
        more = 0 if hint is None else round(hint * (1 + BEYOND))
        if hint is not None and known < hint < beyond.tokens and await search.reads(hint) and more < beyond.tokens:
            await search.reads(more)
        while (guess := search.next_guess()) is not None:
            await search.reads(guess)
    return Reach(search.whole, search.beyond, search.unread, search.calls)


async def examine_length(
    asker: Asker, control: Control, claimed: int | None, asked_for: int | None, server: str, kind: str
) -> tuple[Finding, int]:
    """The length that is accepted against the one that is claimed, and that length.

    Args:
        asker: asks.
        control: what the short prompt showed.
        claimed: the context that the endpoint says it has.
        asked_for: the greatest length to try, where the user names one.
        server: its dialect or engine, for the remedy.
        kind: the word before the slash in the model's name.
    """
    answer = ANSWER_TOKENS + asker.reasoning_tokens
    most = asked_for or claimed or DEFAULT_TOKENS
    known = round(control.ours * control.ratio) + answer
    before = asker.spent
    reach = await find_reach(lambda tokens: try_length(asker, control, tokens), known, most, answer)
    spent = asker.spent
    calls = "1 call" if reach.calls == 1 else f"{reach.calls} calls"
    cost = f"{calls}, {spent.prompt_tokens - before.prompt_tokens:,} prompt tokens"
    claim = "it claims no context" if claimed is None else f"it claims {claimed:,}"
    figures = {
        "claimed_tokens": claimed,
        "accepted_tokens": reach.whole,
        "tried_tokens": most,
        "calls": reach.calls,
        "silent": reach.beyond is not None and reach.beyond.state == "cut",
    }
    beyond = reach.beyond
    if beyond is None:
        what = f"a request of {reach.whole:,} tokens is read whole, answer included; {claim} ({cost})"
        if reach.unread is not None:
            lost = " and in the ".join(reach.unread.missing)
            what += (
                f"; of {reach.unread.tokens:,} tokens it counts all, but the number in the {lost} is not found: "
                "the model does not read so far, or what it counts is not what it reads"
            )
            return Finding("length", "note", what, "measure it: leadline run ruler", figures), reach.whole
        return Finding("length", "ok", what, None, figures), reach.whole
    remedy = length_remedy(server, kind)
    if beyond.state == "cut":
        counted = "" if beyond.told is None else f": it read {beyond.told:,} prompt tokens of {beyond.tokens:,} asked"
        lost = f", and does not find the number in the {' and in the '.join(beyond.missing)}" if beyond.missing else ""
        what = (
            f"longer prompts than about {reach.whole:,} tokens are cut without a word{counted}{lost}; {claim} ({cost})"
        )
        return Finding("length", "problem", what, remedy, figures), reach.whole
    what = f"requests of more than about {reach.whole:,} tokens are refused ({beyond.message}); {claim} ({cost})"
    # A limit that is told is no fault, unless less than what is promised, wanted or asked by default.
    wanted = asked_for or claimed or SUITE_TOKENS
    short = reach.whole < wanted * (1 - PRECISION)
    return Finding("length", "problem" if short else "note", what, remedy, figures), reach.whole

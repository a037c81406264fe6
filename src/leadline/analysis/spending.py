"""What a run took: requests, tokens and time, by length, over every request ever made for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from leadline.records import Record


@dataclass(frozen=True, slots=True)
class Spending:
    """Requests of one length, or of all; those that were asked again are among them.

    Tokens and times are those of requests without an error: what a provider charges for.

    Attributes:
        length: in tokens; None for all lengths.
        requests: those that got a response, an error included.
        errors: how many of them ended in one.
        prompt_tokens: as the server counts them, or by the local tokenizer where it does not tell.
        cached_tokens: how many of them came from a prefix cache; None where no server told.
        output_tokens: of the answers, reasoning included; None where no server told.
        timed: requests whose time is known.
        latency_s: from request to answer, all of those added; None where none is known.
        timed_output_tokens: of the timed requests whose server told them, for a speed.
        timed_output_s: the time of these.
    """

    length: int | None
    requests: int = 0
    errors: int = 0
    prompt_tokens: int = 0
    cached_tokens: int | None = None
    output_tokens: int | None = None
    timed: int = 0
    latency_s: float | None = None
    timed_output_tokens: int = 0
    timed_output_s: float = 0.0

    @property
    def mean_latency_s(self) -> float | None:
        """Seconds from request to answer, on average; None where no time is known."""
        return None if self.latency_s is None or not self.timed else self.latency_s / self.timed

    @property
    def output_tokens_per_s(self) -> float | None:
        """Tokens of an answer for each second of its request, reading of the prompt included; None where unknown."""
        return self.timed_output_tokens / self.timed_output_s if self.timed_output_s else None

    @property
    def cached_share(self) -> float | None:
        """Share of the prompt tokens that came from a cache, 0 to 1; None where no server told."""
        return None if self.cached_tokens is None or not self.prompt_tokens else self.cached_tokens / self.prompt_tokens

    def as_dict(self) -> dict[str, Any]:
        """The figures as they may be written."""
        return {
            "length": self.length,
            "requests": self.requests,
            "errors": self.errors,
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "latency_s": self.latency_s,
            "mean_latency_s": self.mean_latency_s,
            "output_tokens_per_s": self.output_tokens_per_s,
        }


class SpendingCount:
    """Adds records up."""

    def __init__(self) -> None:
        self._by_length: dict[int, _Sums] = defaultdict(_Sums)

    def add(self, record: Record) -> None:
        """Count one more record."""
        self._by_length[record.key.length].add(record)

    def result(self) -> tuple[Spending, ...]:
        """One for each length with a request, ascending, then that of all lengths; empty where nothing was asked."""
        asked = {length: sums for length, sums in sorted(self._by_length.items()) if sums.requests}
        if not asked:
            return ()
        total = _Sums()
        for sums in asked.values():
            total.join(sums)
        return (*(sums.result(length) for length, sums in asked.items()), total.result(None))


def spending(records: Iterable[Record]) -> tuple[Spending, ...]:
    """What these records took, by length and then in all."""
    count = SpendingCount()
    for record in records:
        count.add(record)
    return count.result()


@dataclass(slots=True)
class _Sums:
    requests: int = 0
    errors: int = 0
    prompt: int = 0
    cached: int = 0
    told_cached: int = 0
    output: int = 0
    told_output: int = 0
    timed: int = 0
    latency_s: float = 0.0
    timed_output: int = 0
    timed_output_s: float = 0.0

    def add(self, record: Record) -> None:
        response = record.response
        if response is None:
            return
        self.requests += 1
        if response.error is not None:
            self.errors += 1
            return
        self.prompt += response.prompt_tokens if response.prompt_tokens is not None else record.prompt_tokens or 0
        if response.cached_tokens is not None:
            self.told_cached += 1
            self.cached += response.cached_tokens
        if response.output_tokens is not None:
            self.told_output += 1
            self.output += response.output_tokens
        # A backend that measures no time, and a run that was imported, have none.
        if response.latency_s > 0:
            self.timed += 1
            self.latency_s += response.latency_s
            if response.output_tokens is not None:
                self.timed_output += response.output_tokens
                self.timed_output_s += response.latency_s

    def join(self, other: _Sums) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def result(self, length: int | None) -> Spending:
        return Spending(
            length=length,
            requests=self.requests,
            errors=self.errors,
            prompt_tokens=self.prompt,
            cached_tokens=self.cached if self.told_cached else None,
            output_tokens=self.output if self.told_output else None,
            timed=self.timed,
            latency_s=self.latency_s if self.timed else None,
            timed_output_tokens=self.timed_output,
            timed_output_s=self.timed_output_s,
        )

"""What tokens cost: by the user's own price, or by the catalogue of a kept package; what is unknown stays unknown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from leadline.records import Record
from leadline.requests import Response
from leadline.spec import RunSpec
from leadline.values import parse_price

MILLION = 1_000_000

PAID = ("openai", "inspect")
"""Kinds of models that may cost money; all others run on the user's own machines."""

CHARACTERS_PER_TOKEN = 4
"""For answers of servers that do not count them: English prose has about four characters a token."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    Attributes:
        prompt_usd: of prompt tokens.
        output_usd: of output tokens, reasoning included.
        cached_usd: of prompt tokens that come from the provider's cache; as `prompt_usd` where it is not known.
        source: whose figures they are, in words.
    """

    prompt_usd: float
    output_usd: float
    cached_usd: float
    source: str

    def cost_usd(self, prompt_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        """What so many tokens cost; `cached_tokens` are among the prompt's."""
        fresh = prompt_tokens - cached_tokens
        total = fresh * self.prompt_usd + cached_tokens * self.cached_usd + output_tokens * self.output_usd
        return total / MILLION

    def as_dict(self) -> dict[str, float | str]:
        """The price as ``leadline plan --json`` prints it."""
        return {"prompt_usd": self.prompt_usd, "output_usd": self.output_usd, "source": self.source}


def price_of_run(spec: RunSpec) -> Price | None:
    """The price of a run's tokens, at its greatest length where prices rise with it; None where it is not known."""
    return price_of(spec.model, spec.base_url, spec.price, max(spec.lengths))


def price_of(model: str, base_url: str | None, own: str | None, prompt_tokens: int = 1000) -> Price | None:
    """The price of a model's tokens; None where it is not known, as for any server of one's own.

    Args:
        model: as ``--model`` has it.
        base_url: where its server is; None for the provider's own.
        own: what ``--price`` says, which goes before any catalogue.
        prompt_tokens: of a long prompt of the run, since some prices rise with the length.
    """
    if own is not None:
        prompt_usd, output_usd = parse_price(own)
        return Price(prompt_usd, output_usd, prompt_usd, "--price")
    kind, _, name = model.partition("/")
    if kind == "openai" and name and not _is_own(base_url):
        return _listed("openai" if base_url is None else None, name, base_url, prompt_tokens)
    if kind == "inspect" and "/" in name:
        provider, _, name = name.partition("/")
        return _listed(provider, name, None, prompt_tokens)
    return None


def _is_own(url: str | None) -> bool:
    """Whether a server is on this machine or in this network, so that no catalogue knows it; saves reading one."""
    host = urlsplit(url or "").hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return host == "localhost" or (bool(host) and "." not in host)


def _listed(provider: str | None, name: str, url: str | None, prompt_tokens: int) -> Price | None:
    """What the catalogue of genai-prices, which comes with the package, says; nothing is fetched."""
    from genai_prices import Usage, __version__, calc_price

    def usd(cached_tokens: int = 0, output_tokens: int = 0) -> float:
        usage = Usage(input_tokens=prompt_tokens, cache_read_tokens=cached_tokens, output_tokens=output_tokens)
        if url is not None:
            return float(calc_price(usage, name, provider_api_url=url).total_price)
        return float(calc_price(usage, name, provider_id=provider).total_price)

    try:
        prompt_usd = usd()
        cached_usd, output_usd = usd(cached_tokens=prompt_tokens), usd(output_tokens=1000) - prompt_usd
    except LookupError:
        return None
    per_token = MILLION / prompt_tokens
    return Price(
        prompt_usd=round(prompt_usd * per_token, 6),
        output_usd=round(output_usd * 1000, 6),
        cached_usd=round(cached_usd * per_token, 6),
        source=f"genai-prices {__version__}",
    )


@dataclass(slots=True)
class Bill:
    """What a run took so far, earlier invocations included.

    Requests that ended in an error are not counted: providers do not charge for them.
    """

    price: Price | None = None
    prompt_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def add(self, record: Record) -> None:
        """Count one more record."""
        response = record.response
        if response is None or response.error is not None:
            return
        counted = response.prompt_tokens
        self.prompt_tokens += counted if counted is not None else record.prompt_tokens or 0
        self.output_tokens += _output_tokens(response)
        self.cached_tokens += response.cached_tokens or 0

    @property
    def usd(self) -> float | None:
        """What that costs; None where the price is not known."""
        if self.price is None:
            return None
        return self.price.cost_usd(self.prompt_tokens, self.output_tokens, self.cached_tokens)


def _output_tokens(response: Response) -> int:
    if response.output_tokens is not None:
        return response.output_tokens
    return math.ceil(len((response.text or "") + (response.reasoning or "")) / CHARACTERS_PER_TOKEN)

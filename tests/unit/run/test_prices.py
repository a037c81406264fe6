"""Prices: the user's own, a catalogue's, or none."""

from __future__ import annotations

import socket
from dataclasses import replace

import pytest

from leadline.errors import UsageError
from leadline.records import Record
from leadline.requests import Response
from leadline.run.prices import Bill, Price, price_of, price_of_run
from leadline.spec import resolve

from .conftest import record_of

OWN = Price(2.0, 8.0, 0.5, "mine")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError("a price was looked up on the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_a_price_of_ones_own_goes_before_any_catalogue() -> None:
    price = price_of("openai/gpt-4o", None, "1,4")
    assert price == Price(1.0, 4.0, 1.0, "--price")
    assert price_of("local", None, "0,0") == Price(0.0, 0.0, 0.0, "--price")


@pytest.mark.parametrize(
    ("model", "url"),
    [
        ("openai/gpt-4o", None),
        ("openai/gpt-4o", "https://api.openai.com/v1"),
        ("inspect/anthropic/claude-sonnet-4-0", None),
    ],
)
def test_a_provider_s_own_model_has_the_catalogue_s_price(model: str, url: str | None) -> None:
    price = price_of(model, url, None)
    assert price is not None
    assert 0 < price.cached_usd < price.prompt_usd < price.output_usd
    assert price.source.startswith("genai-prices ")


@pytest.mark.parametrize(
    ("model", "url"),
    [
        ("openai/gpt-4o", "http://localhost:8000/v1"),  # its name alone says nothing of who serves it
        ("openai/no-such-model", None),
        ("inspect/nobody/x", None),
        ("local", None),
        ("ollama/llama3", None),
        ("reader/oracle", None),
    ],
)
def test_what_is_unknown_stays_unknown(model: str, url: str | None) -> None:
    assert price_of(model, url, None) is None


def test_a_price_that_rises_with_the_length_is_that_of_the_length() -> None:
    model = "inspect/google/gemini-2.5-pro"
    short, long = price_of(model, None, None, 1000), price_of(model, None, None, 1_000_000)
    assert short is not None and long is not None
    assert short.prompt_usd < long.prompt_usd
    assert short.output_usd < long.output_usd


def test_the_cost_of_tokens() -> None:
    assert OWN.cost_usd(1_000_000, 500_000) == 2 + 4
    assert OWN.cost_usd(1_000_000, 0, cached_tokens=500_000) == 1 + 0.25


def test_a_bill_counts_what_the_server_counts_and_no_errors() -> None:
    bill = Bill(OWN)
    told = record_of()
    for response in (
        Response("1", prompt_tokens=1000, output_tokens=10, cached_tokens=400),
        Response("12345678"),
        Response(None, error="failed"),
        None,
    ):
        bill.add(_with(told, response))
    assert (bill.prompt_tokens, bill.output_tokens, bill.cached_tokens) == (1000 + 900, 10 + 2, 400)
    assert bill.usd == pytest.approx((1500 * 2 + 400 * 0.5 + 12 * 8) / 1e6)
    assert Bill().usd is None


def test_prices_are_checked_where_they_come_in() -> None:
    for text in ("1", "1,2,3", "a,b", "-1,2", "nan,1", "inf,1", ""):
        with pytest.raises(UsageError, match="IN,OUT"):
            resolve("quick", {"price": text})
    assert price_of_run(resolve("quick", {"price": " 1, 2 "})) == Price(1.0, 2.0, 1.0, "--price")


def _with(record: Record, response: Response | None) -> Record:
    return replace(record, response=response)

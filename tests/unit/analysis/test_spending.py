"""What a run took."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leadline.analysis.spending import Spending, spending
from leadline.items import ItemKey, TrialKey
from leadline.records import Record
from leadline.requests import Response


def record(length: int, response: Response | None, index: int = 0) -> Record:
    key = TrialKey(ItemKey("vt", 1, "{}", 1, index), length)
    return Record(key, None, None, None, length, {}, (("yes",),), {}, response, "answered")


ANSWER = Response("yes", prompt_tokens=1000, cached_tokens=250, output_tokens=20, latency_s=2.0)


def test_lengths_come_first_and_then_all_of_them() -> None:
    found = spending([record(4096, ANSWER), record(1024, ANSWER), record(1024, ANSWER, 1)])
    assert [one.length for one in found] == [1024, 4096, None]
    assert [one.requests for one in found] == [2, 1, 3]
    total = found[-1]
    assert (total.prompt_tokens, total.cached_tokens, total.output_tokens) == (3000, 750, 60)
    assert (total.latency_s, total.mean_latency_s, total.output_tokens_per_s, total.cached_share) == (
        6.0,
        2.0,
        10,
        0.25,
    )


def test_a_request_that_ended_in_an_error_costs_nothing() -> None:
    refused = Response(None, error="over_length", prompt_tokens=9000, latency_s=1.0)
    total = spending([record(1024, refused), record(1024, ANSWER)])[-1]
    assert (total.requests, total.errors, total.prompt_tokens, total.timed) == (2, 1, 1000, 1)


def test_what_was_asked_again_counts_twice_and_what_was_not_asked_not_at_all() -> None:
    assert spending([record(1024, ANSWER), record(1024, ANSWER)])[-1].requests == 2
    assert spending([record(1024, None)]) == ()


def test_what_no_server_tells_is_not_known() -> None:
    total = spending([record(1024, Response("yes"))])[-1]
    assert total == Spending(None, requests=1, prompt_tokens=1024)
    for figure in (total.cached_share, total.mean_latency_s, total.output_tokens_per_s, total.latency_s):
        assert figure is None


def test_a_speed_is_of_answers_whose_tokens_and_time_are_known() -> None:
    untold = replace(ANSWER, output_tokens=None, latency_s=50.0)
    total = spending([record(1024, ANSWER), record(1024, untold)])[-1]
    assert total.output_tokens_per_s == pytest.approx(10)
    assert total.mean_latency_s == 26.0
    assert set(total.as_dict()) >= {"requests", "errors", "mean_latency_s", "output_tokens_per_s"}

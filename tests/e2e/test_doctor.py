"""The verb ``doctor`` against servers whose faults are known."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.data.loading import load_tokenizer
from tests.servers.window import WindowServer

from .conftest import Ended, Invoke, Shell

TOKENIZER = "tiktoken/cl100k_base"
COUNT = load_tokenizer(TOKENIZER).count
CHECKS = {
    "endpoint",
    "length",
    "prefill",
    "tokens",
    "BOS",
    "prefix cache",
    "finish reason",
    "determinism",
    "speed",
}


@pytest.fixture
def examine(invoke: Invoke) -> Any:
    def run(server: WindowServer, *arguments: str) -> Ended:
        return invoke(
            "doctor", "--model", "openai/m", "--base-url", server.base_url, "--tokenizer", TOKENIZER, *arguments
        )

    return run


def findings(ended: Ended) -> dict[str, dict[str, Any]]:
    return {finding["check"]: finding for finding in ended.json["findings"]}


def problems(ended: Ended) -> set[str]:
    return {check for check, finding in findings(ended).items() if finding["severity"] == "problem"}


def test_a_good_server_has_no_problem(examine: Any) -> None:
    with WindowServer(16384, "refuse", count=COUNT, claims=16384) as server:
        ended = examine(server, "--json")
    assert ended.code == 0
    found = findings(ended)
    assert found.keys() == CHECKS
    assert problems(ended) == set()
    assert "vLLM (recognised by owned_by in its list of models)" in found["endpoint"]["what"]
    assert found["length"]["figures"]["calls"] == 1
    assert 16384 * 0.98 <= found["length"]["figures"]["accepted_tokens"] <= 16384
    assert found["prefix cache"]["severity"] == "ok"
    assert found["prefill"]["figures"] == {"continued": True, "echoed": False, "used": True}
    assert found["tokens"]["severity"] == "ok"
    assert found["determinism"]["figures"] == {"alone": True, "among_others": True}


def test_what_it_took_is_told_as_the_server_saw_it(examine: Any) -> None:
    with WindowServer(8192, "refuse", count=COUNT, claims=8192) as server:
        ended = examine(server, "--json")
        asked = len(server.requests)
    spent = ended.json["spent"]
    # Four short questions measure the server's template before the first check.
    assert asked - 4 <= spent["calls"] <= asked
    assert 8192 < spent["prompt_tokens"] < 3 * 8192


@pytest.mark.parametrize("beyond", ["keep_end", "drop_middle"])
def test_a_window_of_2048_tokens_that_cuts_without_a_word_is_found(examine: Any, beyond: Any) -> None:
    with WindowServer(2048, beyond, count=COUNT) as server:
        ended = examine(server, "--json")
    assert ended.code == 1
    found = findings(ended)["length"]
    assert problems(ended) == {"length"}
    assert found["figures"]["silent"]
    assert 2048 * 0.95 <= found["figures"]["accepted_tokens"] <= 2048 * 1.05
    assert found["figures"]["calls"] <= 8
    assert "--max-model-len" in found["remedy"]


def test_a_cut_shows_in_the_answer_where_all_tokens_are_told(examine: Any) -> None:
    """The numbers at the beginning and in the middle of the prompt tell; a small model may look the same."""
    with WindowServer(2048, "keep_end", count=COUNT, counts=lambda sent, read: sent) as server:
        ended = examine(server, "--json")
    found = findings(ended)["length"]
    assert found["severity"] == "note"
    assert "the number in the beginning" in found["what"]
    assert "what it counts is not what it reads" in found["what"]


@pytest.mark.parametrize("tells", [True, False])
def test_a_window_of_2048_tokens_that_refuses_more_is_found(examine: Any, tells: bool) -> None:
    with WindowServer(2048, "refuse", count=COUNT, tells_window=tells) as server:
        ended = examine(server, "--json")
    assert ended.code == 1
    found = findings(ended)["length"]
    assert problems(ended) == {"length"}
    assert not found["figures"]["silent"]
    assert 2048 * 0.95 <= found["figures"]["accepted_tokens"] <= 2048
    assert found["figures"]["calls"] <= (3 if tells else 8)


def test_a_claim_that_is_too_high_is_a_problem_and_max_length_caps_what_is_tried(examine: Any) -> None:
    with WindowServer(8192, "refuse", count=COUNT, claims=32768) as server:
        claimed = examine(server, "--json")
        server.requests.clear()
        capped = examine(server, "--json", "--max-length", "4k")
        longest = max(COUNT(call.body["messages"][0]["content"]) for call in server.requests)
    assert (claimed.code, problems(claimed)) == (1, {"length"})
    assert "it claims 32,768" in findings(claimed)["length"]["what"]
    assert (capped.code, problems(capped)) == (0, set())
    assert longest <= 4096


def test_a_server_that_miscounts_is_found_and_its_length_all_the_same(examine: Any) -> None:
    with WindowServer(8192, "refuse", count=COUNT, claims=8192, counts=lambda sent, read: read // 2) as server:
        ended = examine(server, "--json", "--max-length", "4k")
    found = findings(ended)
    assert problems(ended) == {"tokens"}
    assert found["tokens"]["figures"]["ratio"] == pytest.approx(0.5, abs=0.02)
    assert "--tokenizer" in found["tokens"]["remedy"]


def test_an_answer_that_begins_again_is_a_problem_where_a_run_would_begin_it(examine: Any) -> None:
    with WindowServer(8192, "refuse", count=COUNT, claims=8192, continues=False, echoes=True) as server:
        ended = examine(server, "--json", "--max-length", "1k")
    found = findings(ended)["prefill"]
    assert problems(ended) == {"prefill"}
    assert found["figures"]["echoed"]
    assert "--endpoint completions" in found["remedy"]


def test_a_prefill_that_nothing_is_known_of_is_noted(examine: Any) -> None:
    with WindowServer(8192, "refuse", count=COUNT, claims=8192, owner="me", echoes=True) as server:
        ended = examine(server, "--json", "--max-length", "1k")
    assert findings(ended)["prefill"]["severity"] == "note"
    assert findings(ended)["prefill"]["figures"] == {"continued": True, "echoed": True, "used": False}
    assert findings(ended)["endpoint"]["severity"] == "note"


def test_no_cache_is_noted_with_the_flag_that_turns_it_on(examine: Any) -> None:
    with WindowServer(8192, "refuse", count=COUNT, claims=8192, caches=False) as server:
        ended = examine(server, "--json", "--max-length", "2k")
    assert ended.code == 0
    assert findings(ended)["prefix cache"]["severity"] == "note"
    assert "--enable-prefix-caching" in findings(ended)["prefix cache"]["remedy"]


def test_a_finish_reason_that_hides_a_cut_is_a_problem(examine: Any) -> None:
    with WindowServer(8192, "refuse", count=COUNT, claims=8192, honest_finish=False) as server:
        ended = examine(server, "--json", "--max-length", "1k")
    assert problems(ended) == {"finish reason"}


def test_the_list_names_each_finding_its_remedy_and_what_it_took(examine: Any) -> None:
    with WindowServer(2048, "keep_end", count=COUNT) as server:
        ended = examine(server)
    lines = ended.out.splitlines()
    assert lines[0] == "openai/m"
    assert any(line.startswith("problem  length") for line in lines)
    assert any("-> start vLLM with --max-model-len N" in line for line in lines)
    assert lines[-1].startswith("1 problem; ")
    assert "calls" in lines[-1]
    assert ended.err == ""


def test_checks_that_do_not_apply_say_so(invoke: Invoke) -> None:
    ended = invoke("doctor", "--model", "reader/oracle", "--json")
    assert ended.code == 0
    assert findings(ended).keys() == CHECKS
    assert findings(ended)["speed"]["what"].startswith("does not apply")


def test_a_reader_with_a_window_is_found_out(invoke: Invoke) -> None:
    ended = invoke("doctor", "--model", "reader/window?tokens=2048", "--json")
    assert ended.code == 1
    assert findings(ended)["length"]["figures"]["accepted_tokens"] == pytest.approx(2048, rel=0.05)


def test_a_server_that_is_not_there_is_one_line(invoke: Invoke) -> None:
    ended = invoke("doctor", "--model", "openai/m", "--base-url", "http://127.0.0.1:9/v1")
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1


def test_a_run_against_a_window_that_cuts_without_a_word_scores_nothing_of_it(invoke: Invoke, shell: Shell) -> None:
    with WindowServer(2048, "keep_end", count=COUNT) as server:
        ended = invoke(
            *("run", "quick", "--tasks", "niah_single_1", "--lengths", "1k,4k", "--samples", "4", "--json"),
            *("--model", "openai/m", "--base-url", server.base_url, "--tokenizer", TOKENIZER),
        )
    short, long = ended.json["cells"]
    assert short["score"] == 100.0
    assert long["score"] is None
    assert long["outcomes"].keys() == {"truncated_prompt"}

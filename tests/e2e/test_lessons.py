"""What people who measure models run into: each made impossible, or found and said.

One test, or a few, for each lesson: the prompt that arrives, the answer that arrives, cost and time. What concerns one
response alone is in tests/unit/scoring/test_outcomes.py.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from leadline.data.loading import load_tokenizer
from leadline.items import digest
from leadline.run import runner
from leadline.run.patience import Patience
from tests.servers.faulty import Fault, FaultyServer, Kind, oracle

from .conftest import Ended, Invoke, Shell

TOKENIZER = "tiktoken/cl100k_base"
ASK = ("run", "quick", "--tasks", "niah_single_1", "--json", "--model", "openai/m", "--tokenizer", TOKENIZER)
Ask = Callable[..., Ended]


@pytest.fixture(autouse=True)
def haste(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "STANDARD", Patience(attempts=3, first_wait_s=0.01, longest_wait_s=0.02, gone_s=0.2))


@pytest.fixture
def ask(invoke: Invoke) -> Ask:
    """Run against a server, with one length and few samples unless told otherwise."""

    def run(server: FaultyServer, *arguments: str) -> Ended:
        given = " ".join(arguments)
        few = (() if "--lengths" in given else ("--lengths", "1k")) + (
            () if "--samples" in given else ("--samples", "4")
        )
        return invoke(*ASK, "--base-url", server.base_url, *few, *arguments)

    return run


Behaviour = Callable[[Any, int], Fault | None]


def always(fault: Fault) -> Behaviour:
    return lambda body, number: fault


def serving(behaviour: Behaviour = lambda body, number: None, answer: Callable[[str], str] = oracle) -> FaultyServer:
    """A server that counts tokens as exactly as we do."""
    return FaultyServer(behaviour, answer=answer, count=load_tokenizer(TOKENIZER).count)


def cell(ended: Ended) -> dict[str, Any]:
    (only,) = ended.json["cells"]
    return only


def asked(server: FaultyServer) -> list[Any]:
    """Bodies of the calls with a whole prompt, without those by which the server was looked over."""
    bodies = [call.body for call in server.requests if call.body]
    return [body for body in bodies if len(json.dumps(body)) > 1000]


def records(shell: Shell, parent: str = "runs") -> list[dict[str, Any]]:
    return [json.loads(line) for line in shell.lines(parent)]


def manifest(shell: Shell, parent: str = "runs") -> dict[str, Any]:
    (folder,) = shell.run_folders(parent)
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


# The prompt that arrives is not the prompt that was meant


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_a_prompt_whose_middle_was_dropped_is_never_wrong(ask: Ask, endpoint: str) -> None:
    with serving(always(Fault("drop_middle"))) as server:
        ended = ask(server, "--endpoint", endpoint)
    assert cell(ended)["outcomes"].keys() == {"truncated_prompt"}
    assert cell(ended)["score"] is None
    assert not cell(ended)["complete"]
    assert "do not arrive whole" in ended.err


def test_a_window_of_2048_tokens_is_found_and_never_scored(ask: Ask, shell: Shell) -> None:
    """What fits is scored, what does not is not; the reason and the next step are said once."""
    with serving(always(Fault("drop_middle", kept_characters=8000))) as server:
        ended = ask(server, "--lengths", "1k,4k", "--samples", "8")
    short, long = ended.json["cells"]
    assert (short["score"], short["complete"]) == (100.0, True)
    assert (long["score"], long["complete"]) == (None, False)
    assert ended.err.count("do not arrive whole") == 1
    assert "raise its context length" in ended.err
    assert len([record for record in records(shell) if record["key"]["length"] == 4096]) < 8, "asked in vain"


def test_a_prompt_is_the_text_that_was_made_and_nothing_encodes_and_decodes_it(ask: Ask, shell: Shell) -> None:
    """Special tokens and rare letters inside it arrive as they are."""
    with serving() as server:
        ended = ask(server, "--endpoint", "completions", "--template", "llama3", "--samples", "2")
        sent = [body["prompt"] for body in asked(server)]
    assert ended.code == 0
    assert all(text.count("<|begin_of_text|>") == 1 and text.startswith("<|begin_of_text|>") for text in sent)
    assert all("<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n" in text for text in sent)
    assert {digest(text) for text in sent} == {record["prompt_hash"] for record in records(shell)}


def test_another_template_is_another_run_and_a_base_model_gets_none(ask: Ask, shell: Shell) -> None:
    with serving() as server:
        assert ask(server, "--endpoint", "completions", "--out", "base").code == 0
        assert ask(server, "--endpoint", "completions", "--template", "chatml", "--out", "chat").code == 0
    base, chat = manifest(shell, "base"), manifest(shell, "chat")
    assert (base["frame"]["name"], base["frame"]["mode"], base["frame"]["before"]) == ("base", "completion", "")
    assert chat["frame"]["name"] == "chatml"
    assert base["id"] != chat["id"]


def test_the_answer_prefix_arrives_and_its_place_is_recorded(ask: Ask, shell: Shell) -> None:
    with serving() as server:
        assert ask(server, "--endpoint", "chat", "--out", "chat").code == 0
        in_turn = asked(server)
        server.requests.clear()
        assert ask(server, "--endpoint", "completions", "--out", "text").code == 0
        in_text = asked(server)
    prefix = "is"
    assert all(body["messages"][-1]["content"].rstrip().endswith(prefix) for body in in_turn)
    assert all(body["prompt"].rstrip().endswith(prefix) for body in in_text)
    assert (manifest(shell, "chat")["frame"]["mode"], manifest(shell, "text")["frame"]["mode"]) == (
        "in_user_turn",
        "completion",
    )


def test_a_run_holds_a_short_length_beside_the_long_one_and_what_the_server_says_of_itself(
    ask: Ask, shell: Shell
) -> None:
    """A stretched rope harms short prompts too: the shortest length is the relative threshold's own measure."""
    with FaultyServer(
        model={"max_model_len": 5000, "owned_by": "vllm"}, count=load_tokenizer(TOKENIZER).count
    ) as server:
        ended = ask(server, "--lengths", "1k,2k", "--samples", "2")
    assert ended.json["effective_length"]["relative"]["threshold"] == 85.0
    assert manifest(shell)["model"]["served_context_tokens"] == 5000


# The answer that arrives is not an answer


def test_answers_that_were_cut_are_counted_in_their_cell(ask: Ask) -> None:
    def every_other(body: Any, number: int) -> Fault | None:
        return Fault("cut") if number % 2 else None

    with serving(every_other) as server:
        ended = ask(server, "--samples", "8", "--concurrency", "1")
    assert cell(ended)["outcomes"]["truncated_output"] >= 3
    assert sum(cell(ended)["outcomes"].values()) == 8


def test_reasoning_and_answer_have_budgets_and_markers_of_their_own(ask: Ask, shell: Shell) -> None:
    def thinks(prompt: str) -> str:
        return f"[THINK]Is it 7654321?[/THINK]{oracle(prompt)}"

    with serving(answer=thinks) as server:
        ended = ask(server, "--reasoning-tokens", "1000", "--reasoning-markers", "[THINK],[/THINK]")
        budgets = {body.get("max_tokens", body.get("max_completion_tokens")) for body in asked(server)}
    assert cell(ended)["score"] == 100.0
    assert budgets == {1128}
    for record in records(shell):
        assert record["response"]["reasoning"] == "Is it 7654321?"
        assert "THINK" not in record["response"]["text"]


def test_a_reasoning_that_never_ended_is_a_cut_answer(ask: Ask, shell: Shell) -> None:
    def thinks_on(prompt: str) -> str:
        return f"<think>It may be {oracle(prompt)}"

    with serving(answer=thinks_on) as server:
        ended = ask(server)
    assert cell(ended)["outcomes"] == {"truncated_output": 4}
    assert cell(ended)["score"] == 0.0, "what it thought is no answer"
    assert all("the reasoning never ended" in record["notes"][0] for record in records(shell))


@pytest.mark.parametrize(
    ("kind", "outcome", "score"),
    [
        ("silent", "failed", None),
        ("filter", "filtered", 0.0),
        ("loop", "degenerate", 0.0),
        ("echo", "degenerate", 0.0),
        ("refuse", "refused", 0.0),
    ],
)
def test_an_answer_that_is_none_is_told_apart_from_a_wrong_one(
    ask: Ask, kind: Kind, outcome: str, score: float | None
) -> None:
    with serving(always(Fault(kind))) as server:
        ended = ask(server, "--lengths", "2k", "--endpoint", "completions")
    assert cell(ended)["outcomes"] == {outcome: 4}
    assert cell(ended)["score"] == score


def test_an_answer_in_the_reasoning_field_alone_names_the_cause(ask: Ask, shell: Shell) -> None:
    with serving(always(Fault("reasoning"))) as server:
        ask(server)
    assert all("reasoning parser" in record["notes"][0] for record in records(shell))


def test_errors_are_no_wrong_answers_the_denominator_stays_and_they_are_asked_again(ask: Ask, shell: Shell) -> None:
    broken: set[str] = set()

    def behaviour(body: Any, number: int) -> Fault | None:
        return Fault("error") if body and digest(body["prompt"]) in broken else None

    with serving(behaviour) as server:
        text = ("--endpoint", "completions")
        assert cell(ask(server, *text, "--out", "before"))["outcomes"] == {"answered": 4}
        broken.add(records(shell, "before")[0]["prompt_hash"])
        ended = ask(server, *text)
        assert ended.code == 3
        assert cell(ended)["outcomes"] == {"failed": 1, "answered": 3}
        assert cell(ended)["score"] == 100.0
        assert not cell(ended)["complete"]
        assert ended.json["incomplete"] == [{"task": "niah_single_1", "length": 1024}]
        (wanted,) = broken
        broken.clear()
        server.requests.clear()
        again = ask(server, *text)
        assert [digest(body["prompt"]) for body in asked(server)] == [wanted], "that one and no other"
    assert again.code == 0
    assert cell(again)["outcomes"] == {"answered": 4}


# Cost and time


def test_the_first_request_does_not_wait_for_all_prompts(ask: Ask, shell: Shell) -> None:
    """Prompts are made as they are asked: there are 4,000 trials and the first is answered at once."""
    first: list[float] = []

    def behaviour(body: Any, number: int) -> Fault | None:
        if body and len(json.dumps(body)) > 1000:
            first.append(time.monotonic())
        return None

    with serving(behaviour) as server:
        started = time.monotonic()
        ask(server, "--samples", "1000", "--lengths", "1k,2k,4k,8k", "--limit-tokens", "500000")
    assert first[0] - started < 20


def test_tokens_and_price_are_told_before_the_run_and_lengths_can_be_chosen(invoke: Invoke) -> None:
    plan = ("plan", "quick", "--model", "reader/oracle", "--tasks", "vt", "--lengths", "1k,2k", "--samples", "100")
    told = invoke(*plan, "--price", "2,8", "--json").json
    assert told["trials"] == 200
    assert told["cost_usd"] == pytest.approx((told["prompt_tokens"] * 2 + told["output_tokens"] * 8) / 1e6)
    assert "price: at most $" in invoke(*plan, "--price", "2,8").out
    assert "price" not in invoke(*plan).out
    assert invoke(*plan, "--json").json["cost_usd"] is None


def test_a_price_limit_stops_at_the_end_of_a_round_and_counts_earlier_invocations(ask: Ask, shell: Shell) -> None:
    with serving() as server:
        limited = ("--samples", "60", "--price", "100,0", "--limit-cost", "4")
        stopped = ask(server, *limited)
        assert "stopped before round 2: it would take the run to $4." in stopped.err
        assert len(shell.lines()) == 25, "about two dollars and a quarter"
        assert "stopped before round" in ask(server, *limited).err
        assert len(shell.lines()) == 25, "the same limit is not spent twice"
        assert ask(server, "--samples", "60").code == 0
        unknown = ask(server, "--samples", "60", "--limit-cost", "4")
    assert unknown.code == 2
    assert unknown.err.startswith("leadline: --limit-cost 4: the price of openai/m is not known")
    assert len(shell.lines()) == 60


def test_what_the_longest_length_breaks_is_asked_again_by_the_same_command(ask: Ask, shell: Shell) -> None:
    """The server falls over at 2K; the day's other answers stay, and nothing needs a flag."""
    mended = False

    def behaviour(body: Any, number: int) -> Fault | None:
        return Fault("reset") if not mended and len(json.dumps(body)) > 6000 else None

    with serving(behaviour) as server:
        command = ("--lengths", "1k,2k", "--samples", "3", "--concurrency", "2")
        ask(server, *command)
        kept = shell.lines()
        mended = True
        server.requests.clear()
        again = ask(server, *command)
        assert all(len(json.dumps(body)) > 6000 for body in asked(server))
    assert set(kept) <= set(shell.lines())
    assert again.code == 0
    assert {entry["score"] for entry in again.json["cells"]} == {100.0}


def test_a_slow_sample_stalls_no_other(ask: Ask) -> None:
    slow: list[int] = []

    def behaviour(body: Any, number: int) -> Fault | None:
        if len(json.dumps(body)) > 1000 and not slow:
            slow.append(number)
            return Fault("hang", seconds=2)
        return None

    with serving(behaviour) as server:
        ended = ask(server, "--samples", "20", "--concurrency", "4")
        before = [call for call in server.requests[slow[0] : slow[0] + 15] if call.body]
    assert cell(ended)["outcomes"] == {"answered": 20}
    assert len(before) >= 14, "the other lanes went on"


def test_the_server_s_own_word_on_its_cache_is_shown(ask: Ask, invoke: Invoke, shell: Shell) -> None:
    with serving() as server:
        assert ask(server).code == 0
    (folder,) = shell.run_folders()
    assert "came from its cache" not in invoke("score", str(folder)).out
    (path,) = folder.glob("records-*.jsonl")
    told = [json.loads(line) for line in path.read_text().splitlines()]
    for record in told:
        record["response"]["cached_tokens"] = record["response"]["prompt_tokens"] // 2
    path.write_text("".join(json.dumps(record) + "\n" for record in told))
    assert "prompt tokens (50%) came from its cache" in invoke("score", str(folder)).out


def test_a_server_that_is_gone_stops_the_run_with_one_line(ask: Ask, shell: Shell) -> None:
    gone = 8

    def behaviour(body: Any, number: int) -> Fault | None:
        return Fault("reset") if len(asked_so_far) >= gone else asked_so_far.append(number)

    asked_so_far: list[int] = []
    with serving(behaviour) as server:
        ended = ask(server, "--samples", "20", "--concurrency", "2")
    assert ended.code == 2
    assert ended.out == ""
    assert len(ended.err.splitlines()) == 1
    assert "openai/m cannot be reached" in ended.err
    assert "start the same command again" in ended.err
    kept = len(shell.lines())
    assert kept > 0
    with serving() as server:
        assert ask(server, "--samples", "20").code == 0
    assert len(shell.lines()) == 20
    assert len(asked(server)) == 20 - kept

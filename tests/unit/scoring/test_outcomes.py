"""From a backend's facts to an outcome."""

from __future__ import annotations

import pytest

from leadline.records import OUTCOMES, Outcome
from leadline.requests import Response
from leadline.scoring.matching import Targets
from leadline.scoring.outcomes import DOUBLED_BOS, Judgement, judge, reasoning_apart
from leadline.scoring.policy import POLICY

NOISE = "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.\n"
NEEDLE = "One of the special magic numbers for long-view is: 1234567.\n"
PROMPT = (
    "A special magic number is hidden within the following text. Make sure to memorize it. I will quiz you about the "
    f"number afterwards.\n{NOISE * 20}{NEEDLE}{NOISE * 20}What is the special magic number for long-view?"
)
WANTED: Targets = (("1234567",),)


def judged(
    response: Response | None,
    expected: int | None = 1000,
    exact: bool = True,
    prompt: str | None = PROMPT,
    budget: int | None = 128,
    answers: Targets = WANTED,
) -> Judgement:
    return judge(
        response,
        expected_prompt_tokens=expected,
        exact_tokenizer=exact,
        prompt_text=prompt,
        budget_tokens=budget,
        answers=answers,
    )


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (Response("1234567"), "answered"),
        (Response(""), "answered"),
        (Response("   \n"), "answered"),
        (Response("1234567", finish_reason="length"), "truncated_output"),
        (Response("1234567", finish_reason="unknown", output_tokens=128), "truncated_output"),
        (Response("1234567", finish_reason="unknown", output_tokens=9), "answered"),
        (Response("", finish_reason="length", reasoning="let me see"), "truncated_output"),
        (Response(None, finish_reason="length", reasoning="let me see"), "truncated_output"),
        (Response(None), "failed"),
        (Response(None, reasoning="1234567"), "failed"),
        (Response(None, finish_reason="filter"), "filtered"),
        (Response("part", finish_reason="filter"), "filtered"),
        (Response(None, error="over_length"), "over_length"),
        (Response(None, error="filtered"), "filtered"),
        (Response(None, error="failed", error_message="503"), "failed"),
        (Response("?" * 100), "degenerate"),
        (Response("?!" * 40, finish_reason="length"), "degenerate"),
        (Response("the the " * 20), "degenerate"),
        (Response("?" * 20), "answered"),
        (Response(NOISE * 3, finish_reason="length"), "degenerate"),  # an echo
        (Response("My own words, over and over again. " * 20, finish_reason="length"), "truncated_output"),
        (Response("I'm sorry, but I can't assist with that request."), "refused"),
        (Response("I’m sorry, I cannot comply."), "refused"),
        (Response("As an AI language model, I have no memory."), "refused"),
        (Response("I cannot find a number in the text."), "answered"),
        (Response("I'm sorry, there is no such number."), "answered"),
        (Response("I'm sorry, but I can't help with more than this: 1234567"), "answered"),
        (Response("<think>I cannot comply? I can.</think>1234567"), "answered"),
    ],
)
def test_outcome(response: Response, outcome: Outcome) -> None:
    assert judged(response).outcome == outcome


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (Response("<think>where was it", finish_reason="length"), "truncated_output"),
        (Response("<think>where was it"), "truncated_output"),
        (Response("1234567 <think>is that so"), "truncated_output"),
        (Response("where was it</think>1234567"), "answered"),
        (Response("<think></think>1234567"), "answered"),
        (Response("<think>" + "so so so so " * 30 + "</think>1234567"), "answered"),  # a loop in it is no loop
        (Response("<think>" + PROMPT + "</think>1234567"), "answered"),  # an echo in it is no echo
    ],
)
def test_reasoning_inside_the_text(response: Response, outcome: Outcome) -> None:
    assert judged(response).outcome == outcome


def test_a_reasoning_that_never_ended_names_the_cause() -> None:
    cut = judged(Response("<think>where", finish_reason="length"))
    assert "reasoning never ended: the budget of 0 reasoning tokens" in cut.notes[0]
    assert "stopped inside it" in judged(Response("<think>where")).notes[0]


def test_reasoning_and_answer_have_budgets_of_their_own() -> None:
    response = Response("<think>a</think>1234567", finish_reason="unknown", output_tokens=600)
    assert judge(
        response, expected_prompt_tokens=None, exact_tokenizer=True, prompt_text=None, budget_tokens=128
    ).outcome == ("truncated_output")
    assert (
        judge(
            response,
            expected_prompt_tokens=None,
            exact_tokenizer=True,
            prompt_text=None,
            budget_tokens=128,
            reasoning_tokens=1000,
        ).outcome
        == "answered"
    )


def test_other_markers_of_reasoning() -> None:
    markers = (("[THINK]", "[/THINK]"), ("<think>", "</think>"))
    apart = reasoning_apart(Response("[THINK]a[/THINK]1<think>b</think>"), markers)
    assert (apart.text, apart.reasoning) == ("\n1\n", "a\nb")
    judgement = judge(
        Response("[THINK]a"),
        expected_prompt_tokens=None,
        exact_tokenizer=True,
        prompt_text=None,
        reasoning_markers=markers,
    )
    assert judgement.outcome == "truncated_output"


@pytest.mark.parametrize(
    ("response", "text", "reasoning"),
    [
        (Response("1234567"), "1234567", None),
        (Response(None), None, None),
        (Response("1234567", reasoning="field"), "1234567", "field"),
        (Response("<think>a</think>1", reasoning="field"), "\n1", "field\na"),
        (Response("a</think>1"), "1", "a"),
        (Response("<think>1234567"), "", "1234567"),
    ],
)
def test_reasoning_is_kept_apart_from_the_answer(response: Response, text: str | None, reasoning: str | None) -> None:
    apart = reasoning_apart(response)
    assert (apart.text, apart.reasoning) == (text, reasoning)


@pytest.mark.parametrize(("count", "warned"), [(None, False), (0, False), (1, False), (2, True), (3, True)])
def test_two_or_more_tokens_for_the_beginning_of_text_are_told(count: int | None, warned: bool) -> None:
    judgement = judged(Response("1234567", bos_tokens=count))
    assert judgement.outcome == "answered"
    assert any(note.startswith(DOUBLED_BOS) for note in judgement.notes) == warned


def test_nothing_came_back() -> None:
    assert judged(None, expected=None).outcome == "does_not_fit"
    assert judged(None).outcome == "failed"


@pytest.mark.parametrize(
    ("counted", "expected", "exact", "outcome"),
    [
        (1000, 1000, True, "answered"),
        (984, 1000, True, "answered"),
        (983, 1000, True, "truncated_prompt"),
        (130500, 131072, True, "answered"),
        (130000, 131072, True, "truncated_prompt"),
        (1200, 1000, True, "answered"),
        (700, 1000, False, "answered"),
        (600, 1000, False, "truncated_prompt"),
        (None, 1000, True, "answered"),
        (10, None, True, "answered"),
    ],
)
def test_a_prompt_that_did_not_arrive_whole(
    counted: int | None, expected: int | None, exact: bool, outcome: Outcome
) -> None:
    assert judged(Response("7654321", prompt_tokens=counted), expected, exact).outcome == outcome


def test_a_cut_prompt_is_never_a_wrong_or_refused_or_cut_answer() -> None:
    for text in ("7654321", "", "I'm sorry, but I can't assist with that.", "?" * 100):
        response = Response(text, finish_reason="length", prompt_tokens=500)
        assert judged(response).outcome == "truncated_prompt"


def test_notes_name_the_cause() -> None:
    assert "500 of about 1000" in judged(Response("x", prompt_tokens=500)).notes[0]
    assert "1200" in judged(Response("x", prompt_tokens=1200)).notes[0]
    assert judged(Response(None, error="failed", error_message="503")).notes == ("503",)
    assert judged(Response(PROMPT)).notes == ("echo of the prompt",)
    assert "reasoning parser" in judged(Response("", reasoning="1234567")).notes[0]
    assert judged(Response("1234567")).notes == ()


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (PROMPT, "degenerate"),
        (PROMPT[:1900], "degenerate"),
        (PROMPT[900:2200], "degenerate"),
        (PROMPT[:150], "answered"),
        ("Quite another text, of my own making, " * 3 + PROMPT[:300], "answered"),
        ("1234567.\n" + NOISE * 5, "answered"),  # a base model answers and runs on through what follows the needle
        ("are 1234567. That was all.\n" + NOISE * 5, "answered"),
    ],
)
def test_echo_of_the_prompt(text: str, outcome: Outcome) -> None:
    assert judged(Response(text)).outcome == outcome


def test_without_the_prompt_no_echo_is_found() -> None:
    assert judged(Response(PROMPT), prompt=None).outcome == "answered"


def test_the_policy_knows_every_outcome() -> None:
    assert set(POLICY) == set(OUTCOMES)

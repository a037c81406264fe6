"""From the facts that a backend reports to a trial's outcome, which says whether the trial is valid.

One function, one order. The first rule that holds decides, causes before symptoms:

 1. nothing came back            no fit: `does_not_fit`; otherwise `failed`
 2. a permanent error            its kind: `over_length`, `filtered` or `failed`
 3. the provider filtered        `filtered`
 4. tokens of the prompt missing `truncated_prompt`, whatever was answered: the model did not read what was meant
 5. no text                      `failed`; `truncated_output` where reasoning took the whole budget or never ended
 6. a loop, or an echo           `degenerate`: before the budget, because loops and echoes run into it as a rule
 7. a refusal                    `refused`
 8. cut by the budget            `truncated_output`
 9. anything else                `answered`, an empty text included (it scores 0)
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from leadline.records import Outcome
from leadline.requests import Response
from leadline.scoring.degeneration import copied_stretch, is_loop
from leadline.scoring.matching import THINK, ReasoningMarkers, Targets, recall
from leadline.scoring.reasoning import split_reasoning

TOLERANCE_TOKENS = 16
"""Tokens by which a server may count less than we do: BOS, the headers of a turn, an empty system message. Templates
of published models differ by less; a server that cuts a prompt cuts far more."""

TOLERANCE_SHARE = 0.005
"""The same for long prompts, where merges across our cuts can add up: half a per cent."""

ESTIMATE_SHARE = 1 / 3
"""The same where our tokenizer is not the model's: vocabularies of 32 thousand and of 200 thousand entries differ by up
to a quarter on English prose. A cut to a smaller context still shows."""

DOUBLED_BOS = "the prompt begins with more than one token for the beginning of text"
"""How a note on it begins. A model's score falls by 6 points at short lengths and by 20 at 128K for one too many."""

REFUSAL_CHARACTERS = 300
"""A longer text is an answer, whatever it begins with."""

VALUE_CHARACTERS = 64
"""Characters at the beginning of a copied stretch that may be the answer itself (see `_is_echo`)."""

_REFUSAL = re.compile(
    r"(?:(?:i'm|i am|we're|we are)?\s*(?:very |so )?(?:sorry|afraid)[^a-z]+(?:but |that )?|unfortunately[^a-z]+)?"
    r"(?:as an? (?:ai|artificial|language model)\b"
    r"|i(?:'m| am) (?:unable|not able|not allowed) to (?:assist|help|comply|fulfil|continue|discuss|share|do that)"
    r"|i (?:can't|cannot|can not|won't|will not|must decline to) "
    r"(?:assist|help you|help with|comply|fulfil|continue|discuss|share|do that|engage|process th)"
    r"|i (?:must|have to) decline\b"
    r"|i (?:refuse|decline) to\b)"
)


class Judgement(NamedTuple):
    """A trial's outcome, and what a reader of its record should know."""

    outcome: Outcome
    notes: tuple[str, ...] = ()


def judge(
    response: Response | None,
    *,
    expected_prompt_tokens: int | None,
    exact_tokenizer: bool,
    prompt_text: str | None,
    budget_tokens: int | None = None,
    reasoning_tokens: int = 0,
    answers: Targets = (),
    reasoning_markers: ReasoningMarkers = THINK,
) -> Judgement:
    """Outcome of a trial.

    Args:
        response: what the backend reported; None where nothing was asked or nothing came back.
        expected_prompt_tokens: tokens of the whole request by our tokenizer; None where no prompt could be made.
        exact_tokenizer: whether that count is the model's own.
        prompt_text: the prompt, for finding echoes; None leaves that out.
        budget_tokens: tokens that the answer could take, for servers that do not say why they stopped.
        reasoning_tokens: further tokens that reasoning could take.
        answers: what was wanted: an answer that is right before it runs on is no echo, and no refusal.
        reasoning_markers: opening and closing markers of reasoning inside the text.
    """
    if response is None:
        return Judgement("does_not_fit") if expected_prompt_tokens is None else Judgement("failed", ("no response",))
    if (nothing := _withheld(response)) is not None:
        return nothing
    missing, notes = _prompt_gap(response.prompt_tokens, expected_prompt_tokens, exact_tokenizer)
    if missing:
        return Judgement("truncated_prompt", notes)
    if response.bos_tokens is not None and response.bos_tokens > 1:
        notes = (*notes, f"{DOUBLED_BOS} ({response.bos_tokens}): template and tokenizer each add one; turn one off")
    cut = _is_cut(response, None if budget_tokens is None else budget_tokens + reasoning_tokens)
    parts = split_reasoning(response.text or "", reasoning_markers)
    if not parts.ended:
        why = f"the budget of {reasoning_tokens} reasoning tokens" if cut else "the model stopped inside it"
        return Judgement("truncated_output", (*notes, f"the reasoning never ended: {why}; allow more for reasoning"))
    if not (response.text or "").strip():
        return _without_text(response, cut, notes)
    outcome, *why = _of_text(parts.answer.strip(), prompt_text, answers, cut)
    return Judgement(outcome, (*notes, *why))


def reasoning_apart(response: Response, reasoning_markers: ReasoningMarkers = THINK) -> Response:
    """The response with reasoning that stood inside its text moved to its reasoning field."""
    if response.text is None:
        return response
    parts = split_reasoning(response.text, reasoning_markers)
    if not parts.reasoning and parts.ended:
        return response
    reasoning = "\n".join(text for text in (response.reasoning, parts.reasoning) if text)
    return replace(response, text=parts.answer, reasoning=reasoning)


def _withheld(response: Response) -> Judgement | None:
    """Rules 2 and 3: the backend or the provider says itself that there is no answer."""
    if response.error is not None:
        return Judgement(response.error, () if response.error_message is None else (response.error_message,))
    if response.finish_reason == "filter":
        return Judgement("filtered", ("the provider's filter withheld the answer",))
    return None


def _of_text(text: str, prompt: str | None, answers: Targets, cut: bool) -> tuple[Outcome, *tuple[str, ...]]:
    """Rules 6 to 9: what kind of text it is, with a note where the outcome alone does not tell."""
    if is_loop(text):
        return "degenerate", "a loop"
    if prompt is not None and _is_echo(text, prompt, answers):
        return "degenerate", "echo of the prompt"
    if _is_refusal(text, answers):
        return ("refused",)
    return ("truncated_output" if cut else "answered",)


def _prompt_gap(counted: int | None, expected: int | None, exact: bool) -> tuple[bool, tuple[str, ...]]:
    """Whether the server read less than was meant, with a note where the counts differ beyond the tolerance."""
    if counted is None or expected is None:
        return False, ()
    tolerance = max(TOLERANCE_TOKENS, int(expected * (TOLERANCE_SHARE if exact else ESTIMATE_SHARE)))
    if counted < expected - tolerance:
        return True, (
            f"the server read {counted} of about {expected} prompt tokens: raise its context length, "
            "or ask for shorter lengths",
        )
    if exact and counted > expected + tolerance:
        return False, (f"the server counts {counted} prompt tokens where {expected} were sent: a template of its own?",)
    return False, ()


def _is_cut(response: Response, budget_tokens: int | None) -> bool:
    if response.finish_reason == "unknown" and budget_tokens is not None and response.output_tokens is not None:
        return response.output_tokens >= budget_tokens
    return response.finish_reason == "length"


def _without_text(response: Response, cut: bool, notes: tuple[str, ...]) -> Judgement:
    if cut:
        note = "reasoning took the whole budget: raise the reasoning tokens" if response.reasoning else "an empty text"
        return Judgement("truncated_output", (*notes, note))
    if response.reasoning:
        notes = (*notes, "the text stands in the reasoning field alone: look at the server's reasoning parser")
    if response.text is None:
        return Judgement("failed", notes or ("the server sent no text",))
    return Judgement("answered", notes)


def _is_echo(text: str, prompt: str, answers: Targets) -> bool:
    """Whether the answer is a stretch of the prompt rather than an answer that runs on.

    A base model gives the needle's value and goes on with the text behind the needle, which is verbatim in the
    prompt too. That is no echo: what stands before the stretch, with the stretch's first `VALUE_CHARACTERS`, already
    earns all that the whole earns. A real echo earns its score further inside.
    """
    stretch = copied_stretch(text, prompt)
    if stretch is None:
        return False
    whole = recall(text, answers) if answers else 0.0
    return whole == 0.0 or recall(text[: stretch[0] + VALUE_CHARACTERS], answers) < whole


def _is_refusal(text: str, answers: Targets) -> bool:
    if len(text) > REFUSAL_CHARACTERS or (answers and recall(text, answers) > 0):
        return False
    return _REFUSAL.match(text.casefold().replace("’", "'")) is not None

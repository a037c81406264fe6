"""Failure kinds of answers as models write them."""

from __future__ import annotations

import pytest

from leadline.items import Fit, ItemKey, Plan, Sample, Span, SpanKind, TrialKey
from leadline.records import Outcome
from leadline.scoring.failures import KINDS, failure_kind

UUIDS = ("f8b162c8-3031-4ec5-b876-7071b24f346c", "0d2f1c55-9a4e-4b1d-8c3e-5f6a7b8c9d0e")
NOISE = "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again."
NUMBER = r"\d{7}"
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


Part = tuple[str, SpanKind | None]
GRASS: Part = (NOISE, "haystack")


def planted(value: str) -> Part:
    return needle(f"calm-sea {UUIDS[1]}", value), "needle"


def assignment(name: str) -> Part:
    return f"VAR {name} = 12345", "needle" if name[0] == "A" else "distractor"


def asked(text: str) -> Part:
    return text, "question"


def sample_of(
    answers: tuple[str, ...],
    facts: dict[str, object],
    parts: list[Part],
    haystack: str | None = None,
    turn: tuple[str, str] | None = None,
    forms: tuple[str, ...] = (),
) -> Sample:
    """A sample of these parts, each with a line break behind it."""
    text, spans = "Read the following text.\n", list[Span]()
    for part, kind in parts:
        if kind is not None:
            spans.append(Span(kind, len(text), len(text) + len(part)))
        text += part + "\n"
    messages = [{"role": role, "content": said} for role, said in zip(("user", "assistant"), turn or (), strict=False)]
    item = ItemKey("a task", 1, "{}", 42, 0)
    targets = (forms,) if forms else tuple((answer,) for answer in answers)
    plan = Plan(item, {"haystack": haystack}, targets, facts)
    message = {"role": "user", "content": text}
    return Sample(TrialKey(item, 4096), plan, Fit(1, 1), (*messages, message), "", tuple(spans), "i", "p", 128)


def needle(key: str, value: str) -> str:
    return f"One of the special magic numbers for {key} is: {value}."


def needles(wanted: tuple[str, ...], pattern: str = NUMBER, haystack: str = "repeat") -> Sample:
    """Wanted values in noise beside the distractor 7654321; in a haystack of needles among 200 lines."""
    facts: dict[str, object] = {"needles": [], "given": ["calm-sea", UUIDS[1]], "item_pattern": pattern}
    lines: list[Part] = [GRASS, (needle("wild-bee", "7654321"), "distractor")]
    if haystack == "needle":
        lines = [(needle(f"key-{number}", str(1_000_000 + number)), "distractor") for number in range(200)]
    lines[100:100] = [planted(value) for value in wanted]
    lines += [GRASS, asked("What are they for calm-sea?")]
    return sample_of(wanted, facts, lines, haystack)


def variables(chains: int = 2) -> Sample:
    names = [["AAAAB", "AAAAC", "AAAAD"], ["BBBBA", "BBBBC", "BBBBD"]][:chains]
    facts: dict[str, object] = {
        "chains": [{"value": "12345", "names": group, "places": []} for group in names],
        "distractors": [name for group in names[1:] for name in group],
        "example": [{"value": "1", "names": ["XYZ", "QRS", "TUV"], "places": []}],
        "item_pattern": "[A-Z]{5}",
    }
    lines: list[Part] = [GRASS]
    for group in names:
        lines += [assignment(name) for name in group]
    turn = ("VAR XYZ = 1", "they are: XYZ QRS TUV")
    lines += [GRASS, asked("Find all.")]
    return sample_of(tuple(names[0]), facts, lines, turn=turn)


def words() -> Sample:
    facts: dict[str, object] = {
        "example": {"common": ["tulip", "piano", "river", "stone"], "uncommon": []},
        "distractors": ["tulip", "piano", "river", "stone"],
        "first_candidate": 9,
        "item_pattern": r"(?<=\d\. )[a-z]+|(?<=, )[a-z]+",
    }
    listed = " ".join(f"{n}. {word}" for n, word in enumerate(["apple", "pear", "plum", "fig", "kiwi", "lime"] * 4, 1))
    return sample_of(("apple", "pear", "plum", "fig"), facts, [(listed, "haystack"), ("Which?", "question")])


def coded() -> Sample:
    facts: dict[str, object] = {"given": ["follow"], "item_pattern": "[a-z]{6}"}
    text = "... qwerty ... asdfgh qwerty ... zxcvbn uiopjk ... qwerty asdfgh zxcvbn ... ghjklm"
    return sample_of(("qwerty", "asdfgh", "zxcvbn"), facts, [(text, "haystack"), ("Which?", "question")])


def question() -> Sample:
    parts: list[Part] = [
        (
            "Document 1:\nThe museum in Oslo opened in 1903. "
            "It holds paintings by many Norwegians of several centuries.",
            "haystack",
        ),
        ("The bridge was designed by Maria Jensen Holt and finished in Bergen in 1951.", "gold"),
        ("Question: Who designed the bridge?", "question"),
    ]
    return sample_of((), {"question": "Who designed the bridge?"}, parts, forms=("Maria Jensen Holt", "Jensen Holt"))


ONE, FOUR = ("1234567",), ("1234567", "2345678", "3456789", "4567890")


@pytest.mark.parametrize(
    ("wanted", "answer", "kind"),
    [
        (ONE, " 1234567.", None),
        (ONE, " The number is 1,234,567.", None),
        (ONE, " 7654321", "distractor_value"),
        (ONE, ": 7654321.\n" + NOISE, "distractor_value"),
        (ONE, needle("wild-bee", "7654321"), "distractor_value"),
        (ONE, " 9999999", "not_in_context"),
        (ONE, " I do not know which.", "not_in_context"),
        (ONE, " 123456", "partial"),
        (ONE, " ...", "empty"),
        (ONE, "<think>so far</think>", "empty"),
        (ONE, " the", "common_words"),
        (ONE, " wild-bee", "copied_context"),
        (ONE, NOISE, "copied_context"),
        (FOUR, " 1234567, 2345678", "partial"),
        (FOUR, " 1234567, 2345678, 1234567, 2345678", "duplicated"),
        (FOUR, " 1234567, 2345678, 3456789 and 7654321", "distractor_value"),
        (FOUR, " 7654321, 7654321, 7654321, 7654321", "distractor_value"),
        (FOUR, " 1234567, 1234567, 1234567, 9999999", "duplicated"),
        (FOUR, " 1234567, 2345678.\n" + NOISE, "partial"),
    ],
)
def test_needles(wanted: tuple[str, ...], answer: str, kind: str | None) -> None:
    assert failure_kind(needles(wanted), answer, "answered") == kind


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (" 1000099.", "neighbour"),
        (" 1000104", "neighbour"),
        (" calm-sea 1000105", "distractor_value"),
        (" 1000003.", "distractor_value"),
        (needle("key-3", "1000003") + "\n" + needle("key-4", "1000004"), "copied_context"),
        (" 1000003.\n" + needle("key-4", "1000004"), "distractor_value"),
    ],
)
def test_a_haystack_of_needles_has_neighbours(answer: str, kind: str) -> None:
    assert failure_kind(needles(ONE, haystack="needle"), answer, "answered") == kind


@pytest.mark.parametrize(
    ("answer", "outcome", "kind"),
    [
        (UUIDS[0][:20], "answered", "cut_uuid"),
        (f"It is {UUIDS[0][:13]}.", "answered", "cut_uuid"),
        (UUIDS[0][:20], "truncated_output", "cut_by_budget"),
        (UUIDS[0][:23] + "9b9b-9b9b9b9b9b9b"[4:], "answered", "cut_uuid"),
        (UUIDS[0][:24] + "9b9b9b9b9b9b", "truncated_output", "cut_uuid"),
        (UUIDS[0][:5] + UUIDS[1][5:], "answered", "not_in_context"),
        (UUIDS[0][::-1], "answered", "not_in_context"),
        (UUIDS[1], "answered", "copied_context"),
        ("23b94b9b-b7b9-4b9b" + "-8b7b" * 20, "truncated_output", "not_in_context"),
        ("23b94b9b-b7b9-4b9b", "truncated_output", "cut_by_budget"),
        (": " + "1" * 28, "truncated_output", "not_in_context"),
        (": 11111111-11111111-11", "truncated_output", "not_in_context"),
        (f"What for {UUIDS[1]}?\n" * 3 + f"What for {UUIDS[1][:23]}", "truncated_output", "copied_context"),
    ],
)
def test_uuids(answer: str, outcome: Outcome, kind: str) -> None:
    assert failure_kind(needles(UUIDS[:1], UUID), answer, outcome) == kind


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (" 1234567, 2345678, 345", "cut_by_budget"),
        (" Let me look at the text again, line by", "cut_by_budget"),
        ("<think>Let me look", "cut_by_budget"),
        (" 7654321 and then there", "distractor_value"),
        (" 1234567.\n" + NOISE, "partial"),
        (NOISE, "copied_context"),
    ],
)
def test_the_budget_is_the_reason_only_where_nothing_else_is(answer: str, kind: str) -> None:
    assert failure_kind(needles(FOUR), answer, "truncated_output") == kind


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("\n\nWhat are they for calm-sea?\n\nThey are for calm-sea:" * 3 + "\n\nWhat are", "copied_context"),
        (":\n\n* Calm-Sea\n* Calm-Sea\n* Calm-Sea\n* Calm-", "copied_context"),
        (":\n\nSpecial Magic UUA:\n\nSpecial Magic UUA:\n\nSpecial Mag", "not_in_context"),
        (":\n\n* stormy-shore\n* stormy-shore\n* stormy-shore\n* stor", "not_in_context"),
        (":\n\nThe text names calm-sea, and the first that I can see", "cut_by_budget"),
    ],
)
def test_a_loop_was_not_on_its_way_when_the_budget_ran_out(answer: str, kind: str) -> None:
    assert failure_kind(needles(FOUR), answer, "truncated_output") == kind


def test_a_key_in_a_sentence_of_its_own_is_not_given_back() -> None:
    assert failure_kind(needles(ONE), " calm-sea\n\nThey are for calm-sea: calm-sea", "answered") == "copied_context"
    assert failure_kind(needles(ONE), " I can not see any number for calm-sea here.", "answered") == "not_in_context"


@pytest.mark.parametrize(
    ("answer", "outcome", "kind"),
    [
        (" 1234567\n* 12345670\n* 12345671\n* 12345672\n* 1234", "truncated_output", "not_in_context"),
        (" 1234567, 2345678, 3456789, 4" + "4" * 60, "truncated_output", "not_in_context"),
        (" 1234567, 2345678, 3456789, 99999", "truncated_output", "cut_by_budget"),
        (" 1234567, 99999", "answered", "not_in_context"),
        (" 1234567, 23456", "answered", "partial"),
        (" 1234567 and 12 more", "answered", "partial"),
    ],
)
def test_a_number_of_another_shape_is_given_for_a_value(answer: str, outcome: Outcome, kind: str) -> None:
    assert failure_kind(needles(FOUR), answer, outcome) == kind


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (f"VAR AAAAB = VAR AAAAB\n{NOISE}", "copied_context"),
        (f"VAR QQQQQ = VAR AAAAC\n{NOISE}", "copied_context"),
        (f"VAR QQBBB = VAR QQQQV\n{NOISE[:47]}", "copied_context"),
        ("VAR AAAAB = VAR AAAAD", "partial"),
        (" AAAAB AAAAC", "partial"),
        (" AAAAB, AAAAB, AAAAC", "duplicated"),
        (" BBBBA BBBBC BBBBD", "other_chain"),
        (" XYZ QRS TUV", "copied_example"),
        (" CCCCC", "not_in_context"),
        ("", "empty"),
        (f"VAR BBBBD = 12345\n{NOISE}", "copied_context"),
        ("\nVAR AAAAB = 12345\nThe grass", "copied_context"),
        ("VAR XYZ = 1", "copied_example"),
        (f" AAAAB AAAAC\n{NOISE}", "partial"),
    ],
)
def test_variables(answer: str, kind: str) -> None:
    assert failure_kind(variables(), answer, "answered") == kind


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (" 1. apple 2. pear 3. plum", "partial"),
        (" 1. apple 2. pear 3. apple 4. pear", "duplicated"),
        (" 1. apple 2. pear 3. plum 4. kiwi", "distractor_value"),
        ("1. tulip 2. piano 3. river 4. stone", "copied_example"),
        (" the, an, a, of", "common_words"),
        (" 1. the 2. an 3. a 4. apple", "common_words"),
        ("The four words are:\n- apple\n- pear\n- zebra\n- plum", "not_in_context"),
        ("1. apple 2. pear 3. plum 4. fig".replace("fig", "kiwi").title(), "distractor_value"),
        ("3. plum 4. fig 5. kiwi 6. lime 7. apple 8. x", "copied_context"),
    ],
)
def test_words_of_a_list(answer: str, kind: str) -> None:
    assert failure_kind(words(), answer, "answered") == kind


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (" qwerty, asdfgh, uiopjk", "distractor_value"),
        (" qwerty asdfgh", "partial"),
        (" qwerty ... qwerty ... asdfgh", "duplicated"),
        (" The most frequent words are qwerty and asdfgh.", "partial"),
        (" the, a, of", "common_words"),
        (" abcxyz, qwerty, asdfgh", "not_in_context"),
        ("... qwerty ... asdfgh qwerty ... zxc uiopjk ...", "duplicated"),
        ("... asdfgh qwerty ... zxcvb", "partial"),
    ],
)
def test_coded_words(answer: str, kind: str) -> None:
    assert failure_kind(coded(), answer, "answered") == kind


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (" Jensen Holt", None),
        (" Maria Jensen", "partial"),
        (" Bergen", "neighbour"),
        (" Answer: Bergen\n\nQuestion: Who else?", "neighbour"),
        (" Oslo", "distractor_value"),
        (" Albert Speer", "not_in_context"),
        (" yes", "not_in_context"),
        (" the", "common_words"),
        (" ", "empty"),
        (" Who designed the bridge?\n\nThe answer is:", "copied_context"),
        (" the bridge", "neighbour"),
        (" The answer is:", "not_in_context"),
        (" The answer is:\n\nBergen", "neighbour"),
        (" The answer is Oslo", "distractor_value"),
        (" Who designed the bridge? The Norwegians of Oslo.", "distractor_value"),
        (" The bridge was of Oslo and Bergen.", "not_in_context"),
        (" 1", "distractor_value"),
        (" slo", "not_in_context"),
        (" Document 1:\nIt was Albert Speer.", "copied_context"),
        (" It was designed by the bridges of Bergen.", "neighbour"),
        ("The museum in Oslo opened in 1903. It holds paintings by many Norwegians of several", "copied_context"),
    ],
)
def test_questions(answer: str, kind: str | None) -> None:
    assert failure_kind(question(), answer, "answered") == kind


def test_one_line_of_a_question_that_the_budget_cut() -> None:
    assert failure_kind(question(), " Albert Speer, who was an architect", "truncated_output") == "cut_by_budget"
    assert (
        failure_kind(question(), " Speer and Speer and Speer and Speer and Sp", "truncated_output") == "not_in_context"
    )


@pytest.mark.parametrize("before", range(0, 48, 5))
def test_forty_characters_of_the_text_are_found_wherever_they_stand(before: int) -> None:
    said = "z" * before + "-" + NOISE[:40]
    assert failure_kind(needles(ONE), said, "answered") == "copied_context"
    assert failure_kind(needles(ONE), said[:-1], "answered") == "not_in_context"


@pytest.mark.parametrize("outcome", ["refused", "filtered", "degenerate", "over_length", "failed", "truncated_prompt"])
def test_what_is_no_answer_has_no_kind(outcome: Outcome) -> None:
    assert failure_kind(needles(ONE), " 7654321", outcome) is None


def test_a_backend_that_sent_no_text_gave_an_empty_answer() -> None:
    assert failure_kind(needles(ONE), None, "answered") == "empty"
    assert len(set(KINDS)) == 12

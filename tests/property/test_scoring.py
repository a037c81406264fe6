"""What must hold of scoring for any text."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from leadline.requests import Response
from leadline.scoring.degeneration import copied_stretch, is_loop
from leadline.scoring.matching import clean, recall, strict
from leadline.scoring.outcomes import judge

any_text = st.text(st.characters(), max_size=80)  # lone surrogates included
form = st.text(st.characters(), min_size=1, max_size=12)
targets = st.lists(st.lists(form, min_size=1, max_size=3).map(tuple), min_size=1, max_size=5).map(tuple)
patterns = st.sampled_from([None, r"\d{7}", r"[A-Z]{5}", "[a-z]+-[a-z]+", r"\w+"])


@given(any_text, targets, st.lists(form, max_size=3), patterns)
def test_scores_stay_between_0_and_1(
    answer: str, wanted: tuple[tuple[str, ...], ...], distractors: list[str], pattern: str | None
) -> None:
    assert 0 <= recall(clean(answer), wanted) <= 1
    assert 0 <= strict(clean(answer), wanted, distractors, pattern) <= 1


@given(targets, any_text)
def test_an_answer_with_all_forms_has_recall_1(wanted: tuple[tuple[str, ...], ...], filler: str) -> None:
    assert recall(filler + filler.join(forms[0] for forms in wanted) + filler, wanted) == 1


@given(st.lists(st.from_regex(r"[a-z]{4,8}", fullmatch=True), min_size=1, max_size=5, unique=True))
def test_exactly_the_wanted_items_are_strictly_right(items: list[str]) -> None:
    wanted = tuple((item,) for item in items)
    assert strict(", ".join(items), wanted, pattern="[a-z]+") == 1
    assert strict(", ".join([*items, "other"]), wanted, pattern="[a-z]+") < 1 or "other" in items


@given(any_text, targets, patterns, st.randoms(use_true_random=False))
def test_the_order_of_targets_and_forms_is_nothing(
    answer: str, wanted: tuple[tuple[str, ...], ...], pattern: str | None, random: Random
) -> None:
    shuffled = [tuple(reversed(forms)) for forms in wanted]
    random.shuffle(shuffled)
    assert recall(answer, wanted) == recall(answer, tuple(shuffled))
    assert strict(answer, wanted, pattern=pattern) == strict(answer, tuple(shuffled), pattern=pattern)


@given(any_text)
def test_clean_is_done_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(any_text, st.integers(0, 400), st.integers(200, 300))
def test_a_copied_stretch_is_found_wherever_it_stands(filler: str, start: int, size: int) -> None:
    prompt = "".join(f"{number} " for number in range(300))
    found = copied_stretch(prompt[start : start + size], filler + prompt)
    assert found == (0, size)


@given(any_text, st.one_of(st.none(), any_text))
def test_any_text_has_an_outcome(text: str, prompt: str | None) -> None:
    judgement = judge(Response(text), expected_prompt_tokens=10, exact_tokenizer=True, prompt_text=prompt)
    assert judgement.outcome in {"answered", "degenerate", "refused"}


@given(st.text(min_size=1, max_size=8), st.integers(64, 90))
def test_a_repeated_unit_is_a_loop(unit: str, times: int) -> None:
    assert is_loop(unit * times) or len((unit * times).strip()) < 64


@given(st.integers(0, 30), st.integers(5, 30))
def test_an_echo_of_repeated_noise_is_found_whole(needle: int, lines: int) -> None:
    noise = ["The grass is green. The sky is blue. The sun is yellow."] * lines
    prompt = "\n".join([*noise[:needle], "One of the special magic numbers for it is: 1234567.", *noise[needle:]])
    assert copied_stretch(prompt, prompt) == (0, len(prompt))

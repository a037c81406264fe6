"""Frames: every template to the letter, and where the answer prefix goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.data.gguf_cache import gguf_facts
from leadline.data.loading import load_local_model_path, load_tokenizer
from leadline.errors import UsageError
from leadline.items import Draft, Fit, ItemKey, Piece, Plan, TrialKey
from leadline.prompt import (
    DIRECTLY,
    NAMED,
    FrameCounter,
    TemplateCost,
    assemble,
    chat_frame,
    frame_from_option,
    named_frame,
    request_for,
    served_frame,
)
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.counting import Counter

TASK, PREFIX = "Find it.", " It is"

RENDERED = {
    "base": "Find it. It is",
    "gpt-4": "Find it. Do not provide any explanation. Please directly give me the answer. It is",
    "command-r": (
        "<BOS_TOKEN><|START_OF_TURN_TOKEN|><|USER_TOKEN|>Find it."
        "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|> It is"
    ),
    "vicuna": (
        "A chat between a curious user and an artificial intelligence assistant. The assistant gives helpful, "
        "detailed, and polite answers to the user's questions. USER: Find it. ASSISTANT: It is"
    ),
    "glm": "[gMASK]sop<|user|>\n Find it.<|assistant|>\n It is",
    "phi3": "<|user|>\nFind it.<|end|>\n<|assistant|>\n It is",
    "chatml": (
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
        "<|im_start|>user\nFind it.<|im_end|>\n<|im_start|>assistant\n It is"
    ),
    "llama3": (
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nFind it.<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n It is"
    ),
    "llama2": "[INST] Find it. [/INST] It is",
}
MODES = {"base": "completion", "gpt-4": "in_user_turn"}
CHAT = "{{ bos_token }}{% for message in messages %}<{{ message.role }}>{{ message.content }}</>{% endfor %}<assistant>"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return load_tokenizer("cl100k_base")


class WithBos:
    """A tokenizer whose loader adds a BOS token."""

    bos_tokens = 1

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.id, self.exact = tokenizer.id, tokenizer.exact
        self.encode, self.count = tokenizer.encode, tokenizer.count
        self.count_in_place, self.offsets = tokenizer.count_in_place, tokenizer.offsets


def test_every_template_is_tested() -> None:
    assert set(RENDERED) == set(NAMED)


@pytest.mark.parametrize("name", RENDERED)
def test_a_named_template_renders_to_the_letter(name: str, tokenizer: Tokenizer) -> None:
    frame = named_frame(name, tokenizer)
    assert frame.render(TASK, PREFIX) == RENDERED[name]
    assert frame.mode == MODES.get(name, "prefill")


@pytest.mark.parametrize("name", RENDERED)
def test_a_bos_that_the_template_writes_is_not_counted_twice(name: str, tokenizer: Tokenizer) -> None:
    written = RENDERED[name].startswith(("<BOS_TOKEN>", "<|begin_of_text|>", "[gMASK]"))
    assert named_frame(name, WithBos(tokenizer)).bos_tokens == (0 if written else 1)
    assert named_frame(name, tokenizer).bos_tokens == 0


def test_the_models_own_template_begins_the_assistants_turn() -> None:
    path = load_local_model_path()
    facts = gguf_facts(path)
    assert facts.chat_template is not None
    tokenizer = load_tokenizer(f"gguf/{path}")
    frame = chat_frame("local", facts.chat_template, facts.special_tokens, tokenizer, prefill=True)
    assert frame.mode == "prefill"
    assert frame.render(TASK, PREFIX) == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nFind it.<|im_end|>\n<|im_start|>assistant\n It is"
    )
    text = frame.render(TASK, PREFIX)
    assert FrameCounter(Counter(tokenizer), frame).whole(TASK, PREFIX) == len(tokenizer.encode(text))


def test_without_prefill_the_answer_prefix_ends_the_users_turn(tokenizer: Tokenizer) -> None:
    frame = chat_frame("m", CHAT, {}, tokenizer, prefill=False)
    assert frame.mode == "in_user_turn"
    assert frame.render(TASK, PREFIX) == (
        "<user>Find it. Do not provide any explanation. Please directly give me the answer. It is</><assistant>"
    )


def test_a_chat_template_with_bos_is_not_given_another(tokenizer: Tokenizer) -> None:
    counting = WithBos(tokenizer)
    assert chat_frame("m", CHAT, {"bos_token": "<s>"}, counting, prefill=True).bos_tokens == 0
    assert chat_frame("m", CHAT, {"bos_token": "<s>"}, counting, prefill=True).before == "<s><user>"
    assert chat_frame("m", CHAT, {}, counting, prefill=True).bos_tokens == 1
    assert FrameCounter(Counter(counting), named_frame("base", counting)).whole("a", "") == 2


@pytest.mark.parametrize("name", RENDERED)
@pytest.mark.parametrize("tail", ["What is it?", "Name it, and all:", "Answer briefly.\n\nQuestion: Who was it?", "It"])
@pytest.mark.parametrize("prefix", [PREFIX, " Answer:", ""])
def test_the_parts_of_a_request_add_up_to_the_whole(name: str, tail: str, prefix: str, tokenizer: Tokenizer) -> None:
    frame = named_frame(name, tokenizer)
    counter = FrameCounter(Counter(tokenizer), frame)
    noise = "The grass is green. Here we go.\n"
    for lines in (1, 7):
        body = "Remember this.\n" + noise * lines + tail
        parts = counter.fixed("Remember this.\n", tail, prefix) + counter.counter.text(noise) * lines
        assert counter.whole(body, prefix) == parts


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ messages[0].role }}", "drops the user's message"),
        ("{% for", "cannot be rendered"),
        ("{{ raise_exception('no system role') }}", "no system role"),
    ],
)
def test_a_template_that_cannot_be_used_says_why(template: str, reason: str, tokenizer: Tokenizer) -> None:
    with pytest.raises(UsageError, match=reason):
        chat_frame("m", template, {}, tokenizer, prefill=True)


def test_the_option_takes_a_name_or_a_file(tokenizer: Tokenizer, tmp_path: Path) -> None:
    assert frame_from_option("llama2", {}, tokenizer, prefill=True) == named_frame("llama2", tokenizer)
    file = tmp_path / "own.jinja"
    file.write_text(CHAT)
    assert frame_from_option(str(file), {"bos_token": "^"}, tokenizer, prefill=True).render("a", "b") == (
        "^<user>a</><assistant>b"
    )
    with pytest.raises(UsageError, match="no template 'llama9'"):
        frame_from_option("llama9", {}, tokenizer, prefill=True)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot be read as text"):
        frame_from_option(str(file), {}, tokenizer, prefill=True)


def test_a_frame_differs_where_its_text_does(tokenizer: Tokenizer) -> None:
    identities = [str(named_frame(name, tokenizer).identity) for name in NAMED]
    assert len(set(identities)) == len(NAMED)


def test_a_frame_of_a_server_counts_messages_apart_and_sends_them(tokenizer: Tokenizer) -> None:
    cost = TemplateCost(overhead_tokens=11, turn_tokens=9, known="counted", system_tokens=-3)
    turns = (("One?", " 1 "), ("Two?", "2"))
    text, noise = "Remember this.\nThe grass is green.\nWhat is it?", "The grass is green.\n"
    for prefill in (True, False):
        frame = served_frame("m", cost, prefill=prefill)
        counter = FrameCounter(Counter(tokenizer), frame)
        asked = text if prefill else text + DIRECTLY + PREFIX
        alone = [asked, "One?", "1", "Two?", "2", *([PREFIX] if prefill else [])]
        expected = 11 + 2 * 9 + sum(map(tokenizer.count, alone))
        assert counter.whole(text, PREFIX, turns) == expected
        assert counter.whole(text, PREFIX, turns, "Be brief.") == expected - 3 + tokenizer.count("Be brief.")
        assert counter.whole(text, "") == 11 + tokenizer.count(text), "no prefix, no request for a direct answer"
        parts = counter.fixed("Remember this.\n", "What is it?", PREFIX, turns) + counter.counter.text(noise)
        assert parts == expected
        assert (frame.template, frame.mode) == ("server", "prefill" if prefill else "in_user_turn")


def test_the_request_of_a_served_frame_is_messages() -> None:
    cost = TemplateCost(overhead_tokens=11, turn_tokens=9, known="assumed")
    key = TrialKey(ItemKey("t", 1, "{}", 42, 0), 1024)
    plan, fit = Plan(key.item, {}, (("1",),)), Fit(1, 20)
    draft = Draft((Piece("What?"),), PREFIX, system="Be brief.", turns=(("One?", " 1 "),))
    told = ("Be brief.", "One?", "1")
    for prefill in (True, False):
        frame = served_frame("m", cost, prefill=prefill)
        sample = assemble(draft, key, plan, fit, frame, 5)
        assert sample.turns == (("One?", "1"),)
        request = request_for(sample, frame)
        assert request.messages is not None
        assert request.text is None
        assert [message["role"] for message in request.messages] == ["system", "user", "assistant", "user"]
        last = "What?" if prefill else f"What?{DIRECTLY}{PREFIX}"
        assert [message["content"] for message in request.messages] == [*told, last]
        assert request.prefill == (PREFIX if prefill else "")


def test_how_the_cost_of_a_template_is_known_is_not_its_identity() -> None:
    frames = [served_frame("m", TemplateCost(7, 8, known), prefill=True) for known in ("counted", "asked")]
    assert frames[0].identity == frames[1].identity
    assert frames[0].identity != served_frame("m", TemplateCost(7, 8, "asked"), prefill=False).identity
    assert frames[0].identity != served_frame("m", TemplateCost(8, 8, "asked"), prefill=True).identity

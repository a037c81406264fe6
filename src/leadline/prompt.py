"""The frame of a prompt: what stands around the user's message, and where the answer prefix goes.

A frame is resolved once per run, from a named template (RULER, paper table 6), the model's own chat template, or what
the server does. Rendering puts strings together; nothing in a rendered text is ever searched or replaced.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from leadline.errors import UsageError
from leadline.items import Draft, Fit, Plan, Sample, Span, TrialKey, digest
from leadline.requests import Request
from leadline.tokenizers.base import Tokenizer
from leadline.tokenizers.counting import Counter, split_chunks

DIRECTLY = " Do not provide any explanation. Please directly give me the answer."
"""What stands between the task and an answer prefix in the user's turn (the paper's template for GPT-4)."""

Mode = Literal["completion", "prefill", "in_user_turn"]
Renderer = Literal["local", "server"]
Turns = Sequence[tuple[str, str]]
"""Earlier questions and their answers, oldest first."""

_CHATML_SYSTEM = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
_VICUNA_SYSTEM = (
    "A chat between a curious user and an artificial intelligence assistant. "
    "The assistant gives helpful, detailed, and polite answers to the user's questions."
)
NAMED: Mapping[str, tuple[str, str, str]] = {
    "base": ("", "", "\n\n"),
    "gpt-4": ("", DIRECTLY, "\n\n"),
    "command-r": (
        "<BOS_TOKEN><|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
        "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
    ),
    "vicuna": (f"{_VICUNA_SYSTEM} USER: ", " ASSISTANT:", "</s>USER: "),
    "glm": ("[gMASK]sop<|user|>\n ", "<|assistant|>\n", "<|user|>\n "),
    "phi3": ("<|user|>\n", "<|end|>\n<|assistant|>\n", "<|end|>\n<|user|>\n"),
    "chatml": (
        f"{_CHATML_SYSTEM}<|im_start|>user\n",
        "<|im_end|>\n<|im_start|>assistant\n",
        "<|im_end|>\n<|im_start|>user\n",
    ),
    "llama3": (
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n",
        "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
        "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n",
    ),
    "llama2": ("[INST] ", " [/INST]", " </s><s>[INST] "),
}
"""Templates of paper table 6: what stands before the task, between the task and the answer prefix, and (for worked
examples that are turns of their own) between an answer and the next task."""


@dataclass(frozen=True, slots=True)
class TemplateCost:
    """What a server's own chat template adds to the texts of the messages.

    Attributes:
        overhead_tokens: around one message: BOS, a system message of its own, headers, the beginning of the answer.
        turn_tokens: around an earlier question and its answer.
        known: how that is known: the server counted messages (`counted`), answered two of them (`asked`), or neither
            and it is an assumption (`assumed`).
        system_tokens: around a system message, less a default one of the template's that it takes the place of.
    """

    overhead_tokens: int
    turn_tokens: int
    known: Literal["counted", "asked", "assumed"]
    system_tokens: int = 4


ASSUMED_COST = TemplateCost(overhead_tokens=7, turn_tokens=8, known="assumed")
"""OpenAI's format: three tokens and a role for each message, three for the beginning of the answer."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the message: before + message + middle + answer prefix + after.

    `bos_tokens` more are added by the model's loader. Earlier turns stand before the message, each as its question,
    `turn_middle`, its answer and `turn_end`.

    `system_slot` is what stands before a system message and between it and the user's; where a template has no place
    for one, it begins the user's message.

    Where the server renders the template, messages are sent: `middle` stands inside the user's, `cost` is what the
    template adds, and a rendered text is only what is sent, one message after the other.
    """

    name: str
    mode: Mode
    before: str
    middle: str
    after: str = ""
    bos_tokens: int = 0
    turn_middle: str = ""
    turn_end: str = "\n\n"
    cost: TemplateCost | None = None
    system_slot: tuple[str, str] | None = None

    @property
    def template(self) -> Renderer:
        """Who renders the chat template."""
        return "local" if self.cost is None else "server"

    def opening(self, turns: Turns = (), system: str | None = None) -> str:
        """Everything before the last message."""
        if system is not None:
            before, between = self.system_slot or (self.before, "\n\n")
            before = before + system + between
        else:
            before = self.before
        if not turns:
            return before
        # A completion runs on from its question; in a chat the answer is a message of its own, without edges.
        told = (
            f"{question}{self.turn_middle}{answer if self.mode == 'completion' else answer.strip()}{self.turn_end}"
            for question, answer in turns
        )
        return before + "".join(told)

    def render(self, message: str, answer_prefix: str, turns: Turns = (), system: str | None = None) -> str:
        """The text that the model continues."""
        return f"{self.opening(turns, system)}{message}{self.joint(answer_prefix)}{answer_prefix}{self.after}"

    def joint(self, answer_prefix: str) -> str:
        """What stands between message and answer prefix; nothing in the user's turn where there is no prefix."""
        return "" if self.mode == "in_user_turn" and not answer_prefix else self.middle

    @property
    def identity(self) -> dict[str, str | int]:
        """What belongs to a run's identity."""
        text = digest(self.before, self.middle, self.after, self.turn_middle, self.turn_end, *(self.system_slot or ()))
        parts: dict[str, str | int] = {
            "name": self.name,
            "mode": self.mode,
            "text": text,
            "bos_tokens": self.bos_tokens,
        }
        if self.cost is not None:
            # How the tokens are known is not in it: the same number is the same run.
            parts |= {
                "template": "server",
                "overhead_tokens": self.cost.overhead_tokens,
                "turn_tokens": self.cost.turn_tokens,
                "system_tokens": self.cost.system_tokens,
            }
        return parts


def named_frame(name: str, tokenizer: Tokenizer) -> Frame:
    """The frame of one of the paper's templates.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in NAMED:
        raise UsageError(f"there is no template {name!r}: give one of {', '.join(NAMED)}, or a Jinja file")
    before, middle, turn_end = NAMED[name]
    has_bos = before.startswith(("<BOS_TOKEN>", "<|begin_of_text|>", "[gMASK]"))
    mode: Mode = "completion" if name == "base" else "in_user_turn" if name == "gpt-4" else "prefill"
    return Frame(name, mode, before, middle, "", 0 if has_bos else tokenizer.bos_tokens, middle, turn_end)


def chat_frame(
    name: str, template: str, special_tokens: Mapping[str, str], tokenizer: Tokenizer, *, prefill: bool
) -> Frame:
    """The frame of a Jinja chat template, as Hugging Face tokenizers and GGUF files carry it.

    With `prefill` the answer prefix begins the assistant's turn, else it ends the user's.

    Raises:
        UsageError: the template cannot be rendered or drops the user's message.
    """
    mark = "\ue000message\ue001"
    turns: list[dict[str, str]] = [{"role": "user", "content": mark}]
    before, found, after = _render_jinja(template, turns, special_tokens).partition(mark)
    if not found:
        raise UsageError(f"the chat template of {name} drops the user's message: give another with --template")
    turn_middle, turn_end = _between_turns(name, template, special_tokens)
    bos = special_tokens.get("bos_token", "")
    bos_tokens = 0 if bos and before.startswith(bos) else tokenizer.bos_tokens
    slot = _system_slot(template, special_tokens)
    if prefill:
        return Frame(name, "prefill", before, after, "", bos_tokens, turn_middle, turn_end, system_slot=slot)
    return Frame(name, "in_user_turn", before, DIRECTLY, after, bos_tokens, turn_middle, turn_end, system_slot=slot)


def served_frame(name: str, cost: TemplateCost, *, prefill: bool) -> Frame:
    """The frame of a model whose server renders the chat template.

    With `prefill` the answer prefix begins the assistant's turn, else it ends the user's.
    """
    if prefill:
        return Frame(name, "prefill", "", "", turn_middle="\n\n", cost=cost)
    return Frame(name, "in_user_turn", "", DIRECTLY, turn_middle="\n\n", cost=cost)


def _system_slot(template: str, special_tokens: Mapping[str, str]) -> tuple[str, str] | None:
    """What a chat template puts before a system message and between it and the user's; None where it takes none."""
    told, asked = "\ue000system\ue001", "\ue000message\ue001"
    messages = [{"role": "system", "content": told}, {"role": "user", "content": asked}]
    try:
        rendered = _render_jinja(template, messages, special_tokens)
    except UsageError:  # some templates refuse the role
        return None
    before, found, rest = rendered.partition(told)
    between, found_message, _ = rest.partition(asked)
    return (before, between) if found and found_message else None


def _between_turns(name: str, template: str, special_tokens: Mapping[str, str]) -> tuple[str, str]:
    """What a chat template puts between a question and its answer, and between that and the next question."""
    marks = ["\ue000first\ue001", "\ue000answer\ue001", "\ue000second\ue001"]
    roles = ("user", "assistant", "user")
    turns = [{"role": role, "content": mark} for role, mark in zip(roles, marks, strict=True)]
    _, _, rest = _render_jinja(template, turns, special_tokens).partition(marks[0])
    middle, found, rest = rest.partition(marks[1])
    end, found_next, _ = rest.partition(marks[2])
    if not found or not found_next:
        raise UsageError(f"the chat template of {name} drops earlier turns: give another with --template")
    return middle, end


def frame_from_option(option: str, special_tokens: Mapping[str, str], tokenizer: Tokenizer, *, prefill: bool) -> Frame:
    """The frame that ``--template NAME|FILE`` asks for."""
    path = Path(option)
    if option in NAMED or not path.is_file():
        return named_frame(option, tokenizer)
    try:
        template = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--template {path} cannot be read as text ({error}): give a Jinja file in UTF-8") from error
    return chat_frame(path.name, template, special_tokens, tokenizer, prefill=prefill)


def _render_jinja(template: str, messages: Sequence[Mapping[str, str]], special_tokens: Mapping[str, str]) -> str:
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def raise_exception(message: str) -> str:
        raise TemplateError(message)

    # These two settings are what Hugging Face templates are written for.
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    values = {"bos_token": "", "eos_token": "", **special_tokens, "raise_exception": raise_exception}
    try:
        return environment.from_string(template).render(messages=messages, add_generation_prompt=True, **values)
    except TemplateError as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"the chat template cannot be rendered ({reason}): give another with --template") from error


class FrameCounter:
    """Counts whole requests in one frame from the counts of their parts."""

    def __init__(self, counter: Counter, frame: Frame) -> None:
        self._counter = counter
        self._frame = frame
        self._head = lru_cache(maxsize=256)(self._count_head)
        self._end = lru_cache(maxsize=256)(self._count_end)
        self._alone = lru_cache(maxsize=1024)(counter.whole)

    @property
    def counter(self) -> Counter:
        """Counts of chunks by the model's tokenizer."""
        return self._counter

    def fixed(self, head: str, tail: str, answer_prefix: str, turns: Turns = (), system: str | None = None) -> int:
        """Tokens of everything but the haystack; see `leadline.tasks.base.PromptCounter`."""
        frame = self._frame
        opening, joined, around = self._parts(answer_prefix, turns, system)
        # A question's own words stand inside its tail and its answer prefix, whose chunks are counted once and kept.
        # The template's text between the two may end in a special token, beside which nothing is cut: it is counted
        # with the chunk before it and the chunk behind it, and what follows the prefix with the prefix's last chunk.
        asked, told = split_chunks(tail) or [""], split_chunks(joined) or [""]
        seam = f"{asked.pop()}{frame.joint(answer_prefix)}{told.pop(0)}"
        between = [*asked, seam, *told]
        end = between.pop() + frame.after
        return around + self._head(opening + head) + int(self._counter.chunk_counts(between).sum()) + self._end(end)

    def whole(self, message: str, answer_prefix: str, turns: Turns = (), system: str | None = None) -> int:
        """Tokens of a finished request, counted as one text and independently of every other count."""
        frame = self._frame
        opening, joined, around = self._parts(answer_prefix, turns, system)
        between = frame.joint(answer_prefix)
        return around + self._counter.whole(f"{opening}{message}{between}{joined}{frame.after}")

    def _parts(self, answer_prefix: str, turns: Turns, system: str | None) -> tuple[str, str, int]:
        """Text before the message, text behind its middle, and the tokens of everything that touches neither.

        In messages nothing touches but what stands in the same one: turns and a prefilled answer are counted alone.
        """
        frame = self._frame
        if frame.cost is None:
            return frame.opening(turns, system), answer_prefix, frame.bos_tokens
        alone = [text for question, answer in turns for text in (question, answer.strip())]
        prefilled = frame.mode == "prefill"
        if prefilled:
            alone.append(answer_prefix)
        around = frame.cost.overhead_tokens + frame.cost.turn_tokens * len(turns)
        if system is not None:
            alone.append(system)
            around += frame.cost.system_tokens
        around += sum(map(self._alone, alone))
        return "", "" if prefilled else answer_prefix, around

    def _count_head(self, opening: str) -> int:
        after = "a" if opening.endswith("\n") else " a"
        return int(self._counter.tokenizer.count_in_place([opening], "", after)[0])

    def _count_end(self, end: str) -> int:
        before = "a" if end.startswith(" ") else "a\n"
        return int(self._counter.tokenizer.count_in_place([end], before, "")[0])


def assemble(draft: Draft, key: TrialKey, plan: Plan, fit: Fit, frame: Frame, max_tokens: int) -> Sample:
    """The finished sample: pieces joined, spans as running lengths, hashes of what is asked and of what is sent."""
    spans: list[Span] = []
    position = 0
    for piece in draft.pieces:
        end = position + len(piece.text)
        if piece.kind is not None:
            spans.append(Span(piece.kind, position, end))
        position = end
    message = "".join([piece.text for piece in draft.pieces])
    system = [] if draft.system is None else [{"role": "system", "content": draft.system}]
    earlier = [
        {"role": role, "content": text}
        for question, answer in draft.turns
        for role, text in (("user", question), ("assistant", answer.strip()))
    ]
    # The message is most of both texts, so that it is encoded once; hashes are those of `leadline.items.digest`.
    data = message.encode()
    told = [message["content"].encode() for message in system]
    turns = [text.encode() for turn in draft.turns for text in turn]
    opening = frame.opening(draft.turns, draft.system)
    closing = f"{frame.joint(draft.answer_prefix)}{draft.answer_prefix}{frame.after}"
    return Sample(
        key=key,
        plan=plan,
        fit=fit,
        messages=(*system, *earlier, {"role": "user", "content": message}),
        answer_prefix=draft.answer_prefix,
        spans=tuple(spans),
        item_hash=_digest(*([part] for part in (*told, *turns, data, draft.answer_prefix.encode()))),
        prompt_hash=_digest([opening.encode(), data, closing.encode()]),
        max_tokens=max_tokens,
    )


def _digest(*texts: Sequence[bytes]) -> str:
    """`leadline.items.digest` of texts that are given in parts, each in UTF-8."""
    hasher = hashlib.sha256()
    for parts in texts:
        hasher.update(sum(map(len, parts)).to_bytes(8, "little"))
        for part in parts:
            hasher.update(part)
    return hasher.hexdigest()[:32]


def request_for(sample: Sample, frame: Frame, reasoning_tokens: int = 0) -> Request:
    """The request that asks a sample: its template rendered here, or its messages where the server renders them."""
    if frame.template == "local":
        text = frame.render(sample.text, sample.answer_prefix, sample.turns, sample.system)
        return Request(sample.max_tokens, text, reasoning_tokens=reasoning_tokens, sample=sample)
    prefilled = frame.mode == "prefill"
    asked = sample.text + frame.joint(sample.answer_prefix) + ("" if prefilled else sample.answer_prefix)
    return Request(
        max_tokens=sample.max_tokens,
        messages=(*sample.messages[:-1], {"role": "user", "content": asked}),
        prefill=sample.answer_prefix if prefilled else "",
        reasoning_tokens=reasoning_tokens,
        sample=sample,
    )

"""A server with a window of so many tokens: what it does with more, and how honest it is otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from tests.servers.faulty import Fault, FaultyServer

Beyond = Literal["refuse", "keep_end", "drop_middle"]

_NEEDLE = re.compile(r"special magic \w+ for (\S+) is: (\d+)\.(?=\s|$)")
_BEGUN = re.compile(r"for (\S+) is:? ?(\d{3})$")


def reader(prompt: str) -> str:
    """Tells every number that the prompt's question asks for, and goes on from a number that was begun."""
    needles = dict(_NEEDLE.findall(prompt))
    if (begun := _BEGUN.search(prompt)) is not None and begun[1] in needles:
        return needles[begun[1]].removeprefix(begun[2])
    question = prompt[prompt.rfind("What ") :]
    told = [value for name, value in needles.items() if name in question]
    return f" {', '.join(told)}." if told else " One morning the boats lay still in the grey light and nobody spoke."


class WindowServer(FaultyServer):
    """A server that reads `window` tokens, the answer's included.

    Args:
        window: tokens.
        beyond: what becomes of more: a refusal, or the prompt without its beginning or its middle.
        count: tokens of a text.
        tells_window: the refusal names it.
        claims: the context that the list of models names.
        caches: it remembers prompts and tells of it.
        counts: what it tells for prompt tokens, given those that were sent and those that it read.
        honest_finish: an answer that was cut says so.
        echoes: it sends the beginning of an answer back.
        continues: it goes on from the beginning of an answer.
    """

    def __init__(
        self,
        window: int,
        beyond: Beyond,
        *,
        count: Callable[[str], int],
        tells_window: bool = False,
        claims: int | None = None,
        caches: bool = True,
        counts: Callable[[int, int], int] = lambda sent, read: read,
        honest_finish: bool = True,
        echoes: bool = False,
        continues: bool = True,
        owner: str = "vllm",
    ) -> None:
        model: dict[str, Any] = {"owned_by": owner}
        if claims is not None:
            model["max_model_len"] = claims
        super().__init__(self._refused, answer=reader, count=count, model=model)
        self.window = window
        self._beyond: Beyond = beyond
        self._tells_window = tells_window
        self._caches = caches
        self._counts = counts
        self._honest_finish = honest_finish
        self._echoes = echoes
        self._continues = continues
        self._seen: set[str] = set()

    def _refused(self, body: Any, number: int) -> Fault | None:
        texts = [message["content"] for message in body.get("messages") or [{"content": body.get("prompt")}]]
        if self._beyond != "refuse" or sum(map(self._count, texts)) + body["max_tokens"] <= self.window:
            return None
        limit = f" This model's maximum context length is {self.window} tokens." if self._tells_window else ""
        return Fault("error", 400, {"error": {"message": f"The prompt is too long.{limit}", "code": 400}})

    def _completion(self, body: Any, fault: Fault | None) -> dict[str, Any]:
        chat = "messages" in body
        messages: list[Mapping[str, str]] = body["messages"] if chat else [{"content": body["prompt"]}]
        begun = messages[-1]["content"] if chat and messages[-1]["role"] == "assistant" else ""
        asked = messages[:-1] if begun else messages
        prompt = "\n".join(message["content"] for message in (messages if self._continues else asked))
        sent = self._count(prompt)
        read = self._kept(prompt, max(1, self.window - body["max_tokens"]))
        answer = reader(read)
        text, finish = self._cut(answer, body["max_tokens"])
        if self._echoes:
            text = begun + text
        cached = sent if self._caches and prompt in self._seen else 0
        self._seen.add(prompt)
        choice: dict[str, Any] = {"index": 0, "finish_reason": finish if self._honest_finish else "stop"}
        choice.update({"message": {"role": "assistant", "content": text}} if chat else {"text": text})
        usage: dict[str, Any] = {
            "prompt_tokens": self._counts(sent, self._count(read)),
            "completion_tokens": self._count(text),
        }
        if self._caches:
            usage["prompt_tokens_details"] = {"cached_tokens": cached}
        return {"id": "1", "model": body.get("model"), "choices": [choice], "usage": usage}

    def _kept(self, prompt: str, most: int) -> str:
        """What it reads of a prompt."""
        tokens = self._count(prompt)
        if tokens <= most:
            return prompt
        # Its lines are of about the same length, so characters will do.
        characters = len(prompt) * most // tokens
        if self._beyond == "keep_end":
            return prompt[-characters:]
        return prompt[: characters // 2] + prompt[-characters // 2 :]

    def _cut(self, answer: str, most: int) -> tuple[str, str]:
        words = re.findall(r"\s*\S+", answer)
        cut = answer
        while self._count(cut) > most and len(words) > 1:
            words.pop()
            cut = "".join(words)
        return cut, "stop" if cut == answer and self._count(cut) <= most else "length"

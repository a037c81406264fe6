"""A model server on loopback that answers right, and wrong in every way that servers do.

It speaks chat and completions, and whatever other routes a test gives it. Each model call is shown to `behaviour`,
which says what goes wrong this time:

    with FaultyServer(lambda body, number: Fault("rate_limit") if number % 5 == 0 else None) as server:
        ...  # server.base_url, server.requests
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, get_args

Kind = Literal[
    "rate_limit",
    "error",
    "hang",
    "reset",
    "cut_json",
    "cut_body",
    "lie",
    "drop_middle",
    "filter",
    "echo",
    "loop",
    "reasoning",
    "silent",
    "cut",
    "refuse",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
PASSING: tuple[Kind, ...] = ("rate_limit", "error", "reset", "cut_json", "cut_body")
"""Faults after which the same request may succeed at once."""

TURN_TOKENS = 4
"""Tokens that this server's own template puts around each message."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with one call.

    `rate_limit` is a 429, `error` another status with `body`; `hang` answers nothing for `seconds`; `reset` cuts the
    connection before an answer and `cut_body` in the middle of it; `cut_json` sends half of the JSON as if it were
    all; `lie` counts half of the prompt's tokens; `drop_middle` reads only the ends of the prompt; `filter` withholds;
    `echo` repeats the prompt; `loop` one word; `reasoning` puts the answer into a reasoning field; `silent` sends no
    text; `cut` ends because the budget does; `refuse` says that it cannot help.
    """

    kind: Kind
    status: int = 500
    body: Mapping[str, Any] | None = None
    retry_after: str | None = None
    seconds: float = 60.0
    kept_characters: int = 2000


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that arrived: its route, headers in lower case, and body."""

    path: str
    headers: Mapping[str, str]
    body: Any


Behaviour = Callable[[Any, int], Fault | None]
Route = Mapping[str, Any] | Callable[[Any], Mapping[str, Any]]


def oracle(prompt: str) -> str:
    """The values of the needles that the prompt's question asks for, in a needle task."""
    needles = re.findall(r"special magic \w+ for (\S+) is: (\S+?)\.(?=\s|$)", prompt)
    question = prompt[prompt.rfind("What ") :]
    told = [value for key, value in needles if key in question]
    return " " + ", ".join(dict.fromkeys(told)) if told else " I see no such thing."


class FaultyServer:
    """The server, from entering the context to leaving it.

    Attributes:
        requests: every call to the model, in order of arrival; look-ups of other routes are in `lookups`.
    """

    def __init__(
        self,
        behaviour: Behaviour = lambda body, number: None,
        *,
        answer: Callable[[str], str] = oracle,
        count: Callable[[str], int] = lambda text: len(text) // 4,
        routes: Mapping[str, Route] | None = None,
        headers: Mapping[str, str] | None = None,
        prefills: bool = False,
        model: Mapping[str, Any] | None = None,
    ) -> None:
        """Make a server.

        Args:
            behaviour: given a request's body and its number from 1 on, the fault, or None.
            answer: the right answer to a prompt.
            count: tokens of a text.
            routes: further routes, each with its answer or a function of the request's body.
            headers: sent with every answer; ``Server`` is the server's name.
            prefills: it goes on from a trailing assistant turn; else it repeats that turn before its answer.
            model: further keys of the one model that it lists.
        """
        self._behaviour = behaviour
        self._answer = answer
        self._count = count
        self._prefills = prefills
        self._headers = dict(headers or {})
        self.name = self._headers.pop("Server", "faulty")
        listed = {"id": "m", "object": "model", **(model or {})}
        self._routes: dict[str, Route] = {"/v1/models": {"object": "list", "data": [listed]}, **(routes or {})}
        self.requests: list[Asked] = []
        self.lookups: list[Asked] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def root_url(self) -> str:
        """Where the server is."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def base_url(self) -> str:
        """Where its OpenAI-compatible API is."""
        return f"{self.root_url}/v1"

    def __enter__(self) -> FaultyServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def handle(self, handler: _Handler, body: Any) -> None:
        """Answer one call."""
        headers = {name.lower(): value for name, value in handler.headers.items()}
        asked = Asked(handler.path, headers, body)
        route = self._routes.get(handler.path)
        if route is not None:
            self.lookups.append(asked)
            handler.send(200, dict(route(body) if callable(route) else route), self._headers)
        elif handler.path in ("/v1/chat/completions", "/v1/completions"):
            with self._lock:
                self.requests.append(asked)
                number = len(self.requests)
            self._respond(handler, body, self._behaviour(body, number))
        else:
            self.lookups.append(asked)
            handler.send(404, {"error": {"message": "no such route", "code": 404}}, self._headers)

    def _respond(self, handler: _Handler, body: Any, fault: Fault | None) -> None:
        kind = None if fault is None else fault.kind
        if fault is not None and kind == "hang":
            self._closing.wait(fault.seconds)
            kind = "reset"
        if kind == "reset":
            handler.reset()
        elif fault is not None and kind in ("rate_limit", "error"):
            status = 429 if kind == "rate_limit" else fault.status
            extra = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
            handler.send(status, fault.body or {"error": {"message": "try again"}}, {**self._headers, **extra})
        else:
            data = json.dumps(self._completion(body, fault)).encode()
            if kind == "cut_json":
                data = data[: len(data) // 2]
            handler.send_bytes(200, data, self._headers, keep=len(data) // 2 if kind == "cut_body" else None)

    def _completion(self, body: Any, fault: Fault | None) -> dict[str, Any]:
        """The answer's JSON."""
        kind = None if fault is None else fault.kind
        chat = "messages" in body
        messages: list[Mapping[str, str]] = body["messages"] if chat else [{"role": "user", "content": body["prompt"]}]
        prompt = "\n".join(message["content"] for message in messages)
        if fault is not None and kind == "drop_middle":
            half = fault.kept_characters // 2
            prompt = prompt[:half] + prompt[-half:]
            prompt_tokens = self._count(prompt)
        else:
            prompt_tokens = sum(self._count(message["content"]) for message in messages)
        prompt_tokens += TURN_TOKENS * (len(messages) if chat else 0)
        text, finish = self._answer(prompt), "stop"
        if chat and messages[-1]["role"] == "assistant" and not self._prefills:
            text = messages[-1]["content"] + text
        if kind == "lie":
            prompt_tokens //= 2
        elif kind == "filter":
            text, finish = "", "content_filter"
        elif kind == "echo":
            text = prompt
        elif kind == "loop":
            text, finish = " again" * 200, "length"
        elif kind == "cut":
            text, finish = text[:2], "length"
        elif kind == "refuse":
            text = "I'm sorry, but I cannot assist with that."
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if kind == "silent":
            message["content"] = text = None
        elif kind == "reasoning":
            message = {"role": "assistant", "content": "", "reasoning_content": text}
        choice: dict[str, Any] = {"index": 0, "finish_reason": finish}
        choice.update({"message": message} if chat else {"text": text})
        output_tokens = self._count(text or "")
        usage = {"prompt_tokens": prompt_tokens, "completion_tokens": output_tokens}
        return {"id": "1", "model": body.get("model"), "choices": [choice], "usage": usage}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is gone is nothing to tell of."""


class _Handler(BaseHTTPRequestHandler):
    owner: FaultyServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.owner.handle(self, None)

    def do_POST(self) -> None:
        self.owner.handle(self, json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"null"))

    def version_string(self) -> str:
        return self.owner.name

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is written."""

    def send(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        self.send_bytes(status, json.dumps(body).encode(), headers)

    def send_bytes(self, status: int, data: bytes, headers: Mapping[str, str], keep: int | None = None) -> None:
        """Send an answer; with `keep` only so many of its bytes, and then nothing."""
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data if keep is None else data[:keep])
        self.wfile.flush()
        if keep is not None:
            self.reset()

    def reset(self) -> None:
        """Cut the connection with a reset."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


def _handler(owner: FaultyServer) -> type[_Handler]:
    return type("Handler", (_Handler,), {"owner": owner})

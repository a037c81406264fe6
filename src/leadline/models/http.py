"""What every backend over HTTP needs: look-ups when it is opened, and what an error means."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2

from leadline.errors import ModelError, UsageError
from leadline.models.dialects import Dialect, ErrorKind
from leadline.requests import PermanentError, TransientCause, TransientError

LOOK_TIMEOUT_S = 20.0
CONNECT_TIMEOUT_S = 30.0
OPENING_ATTEMPTS = 6
LONGEST_OPENING_WAIT_S = 10.0
EXCERPT_CHARACTERS = 300
OVERLOADED = frozenset({408, 429, 503, 504, 529})
PASSING = frozenset({408, 425, 429})
"""Statuses below 500 that may pass: timeout, too early, too many requests."""

HIDDEN = "***"


class Server:
    """A server and the key it takes, which stands in no message that comes from here."""

    def __init__(self, base_url: str, key: str | None, key_variable: str | None, timeout_s: float) -> None:
        """A server.

        Args:
            base_url: its API, up to ``/v1``.
            key: sent with every call, or None.
            key_variable: the environment variable that it comes from, which messages may name.
            timeout_s: how long one request may take.

        Raises:
            UsageError: the key cannot stand in a header.
        """
        key = (key or "").strip() or None
        if key is not None and not (key.isascii() and key.isprintable()):
            raise UsageError(f"the key in {key_variable} holds a character that no header can: export it again")
        parts = urlsplit(base_url)
        path = parts.path.rstrip("/")
        self.host = parts.hostname or ""
        self.base_url = f"{parts.scheme}://{parts.netloc}{path}"
        self.root_url = self.base_url.removesuffix("/v1")
        self.key = key
        self.key_variable = key_variable
        self.timeout_s = timeout_s
        self._client: httpx2.Client | None = None

    def close(self) -> None:
        """Let go of the connections of look-ups."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _connected(self) -> httpx2.Client:
        if self._client is None:
            headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
            self._client = httpx2.Client(timeout=LOOK_TIMEOUT_S, headers=headers)
        return self._client

    def scrubbed(self, text: str) -> str:
        """The text on one line, without the key and no longer than an excerpt."""
        line = " ".join(text.split())
        if self.key:
            line = line.replace(self.key, HIDDEN)
        return line if len(line) <= EXCERPT_CHARACTERS else f"{line[:EXCERPT_CHARACTERS]}..."

    def look(self, url: str, body: Any = None) -> tuple[Any, Mapping[str, str]]:
        """JSON and headers (names in lower case) of a GET, or of a POST where there is a body.

        The JSON is None where the server has no such route or says something else.

        Raises:
            ModelError: nothing listens there.
        """
        try:
            answer = self._connected().request("GET" if body is None else "POST", url, json=body)
        except httpx2.ConnectError as error:
            raise self.unreachable(error) from None
        except httpx2.HTTPError:
            return None, {}
        told = {name.lower(): value for name, value in answer.headers.items()}
        try:
            return (answer.json() if answer.status_code == 200 else None), told
        except ValueError:
            return None, told

    def ask(self, path: str, body: Any, dialect: Dialect, model: str) -> Any:
        """JSON of a call to the model while it is opened, tried again where that may help.

        Raises:
            PermanentError: this request is refused.
            ModelError: the server is gone, or refuses every request.
        """
        wait_s = 0.5
        for attempt in range(1, OPENING_ATTEMPTS + 1):
            try:
                return self._ask_once(path, body, dialect, model)
            except TransientError as error:
                if attempt == OPENING_ATTEMPTS:
                    raise ModelError(
                        f"{self.base_url} does not answer {model} ({error}): look at the server, or try again later"
                    ) from None
                time.sleep(
                    min(error.retry_after_s if error.retry_after_s is not None else wait_s, LONGEST_OPENING_WAIT_S)
                )
                wait_s *= 2
        raise AssertionError("the last attempt returns")

    def _ask_once(self, path: str, body: Any, dialect: Dialect, model: str) -> Any:
        timeout = httpx2.Timeout(self.timeout_s, connect=CONNECT_TIMEOUT_S)
        try:
            answer = self._connected().post(f"{self.base_url}{path}", json=body, timeout=timeout)
        except httpx2.ConnectError as error:
            raise self.unreachable(error) from None
        except httpx2.HTTPError as error:
            raise TransientError(self.scrubbed(str(error) or type(error).__name__)) from None
        if answer.status_code != 200:
            raise self.error_of(answer.status_code, answer.headers, answer.text, dialect, model)
        return self.parsed(answer.content, dialect, model)

    def unreachable(self, error: Exception) -> ModelError:
        """Nothing listens at the address."""
        return ModelError(
            f"no server answers at {self.base_url} ({self.scrubbed(str(error))}): start it, or give another --base-url"
        )

    def parsed(self, body: bytes, dialect: Dialect, model: str) -> Any:
        """The JSON object of an answer with status 200.

        Raises:
            TransientError: it is no JSON object: the answer was cut.
            PermanentError, ModelError: it holds an error all the same, as some gateways send it.
        """
        try:
            data = json.loads(body)
        except ValueError:
            data = None
        if not isinstance(data, dict):
            raise TransientError("the answer is no complete JSON: it was cut on its way", cause="other")
        error: Any = data.get("error")
        if error and not data.get("choices"):
            code = error.get("code") if isinstance(error, dict) else None
            status = code if isinstance(code, int) and 400 <= code < 600 else 500
            raise self.error_of(status, {}, body.decode(errors="replace"), dialect, model)
        return data

    def error_of(
        self, status: int, headers: Mapping[str, str], text: str, dialect: Dialect, model: str
    ) -> TransientError | PermanentError | ModelError:
        """What an answer with an error means for the call, or for the whole run."""
        message, codes = error_parts(text)
        meaning, limit = dialect.meaning(status, codes, message)
        said = self.scrubbed(message) or "nothing"
        if meaning in ("over_length", "filtered"):
            return PermanentError(meaning, f"{dialect.title} says: {said} (status {status})", limit)
        if meaning is not None:
            return ModelError(self._stopping(meaning, said, status, model))
        if status in PASSING or status >= 500:
            cause: TransientCause = "overloaded" if status in OVERLOADED else "other"
            return TransientError(f"status {status}: {said}", retry_after_s(headers), cause)
        return PermanentError("failed", f"status {status}: {said}")

    def _stopping(self, meaning: ErrorKind, said: str, status: int, model: str) -> str:
        """Why no further request can succeed, and what to do."""
        if meaning == "invalid_key":
            return self._key_refused(said)
        if meaning == "no_credit":
            return f"{self.host} wants payment for {model} ({said}): add credit, or use another key"
        if meaning == "unknown_model":
            return f"{self.base_url} knows no model {model!r} ({said}): give one of those that it lists at /models"
        return (
            f"{self.base_url} does not have this API (status {status}: {said}): give its address up to /v1 "
            "with --base-url, or the other --endpoint"
        )

    def _key_refused(self, said: str) -> str:
        if self.key is None:
            variable = self.key_variable or "a variable"
            return f"{self.host} wants a key ({said}): export {variable}, or name a variable with --api-key-env"
        return (
            f"{self.host} refuses the key in {self.key_variable} ({said}): export another, "
            "or name another variable with --api-key-env"
        )


def error_parts(text: str) -> tuple[str, tuple[str, ...]]:
    """Message and codes of an error's body, in whichever of the usual forms it comes."""
    try:
        data = json.loads(text)
    except ValueError:
        return text, ()
    if not isinstance(data, dict):
        return text, ()
    inner: Any = data.get("error", data)
    if isinstance(inner, str):
        kind = data.get("error_type")
        return inner, (kind,) if isinstance(kind, str) else ()
    if not isinstance(inner, dict):
        return text, ()
    message = inner.get("message") or inner.get("detail") or text
    codes = tuple(value for key in ("code", "type") if isinstance(value := inner.get(key), str))
    return str(message), codes


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header, which holds seconds or a date (RFC 9110, section 10.2.3); None without one."""
    told = next((value for name, value in headers.items() if name.lower() == "retry-after"), None)
    if told is None:
        return None
    try:
        return max(0.0, float(told))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(told)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())

"""Waiting for a coroutine, whether an event loop runs already or not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

START_S = 5.0
"""How long an interrupt waits for the thread of a run to begin, so that there is something to interrupt."""

_Result = TypeVar("_Result")


def completed(work: Coroutine[Any, Any, _Result]) -> _Result:
    """The coroutine's result, whether an event loop runs in this thread or not.

    A running loop cannot run another, so the work gets a thread then; an interrupt ends it as asyncio would.
    """
    if not _in_event_loop():
        return asyncio.run(work)
    started = threading.Event()
    cancels: list[Callable[[], object]] = []

    async def cancellable() -> _Result:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        if task is not None:
            cancels.append(lambda: loop.call_soon_threadsafe(task.cancel))
        started.set()
        return await work

    with ThreadPoolExecutor(1, thread_name_prefix="leadline") as pool:
        future = pool.submit(lambda: asyncio.run(cancellable()))
        try:
            return future.result()
        except KeyboardInterrupt:
            started.wait(START_S)
            for cancel in cancels:
                cancel()
            raise


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True

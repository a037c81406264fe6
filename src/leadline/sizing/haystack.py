"""The haystack budget: a length counts the haystack's tokens; needle, template and answer come on top (NoLiMa)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeGuard

from leadline.haystacks.books import Book
from leadline.items import Fit, Plan, SpanKind
from leadline.tasks.base import PromptCounter, Sources, Task

Planted = tuple[int, str, SpanKind]
"""A character of the book, the line that is planted before it, its newline included, and what it is."""


class WindowTask(Task, Protocol):
    """A task whose haystack is a window on a book."""

    def book(self, plan: Plan, sources: Sources) -> Book:
        """The book that the haystack is cut from."""
        ...

    def depths(self, plan: Plan, length: int) -> tuple[float, ...]:
        """Where lines are planted, 0 to 1 of the haystack: the needle's depth, which is met exactly, then others'.

        Nowhere: the item is asked without a haystack.
        """
        ...

    def spacing(self, length: int) -> tuple[float, float]:
        """How far other lines stand from the needle, and from both ends, as shares of the haystack."""
        ...

    def planted(self, plan: Plan, fit: Fit, sources: Sources) -> list[Planted]:
        """What is planted where, in the order of the text."""
        ...

    def edges(self, plan: Plan, haystack: str, sources: Sources) -> tuple[str, str]:
        """The message's text before and after the haystack; both meet it at a line end."""
        ...

    def notes(self, plan: Plan, fit: Fit, sources: Sources) -> tuple[str, ...]:
        """What a reader of this sample's figures must know, in words; nothing as a rule."""
        ...

    def system(self, plan: Plan, sources: Sources) -> str | None:
        """The system message, or None."""
        ...


def is_windowed(task: Task) -> TypeGuard[WindowTask]:
    """Whether a task's haystack is a window on a book."""
    return task.counts == "haystack"


def fit_haystack(
    task: WindowTask, plan: Plan, length: int, counter: PromptCounter, sources: Sources, *, whole: bool = False
) -> Fit | None:
    """The window of `length` tokens around the needle's depth; None where the book is too short.

    An item without a haystack has no window, at any length. With `whole`, the request is counted as one text instead
    of by its parts.
    """
    book, tokenizer = task.book(plan, sources), counter.counter.tokenizer
    depths = task.depths(plan, length)
    if not depths:
        message = "".join([piece.text for piece in task.draft(plan, Fit(0, 0), sources).pieces])
        return Fit(0, counter.whole(message, "", system=task.system(plan, sources)))
    depth, *others = depths
    window = book.window(tokenizer, length, depth)
    if window is None:
        return None
    spacing = task.spacing(length)
    places = (window.place, *(book.place_near(window, tokenizer, other, *spacing) for other in others))
    fit = Fit(length, 0, (window.start, window.end), places)
    inner = book.cuts_within(window.start, window.end)
    planted = task.planted(plan, fit, sources)
    system = task.system(plan, sources)
    if whole or inner is None or not all(book.has_cut(place) for place, *_ in planted):
        message = "".join([piece.text for piece in task.draft(plan, fit, sources).pieces])
        recount = tokenizer.count(book.text[window.start : window.end])
        return replace(fit, prompt_tokens=counter.whole(message, "", system=system), recount=recount)
    first, last = inner
    head, tail = task.edges(plan, book.text[window.start : window.end], sources)
    opening = head + _between(book, planted, window.start, first, before=True)
    closing = _between(book, planted, last, window.end, before=False) + tail
    lines = sum(counter.counter.text(line) for place, line, _ in planted if first <= place <= last)
    inside = book.count(counter.counter, first, last)
    ends = tokenizer.count(book.text[window.start : first]) + tokenizer.count(book.text[last : window.end])
    tokens = counter.fixed(opening, closing, "", system=system) + lines + inside
    return replace(fit, prompt_tokens=tokens, recount=ends + inside)


def _between(book: Book, planted: Sequence[Planted], start: int, end: int, *, before: bool) -> str:
    """The book's text at one end of the window with what is planted outside the inner cuts.

    At the beginning (`before`) that is what stands ahead of `end`, at the end what stands behind `start`.
    """
    parts: list[str] = []
    position = start
    for place, line, _ in planted:
        if (before and place < end) or (not before and place > start):
            parts += [book.text[position:place], line]
            position = place
    return "".join([*parts, book.text[position:end]])

"""What the tests of this room share: a model that says what it is told to, and prompts as an operator gets them."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from pytest_promptfuzz import Prompt
from pytest_promptfuzz.assistance.checks import MarkedStretch, marked
from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.providers.requests import Request, Response, Usage

if TYPE_CHECKING:
    from collections.abc import Callable


def draft_of(prompt: str | Prompt) -> Draft:
    whole = prompt if isinstance(prompt, Prompt) else Prompt(prompt)
    return Draft(
        whole.text,
        [(start, end) for start, end, _ in whole.spans],
        walls=[(start, end) for start, end, kind in whole.spans if kind in {"separator", "message"}],
    )


def with_marks(reply: str, stretch: MarkedStretch) -> str:
    """``[[x]]`` as the mark of the next span that holds ``x``."""
    left = list(range(len(stretch.spans)))

    def mark(match: re.Match[str]) -> str:
        index = next((each for each in left if stretch.content(each) == match[1]), None)
        if index is None:  # asked for twice: the same mark again
            index = next(i for i in range(len(stretch.spans)) if stretch.content(i) == match[1])
        else:
            left.remove(index)
        return f"{stretch.brackets[0]}{index + 1}:{match[1]}{stretch.brackets[1]}"

    return re.sub(r"\[\[(.*?)\]\](?!\])", mark, reply)


class Scripted:
    """A model that answers one reply after the other; the last is repeated. A function gets the request's texts."""

    version = "scripted-1"

    def __init__(self, *replies: str | Callable[[str], str]) -> None:
        self.replies = list(replies)
        self.asked: list[str] = []
        self._lock = threading.Lock()

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        text = "\n".join(str(each["content"]) for each in request.messages)
        return Response(self(text), usage=Usage(10, 10), finish_reason="stop")

    def __call__(self, prompt: str) -> str:
        with self._lock:
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
            self.asked.append(prompt)
        return reply(prompt) if callable(reply) else reply


def stretch_of(prompt: str) -> MarkedStretch:
    return marked(draft_of(prompt))[0]

"""Chat messages: their validation, and where their texts stand in a prompt's text."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.prompts.reading import article

SEPARATOR = "\n\n"
Message = dict[str, Any]

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
MUTABLE_ROLES = frozenset({"system", "developer", "user"})


class Piece(NamedTuple):
    """One text of a message: part ``part`` of message ``message`` (``None`` where the content is a str)."""

    message: int
    part: int | None
    start: int
    end: int
    mutable: bool


def validated(messages: Any, name: str) -> tuple[Message, ...]:
    """A deep copy of ``messages``; `UsageError` tells which one is wrong and how."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise UsageError(
            f"{name}: messages are a list of {{'role': ..., 'content': ...}}, not {article(messages)}; "
            "for a plain text write Prompt(text)."
        )
    for index, message in enumerate(messages):
        _check_message(message, f"{name}: message {index}")
    return tuple(copy.deepcopy(dict(message)) for message in messages)


def _check_message(message: Any, where: str) -> None:
    if not isinstance(message, Mapping):
        raise UsageError(f"{where} is {article(message)}; write {{'role': 'user', 'content': 'text'}}.")
    role = message.get("role")
    if not isinstance(role, str):
        raise UsageError(f"{where} has the role {role!r}; give one of {', '.join(ROLES)}.")
    if role not in ROLES:
        raise UsageError(f"{where} has the unknown role {role!r}. {nearest(role, ROLES)}")
    content = message.get("content")
    if content is None and role not in MUTABLE_ROLES:
        return
    if isinstance(content, str):
        return
    if isinstance(content, str | bytes | Mapping) or not isinstance(content, Sequence):
        raise UsageError(f"{where} has {article(content)} for its content; give a str or a list of parts.")
    for number, part in enumerate(content):
        if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
            raise UsageError(
                f"{where}, part {number} is no mapping with a 'type'; write {{'type': 'text', 'text': ...}}."
            )
        if part["type"] == "text" and not isinstance(part.get("text"), str):
            raise UsageError(
                f"{where}, part {number} has {article(part.get('text'))} for its text; give a str."
            )


def layout(messages: Sequence[Message]) -> tuple[str, tuple[Piece, ...]]:
    """All texts of ``messages`` joined by `SEPARATOR`, and where each stands in that."""
    texts: list[str] = []
    pieces: list[Piece] = []
    position = 0
    for index, message in enumerate(messages):
        mutable = message["role"] in MUTABLE_ROLES
        for part, text in _texts(message):
            if texts:
                position += len(SEPARATOR)
            pieces.append(Piece(index, part, position, position + len(text), mutable))
            texts.append(text)
            position += len(text)
    return SEPARATOR.join(texts), tuple(pieces)


def replaced(messages: Sequence[Message], pieces: Sequence[Piece], texts: Sequence[str]) -> list[Message]:
    """A deep copy of ``messages`` with the text of each piece replaced by the one of ``texts``."""
    copies = [copy.deepcopy(message) for message in messages]
    for piece, text in zip(pieces, texts, strict=True):
        if piece.part is None:
            copies[piece.message]["content"] = text
        else:
            copies[piece.message]["content"][piece.part]["text"] = text
    return copies


def _texts(message: Message) -> list[tuple[int | None, str]]:
    content = message.get("content")
    if isinstance(content, str):
        return [(None, content)]
    return [(i, part["text"]) for i, part in enumerate(content or ()) if part["type"] == "text"]

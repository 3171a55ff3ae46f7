"""From whatever a caller has as a prompt to a ``Request``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.targets.model import Request

if TYPE_CHECKING:
    from pytest_promptfuzz.prompts.prompt import Prompt

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def as_request(prompt: str | Prompt | Sequence[Mapping[str, Any]], **parameters: Any) -> Request:
    """The request that asks a prompt of a model.

    Args:
        prompt: Text (one user message), a ``Prompt``, or chat messages in the OpenAI style.
        parameters: Anything else for the request body, ``temperature=0`` ...

    Raises:
        UsageError: For an empty prompt, another type, or a message that is none; names the message.

    >>> as_request("Hi", temperature=0).messages
    ({'role': 'user', 'content': 'Hi'},)
    """
    if isinstance(prompt, str):
        if not prompt.strip():
            msg = "The prompt is empty. Give it some text."
            raise UsageError(msg)
        return Request(({"role": "user", "content": prompt},), parameters)
    messages: Any = getattr(prompt, "messages", prompt)
    if not isinstance(messages, Sequence) or isinstance(messages, (bytes, bytearray)):
        msg = (
            f"The prompt is of type {type(prompt).__name__}. "
            'Give text, a Prompt, or messages such as [{"role": "user", "content": "..."}].'
        )
        raise UsageError(msg)
    if not messages:
        msg = "The prompt holds no messages. Give at least one."
        raise UsageError(msg)
    return Request(tuple(_message(each, index) for index, each in enumerate(messages)), parameters)


def _message(message: object, index: int) -> dict[str, Any]:
    if not isinstance(message, Mapping):
        msg = (
            f"Message {index} of the prompt is of type {type(message).__name__}. "
            'Write {"role": "user", "content": "..."}.'
        )
        raise UsageError(msg)
    found = dict(message)
    role, content = found.get("role"), found.get("content")
    if not isinstance(role, str) or role not in _ROLES:
        hint = nearest(role, _ROLES) if isinstance(role, str) else "Known: " + ", ".join(_ROLES) + "."
        msg = f"Message {index} of the prompt has the role {role!r}. {hint}"
        raise UsageError(msg)
    if content is None and role == "assistant" and found.get("tool_calls"):
        return found
    if not isinstance(content, str) and not (
        isinstance(content, Sequence) and not isinstance(content, bytes)
    ):
        msg = (
            f"Message {index} of the prompt has content of type {type(content).__name__}. "
            "Use text, or a list of parts."
        )
        raise UsageError(msg)
    return found

"""Reading a prompt's text from a file, and refusing characters that no model can be sent."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.files import read_text as read_file

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHAT = expression(r"\s*\[\s*\{[^{}\[\]]{0,200}\"role\"\s*:")
_SURROGATE = expression("[\ud800-\udfff]")


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of the UTF-8 file ``path``, without a byte order mark; line ends are kept.

    Raises:
        UsageError: The file is missing, unreadable or not UTF-8.
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"A prompt file is named by a str or a path, not by {article(path)}.")
    file = Path(path)
    shown = repr(os.fspath(file))
    try:
        return read_file(file, "utf-8-sig")
    except FileNotFoundError:
        here = os.fspath(Path.cwd())
        raise UsageError(f"There is no prompt file {shown}; relative paths start at {here!r}.") from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"The prompt file {shown} is not UTF-8 (byte {error.start}: {error.reason}); save it as UTF-8."
        ) from error
    except (OSError, ValueError) as error:
        raise UsageError(f"The prompt file {shown} cannot be read: {error}.") from error


def chat_in(text: str, name: str) -> list[Any] | None:
    """The chat messages in a file's text, not validated; ``None`` where it is a prompt, JSON or not.

    Args:
        text: What the file holds.
        name: The file's name; only ``.json`` files hold messages.

    Raises:
        UsageError: It begins as a list of messages and is no JSON, or is a request with ``messages`` in it.
    """
    if Path(name).suffix.lower() != ".json":
        return None
    try:
        value = json.loads(text)
    except RecursionError:
        return None
    except ValueError as error:
        if not _CHAT.match(text):
            return None
        raise UsageError(
            f"The prompt file {name!r} begins like chat messages, but is no JSON: {error}. Mend it, or name it .txt if"
            " it is a text."
        ) from None
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        raise UsageError(
            f"The prompt file {name!r} holds an object with 'messages'; keep the list alone:"
            ' [{"role": "user", "content": "..."}].'
        )
    if isinstance(value, list) and any(isinstance(each, dict) and "role" in each for each in value):
        return value
    return None


def check_characters(text: str, where: str) -> None:
    """Raise `UsageError` if ``text``, which ``where`` names, holds NUL or a lone surrogate."""
    position = text.find("\0")
    what = "a NUL character"
    if position < 0:
        match = None if text.isascii() else _SURROGATE.search(text)
        if match is None:
            return
        position, what = match.start(), f"the lone surrogate U+{ord(match[0]):04X}"
    line = text.count("\n", 0, position) + 1
    raise UsageError(
        f"{where} holds {what} in line {line} (character {position}), which no model can be sent; remove it."
    )


def article(value: object) -> str:
    """The type of ``value`` with its article: ``an int``, ``a list``."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def check_texts(texts: Sequence[str], name: str) -> None:
    """Refuse texts that are all blank, or that hold what no prompt may hold; `UsageError` names the prompt."""
    if not any(text.strip() for text in texts):
        raise UsageError(f"{name} is empty: give it some text.")
    for text in texts:
        check_characters(text, name)

"""Chat messages: validation and the texts in them; ``part=``, what of a prompt may change; files of prompts."""

from __future__ import annotations

import copy
import glob
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast, get_args

from pytest_promptfuzz.errors import UsageError, close_names, nearest, not_among
from pytest_promptfuzz.files import read_text as read_file
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.prompts.cues import Found


# Reading a prompt's text from a file, and refusing characters that no model can be sent.


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


SEPARATOR = "\n\n"
Message = dict[str, Any]

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
MUTABLE_ROLES = frozenset({"system", "developer", "user"})


class MessageText(NamedTuple):
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
        raise UsageError(not_among(f"{where}: the role {role!r}", role, ROLES))
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


def layout(messages: Sequence[Message]) -> tuple[str, tuple[MessageText, ...]]:
    """All texts of ``messages`` joined by `SEPARATOR`, and where each stands in that."""
    texts: list[str] = []
    pieces: list[MessageText] = []
    position = 0
    for index, message in enumerate(messages):
        mutable = message["role"] in MUTABLE_ROLES
        for part, text in _texts(message):
            if texts:
                position += len(SEPARATOR)
            pieces.append(MessageText(index, part, position, position + len(text), mutable))
            texts.append(text)
            position += len(text)
    return SEPARATOR.join(texts), tuple(pieces)


def replaced(
    messages: Sequence[Message], pieces: Sequence[MessageText], texts: Sequence[str]
) -> list[Message]:
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


# Which text of a prompt may be mutated: its template, what was put into its slots, or both, and in which messages.


What: TypeAlias = Literal["template", "input", "both"]

WHAT: tuple[What, ...] = get_args(What)
_ROLES = tuple(role for role in ROLES if role in MUTABLE_ROLES)


class MutatedPart(NamedTuple):
    """The text that mutations may touch.

    Attributes:
        everywhere: Which text of every message; ``None`` where roles are named.
        roles: ``(role, which text)`` of the messages that may change; empty where ``everywhere`` says it.
    """

    everywhere: What | None = "template"
    roles: tuple[tuple[str, What], ...] = ()

    @property
    def wants_input(self) -> bool:
        """Whether it holds text that is known only when the slots are filled."""
        return (self.everywhere or "template") != "template" or any(
            what != "template" for _, what in self.roles
        )

    @property
    def shown(self) -> str:
        """As a person writes it."""
        return self.everywhere or ", ".join(f"{role}:{what}" for role, what in self.roles)

    def of(self, role: str) -> What | None:
        """Which text of a message may change; ``None`` is none of it."""
        return self.everywhere or dict(self.roles).get(role)


TEMPLATE = MutatedPart()


def parse_part(value: Any) -> MutatedPart:
    """What ``part=`` says.

    Args:
        value: ``"template"``, ``"input"`` or ``"both"``; for chat messages also a role (``"system"``, its template),
            ``"role:input"`` or the like, or several of these in a list; ``None`` is ``"template"``.

    Raises:
        UsageError: It is none of these.
    """
    if value is None or value in WHAT:
        return MutatedPart(cast("What | None", value) or "template")
    if isinstance(value, MutatedPart):
        return value
    named = [value] if isinstance(value, str) else value
    if not isinstance(named, Sequence) or not named or not all(isinstance(each, str) for each in named):
        raise UsageError(
            f"part={value!r:.80} is {article(value)}. Write 'template', 'input' or 'both', or a list of roles such as "
            "['system', 'user:input']."
        )
    chosen: dict[str, What] = {}
    for each in named:
        role, _, what = each.partition(":")
        if each in WHAT:
            raise UsageError(f"part={value!r}: {each!r} belongs to a role in a list; write 'user:{each}'.")
        if role in ROLES and role not in _ROLES:
            raise UsageError(f"part={each!r}: {role} messages are never mutated; name {', '.join(_ROLES)}.")
        if role not in _ROLES or (what or "template") not in WHAT:
            raise UsageError(f"part={each!r} is not one of {', '.join(WHAT)}, or a role. {_hint(each)}")
        if role in chosen:
            raise UsageError(
                f"part={value!r} names the role {role!r} twice; write {role + ':both'!r} for all of it."
            )
        chosen[role] = cast("What", what or "template")
    return MutatedPart(None, tuple(chosen.items()))


def _hint(given: str) -> str:
    known = [*WHAT, *_ROLES, *(f"{role}:{what}" for role in _ROLES for what in WHAT)]
    if close_names(given, known):
        return nearest(given, known)
    return f"Roles: {', '.join(_ROLES)}. For one part of a role write 'user:input'."


def check_part(
    part: MutatedPart, roles: set[str] | None, *, filled: bool, slots: Sequence[str], where: str
) -> None:
    """Refuse a part that a prompt does not have.

    Args:
        part: What was chosen.
        roles: The roles of the prompt's messages; ``None`` for a text.
        filled: Whether it knows its input.
        slots: Its slots.
        where: The prompt, for messages.

    Raises:
        UsageError: Roles of a text, a role that no message has, or an input where nothing was filled in.
    """
    for role, _ in part.roles:
        if roles is None:
            raise UsageError(
                f"part names the role {role!r}, but {where} is a text; write 'template' or 'input'."
            )
        if role not in roles:
            raise UsageError(f"part names the role {role!r}, which no message of {where} has.")
    if part.wants_input and not filled:
        raise UsageError(
            f"part={part.shown!r}: {where} has no input yet; fill its slots with "
            f"fill({', '.join(f'{name}=…' for name in slots)})."
            if slots
            else f"part={part.shown!r}: {where} has no slots, so that template and input are one. Leave part= out, or "
            "name the input by itself as what is mutated."
        )


def outside(
    part: MutatedPart,
    pieces: Sequence[MessageText],
    messages: Sequence[Message] | None,
    inputs: Sequence[tuple[int, int]],
) -> list[Found]:
    """What a part leaves out of a text, as spans to protect.

    Args:
        part: What may change.
        pieces: The texts of the messages.
        messages: The messages, or ``None`` for a plain text.
        inputs: Where values stand in the text, ascending.
    """
    found: list[Found] = []
    for piece in pieces:
        what = part.of(messages[piece.message]["role"] if messages is not None else "user")
        inside = [(start, end) for start, end in inputs if piece.start <= start and end <= piece.end]
        if what is None:
            found.append((piece.start, piece.end, "message"))
        elif what == "template":
            found += [(start, end, "input") for start, end in inside]
        elif what == "input":
            position = piece.start
            for start, end in (*inside, (piece.end, piece.end)):
                if start > position:
                    found.append((position, start, "template"))
                position = end
    return [each for each in found if each[0] < each[1]]


def bounds(
    part: MutatedPart,
    pieces: Sequence[MessageText],
    messages: Sequence[Message] | None,
    inputs: Sequence[tuple[int, int]],
) -> tuple[tuple[int, int], ...] | None:
    """Where alone edits may lie; ``None`` if protection says it all.

    Protection alone would let something be put in at the very end of a template, which is no input.
    """
    if not part.wants_input:
        return None
    found: list[tuple[int, int]] = []
    for piece in pieces:
        what = part.of(messages[piece.message]["role"] if messages is not None else "user")
        if what in {"template", "both"}:
            found.append((piece.start, piece.end))
        elif what == "input":
            found += [(start, end) for start, end in inputs if piece.start <= start and end <= piece.end]
    return tuple(found)


# Translations of a prompt, in files beside it.


PLACE = "{language}"
_TAG = expression(r"[A-Za-z]{2}(?:[-_][A-Za-z]{2})?")


def read_translations(
    pattern: str | os.PathLike[str], languages: Iterable[str] | None = None
) -> dict[str, str]:
    """The texts of the files that a pattern names, by language.

    Args:
        pattern: A path with ``{language}`` in it, such as ``prompts/triage.{language}.txt``; the language is a code of
            two letters with or without a region (``fr``, ``fr-CA``).
        languages: The languages whose files are read; by default all there are, in alphabetical order. Files with
            something longer in the place of the language are other files.

    Raises:
        UsageError: The pattern has no ``{language}``, no file is there, or one is missing, unreadable or not UTF-8.
    """
    path = os.fspath(pattern)
    if path.count(PLACE) != 1:
        raise UsageError(
            f"Translations: {path!r} must hold {PLACE} once, as 'prompts/triage.{PLACE}.txt' does."
        )
    if languages is not None:
        return {each: read_text(path.replace(PLACE, each)) for each in languages}
    start, end = path.split(PLACE)
    names = glob.glob(f"{glob.escape(start)}*{glob.escape(end)}")  # noqa: PTH207  # the pattern is a whole path
    tags = (name[len(start) : len(name) - len(end)] for name in names)
    found = {tag: read_text(path.replace(PLACE, tag)) for tag in sorted(tags) if _TAG.fullmatch(tag)}
    if not found:
        raise UsageError(
            f"Translations: there are no files {path!r} with a language such as 'fr' for {PLACE}."
        )
    return found

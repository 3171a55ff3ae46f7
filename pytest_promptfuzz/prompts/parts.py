"""Which text of a prompt may be mutated: its template, what was put into its slots, or both, and in which messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.prompts.messages import MUTABLE_ROLES, ROLES, Message, Piece
from pytest_promptfuzz.prompts.reading import article

if TYPE_CHECKING:
    from pytest_promptfuzz.prompts.words import Found

What: TypeAlias = Literal["template", "input", "both"]

WHAT: tuple[What, ...] = get_args(What)
_ROLES = tuple(role for role in ROLES if role in MUTABLE_ROLES)


@dataclass(frozen=True, slots=True)
class Part:
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


TEMPLATE = Part()


def parse_part(value: Any) -> Part:
    """What ``part=`` says.

    Args:
        value: ``"template"``, ``"input"`` or ``"both"``; for chat messages also a role (``"system"``, its template),
            ``"role:input"`` or the like, or several of these in a list; ``None`` is ``"template"``.

    Raises:
        UsageError: It is none of these.
    """
    if value is None or value in WHAT:
        return Part(cast("What | None", value) or "template")
    if isinstance(value, Part):
        return value
    named = [value] if isinstance(value, str) else value
    if not isinstance(named, Sequence) or not named or not all(isinstance(each, str) for each in named):
        raise UsageError(f"part={value!r} is {article(value)}; {_hint('')}")
    chosen: dict[str, What] = {}
    for each in named:
        role, _, what = each.partition(":")
        if each in WHAT:
            raise UsageError(f"part={value!r}: {each!r} belongs to a role in a list; write 'user:{each}'.")
        if role in ROLES and role not in _ROLES:
            raise UsageError(f"part={each!r}: {role} messages are never mutated; name {', '.join(_ROLES)}.")
        if role not in _ROLES or (what or "template") not in WHAT:
            raise UsageError(f"part={each!r} is unknown. {_hint(each)}")
        if role in chosen:
            raise UsageError(
                f"part={value!r} names the role {role!r} twice; write {role + ':both'!r} for all of it."
            )
        chosen[role] = cast("What", what or "template")
    return Part(None, tuple(chosen.items()))


def _hint(given: str) -> str:
    known = [*WHAT, *_ROLES, *(f"{role}:{what}" for role in _ROLES for what in WHAT)]
    if given:
        return nearest(given, known)
    return "write 'template', 'input' or 'both', or name roles: ['system', 'user:input']."


def check_part(part: Part, roles: set[str] | None, *, filled: bool, slots: Sequence[str], where: str) -> None:
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
    part: Part,
    pieces: Sequence[Piece],
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
    part: Part,
    pieces: Sequence[Piece],
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

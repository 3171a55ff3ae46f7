"""Whose words a request carries: the texts of its messages by role, where they stand, and others in their place."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    # Role, owner, key and JSON path of each text that a body holds elsewhere.
    Places = Callable[[dict[str, Any]], Iterable[tuple[str, Any, Any, str]]]

ROLES = ("system", "user")
# "developer" is what newer OpenAI models call "system".
_ROLE_OF = {"system": "system", "developer": "system", "user": "user"}
_TEXT_PARTS = ("text", "input_text")


@dataclass(frozen=True, slots=True)
class Spoken:
    """One message of a request, or a field that stands for one (``system``, ``instructions``, ``input``).

    Attributes:
        role: ``system`` or ``user``.
        texts: Its texts, one for each part; tool results are nobody's words.
        paths: The JSON path of each text in the body.
    """

    role: str
    texts: tuple[str, ...]
    paths: tuple[str, ...]

    def only(self, wanted: Callable[[str], bool]) -> Spoken:
        """The same message with those of its texts whose path is wanted."""
        kept = [pair for pair in zip(self.texts, self.paths, strict=True) if wanted(pair[1])]
        return Spoken(self.role, tuple(text for text, _ in kept), tuple(path for _, path in kept))


@dataclass(frozen=True, slots=True)
class _Place:
    """A text in a body: ``owner[key]``."""

    owner: Any
    key: Any
    path: str

    @property
    def text(self) -> str:
        return str(self.owner[self.key])


def spoken(body: dict[str, Any], more: Places | None = None) -> tuple[Spoken, ...]:
    """The messages of a request of any known format that hold words of the system or the user, in order.

    A body of any shape is read as far as it can be; nothing is raised. ``more`` finds texts elsewhere.

    >>> spoken({"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]})[0]
    Spoken(role='system', texts=('Be brief.',), paths=('$.system',))
    """
    return tuple(
        Spoken(role, tuple(each.text for each in places), tuple(each.path for each in places))
        for role, places in _messages(body, more)
    )


def respoken(
    body: dict[str, Any], role: str, texts: Mapping[str, str], more: Places | None = None
) -> tuple[dict[str, Any], frozenset[str]]:
    """A body with other texts of one role.

    Args:
        body: A request body; it is not changed.
        role: Whose texts are replaced.
        texts: The new text by the old one, which must be the whole text of a message or part.
        more: Finds texts beside those of the formats.

    Returns:
        The body (a copy, if anything was replaced) and which old texts it held.
    """
    found = {
        each.text
        for said, places in _messages(body, more)
        if said == role
        for each in places
        if each.text in texts
    }
    if not found:
        return body, frozenset()
    changed = copy.deepcopy(body)
    for said, places in _messages(changed, more):
        for each in places if said == role else ():
            each.owner[each.key] = texts.get(each.text, each.text)
    return changed, frozenset(found)


def _messages(body: dict[str, Any], more: Places | None) -> Iterator[tuple[str, list[_Place]]]:
    for role, owner, key, path in more(body) if more is not None else ():
        yield role, [_Place(owner, key, path)]
    for key, role in (("system", "system"), ("instructions", "system"), ("input", "user")):
        places = _places(body, key, f"$.{key}") if key != "input" or isinstance(body.get(key), str) else []
        if places:
            yield role, places
    for key in ("messages", "input"):
        items = body.get(key)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            said = item.get("role") if isinstance(item, dict) else None
            role_of = _ROLE_OF.get(said) if isinstance(said, str) else None
            places = _places(item, "content", f"$.{key}[{index}].content") if role_of else []
            if role_of and places:
                yield role_of, places


def _places(owner: Mapping[str, Any], key: str, path: str) -> list[_Place]:
    content = owner.get(key)
    if isinstance(content, str):
        return [_Place(owner, key, path)] if content.strip() else []
    return [
        _Place(part, "text", f"{path}[{index}].text")
        for index, part in enumerate(content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("type") in _TEXT_PARTS
        if isinstance(part.get("text"), str) and part["text"].strip()
    ]

"""What two values of one shape have in common: a template of the first, with places for what is known to vary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Source: TypeAlias = tuple[str, int, str]
"""Where a varying text comes from: ``("prompt", index, how)``, or ``("answer", call, field)``."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A text of which parts come from sources."""

    parts: tuple[str | Source, ...]

    @property
    def sources(self) -> set[Source]:
        """What it is made from."""
        return {part for part in self.parts if not isinstance(part, str)}


class Wording:
    """The texts that vary, as one run had them.

    Args:
        texts: By source; blank ones are in no text.
    """

    def __init__(self, texts: Mapping[Source, str]) -> None:
        self.texts = texts
        # Of equal texts the first source counts.
        self._sources = {texts[source]: source for source in reversed([*texts]) if texts[source].strip()}

    def split(self, text: str) -> Filled:
        """A text of this run, with sources in the places of what comes from them: of two at one place the longer."""
        parts: list[str | Source] = []
        position = 0
        while True:
            found = [
                (at, -len(each), each) for each in self._sources if (at := text.find(each, position)) >= 0
            ]
            if not found:
                return Filled((*parts, text[position:]))
            at, _, each = min(found)
            parts += [text[position:at], self._sources[each]]
            position = at + len(each)

    def joined(self, filled: Filled) -> str | None:
        """The text of this run; ``None`` where it has no such source."""
        found = [part if isinstance(part, str) else self.texts.get(part) for part in filled.parts]
        return "".join(each for each in found if each is not None) if None not in found else None


def learned(old: Any, new: Any, ways: list[tuple[Wording, Wording]]) -> Any:
    """A template of ``old``, JSON, whose texts become those of ``new`` where sources can explain how.

    Args:
        old: From one run.
        new: From another.
        ways: The wordings of both runs, the likeliest first.

    Returns:
        ``old`` with ``Filled`` in the place of texts that vary; what nothing explains stays as it is.
    """
    if isinstance(old, dict):
        other = new if isinstance(new, dict) else {}
        return {key: learned(value, other.get(key), ways) for key, value in old.items()}
    if isinstance(old, list):
        others = [*new, *([None] * len(old))] if isinstance(new, list) else [None] * len(old)
        return [learned(value, each, ways) for value, each in zip(old, others, strict=False)]
    if isinstance(old, str):
        for was, now in ways:
            filled = was.split(old)
            if filled.sources and now.joined(filled) == new:
                return filled
    return old


def told(template: Any, wording: Wording) -> Any:
    """What a template says in another run.

    Raises:
        KeyError: That run has no such source.
    """
    if isinstance(template, dict):
        return {key: told(value, wording) for key, value in template.items()}
    if isinstance(template, list):
        return [told(value, wording) for value in template]
    if isinstance(template, Filled):
        text = wording.joined(template)
        if text is None:
            raise KeyError(template.parts)
        return text
    return template


def sources(template: Any) -> Iterator[Source]:
    """What a template is made from."""
    if isinstance(template, dict):
        for value in template.values():
            yield from sources(value)
    elif isinstance(template, list):
        for value in template:
            yield from sources(value)
    elif isinstance(template, Filled):
        yield from template.sources


def strings(value: Any) -> Iterator[str]:
    """Every text in JSON, keys apart."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)

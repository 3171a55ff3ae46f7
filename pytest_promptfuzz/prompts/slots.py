"""Slots of template syntaxes such as ``{x}`` and ``{{ x }}``: finding them, and filling them with values.

``{x}`` (with ``.attribute``, ``[index]``, ``!r`` and a format specification, as `str.format`), ``{{ x }}`` (Jinja,
Handlebars; also dotted), ``${x}`` and ``%(x)s`` are slots by themselves. ``<x>`` and ``$x`` are filled only if a value
named so is given, and ``<x>`` only if no ``</x>`` makes it a tag. Values are put in as they are and never searched
for slots again.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pytest_promptfuzz.errors import UsageError, nearest, unstopped
from pytest_promptfuzz.prompts.messages import SEPARATOR
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_promptfuzz.prompts.messages import MessageText


_SPEC = r"(?:[^{}\n]?[<>=^])?[-+ ]?z?#?0?\d{0,4}[,_]?(?:\.\d{1,3})?[bcdeEfFgGnosxX%]?|%[^{}\n]{1,40}"
_FIELD = r"[^\W\d]\w*(?:\.\w+|\[[^\]{}\n]{1,40}\])*"
_SLOT = expression(
    r"(?P<open>\{\{(?!\s*[^\W\d][\w.]*\s*\}\}))|\{\{\{?\s*(?P<jinja>[^\W\d][\w.]*)\s*\}\}\}?"
    r"|\$\{(?P<dollar>[^\W\d]\w*)\}"
    rf"|\{{(?P<field>{_FIELD})(?:!(?P<conversion>[rsa]))?(?::(?P<spec>{_SPEC}))?\}}"
    r"|(?P<close>\}\})"
    r"|%\((?P<percent>\w+)\)(?P<flags>[-#0 +]*\d*(?:\.\d+)?[diouxXeEfFgGcrsa])"
    r"|<(?P<angle>[^\W\d]\w*)>|\$(?P<name>[^\W\d]\w*)"
)
_STATEMENT = expression(r"\{%-?\s*[a-z]+|\{\{[#/^>]|\{\{-?\s*[\w.]+\s*[|(]")
_ROOT = expression(r"\w+")
_FORMATTER = string.Formatter()


class Slots:
    """The slots of one prompt, whose text may stand in several messages.

    Args:
        texts: The texts that are filled together.
    """

    __slots__ = ("_dollar_is_money", "_optional", "_statement", "_texts", "_unescape", "names")

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)
        names: dict[str, None] = {}
        optional: set[str] = set()
        kinds: set[str] = set()
        matches = [m for text in self._texts if _may_hold(text) for m in _SLOT.finditer(text)]
        # "costs ${price}" beside a plain {slot} is a dollar sign before a slot, as in str.format.
        self._dollar_is_money = any(m["field"] for m in matches) and not any(m["jinja"] for m in matches)
        for match in matches:
            kind = match.lastgroup or ""
            kind = "field" if kind in {"conversion", "spec"} else "percent" if kind == "flags" else kind
            kinds.add(kind)
            if kind in {"angle", "name"}:
                if kind == "name" or not any(f"</{match[kind]}>" in text for text in self._texts):
                    optional.add(match[kind])
            elif kind not in {"open", "close"}:
                names[_root(match[kind])] = None
        self.names = tuple(names)
        self._optional = optional - set(names)
        self._unescape = (
            "field" in kinds and "jinja" not in kinds and all(map(_is_format_string, self._texts))
        )
        self._statement = next((m[0] for text in self._texts if (m := _STATEMENT.search(text))), None)

    def check(self, values: Mapping[str, Any], prompt: str) -> None:
        """Raise `UsageError` unless ``values`` has what the slots need and nothing else; ``prompt`` names it."""
        if self._statement is not None:
            raise UsageError(
                f"{prompt} holds {self._statement!r}, a template statement that format() cannot run; "
                "render it with its template engine and make a Prompt of the result."
            )
        for name in values:
            if name not in self.names and name not in self._optional:
                known = [*self.names, *self._optional]
                hint = nearest(name, known) if known else "It has no slots; leave the argument out."
                raise UsageError(f"{prompt} has no slot {name!r}. {hint}")
        missing = [name for name in self.names if name not in values]
        if missing:
            given = ", ".join(map(repr, values)) or "nothing"
            raise UsageError(
                f"{prompt}: no value for the slot {' and '.join(map(repr, missing))}; given: {given}. "
                f"Write format({', '.join(f'{name}=…' for name in self.names)})."
            )

    def fill(self, text: str, values: Mapping[str, Any]) -> tuple[str, list[tuple[int, int]]]:
        """``text`` with its slots filled from ``values``, which have been checked, and where the values stand in it."""
        if not _may_hold(text):
            return text, []
        parts: list[str] = []
        inputs: list[tuple[int, int]] = []
        position = length = 0
        for match in _SLOT.finditer(text):
            parts.append(text[position : match.start()])
            parts.append(self._value(match, values))
            length += len(parts[-2])
            end = length + len(parts[-1])
            if not match["open"] and not match["close"] and self._fills(match, values):
                inputs.append((length, end))
            position, length = match.end(), end
        parts.append(text[position:])
        return "".join(parts), inputs

    def values_in(self, text: str, shown: str) -> dict[str, str] | None:
        """The values with which ``text`` stands in ``shown``, filled by whatever engine; ``None`` if it does not.

        What stands before a text that begins with a slot, and after one that ends with a slot, counts as its value.
        The values of slots with attributes, conversions or format specifications cannot be told.
        """
        values: dict[str, str] = {}
        open_slot, position = "", 0
        for literal, name in self._split(text):
            at = shown.find(literal, position)
            if not literal and not name and open_slot:
                at = len(shown)
            if at < 0 or (name and not name.isidentifier()):
                return None
            if open_slot and values.setdefault(open_slot, shown[position:at]) != shown[position:at]:
                return None
            open_slot, position = name, at + len(literal)
        return values

    def ends(self, text: str) -> tuple[str, str]:
        """The slots that a text begins and ends with, if any: what ``values_in`` tells of them may be too long."""
        pieces = [*self._split(text)]
        if len(pieces) == 1:
            return "", ""
        return "" if pieces[0][0] else pieces[0][1], "" if pieces[-1][0] else pieces[-2][1]

    def _split(self, text: str) -> Iterator[tuple[str, str]]:
        """The literal pieces of a text as they stand in the filled one, each with the slot behind it, if any."""
        literal, position = "", 0
        for match in _SLOT.finditer(text):
            literal += text[position : match.start()]
            position = match.end()
            if match["open"] or match["close"]:
                literal += self._value(match, {})
                continue
            name = match["jinja"] or match["dollar"] or match["field"] or match["percent"]
            if name is None:
                literal += match[0]  # a tag or a price, unless a value says otherwise
                continue
            if match["dollar"] and self._dollar_is_money:
                literal += "$"
            plain = not match["conversion"] and not match["spec"] and match["flags"] in {None, "s"}
            yield literal, name if plain else "?"
            literal = ""
        yield literal + text[position:], ""

    def _fills(self, match: re.Match[str], values: Mapping[str, Any]) -> bool:
        name = match["angle"] or match["name"]
        return name is None or (name in self._optional and name in values)

    def _value(self, match: re.Match[str], values: Mapping[str, Any]) -> str:
        if match["open"]:
            return "{" if self._unescape else "{{"
        if match["close"]:
            return "}" if self._unescape else "}}"
        if match["field"]:
            value = _resolve(match["field"], values, match[0])
            try:
                value = _FORMATTER.convert_field(value, match["conversion"])
                return str(format(value, match["spec"] or ""))
            except (ValueError, TypeError) as error:
                raise UsageError(
                    f"The slot {match[0]} cannot show the value {value!r}: {unstopped(error)}."
                ) from error
        if match["jinja"]:
            return str(_resolve(match["jinja"], values, match[0]))
        if match["dollar"]:
            return ("$" if self._dollar_is_money else "") + str(values[match["dollar"]])
        if match["percent"]:
            try:
                return str(f"%{match['flags']}" % (values[match["percent"]],))
            except (ValueError, TypeError) as error:
                raise UsageError(f"The slot {match[0]} cannot show its value: {unstopped(error)}.") from error
        name = match["angle"] or match["name"]
        return str(values[name]) if name in self._optional and name in values else match[0]


def _may_hold(text: str) -> bool:
    return "{" in text or "%(" in text or "<" in text or "$" in text or "}}" in text


def _root(field: str) -> str:
    return _ROOT.match(field)[0]  # type: ignore[index]


def _is_format_string(text: str) -> bool:
    """Whether `str.format` would take ``text``, so that doubled braces in it stand for single ones."""
    try:
        for _, field, spec, _ in _FORMATTER.parse(text):
            if field is not None and not (re.fullmatch(_FIELD, field) and re.fullmatch(_SPEC, spec or "")):
                return False
    except ValueError:
        return False
    return True


def _resolve(field: str, values: Mapping[str, Any], slot: str) -> Any:
    try:
        return _FORMATTER.get_field(field, (), values)[0]
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        # Jinja writes an item of a mapping with a dot.
        root, *path = field.split(".")
        value = values.get(root)
        for step in path:
            if not isinstance(value, dict) or step not in value:
                raise UsageError(
                    f"The slot {slot} asks for what its value does not have: {error!r}."
                ) from error
            value = value[step]
        return value


# The values that fill a prompt's slots, and where they stand in the filled text.


Values: TypeAlias = Mapping[str, object]


class Filling(NamedTuple):
    """What a filled prompt knows of its slots.

    Attributes:
        names: The slots of its template.
        values: What was put into them.
        inputs: Where the values stand in the filled text ``(start, end)``, ascending; empty once it is mutated.
    """

    names: tuple[str, ...]
    values: Values
    inputs: tuple[tuple[int, int], ...] = ()

    def check(self, values: Values, prompt: str) -> None:
        """Refuse other values than the prompt was filled with.

        Raises:
            UsageError: They differ; ``prompt`` names the prompt.
        """
        for name in (*self.values, *values):
            if name not in values or name not in self.values or values[name] != self.values[name]:
                given = repr(values[name]) if name in values else "nothing"
                raise UsageError(
                    f"{prompt} was filled with {name}={self.values.get(name)!r:.80}, and a run of the test gives it "
                    f"{given:.80}. To mutate the input, every run must fill the prompt with the same values, once."
                )

    def mutated(self) -> Filling:
        """The same of a mutated text."""
        return self._replace(inputs=())


def filled(
    template: Slots, text: str, pieces: Iterable[MessageText], values: Values, prompt: str
) -> tuple[list[str], list[list[tuple[int, int]]]]:
    """The text of each piece with its slots filled, and where the values stand in it.

    Raises:
        UsageError: A value is missing, or has no slot; ``prompt`` names the prompt.
    """
    template.check(values, prompt)
    found = [template.fill(text[piece.start : piece.end], values) for piece in pieces]
    return [text for text, _ in found], [marks for _, marks in found]


def placed(texts: Sequence[str], marks: Sequence[Sequence[tuple[int, int]]]) -> tuple[tuple[int, int], ...]:
    """Where values stand in the texts joined, from where they stand in each."""
    found: list[tuple[int, int]] = []
    position = 0
    for text, those in zip(texts, marks, strict=True):
        found += [(position + start, position + end) for start, end in those]
        position += len(text) + len(SEPARATOR)
    return tuple(found)

"""The structure of the answer that a prompt shows: what introduces it, its keys, and the same in other formats.

``Output in the following JSON format: { "Main Problem": <string>, "Key Events": <list[string]> }`` is no JSON, and no
parser reads it. What stands for values is kept as it is written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pytest_promptfuzz.prompts.slots import Slots
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Line


class Keyed(NamedTuple):
    """An object: its keys in order, each with what stands there for its value, and the span of the pair."""

    pairs: tuple[tuple[str, Shape, tuple[int, int]], ...]


class Listed(NamedTuple):
    """A list: the shapes of its items."""

    items: tuple[Shape, ...]


Shape: TypeAlias = "Keyed | Listed | str"
"""An object, a list, or the text that stands for a value (``<string>``)."""


class ShownAnswer(NamedTuple):
    """Where a prompt shows the structure of its answer.

    Attributes:
        lead: The sentence that introduces it, up to its colon.
        block: What shows it, with its fence.
        fence: The opening fence without a language, or nothing.
        body: The structure itself.
        shape: What it holds.
    """

    lead: tuple[int, int]
    block: tuple[int, int]
    fence: str
    body: tuple[int, int]
    shape: Keyed


_STRING = expression(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', re.DOTALL)
_SPACE = expression(r"\s*")
_OPENERS, _CLOSERS = "<[({", ">])}"
_FENCED = expression(
    r"(?P<fence>`{3,}|~{3,})[ \t]*(?P<tag>[A-Za-z]*)[ \t]*\r?\n(?P<body>.*?)\r?\n?[ \t]*(?P=fence)\s*",
    re.DOTALL,
)
_ASKS = expression(
    r"\b(?:output|outputs|answer|answers|respond|response|responses|reply|return|returns|provide|format|formatted|result)\b",
    re.IGNORECASE,
)
_NAMED = expression(r"\bjson\b", re.IGNORECASE)
_MOST_DEEP = 8


class _UnreadableShapeError(ValueError):
    """What stands there is no object."""


def read_shape(text: str, start: int = 0) -> Keyed | None:
    """The object that a text shows, whose values may be anything; ``None`` where it shows none.

    Args:
        text: The object and nothing else.
        start: What is added to the offsets of its pairs.

    >>> shape = read_shape('{"a": <string>, "b": [<x>]}')
    >>> [(key, value) for key, value, _ in shape.pairs]
    [('a', '<string>'), ('b', Listed(items=('<x>',)))]
    """
    try:
        shape, end = _value(text, _skipped(text, 0), start, 0)
    except (_UnreadableShapeError, IndexError):
        return None
    if _skipped(text, end) != len(text) or not isinstance(shape, Keyed) or not shape.pairs:
        return None
    return shape


def _skipped(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match is not None else position


def _value(text: str, position: int, shift: int, depth: int) -> tuple[Shape, int]:
    if depth > _MOST_DEEP:
        raise _UnreadableShapeError
    if text[position] == "{":
        return _object(text, position, shift, depth)
    if text[position] == "[":
        return _array(text, position, shift, depth)
    return _leaf(text, position)


def _object(text: str, position: int, shift: int, depth: int) -> tuple[Keyed, int]:
    pairs: list[tuple[str, Shape, tuple[int, int]]] = []
    position = _skipped(text, position + 1)
    while text[position] != "}":
        key = _STRING.match(text, position)
        if key is None:
            raise _UnreadableShapeError
        colon = _skipped(text, key.end())
        if text[colon] != ":":
            raise _UnreadableShapeError
        value, end = _value(text, _skipped(text, colon + 1), shift, depth + 1)
        pairs.append((key[0][1:-1], value, (position + shift, end + shift)))
        position = _skipped(text, end)
        if text[position] == ",":
            position = _skipped(text, position + 1)
        elif text[position] != "}":
            raise _UnreadableShapeError
    return Keyed(tuple(pairs)), position + 1


def _array(text: str, position: int, shift: int, depth: int) -> tuple[Listed, int]:
    items: list[Shape] = []
    position = _skipped(text, position + 1)
    while text[position] != "]":
        value, end = _value(text, position, shift, depth + 1)
        items.append(value)
        position = _skipped(text, end)
        if text[position] == ",":
            position = _skipped(text, position + 1)
        elif text[position] != "]":
            raise _UnreadableShapeError
    return Listed(tuple(items)), position + 1


def _leaf(text: str, position: int) -> tuple[str, int]:
    """What stands for a value: a text in quotation marks, or all up to a comma or bracket that closes the object."""
    quoted = _STRING.match(text, position)
    if quoted is not None:
        return quoted[0], quoted.end()
    end, depth = position, 0
    while depth or text[end] not in ",}]":
        if text[end] in _OPENERS:
            depth += 1
        elif text[end] in _CLOSERS:
            if not depth:
                raise _UnreadableShapeError
            depth -= 1
        end += 1
    found = text[position:end].rstrip()
    if not found:
        raise _UnreadableShapeError
    return " ".join(found.split()), position + len(found)


# Where a prompt shows it: a block under a sentence that asks for the answer, after which no other stands.


def shown_answers(draft: Draft) -> tuple[ShownAnswer, ...]:
    """The structure of the answer that a prompt shows, as JSON; none where it shows none, or more than one.

    Ask for it with ``draft.once(shown_answers)``.
    """
    if "{" not in draft.text:
        return ()
    found: list[ShownAnswer] = []
    for line in draft.lines:
        if line.kind not in {"block", "prose"} or draft.text[line.start + line.indent] not in "{`~":
            continue
        shown = _shown_at(draft, line)
        if shown is not None:
            found.append(shown)
    return tuple(found) if len(found) == 1 else ()


def _shown_at(draft: Draft, line: Line) -> ShownAnswer | None:
    block = _block_at(draft, line)
    if block is None:
        return None
    piece = draft.text[slice(*block)]
    fenced = _FENCED.fullmatch(piece)
    if fenced is not None and fenced["tag"].lower() not in {"", "json"}:
        return None
    first, last = fenced.span("body") if fenced is not None else (0, len(piece))
    body = (block[0] + first, block[0] + last)
    shape = read_shape(draft.text[slice(*body)].rstrip(), body[0])
    lead = _lead_of(draft, block[0])
    if shape is None or lead is None or not _asks(draft, lead) or Slots([draft.text[slice(*body)]]).names:
        return None  # what fills a slot is no structure
    if {"type", "properties", "$schema", "enum"} & {key for key, _, _ in shape.pairs}:
        return None  # a JSON schema: its keys are no keys of the answer
    return ShownAnswer(lead, block, fenced["fence"] if fenced is not None else "", body, shape)


def _block_at(draft: Draft, line: Line) -> tuple[int, int] | None:
    """The protected text that a line is, without the white space after it."""
    start = line.start + line.indent
    for (first, last), kind in zip(draft.spans, draft.kinds, strict=False):
        if first == start and kind in {"code", "json"} and not draft.free[last : line.end].strip():
            return first, first + len(draft.text[first:last].rstrip())
    return None


def _lead_of(draft: Draft, block: int) -> tuple[int, int] | None:
    """The sentence that ends right before a block, blank lines aside."""
    before = [each for each in draft.sentences if each.end <= block]
    if not before or draft.text[before[-1].end : block].strip():
        return None
    return before[-1].start, before[-1].end


def _asks(draft: Draft, lead: tuple[int, int]) -> bool:
    said = draft.text[slice(*lead)]
    return (
        _ASKS.search(said) is not None
        and _NAMED.search(said) is not None
        and said.rstrip()[-1:] in {":", "."}
    )


# The same structure in other formats. Angle brackets would be read as tags, so there values stand in square ones.


_LIST_OF = expression(r"<(?:list|array)(?:\[| of )(?P<what>[^\]>]+)\]?>", re.IGNORECASE)
_BARE_KEY = expression(r"[A-Za-z_][\w .-]*")
_PLACEHOLDER = expression(r"<([^<>\n]+)>")
_NOT_NAME = expression(r"[^\w.-]+")


def _opened(shape: Shape) -> Shape:
    """A value such as ``<list[string]>`` as the list that it stands for."""
    if isinstance(shape, Listed) and not shape.items:
        return Listed(("<string>",))
    match = _LIST_OF.fullmatch(shape) if isinstance(shape, str) else None
    if match is None:
        return shape
    return Listed((f"<{match['what'].strip()}>",))


def as_yaml(shape: Shape, indent: str = "") -> str:
    """A shape as YAML."""
    shape = _opened(shape)
    if isinstance(shape, str):
        return shape
    lines: list[str] = []
    if isinstance(shape, Listed):
        for item in shape.items:
            held = as_yaml(item, indent + "  ")
            lines.append(f"{indent}- {held.lstrip()}")
        return "\n".join(lines)
    for key, value, _ in shape.pairs:
        inner = _opened(value)
        name = key if _BARE_KEY.fullmatch(key) else f'"{key}"'
        lines.append(
            f"{indent}{name}: {inner}"
            if isinstance(inner, str)
            else f"{indent}{name}:\n{as_yaml(inner, indent + '  ')}"
        )
    return "\n".join(lines)


def as_xml(shape: Shape, name: str = "answer", indent: str = "") -> str:
    """A shape as XML; keys become names of elements, items of a list stand in ``item``."""
    shape = _opened(shape)
    if isinstance(shape, str):
        return f"{indent}<{name}>{_bracketed(shape)}</{name}>"
    if isinstance(shape, Listed):
        inner = [as_xml(item, "item", indent + "  ") for item in shape.items]
    else:
        inner = [as_xml(value, element_name(key), indent + "  ") for key, value, _ in shape.pairs]
    return "\n".join([f"{indent}<{name}>", *inner, f"{indent}</{name}>"])


def element_name(key: str) -> str:
    """A key as the name of an element: ``Main Problem`` is ``Main_Problem``."""
    name = _NOT_NAME.sub("_", key).strip("_")
    return name if name[:1].isalpha() else f"_{name}"


def as_markdown(shape: Shape) -> str:
    """A shape as Markdown: keys are headings, a list of objects is a table."""
    shape = _opened(shape)
    if isinstance(shape, str):
        return _bracketed(shape)
    if isinstance(shape, Keyed):
        return "\n\n".join(f"## {key}\n\n{as_markdown(value)}" for key, value, _ in shape.pairs)
    row = _row(shape)
    if row is not None:
        return "\n".join(
            f"| {' | '.join(cells)} |" for cells in (list(row), ["---"] * len(row), list(row.values()))
        )
    return "\n".join(f"- {_inline(item)}" for item in shape.items)


def as_html(shape: Shape) -> str:
    """A shape as HTML: keys are headings, a list of objects is a table."""
    shape = _opened(shape)
    if isinstance(shape, str):
        return f"<p>{_bracketed(shape)}</p>"
    if isinstance(shape, Keyed):
        return "\n".join(f"<h2>{key}</h2>\n{as_html(value)}" for key, value, _ in shape.pairs)
    row = _row(shape)
    if row is None:
        return "\n".join(["<ul>", *(f"  <li>{_inline(item)}</li>" for item in shape.items), "</ul>"])
    heads = "".join(f"<th>{key}</th>" for key in row)
    cells = "".join(f"<td>{value}</td>" for value in row.values())
    return f"<table>\n  <tr>{heads}</tr>\n  <tr>{cells}</tr>\n</table>"


def _row(shape: Listed) -> dict[str, str] | None:
    """The one row of a table, where a list holds one flat object."""
    held = shape.items[0] if len(shape.items) == 1 else None
    if not isinstance(held, Keyed) or not all(isinstance(value, str) for _, value, _ in held.pairs):
        return None
    return {key: _inline(value) for key, value, _ in held.pairs}


def _inline(shape: Shape) -> str:
    """A shape in one line."""
    if isinstance(shape, str):
        return _bracketed(shape)
    if isinstance(shape, Listed):
        return ", ".join(map(_inline, shape.items))
    return ", ".join(f"{key}: {_inline(value)}" for key, value, _ in shape.pairs)


def _bracketed(leaf: str) -> str:
    """``<string>`` as ``[string]``, without quotation marks around it."""
    bare = leaf[1:-1] if len(leaf) > 1 and leaf[0] == leaf[-1] and leaf[0] in "\"'" else leaf
    return _PLACEHOLDER.sub(r"[\1]", bare)


def in_words(shape: Keyed) -> str:
    """The keys of an object and what stands for their values, as the end of a sentence.

    >>> in_words(read_shape('{"a": <string>, "b": <list[string]>}'))
    '"a" (string) and "b" (list of string)'
    """
    return _and([f'"{key}" ({_told(value)})' for key, value, _ in shape.pairs])


def _told(shape: Shape) -> str:
    shape = _opened(shape)
    if isinstance(shape, Keyed):
        return f"an object with the keys {in_words(shape)}"
    if isinstance(shape, str):
        return _bracketed(shape).strip("[]") or "text"
    if len(shape.items) == 1 and isinstance(shape.items[0], Keyed):
        return f"a list of objects with the keys {in_words(shape.items[0])}"
    return f"list of {_and([_told(each) for each in shape.items]) or 'text'}"


def points_of(shape: Keyed) -> str:
    """The keys of an object as points that a text covers: ``Main Problem, Key Events and Final Resolution``."""
    names: list[str] = []
    for key, value, _ in shape.pairs:
        held = _opened(value)
        inner = held.items[0] if isinstance(held, Listed) and len(held.items) == 1 else held
        names.append(f"{key} ({points_of(inner)} of each)" if isinstance(inner, Keyed) else key)
    return _and(names)


def _and(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)

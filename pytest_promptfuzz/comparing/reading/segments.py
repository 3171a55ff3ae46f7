"""The parts of an answer that are no prose, wherever they stand: data, programs, queries, calls, fields."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.comparing import jsontext
from pytest_promptfuzz.comparing.formats import answer_formats as formats
from pytest_promptfuzz.comparing.formats import code, sql
from pytest_promptfuzz.comparing.reading.asides import leads_to_block
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator


class Segment(NamedTuple):
    """A part of an answer.

    Attributes:
        kind: ``prose``, ``data``, ``program``, ``query`` or ``fields``.
        text: As it is written, without a fence.
        name: What explanations call it: ``JSON``, ``YAML``, ``XML``; empty for prose.
        value: What data and fields hold.
    """

    kind: str
    text: str
    name: str = ""
    value: Any = None


@lru_cache(maxsize=4096)
def segments(text: str) -> tuple[Segment, ...]:
    r"""The parts of an answer in order; one of prose where there is nothing else.

    >>> [each.kind for each in segments('Here it is: {"total": 12}\nIt is due today.')]
    ['prose', 'data', 'prose']
    """
    if _BEGINS.search(text) is None:
        return (Segment("prose", text),)
    found: list[Segment] = []
    at = 0
    for fence in _FENCE.finditer(text):
        found += _unfenced(text[at : fence.start()])
        found.append(_fenced(fence[1].lower(), fence[2]))
        at = fence.end()
    found += _unfenced(text[at:])
    return tuple(each for each in found if each.text.strip())


def prose_of(parts: tuple[Segment, ...]) -> str:
    """The prose among some parts, without courtesies and sentences that only hand over what stands beside them."""
    kept: list[str] = []
    for part in parts:
        if part.kind == "prose":
            pieces = _SENTENCE_END.split(part.text)
            kept.append("".join(each for each in pieces if not each.strip() or not leads_to_block(each)))
    return "\n".join(kept).strip()


def _fenced(language: str, inner: str) -> Segment:
    if language in _DATA or not language:
        for name in [_DATA[language]] if language else ["json", "xml"]:
            try:
                read = formats.read(inner, name)
            except formats.NotConforming:
                continue
            if read.structured and not read.wrapped:
                return Segment("data", inner, formats.NAMES[name], read.value)
    if language == "sql" or (language in _PLAIN and sql.looks_like(inner)):
        return Segment("query", inner, "query")
    if language not in _PLAIN or code.looks_like(inner):
        return Segment("program", inner, "program")
    return Segment("prose", inner)


def _unfenced(text: str) -> Iterator[Segment]:
    at = 0
    for start, end, value in jsontext.spans(text):
        if isinstance(value, dict) or len(value) > 1 or isinstance(value[0], (dict, list)):
            yield from _marked(text[at:start])
            yield Segment("data", text[start:end], "JSON", value)
            at = end
    yield from _marked(text[at:])


def _marked(text: str) -> Iterator[Segment]:
    """Prose in which XML may stand."""
    at = 0
    for found in _ELEMENT.finditer(text):
        try:
            value = formats.read(found[0], "xml").value
        except formats.NotConforming:
            continue
        if "\n" in found[0].strip() or any(isinstance(each, dict) for each in value.values()):
            yield from _lines(text[at : found.start()])
            yield Segment("data", found[0], "XML", value)
            at = found.end()
    yield from _lines(text[at:])


def _lines(text: str) -> Iterator[Segment]:
    """Prose in which lines may be fields, or calls of tools."""
    at = 0
    for run in _FIELD_RUN.finditer(text):
        fields = {found[1].strip().casefold(): found[2].strip(" *") for found in _FIELD.finditer(run[0])}
        if len(fields) == len(_FIELD.findall(run[0])):
            yield from _calls(text[at : run.start()])
            yield Segment("fields", run[0], "field", fields)
            at = run.end()
    yield from _calls(text[at:])


def _calls(text: str) -> Iterator[Segment]:
    at = 0
    for found in _CALL.finditer(text):
        yield Segment("prose", text[at : found.start()])
        yield Segment("program", found[0].strip(), "call")
        at = found.end()
    yield Segment("prose", text[at:])


_BEGINS = expression(
    r"```|\{|\[\s*[\[{\"\d\-tfn]|<\w+[\s>]|\n[^\n:]{1,44}:\**[ \t]+\S|^[ \t]*\w[\w.]*\(", re.MULTILINE
)
_FENCE = expression(r"```([\w+-]*)[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_DATA = {"json": "json", "jsonc": "json", "json5": "json", "yaml": "yaml", "yml": "yaml", "xml": "xml"}
_PLAIN = frozenset({"", "text", "txt", "plaintext", "plain", "markdown", "md"})
_ELEMENT = expression(r"<([A-Za-z][\w.-]*)(?:\s[^<>]*)?>.*?</\1>", re.DOTALL)
_FIELD = expression(
    r"^[ \t]*(?:[-*•][ \t]+)?\**([^\W\d_][\w '’/()&.-]{0,40}?)\**:\**[ \t]+(\S[^\n]{0,100})$", re.MULTILINE
)
_FIELD_RUN = expression(
    r"(?:^[ \t]*(?:[-*•][ \t]+)?\**[^\W\d_][\w '’/()&.-]{0,40}?\**:\**[ \t]+\S[^\n]{0,100}(?:\n|\Z)){2,}",
    re.MULTILINE,
)
_CALL = expression(r"^[ \t]*[A-Za-z_][\w.]*\((?:\w+ ?= ?|[\"'{])[^\n]*\)[ \t]*$", re.MULTILINE)
_SENTENCE_END = expression(r"(?<=[.!?:])(?=\s)|(?<=\n)")

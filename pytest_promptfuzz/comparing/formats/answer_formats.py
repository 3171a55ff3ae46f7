"""The formats of answers: which one an answer has, whether it is the one asked for, and what it holds."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing import jsontext, markup, outline, yamltext
from pytest_promptfuzz.comparing.text import strip_fence
from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMATS = ("json", "yaml", "xml", "html", "markdown", "text")
"""The formats that can be asked for; ``text`` is plain text without markup."""

STRICT = frozenset({"json", "yaml", "xml"})
"""Formats that programs read: they parse or they do not."""

NAMES = {
    "json": "JSON", "yaml": "YAML", "xml": "XML", "html": "HTML", "markdown": "Markdown", "text": "plain text",
}  # fmt: skip

_OPERATOR = expression(r"format-([a-z]+)(?:@\d+)?\Z")
_FENCE = expression(r"```([\w+-]*)[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_TAGGED = expression(r"<[A-Za-z?!][^<>]*>")
_MARKDOWN = expression(
    r"^(?:#{1,6}[ \t]+\S|[ \t]*[-*+•][ \t]+\S|[ \t]*\d{1,3}[.)][ \t]+\S|[ \t]*\|.*\||```|>[ \t])|\*\*\S|\]\(",
    re.MULTILINE,
)
_MARKUP = expression(
    r"^#{1,6}[ \t]+\S|^[ \t]*\|.*\|[ \t]*$|```|\*\*\S.{0,200}?\S\*\*|\]\(https?:", re.MULTILINE
)
_YAML_LINE = expression(r"[ ]*(?:- )*(?:[\w\"'][\w \"'-]{0,40}:(?: |$)|- |#)|[ ]+\S|---$|$")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as read in one format.

    Attributes:
        format: One of ``FORMATS``.
        value: What it holds: mappings, lists and scalars; a text where it is prose.
        prose: Its words without markup.
        wrapped: Whether other text stands around it, which a parser of the whole answer would refuse.
    """

    format: str
    value: Any
    prose: str
    wrapped: bool = False

    @property
    def structured(self) -> bool:
        """Whether it holds more than running text."""
        return isinstance(self.value, (dict, list)) and bool(self.value)


class NotConforming(ValueError):  # noqa: N818  # a finding about an answer, not an error of ours
    """An answer is not in the format asked for; the message is a clause that says why."""


def requested_format(operators: Iterable[str]) -> str | None:
    """The format that a mutation asks for, by the operators it came from; ``None`` where it asks for none.

    Args:
        operators: ``name@version`` each, as ``Mutation.operators`` has them; the last one holds.

    >>> requested_format(("upper@1", "format-yaml@1"))
    'yaml'
    """
    found = [match[1] for each in operators if (match := _OPERATOR.match(each))]
    return next((each for each in reversed(found) if each in FORMATS), None)


def check_format(name: str | None) -> str | None:
    """The format's name.

    Raises:
        UsageError: It is none of ``FORMATS``.
    """
    if name is not None and name not in FORMATS:
        raise UsageError(f"requested_format={name!r} is unknown. {nearest(str(name), FORMATS)}")
    return name


def detect(text: str) -> str:
    r"""The format an answer is written in, as far as it shows; ``text`` where nothing else does.

    >>> detect("name: Ada\norder: 4711")
    'yaml'
    """
    language = _fence_language(text)
    if language in {"json", "yaml", "xml", "html"}:
        return language
    bare = strip_fence(text).strip()
    if jsontext.parse(bare) is not jsontext.MISSING:
        return "json"
    if _TAGGED.search(bare):
        if markup.looks_like_html(bare):
            return "html"
        if bare[:1] == "<" and bare[-1:] == ">":
            return "xml"
    if _like_yaml(bare):
        try:
            value = yamltext.load(bare)
        except yamltext.YamlError:
            value = None
        if isinstance(value, dict) or (
            isinstance(value, list) and any(isinstance(each, dict) for each in value)
        ):
            return "yaml"
    return "markdown" if _MARKDOWN.search(text) else "text"


def _like_yaml(bare: str) -> bool:
    lines = bare.split("\n")
    return len(lines) > 1 and all(map(_YAML_LINE.match, lines)) and not _MARKUP.search(bare)


def unread_yaml(text: str) -> bool:
    """Whether an answer looks like YAML with fields within fields, which nothing installed reads."""
    bare = strip_fence(text).strip()
    return (
        not yamltext.installed()
        and _like_yaml(bare)
        and any(line[:1] in {" ", "-"} for line in bare.split("\n"))
    )


def read(text: str, name: str | None = None) -> Answer:
    """An answer as ``name``, or as whatever format it shows.

    Raises:
        NotConforming: It is not in that format.
        YamlMissingError: It must be YAML, and PyYAML is not installed.
    """
    if name is None:
        name = detect(text)
        if name not in STRICT and jsontext.embedded(text) is not jsontext.MISSING:
            name = "json"
        try:
            return replace(_READERS[name](text), wrapped=False)
        except NotConforming:
            return _loose("markdown", text)
    if not text.strip():
        raise NotConforming("the response is empty")
    return _READERS[name](text)


def _fence_language(text: str) -> str:
    stripped = text.strip()
    match = _FENCE.match(stripped)
    if match is None or match.end() != len(stripped):
        return ""
    language = match[1].lower()
    return {"yml": "yaml", "md": "markdown", "htm": "html"}.get(language, language)


def _json(text: str) -> Answer:
    value = jsontext.parse(text)
    if value is not jsontext.MISSING:
        return Answer("json", value, text)
    bare = strip_fence(text).strip()
    try:
        return Answer("json", json.loads(bare), text)
    except (ValueError, RecursionError) as error:
        value = jsontext.embedded(text)
        if value is jsontext.MISSING:
            said = str(error).partition(":")[0].lower() if bare[:1] in "{[" else "it begins like a text"
            raise NotConforming(f"the response is not JSON ({said})") from None
    return Answer("json", value, text, wrapped=True)


def _yaml(text: str) -> Answer:
    bare = strip_fence(text).strip("\n")
    wrapped = False
    if bare == text.strip("\n") and "```" in text:
        blocks = _FENCE.findall(text)
        if len(blocks) == 1:
            bare, wrapped = blocks[0][1], True
    try:
        value = yamltext.load(bare)
    except yamltext.YamlMissingError:
        raise
    except yamltext.YamlError as error:
        raise NotConforming(f"the response is not YAML ({error})") from None
    if isinstance(value, str) and len(value.split()) > 1:
        # A sentence is a YAML scalar by the letter, and no answer in YAML.
        raise NotConforming("the response is not YAML (it is running text)")
    return Answer("yaml", value, text, wrapped=wrapped)


def _xml(text: str) -> Answer:
    bare = strip_fence(text).strip()
    try:
        return Answer("xml", markup.load_xml(bare), text)
    except markup.MarkupError as error:
        first, last = bare.find("<"), bare.rfind(">")
        if first >= 0 and (first, last + 1) != (0, len(bare)) and last > first:
            try:
                return Answer("xml", markup.load_xml(bare[first : last + 1]), text, wrapped=True)
            except markup.MarkupError:
                pass
        said = f"{error}" if first >= 0 else "it has no tags"
        raise NotConforming(f"the response is not XML ({said})") from None


def _html(text: str) -> Answer:
    try:
        blocks = markup.html_blocks(strip_fence(text).strip())
    except markup.MarkupError as error:
        raise NotConforming(f"the response is not HTML ({error})") from None
    return _of_blocks("html", blocks)


def _markdown(text: str) -> Answer:
    _no_other("markdown", text)
    return _loose("markdown", text)


def _text(text: str) -> Answer:
    _no_other("text", text)
    if _MARKUP.search(text):
        raise NotConforming("the response is not plain text (it has Markdown)")
    loose = _loose("text", text)
    if detect(text) == "yaml" and any(line[:1] in " -" for line in text.split("\n")):
        # Fields within fields are told by how far they are indented.
        try:
            return replace(loose, value=yamltext.load(strip_fence(text).strip("\n")))
        except yamltext.YamlError:
            return loose
    return loose


def _no_other(name: str, text: str) -> None:
    found = detect(text)
    if found in {"json", "xml", "html"}:
        raise NotConforming(f"the response is {NAMES[found]}, not {NAMES[name]}")


def _loose(name: str, text: str) -> Answer:
    return _of_blocks(name, outline.markdown_blocks(text))


def _of_blocks(name: str, blocks: list[outline.Block]) -> Answer:
    prose = outline.text_of(blocks)
    return Answer(name, outline.value_of(blocks) if blocks else prose, prose)


_READERS = {"json": _json, "yaml": _yaml, "xml": _xml, "html": _html, "markdown": _markdown, "text": _text}

"""YAML as models answer with it: mappings, lists and scalars, nested by indentation.

A subset, read strictly: anchors, tags, several documents and complex keys are refused rather than guessed at. Values
keep the text they were written with unless they are plain numbers, ``true``, ``false`` or ``null``.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pytest_promptfuzz.expressions import expression

_KEY = expression(
    r"""(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^']|'')*)'|(?P<plain>[^\s\-?:,\[\]{}#&*!|>'"%@`][^\n]*?|-\w[^\n]*?))"""
    r"\s*:(?:[ \t]+(?P<rest>.*))?\Z"
)
_NUMBER = expression(r"[-+]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?\Z")
_BLOCK = expression(r"([|>])([-+]?)\d?\s*(?:#.*)?\Z")
_COMMENT = expression(r"(?:^|\s)#.*\Z")
_DOUBLE = expression(r'"((?:[^"\\]|\\.)*)"\s*(?:#.*)?\Z', re.DOTALL)
_SINGLE = expression(r"'((?:[^']|'')*)'\s*(?:#.*)?\Z", re.DOTALL)
_FLOW_PLAIN = expression(r"[^,\[\]{}:\n]+(?::(?=\S)[^,\[\]{}:\n]*)*")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_LONGEST = 200_000


class YamlError(ValueError):
    """The text is not YAML, or more of it than is read here; the message says where."""


def load(text: str) -> Any:
    r"""The value that a YAML document holds; JSON is YAML as well.

    Raises:
        YamlError: It does not parse.

    >>> load("name: Ada\ntags:\n  - urgent")
    {'name': 'Ada', 'tags': ['urgent']}
    """
    if len(text) > _LONGEST:
        raise YamlError(f"it is longer than {_LONGEST:,} characters")
    stripped = text.strip()
    if stripped[:1] in "{[" and stripped:
        try:
            return json.loads(stripped)
        except (ValueError, RecursionError):
            pass
    lines = [line.rstrip() for line in text.strip("\n").split("\n")]
    if lines and lines[0] == "---":
        lines[0] = ""
    if lines and lines[-1] in {"...", "---"}:
        lines[-1] = ""
    reader = _Reader(lines)
    try:
        value = reader.node(-1)
    except RecursionError:
        raise YamlError("it is nested too deeply") from None
    if reader.peek() is not None:
        raise reader.error("the indentation does not fit")
    return value


class _Reader:
    """The lines of a document and how far it was read."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0

    def error(self, what: str) -> YamlError:
        return YamlError(f"line {min(self.at, len(self.lines) - 1) + 1}: {what}")

    def peek(self) -> tuple[int, str] | None:
        """The indentation and content of the next line that says something."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            content = line.lstrip(" ")
            if content and content[0] == "\t":
                raise self.error("a tab indents it")
            if content and content[0] != "#":
                return len(line) - len(content), content
            self.at += 1
        return None

    def node(self, parent: int) -> Any:
        """What is indented by more than ``parent``."""
        found = self.peek()
        if found is None or found[0] <= parent:
            return None
        indent, content = found
        if content == "-" or content.startswith("- "):
            return self.sequence(indent)
        if content[0] not in "[{" and _KEY.match(content):
            return self.mapping(indent)
        self.at += 1
        return self.scalar(content, parent)

    def sequence(self, indent: int) -> list[Any]:
        items: list[Any] = []
        while (found := self.peek()) is not None and found[0] == indent:
            content = found[1]
            if content != "-" and not content.startswith("- "):
                break
            rest = content[1:].lstrip(" ")
            if not rest or rest[0] == "#":
                self.at += 1
                items.append(self.node(indent))
            elif rest == "-" or rest.startswith("- ") or (rest[0] not in "[{" and _KEY.match(rest)):
                # "- name: Ada" opens a mapping where its first key stands.
                inner = indent + len(content) - len(rest)
                self.lines[self.at] = " " * inner + rest
                items.append(self.node(indent))
            else:
                self.at += 1
                items.append(self.scalar(rest, indent))
        return items

    def mapping(self, indent: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while (line := self.peek()) is not None and line[0] == indent:
            match = _KEY.match(line[1])
            if match is None:
                if line[1].startswith("- "):
                    break
                raise self.error("a key and a colon are missing")
            key = _key(match)
            if key in found:
                raise self.error(f"the key {key!r} stands there twice")
            self.at += 1
            rest = match["rest"] or ""
            if rest and rest[0] != "#":
                found[key] = self.scalar(rest, indent)
                continue
            following = self.peek()
            if following is not None and following[0] == indent and following[1][:2] in {"-", "- "}:
                found[key] = self.sequence(indent)
            else:
                found[key] = self.node(indent)
        return found

    def scalar(self, text: str, parent: int) -> Any:
        """A scalar or flow value that begins with ``text``; lines indented by more than ``parent`` go on with it."""
        block = _BLOCK.match(text)
        if block:
            return self.block(block[1] == ">", parent)
        parts = [text]
        while (line := self.peek()) is not None and line[0] > parent:
            parts.append(line[1])
            self.at += 1
        return self.read(" ".join(parts))

    def block(self, folded: bool, parent: int) -> str:
        parts: list[str] = []
        indent = None
        while self.at < len(self.lines):
            line = self.lines[self.at]
            content = line.lstrip(" ")
            if content:
                here = len(line) - len(content)
                if here <= parent:
                    break
                indent = here if indent is None else min(indent, here)
            parts.append(line[indent or 0 :] if content else "")
            self.at += 1
        joined = "\n".join(parts).strip("\n")
        return re.sub(r"(?<!\n)\n(?!\n)", " ", joined) if folded else joined

    def read(self, text: str) -> Any:
        if text[0] in "[{":
            value, end = self.flow(text, 0)
            rest = text[end:].strip()
            if rest and rest[0] != "#":
                raise self.error(f"{rest[:20]!r} stands after the value")
            return value
        if text[0] in "\"'":
            double, single = _DOUBLE.match(text), _SINGLE.match(text)
            if double:
                return _unescaped(double[1])
            if single:
                return single[1].replace("''", "'")
            raise self.error("a quotation mark is left open")
        if text[0] in "&*!%@`|>":
            raise self.error(f"{text[0]!r} begins something that is not read here")
        plain = _COMMENT.sub("", text).strip()
        if ": " in plain or plain.endswith(":"):
            raise self.error("a value holds a colon and has no quotation marks")
        return _plain(plain)

    def flow(self, text: str, at: int) -> tuple[Any, int]:
        """The flow value at ``at`` and where it ends."""
        at = _skip(text, at)
        opener = text[at : at + 1]
        if opener == "[":
            items: list[Any] = []
            at = _skip(text, at + 1)
            while text[at : at + 1] != "]":
                value, at = self.flow(text, at)
                items.append(value)
                at = self.separator(text, at, "]")
            return items, at + 1
        if opener == "{":
            found: dict[str, Any] = {}
            at = _skip(text, at + 1)
            while text[at : at + 1] != "}":
                key, at = self.flow(text, at)
                at = _skip(text, at)
                if text[at : at + 1] != ":":
                    raise self.error("a colon is missing between braces")
                found[str(key)], at = self.flow(text, at + 1)
                at = self.separator(text, at, "}")
            return found, at + 1
        if opener in {'"', "'"}:
            pattern = r'"((?:[^"\\]|\\.)*)"' if opener == '"' else r"'((?:[^']|'')*)'"
            quoted = re.compile(pattern).match(text, at)
            if quoted is None:
                raise self.error("a quotation mark is left open")
            inner = _unescaped(quoted[1]) if opener == '"' else quoted[1].replace("''", "'")
            return inner, quoted.end()
        match = _FLOW_PLAIN.match(text, at)
        if match is None:
            raise self.error("a bracket is left open")
        return _plain(match[0].strip()), match.end()

    def separator(self, text: str, at: int, closer: str) -> int:
        at = _skip(text, at)
        mark = text[at : at + 1]
        if mark == ",":
            return _skip(text, at + 1)
        if mark != closer:
            raise self.error("a bracket is left open")
        return at


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] in {" ", "\t"}:
        at += 1
    return at


def _key(match: re.Match[str]) -> str:
    if match["double"] is not None:
        return _unescaped(match["double"])
    if match["single"] is not None:
        return match["single"].replace("''", "'")
    return match["plain"]


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def _plain(text: str) -> Any:
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _NUMBER.match(text):
        # A number with more digits than Python converts stays a text.
        bare = text.lstrip("+")
        return (
            int(bare)
            if len(bare) < 300 and bare.lstrip("-").isdigit()
            else float(bare)
            if len(bare) < 300
            else text
        )
    return text

"""Calling a tool when the user's words clearly ask for one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.providers.requests import ToolCall
from pytest_promptfuzz.targets.simulated.classify import STOP
from pytest_promptfuzz.targets.simulated.extract import CAPITAL, EMAIL, NUMBER, value_of
from pytest_promptfuzz.targets.simulated.words import listed, stem, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ENOUGH = 1.0
"""Evidence below which no tool is called: one word of the tool's name, or two of its description."""
WHERE = re.compile(rf"\b(?i:in|to|at|near|from|of|for)\s+((?:{CAPITAL} ){{0,2}}{CAPITAL})")
GENERIC = frozenset(
    stem(word)
    for word in listed(
        """
        get set do make run call tool function use fetch a given return find look by id user
        current information
        """
    )
)


def call(tools: Sequence[object], choice: object, text: str) -> tuple[ToolCall, ...]:
    """The tool call that a text asks for, at most one.

    Args:
        tools: Tools in the OpenAI (chat or Responses) or Anthropic style.
        choice: ``tool_choice`` as in the OpenAI chat style: ``none`` never calls, ``required`` or a named tool always.
        text: The user's words.
    """
    known = [each for each in map(_tool, tools) if each is not None]
    if not known or choice == "none":
        return ()
    forced = _named(choice)
    scored = [
        (_evidence(name, description, schema, text), -index)
        for index, (name, description, schema) in enumerate(known)
    ]
    best, place = max(scored)
    for index, each in enumerate(known):
        if each[0] == forced:
            best, place = float("inf"), -index
    if best < ENOUGH and choice not in {"required", "any"}:
        return ()
    name, _, schema = known[-place]
    arguments = _arguments(schema, text)
    required = schema.get("required")
    missing = [each for each in required if each not in arguments] if isinstance(required, list) else []
    if missing and forced is None and choice not in {"required", "any"}:
        return ()
    return (ToolCall(name, {**arguments, **{each: _blank(schema, each) for each in missing}}),)


def _tool(tool: object) -> tuple[str, str, dict[str, Any]] | None:
    if not isinstance(tool, dict):
        return None
    inner = tool.get("function") if isinstance(tool.get("function"), dict) else tool
    assert isinstance(inner, dict)
    name = inner.get("name")
    schema = inner.get("parameters") or inner.get("input_schema") or {}
    if not isinstance(name, str) or not name or not isinstance(schema, dict):
        return None
    return name, str(inner.get("description") or ""), schema


def _named(choice: object) -> str | None:
    if not isinstance(choice, dict):
        return None
    function = choice.get("function")
    name = function.get("name") if isinstance(function, dict) else choice.get("name")
    return name if isinstance(name, str) else None


def _evidence(name: str, description: str, schema: Mapping[str, Any], text: str) -> float:
    said = {stem(word) for word in words(text)}
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ")
    named = {stem(word) for word in words(spaced)} - GENERIC
    described = {stem(word) for word in words(description) if word not in STOP} - GENERIC - named
    fields = (
        {stem(part) for each in _properties(schema) for part in each.lower().split("_")}
        - GENERIC
        - named
        - described
    )
    return len(said & named) + 0.5 * len(said & described) + 0.25 * len(said & fields)


def _properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _arguments(schema: Mapping[str, Any], text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    numbers = [each.group().replace(",", "") for each in NUMBER.finditer(text)]
    for name, given in _properties(schema).items():
        kind = given if isinstance(given, dict) else {}
        value = _argument(name, kind, text, numbers)
        if value is not None and value != []:
            found[name] = value
    return found


def _argument(name: str, kind: Mapping[str, Any], text: str, numbers: list[str]) -> Any:
    listed = kind.get("enum")
    if isinstance(listed, list):
        lower = text.lower()
        return next((each for each in listed if str(each).lower().replace("_", " ") in lower), None)
    if kind.get("type") in {"integer", "number"}:
        if not numbers:
            return None
        first = numbers.pop(0)
        return int(float(first)) if kind["type"] == "integer" else float(first)
    if kind.get("type") == "boolean":
        return True if re.search(rf"\b{re.escape(name.lower())}\b", text.lower()) else None
    email = EMAIL.search(text)
    value = (
        email.group()
        if email and name.lower() in {"to", "recipient", "cc", "address"}
        else value_of(name, text)
    )
    if value is None and re.search(r"city|location|place|where|destination|origin", name.lower()):
        match = WHERE.search(text) or re.search(rf"\s({CAPITAL})\b(?=[?.!]|$)", text)
        value = match[1] if match else None
    if value is None and re.search(
        r"query|subject|text|message|question|input|prompt|keyword|content|body|term|topic|reason|title",
        name.lower(),
    ):
        quoted = re.search(r"[\"']([^\"']+)[\"']", text)
        about = re.search(r"\b(?:for|about|saying|that says|named|called|titled)\s+(.+?)[.?!]*$", text)
        value = quoted[1] if quoted else about[1] if about else text.strip()
    if kind.get("type") == "array" and value is not None and not isinstance(value, list):
        return [value]
    return value[0] if isinstance(value, list) and value and kind.get("type") == "string" else value


def _blank(schema: Mapping[str, Any], name: str) -> Any:
    kind = _properties(schema).get(name)
    kind = kind if isinstance(kind, dict) else {}
    listed = kind.get("enum")
    if isinstance(listed, list) and listed:
        return listed[0]
    blanks: dict[str, Any] = {"integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}
    return blanks.get(str(kind.get("type")), "")

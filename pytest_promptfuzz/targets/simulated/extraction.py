"""Extraction: the fields that a prompt names, and their values in a text. The arguments of a tool are found alike."""

from __future__ import annotations

import itertools
import json
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.providers.requests import ToolCall
from pytest_promptfuzz.targets.simulated.prompt import (
    BULLET,
    cues,
    rows,
    sentences,
    singular,
    stems,
    words,
)
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.targets.simulated.prompt import AnswerForm, Brief

ENOUGH = 1.0
"""Evidence below which no tool is called: one word of the tool's name, or two of its description."""
_QUOTED = expression(r"(?i)\b(?:keys?|fields?)\b[^.\"'`{]{0,24}((?:[\"'`]\w+[\"'`](?:,? and |, )?)+)")
_ENDS = expression(
    r"(?i)\s+(?:from|in|of|out|as|into|found|that|for|using|who|if|to|is|are|or|only|where|with)\b.*$"
)
_PARTS = expression(r"(?i)\s*[,;|]\s*(?:and\s+)?|\s+and\s+")
_NAME = r"[A-ZÀ-Þ][\w'’-]+"
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
_BLANKS = {"integer": 0, "number": 0}


def fields_of(brief: Brief) -> list[str]:
    """Names of the fields asked for, in order: from a JSON schema or example, a bulleted list, or a sentence.

    In instructions written in capitals or as a title the case of a plain word says nothing: it is then in lower case.
    """
    names = list(dict.fromkeys(_names(brief)))
    long = re.findall(r"[^\W\d_]{4,}", brief.prose)
    if brief.shapes or sum(not word.islower() for word in long) < 0.7 * len(long):
        return names
    return [name.lower() if name.isupper() or name.istitle() else name for name in names]


def _names(brief: Brief) -> list[str]:
    if brief.shapes:
        return list(brief.schema) or re.findall(r'"([\w -]+)"\s*:', brief.shapes[0])
    bullets = [BULLET.match(line) for line in brief.prose.split("\n")]
    items = [re.split(r"\s*[:(]|\s-\s", each["item"])[0].strip(" `*\"'") for each in bullets if each]
    items = [each for each in items if _is_field(each) and len(each.split()) <= 4]
    if len(items) > 1:
        return items
    quoted = _QUOTED.findall(brief.prose)
    if quoted:
        return re.findall(r"\w+(?=[\"'`])", quoted[-1])
    told = [each for each in brief.told if each in brief.extracting or "JSON" in each]
    return max(map(_listed, reversed(told)), key=len, default=[])


def _listed(sentence: str) -> list[str]:
    """The fields that a sentence lists: of each part of the list, what begins with a word for a kind of value."""
    names = []
    for part in _PARTS.split(sentence[:600]):
        spoken = itertools.dropwhile(
            lambda word: "'s" in word or not _is_field(word.strip("`\"'*:.")), part.split()
        )
        name = _ENDS.sub("", " ".join(spoken)).strip(" `\"'*:.?!")
        names += [name] if 0 < len(name.split()) <= 3 else []
    return names


def _split(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower().replace("e-mail", "email").replace("'s", "")
    return [each for each in re.split(r"[\s_-]+", spaced) if each]


@cache
def _kinds() -> dict[str, str]:
    """The kind of value that a word of a field's name asks for; kinds are looked for in this order."""
    return {word: kind for kind, word in rows("fields.tsv")}


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """What values of each kind look like; a group in a pattern is the value, else the whole match."""
    found = rows("values.tsv")
    return {kind: re.compile(each.replace("NAME", _NAME).replace("MONTH", _MONTH)) for kind, each in found}


def _one(word: str) -> str:
    """A word in the singular, unless the plural is a word of its own: *address*."""
    return word if word in _kinds() else singular(word)


@lru_cache(maxsize=4096)
def _is_field(name: str) -> bool:
    return any(_one(each) in _kinds() for each in _split(name)) or "_" in name.strip("_")


def extracted(brief: Brief, form: AnswerForm, fields: Sequence[str], variant: int = 0) -> str:
    """The values found: as JSON if asked, else the one value, or a line for each; ``variant`` overlooks one of them."""
    found: dict[str, Any] = {}
    many = form.json == "array"
    for name in fields:
        given = brief.schema.get(name)
        value = _value(name, brief.data, many=many or isinstance(given, list))
        key = name if re.fullmatch(r"\w+", name) else "_".join(words(name))
        found[key] = _number(value) if isinstance(given, dict) and given.get("type") in _BLANKS else value
    if variant:
        missed = sorted(found)[(variant - 1) % len(found)]
        found[missed] = [] if isinstance(found[missed], list) else None
    if form.json:
        return json.dumps(found.popitem()[1] if many and len(found) == 1 else found, ensure_ascii=False)
    lines = [
        (key, ", ".join(each) if isinstance(each, list) else each or "none") for key, each in found.items()
    ]
    return str(lines[0][1]) if len(lines) == 1 else "\n".join(f"{key}: {each}" for key, each in lines)


def _value(field: str, text: str, *, many: bool = False) -> Any:
    """A field's value: a text, a list for a plural or ``many``, or ``None``."""
    parts = _split(field)
    plural = many or (bool(parts) and _one(parts[-1]) != parts[-1])
    parts = [_one(each) for each in parts]
    found = _labelled(parts, text) or _found(parts, text)
    return list(dict.fromkeys(found)) if plural else found[0] if found else None


def _labelled(parts: Sequence[str], text: str) -> list[str]:
    """The value on a line that bears the field's name, *Total: 12 EUR*; within it what looks like such a value."""
    name = r"[ _-]*".join(map(re.escape, parts))
    pattern = rf"^[ ]*(?:[-*•][ ]+)?{name}(?: (?:number|no\.?|id|name))?[ ]*[:=][ ]*(\S.*)$"
    line = re.search(pattern, text, re.IGNORECASE | re.MULTILINE)
    if not line:
        return []
    value = line[1].strip()
    return [value] if {"name", "customer", "title"} & set(parts) else _found(parts, value) or [value]


def _found(parts: Sequence[str], text: str) -> list[str]:
    """All values of the field's kind, those right after a word of its name (*due* date) first."""
    mine = {_kinds()[part] for part in parts if part in _kinds()}
    kind = next((each for each in _kinds().values() if each in mine), "")
    if kind not in _patterns():
        return sentences(text)[:1] if kind == "sentence" else []
    mails = _patterns()["email"].findall(text) if kind == "code" else ()
    found: dict[str, int] = {}
    for each in _patterns()[kind].finditer(text):
        value = next(filter(None, each.groups()), each.group()).strip().rstrip(".,;")
        value = _proper(value) if kind in {"person", "city", "country"} else value
        if value and not any(value in mail for mail in mails):
            found.setdefault(value, each.start())
    hints = "|".join(re.escape(part) for part in parts if part not in _kinds().values())
    ends = [each.end() for each in re.finditer(rf"\b(?:{hints})\b", text.lower())] if hints else []

    def distance(value: str) -> int:
        # What stands after the word is nearer than what stands before it.
        return min((abs(found[value] - end) + 500 * (found[value] < end) for end in ends), default=0)

    return sorted(found, key=distance)


def _proper(name: str) -> str:
    """A name without the words that are capitalised for another reason: *Please*, *Monday*."""
    return " ".join(word for word in name.split() if word.title() not in cues("no name"))


def _number(value: object) -> Any:
    """The number in a text; what is no text, or has none, as it is."""
    number = _patterns()["number"].search(value) if isinstance(value, str) else None
    plain = float(number.group().replace(",", "")) if number else value
    return int(plain) if isinstance(plain, float) and plain.is_integer() else plain


def tool_calls(tools: Sequence[object], choice: object, text: str) -> tuple[ToolCall, ...]:
    """The tool call that a text asks for, at most one: the tool's words are in it, and all required arguments.

    Tools are in the OpenAI (chat or Responses) or Anthropic style. The ``choice`` ``none`` never calls, ``required`` or
    a named tool always.
    """
    given = [_member(each, "function") or each for each in tools]
    known = [each for each in given if isinstance(each, dict) and each.get("name")]
    if not known or choice == "none":
        return ()
    named = _member(_member(choice, "function") or choice, "name")
    best = max(known, key=lambda each: _evidence(each, text))
    tool = next((each for each in known if each["name"] == named), best)
    schema = tool.get("parameters") or tool.get("input_schema")
    properties = _member(schema, "properties") or {}
    found = {
        name: _argument(name, given, text) for name, given in properties.items() if isinstance(given, dict)
    }
    arguments = {name: value for name, value in found.items() if value is not None}
    missing = [name for name in _member(schema, "required") or () if name not in arguments]
    if choice not in ("required", "any") and not named and (missing or _evidence(tool, text) < ENOUGH):
        return ()
    blanks = {name: _BLANKS.get(str(_member(properties.get(name), "type")), "") for name in missing}
    return (ToolCall(str(tool["name"]), {**arguments, **blanks}),)


def _member(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _evidence(tool: Mapping[str, Any], text: str) -> float:
    """How much of a text speaks for a tool: words of its name count 1, of its description ½."""
    said = set(stems(text))
    generic = set(stems("get set make run call find look id current information use function"))
    named = set(stems(" ".join(_split(str(tool["name"]))))) - generic
    described = set(stems(str(tool.get("description") or ""))) - generic - named
    return len(said & named) + 0.5 * len(said & described)


def _argument(name: str, given: Mapping[str, Any], text: str) -> Any:
    if isinstance(given.get("enum"), list):
        return next((each for each in given["enum"] if str(each).lower() in text.lower()), None)
    if given.get("type") in {"integer", "number"}:
        number = _patterns()["number"].search(text)
        return _number(number.group()) if number else None
    if re.search(r"query|subject|text|message|question|topic|title", name.lower()):
        quoted = re.search(r"[\"']([^\"']+)[\"']", text) or re.search(r"\b(?:for|about)\s+(.+?)[.?!]*$", text)
        return quoted[1] if quoted else text.strip()
    return _value("email" if name.lower() in {"to", "recipient"} else name, text)

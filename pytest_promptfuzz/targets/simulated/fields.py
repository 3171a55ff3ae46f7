"""Which fields a prompt asks for, and of what types."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.targets.simulated.cues import COMMON, corrected
from pytest_promptfuzz.targets.simulated.words import listed, near

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.simulated.reading import Reading

FIELDS = frozenset(
    listed(
        """
        name names email emails phone phones telephone mobile date dates deadline amount amounts total totals
        price prices cost order orders invoice number numbers id ids company companies organization organizations
        organisation employer city cities country countries location locations place places address addresses url
        urls website websites link links time times quantity quantities product products item items
        customer person persons people sender recipient percentage percentages zip zipcode postcode tracking account
        reference title subject age currency due contact vendor author day days e-mail e-mails role job salary ticket
        patient street state assignee owner code codes color colour sku iban year years
        """
    )
)
LEAD = re.compile(
    r"\b(?:extract|pull out|pull|parse|find|list|get|identify|retrieve|collect|capture|return|gather"
    r"|including|include|locate|give me|with|fields?|keys?|what(?: is|'s| are| was)|who is|which|(?:reply|respond"
    r"|answer)(?: only| just)? with"
    r"|entities|values|information|properties|details|attributes|columns)\b(?:\s+(?:the|all|every|each|any|just|only"
    r"|following|these|are|named|called|only|of|out|as|into|should be|is"
    r"|fields?|keys?|entities|information|values|details|properties|an?|json|object|with|from)\b)*\s*:?\s*",
    re.IGNORECASE,
)
NAMING = re.compile(
    r"\b(?:fields?|keys?|properties|attributes|entities)\b(?:\s+(?:named|called|are|is|should be|must be|exactly"
    r"|only|like))*\s*:?\s+",
    re.IGNORECASE,
)
QUOTED_KEYS = re.compile(
    r"\b(?:keys?|fields?|properties|attributes)\b[^.\"'`{]{0,24}((?:[\"'`]\w+[\"'`](?:\s*,\s*(?:and\s+)?|\s+and\s+)?)+)",
    re.IGNORECASE,
)
ENDS = re.compile(
    r"\s+(?:from|in|of|as|mentioned|into|found|that|out|for|contained|using|given|and return|who|when"
    r"|and output|if|to|is|are|or null|or|only|where|with)\b.*$",
    re.IGNORECASE,
)
SPLIT = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+(?:the\s+)?|\s*;\s*|\s*\|\s*", re.IGNORECASE)
ARTICLE = re.compile(
    r"^(?:(?:and|the|all|any|every|each|their|his|her|its|both|an?|\w+'s)\s+)+(?=\w)", re.IGNORECASE
)
TYPED = re.compile(
    r"^\s*(?:[-*•]|\d+[.)])\s+[*_`\"']*(\w+)[*_`\"']*\s*[:(-]\s*[^\n]*?\b(number|integer|float|int|list|array)\b",
    re.MULTILINE,
)
LONG_FIELDS: dict[tuple[str, int], tuple[str, ...]] = {}
for _name in sorted(FIELDS):
    for _size in (len(_name) - 1, len(_name), len(_name) + 1) if len(_name) >= 5 else ():
        LONG_FIELDS[_name[0], _size] = (*LONG_FIELDS.get((_name[0], _size), ()), _name)
BULLETED = re.compile(
    r"^\s*(?:[-*•]|\d+[.)])\s+[*_]*[`\"']?([A-Za-z][\w -]{1,30}?)[`\"']?[*_]*(?:[ \t]*[:(-].*)?$",
    re.MULTILINE,
)
NO_KEY = frozenset(
    listed("it them the null missing value text not found present absent exactly only use nothing")
)


def find_fields(reading: Reading) -> list[str]:
    """Names of the fields asked for, in order: from a JSON schema or example, a bulleted list, or a sentence.

    In a prompt written in capitals or as a title the case of a plain word says nothing: it is then in lower case.
    """
    names = _find_fields(reading)
    if not any(map(_is_styled, names)) or reading.shapes:
        return names
    long = re.findall(r"[^\W\d_]{4,}", reading.prose)
    styled = sum(not word.islower() for word in long) >= 0.7 * len(long)
    return [name.lower() if styled and _is_styled(name) else name for name in names]


def _is_styled(name: str) -> bool:
    return name.isupper() or name.istitle()


def _find_fields(reading: Reading) -> list[str]:
    properties = _properties(reading)
    if properties:
        return list(properties)
    for shape in reading.shapes:
        names = re.findall(r'["\']([\w -]+)["\']\s*:', shape)
        if names:
            return list(dict.fromkeys(names))
    lines = [match[1] for match in BULLETED.finditer(reading.prose)]
    lines = [each for each in lines if _is_field(each)]
    if len(lines) >= 2:
        return list(dict.fromkeys(lines))
    quoted = QUOTED_KEYS.findall(reading.prose)
    if quoted:
        return re.findall(r"[\"'`](\w+)[\"'`]", quoted[-1])
    told = [_mended(each) for each in reading.instructions]
    for sentence in told:
        for match in NAMING.finditer(sentence):
            names = _listed(sentence[match.end() :], strict=False)
            if len(names) >= 2:
                return names
    best: list[str] = []
    for sentence in told:
        mine: list[str] = []
        for match in LEAD.finditer(sentence):
            names = _listed(sentence[match.end() :], strict=True)
            if names and len(names) >= len(mine):
                mine = names
        if len(mine) > len(best):
            best = mine
    return best


def _mended(sentence: str) -> str:
    """The sentence with misspelt verbs and names of fields put right; what stands in quotation marks is left alone."""

    def mend(match: re.Match[str]) -> str:
        lower = match.group().lower()
        if lower in FIELDS or lower in COMMON:
            return match.group()
        known = corrected(lower)
        if known == lower:
            known = next(
                (each for each in LONG_FIELDS.get((lower[0], len(lower)), ()) if near(lower, each)), lower
            )
        return match.group() if known == lower else known

    return re.sub(r"(?<![\w\"'`@./-])[A-Za-z]{5,}(?![\w\"'`@./-])", mend, sentence)


def types_of(reading: Reading) -> dict[str, str]:
    """The JSON types of the fields for which a schema or example gives one."""
    found: dict[str, str] = {}
    for name, given in _properties(reading).items():
        kind = given.get("type") if isinstance(given, dict) else None
        if isinstance(kind, list):
            kind = next((each for each in kind if each != "null"), None)
        if isinstance(given, bool) or (given is not None and isinstance(given, int | float | list)):
            kind = "array" if isinstance(given, list) else "number"
        if isinstance(kind, str):
            found[name] = kind
    kinds: dict[str, str] = {"int": "integer", "float": "number", "list": "array", "[": "array"}
    for name, written in TYPED.findall(reading.prose):
        found.setdefault(name, kinds.get(written, written))
    for shape in reading.shapes:
        for name, written in re.findall(
            r'"([\w -]+)"\s*:\s*"?<?(number|integer|int|float|array|list|\[)', shape
        ):
            found.setdefault(name, kinds.get(written, written))
    return found


def _properties(reading: Reading) -> dict[str, Any]:
    """Names in a schema or in a JSON example, with what stands there."""
    given = reading.response_format.get("json_schema")
    schema = given.get("schema") if isinstance(given, dict) else None
    for source in (schema, *map(_json, reading.shapes)):
        if isinstance(source, list) and source:
            source = source[0]  # noqa: PLW2901 - a list of objects has the fields of its first
        if isinstance(source, dict):
            properties = source.get("properties")
            names = properties if isinstance(properties, dict) else source
            if names:
                return {str(name): value for name, value in names.items()}
    return {}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_field(name: str) -> bool:
    parts = set(re.split(r"[\s_-]+", name.lower())) | {name.lower()}
    return bool(parts & FIELDS) or re.fullmatch(r"[a-z]+(?:_[a-z]+)+", name) is not None


def _listed(text: str, *, strict: bool) -> list[str]:
    """The names at the beginning of a text, up to the end of its clause.

    Args:
        text: What follows *extract* or *with the keys*.
        strict: Keep only what looks like a field's name.
    """
    text = re.sub(r"\([^()]*\)", "", text[:600])
    text = re.split(r"[.?!](?:\s|$)|\)|:\s*$|\n|\{", text, maxsplit=1)[0]
    if ": " in text:
        text = text.rpartition(": ")[2]
    names: list[str] = []
    for part in SPLIT.split(text):
        name = ARTICLE.sub("", part.strip(" `\"'*:"))
        cut = ENDS.sub("", f" {name}").strip(" `\"'*:")
        ended = len(cut) < len(name)
        count = len(re.split(r"[\s_-]+", cut))
        if cut and (strict or set(cut.lower().split()) & NO_KEY):
            if count <= 4 and _is_field(cut):
                names.append(cut)
        elif cut and count <= (4 if "_" in cut else 2):
            names.append(cut)
        elif not strict:
            break
        if ended and not strict:
            break
    return list(dict.fromkeys(names))

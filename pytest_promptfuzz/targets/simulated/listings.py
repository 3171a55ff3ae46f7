"""Labels that a prompt lists in a form of their own: a JSON schema, a table, a scale of grades."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Label:
    """A label as written in the prompt, and what the prompt says it means."""

    name: str
    definition: str = ""


ANSWERS = r"(?:answer|say|return|reply|respond|output|write|print)(?: only| just)?(?: with)?:? [\"'`]?([\w-]+)[\"'`]?"
OTHERWISE = re.compile(
    rf"\bif\b([^.\n]{{0,60}}?)\b{ANSWERS}[^\n]{{0,30}}?\b(?:otherwise|else|if not),?(?: {ANSWERS}| [\"'`]?([\w-]+))",
    re.IGNORECASE,
)
WRAPPED = re.compile(r"(?<=[^\s.:;!?])\n(?=[a-z])")
"""A line break within a sentence."""
EQUALS = re.compile(r"[(,;] ?[\"'`]?(?P<name>[\w-]{1,24})[\"'`]? ?= ?(?P<meaning>[^,;()=\n]{2,60})")


def conditional(prose: str) -> Iterator[list[Label]]:
    """*If it is offensive answer A, otherwise B*; codes with their meanings, *(P1 = outage, P2 = delay)*."""
    for match in OTHERWISE.finditer(WRAPPED.sub(" ", prose)):
        yield [Label(match[2], match[1].strip(" ,")), Label(match[3] or match[4])]
    coded = [Label(match["name"], match["meaning"].strip()) for match in EQUALS.finditer(prose)]
    if len(coded) >= 2:
        yield coded


GRADES = re.compile(r"\b(?P<low>[01])\s*(?:to|-|through|and)\s*(?P<high>[3-9]|10)\b", re.IGNORECASE)


def grades(prose: str) -> Iterator[list[Label]]:
    """*from 1 to 5* beside stars, a rating or a score."""
    for sentence in re.split(r"(?<=[.!?])\s+|\n", prose):
        match = GRADES.search(sentence) or GRADES.search(re.sub(r"\([^()]*\) ?", "", sentence))
        if match and re.search(
            r"\b(?:stars?|rat(?:e|ing)|scor(?:e|ing)|scale|grade)\b", sentence, re.IGNORECASE
        ):
            yield [Label(str(grade)) for grade in range(int(match["low"]), int(match["high"]) + 1)]


def in_tables(prose: str) -> Iterator[list[Label]]:
    """The first column of a table; the others define."""
    rows: list[Label] = []
    for line in [*prose.split("\n"), ""]:
        cells = [each.strip(' `*"') for each in line.strip().strip("|").split("|")]
        if line.count("|") < 2 and not (line.startswith("|") and rows):
            # The first row names the columns.
            if len(rows) >= 3:
                yield rows[1:]
            rows = []
        elif not re.fullmatch(r"[\s:|-]+", line) and cells[0]:
            rows.append(Label(cells[0], " ".join(cells[1:])))


def in_shape(shape: str) -> Iterator[list[Label]]:
    """What a JSON example or schema allows: an enum, ``"a" | "b"``, ``"a|b"``."""
    with contextlib.suppress(ValueError, RecursionError):
        yield from in_schema(json.loads(shape))
    for match in re.finditer(r'"[^"{}:\n]+"(?:\s*(?:\||/|,|or)\s*"[^"{}:\n]+"){1,20}(?!\s*:)', shape):
        names = re.findall(r'"([^"]+)"', match.group())
        if shape[: match.start()].rstrip().endswith((":", "(", "one of")):
            yield [Label(each) for each in names]
    for match in re.finditer(r'"([^"{}:\n]+(?:[|/][^"{}:\n]+)+)"', shape):
        yield [Label(each.strip()) for each in re.split(r"[|/]", match[1]) if each.strip()]


def in_schema(value: Any) -> Iterator[list[Label]]:
    """The enums of a JSON schema, at any depth."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "enum" and isinstance(inner, list) and all(isinstance(each, str) for each in inner):
                yield [Label(each) for each in inner]
            else:
                yield from in_schema(inner)
    elif isinstance(value, list):
        for each in value:
            yield from in_schema(each)

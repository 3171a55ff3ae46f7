"""Splitting a prompt's text into prose (what to do) and data (what to do it to)."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from pytest_promptfuzz.targets.simulated.cues import (
    CLASSIFY,
    NOUNS,
    OBJECTS,
    POLITE,
    SQL,
    SUMMARISE,
    VERBS,
    corrected,
)
from pytest_promptfuzz.targets.simulated.fields import FIELDS
from pytest_promptfuzz.targets.simulated.tables import schema_of
from pytest_promptfuzz.targets.simulated.words import listed, words

FENCE = re.compile(
    r"(?P<mark>```|~~~|\"\"\"|''')(?:[a-zA-Z]+[ ]*\n|[ ]*\n)?(?P<text>.*?)\n?(?P=mark)", re.DOTALL
)
TAG = re.compile(r"<(?P<tag>[A-Za-z][\w-]*)(?:\s[^<>]*)?>(?P<text>.*?)</(?P=tag)>", re.DOTALL)
HEADER = re.compile(
    r"^[ ]*(?:#{1,6}[ ]*|[*_]{1,2}"
    r"|[-*•][ ]+)?\[?(?P<head>[A-Za-z][\w '/()-]{0,58}?)\]?[*_]{0,2}[ ]*:[*_]{0,2}(?=\s|$)(?P<rest>.*)$"
)
INLINE = re.compile(r"(?<=[.!?:])[ ]+(?=(?P<head>[A-Z][\w']*(?: [a-zA-Z]+){0,2}):\s)")
TITLE = re.compile(
    r"^[ ]*(?:#{1,6}|(?P<rule>={2,5}))[ ]+(?P<head>[A-Za-z][\w '/-]{0,40}?)(?(rule)[ ]+={2,5})[ ]*$"
)
RULE = re.compile(r"^[ ]*(?:-{3,}|={3,}|\*{3,}|#{3,}|_{3,})[ ]*$")
TABLE = re.compile(r"\bcreate\s+table\b", re.IGNORECASE)

# A header with one of these opens instructions, not data.
PROSE_HEADS = frozenset(
    listed(
        """
        guidelines guideline rules rule labels label categories category classes options output
        answer format schema tables table instructions instruction task role constraints fields
        requirements steps topics note notes definitions intents tags queues teams departments
        values choices json result response sentiment example examples goal objective summary
        sql priorities levels types keys columns database important reminder hint classification
        prediction verdict style persona languages emotions
        """
    )
)
ENDINGS = frozenset(
    listed(
        """
        answer output label category sentiment summary sql result response classification
        """
    )
)


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a prompt.

    Attributes:
        kind: ``prose``, ``data``, ``schema`` (SQL tables) or ``shape`` (a JSON example or schema).
        head: What introduces it, in lower case: ``ticket`` of ``Ticket: ...``; empty if nothing does.
        text: The stretch, without its header, tag or fence.
        closed: Whether marks at both ends, or its role, set it apart: then nothing in it is an instruction.
    """

    kind: str
    head: str
    text: str
    closed: bool = False


def split(text: str) -> list[Block]:
    """The blocks of a text, in order: fences and tags first, then headers at the start of lines."""
    blocks: list[Block] = []
    position = 0
    for match in _enclosed(text):
        blocks += _with_shapes(text[position : match.start()])
        blocks.append(_enclosed_block(match, blocks))
        position = match.end()
    blocks += _with_shapes(text[position:])
    return [block for block in blocks if block.text.strip()]


def _with_shapes(text: str) -> list[Block]:
    blocks: list[Block] = []
    position = 0
    for start, end in _shapes(text):
        blocks += _by_headers(text[position:start])
        blocks.append(Block("shape", "", text[start:end], closed=True))
        position = end
    return blocks + _by_headers(text[position:])


SHAPE_LEAD = re.compile(
    r"\b(?:json|format|schema|shape|form|structure|template|keys?|fields?|return|respond|reply|output|object|like)\b[^\n]*\s*$",
    re.IGNORECASE,
)
KEYED = re.compile(r'[{\[]\s*(?:\{\s*)?"[\w -]+"\s*:')


def _shapes(text: str) -> list[tuple[int, int]]:
    """Where JSON examples and schemas stand that nothing encloses: balanced braces after a word that announces them."""
    found: list[tuple[int, int]] = []
    for match in itertools.islice(KEYED.finditer(text), MOST):
        start = match.start()
        if found and start < found[-1][1]:
            continue
        depth = 0
        for each in BRACE.finditer(text, start, start + LONGEST):
            depth += 1 if each.group() in "{[" else -1
            if not depth:
                if SHAPE_LEAD.search(text[max(0, start - 120) : start]):
                    found.append((start, each.end()))
                break
    return found


BRACE = re.compile(r"[{}\[\]]")
MOST = 40
"""Places where a JSON example may begin; with ``LONGEST`` it bounds the work on hostile text."""
LONGEST = 4_000
"""Characters within which a JSON example must end; it bounds the work on hostile text."""


def _enclosed(text: str) -> list[re.Match[str]]:
    found = [*FENCE.finditer(text), *(TAG.finditer(text) if "</" in text else ())]
    found.sort(key=lambda match: (match.start(), -match.end()))
    outer: list[re.Match[str]] = []
    for match in found:
        if not outer or match.start() >= outer[-1].end():
            outer.append(match)
    return outer


def _enclosed_block(match: re.Match[str], before: list[Block]) -> Block:
    inner = match["text"].strip()
    tag = match.groupdict().get("tag")
    head = (tag or "").lower().replace("_", " ").replace("-", " ")
    if TABLE.search(inner):
        return Block("schema", head, inner)
    if inner[:1] in "{[" and re.search(r'"\w+"\s*:', inner):
        lead = before[-1].text.lower() if before else ""
        shape = re.search(
            r"format|schema|shape|json|structure|example|template|like this|keys", f"{lead[-160:]} {head}"
        )
        return Block("shape" if shape else "data", head, inner, closed=True)
    if head and any(word in PROSE_HEADS for word in words(head)):
        kind = "schema" if {"schema", "tables"} & set(words(head)) else "prose"
        return Block(kind, head, inner if kind == "schema" else f"{head}:\n{inner}")
    return Block("data", head, inner, closed=True)


INSTRUCTING = VERBS[CLASSIFY] | VERBS[SUMMARISE] | {"extract", "write", "return"}


def head_kind(head: str) -> str:
    """What a header opens: ``data``, ``prose``, or nothing that is known (``""``).

    The last noun decides, so that *Customer message* is data and *Message categories* is not; a header that begins
    with a task's verb is an instruction and is left alone.
    """
    found = [corrected(word) for word in words(head)]
    while len(found) > 1 and found[0] in POLITE:
        found.pop(0)
    if not found or len(found) > 6:
        return ""
    if len(found) > 1 and found[0] in INSTRUCTING:
        return ""
    before = found[: found.index("to")] if "to" in found[1:] else found
    if before[-1] in {"schema", "tables"}:
        return "schema"
    if before[-1] in PROSE_HEADS and before != ["notes"]:
        return "prose"
    if set(before) & PROSE_HEADS & NOUNS[SQL]:
        return "prose"
    if before[-1] in OBJECTS or before[-1] in {"customer", "user", "input", "source"}:
        return "data"
    return ""


def _by_headers(text: str) -> list[Block]:
    blocks: list[Block] = []
    kind, head = "prose", ""
    spoken = _spoken_of(text)
    lines: list[str] = []

    def close() -> None:
        joined = "\n".join(lines).strip("\n")
        if kind == "schema":
            # A schema goes on for as long as there are tables in it.
            parts = re.split(r"\n\s*\n", joined)
            size = next((i for i, part in enumerate(parts) if i and not schema_of(part)), len(parts))
            blocks.append(Block("schema", head, "\n\n".join(parts[:size])))
            blocks.extend(Block("prose", "", part) for part in parts[size:])
        elif joined.strip():
            # "Context: You write ..." tells the model who it is.
            role = head == "context" and re.match(
                r"\s*(?:you are|you're|you write|your (?:task|job|role))\b", joined, re.IGNORECASE
            )
            blocks.append(Block("prose" if role else kind, head, joined))

    # A prompt whose lines were run together keeps its headers.
    text = INLINE.sub(lambda match: "\n" if head_kind(match["head"]) == "data" else match.group(), text)
    for line in text.split("\n"):
        if RULE.match(line):
            lines.append("")
            continue
        match = HEADER.match(line) or TITLE.match(line)
        opens = head_kind(match["head"]) if match else ""
        if match and len(found := words(match["head"])) in {1, 2} and found[-1] in spoken:
            opens = "data"
        rest = (match.groupdict().get("rest") or "").strip() if match else ""
        if (
            match is None
            or not opens
            or (kind == "data" and not _leaves_data(opens, match["head"], rest, lines))
        ):
            lines.append(line)
            continue
        close()
        kind, head = opens, match["head"].lower().strip()
        # "Company: Acme" is a line of the data; "Text: Acme" is not.
        field = rest and words(head)[-1] in FIELDS and head not in HEADED
        lines = [line] if opens == "prose" or field else [rest]
    close()
    return blocks


def _spoken_of(text: str) -> frozenset[str]:
    """Nouns that a text speaks of, *from the note ...*: a header that is one of them, ``Note:``, opens data."""
    found = words(text[:3000] + " " + text[-1000:] if len(text) > 4000 else text)
    pairs = [
        pair for index, word in enumerate(found) if word in DEFINITE for pair in found[index + 1 : index + 3]
    ]
    return frozenset(pairs) - (PROSE_HEADS - {"note", "notes"}) - VERBS[CLASSIFY] - NOUNS[CLASSIFY]


HEADED = frozenset(["customer", "order", "ticket", "title", "items", "person", "sender", "subject"])
DEFINITE = frozenset(["the", "this", "a", "an", "following", "each", "below"])


def _leaves_data(opens: str, head: str, rest: str, lines: list[str]) -> bool:
    """Whether a header within data ends it: not one in the middle of an e-mail's or form's lines."""
    if opens == "data":
        # A form's own line, not another text: "Receipt:", then "Customer: ...".
        return not (
            rest
            and words(head)[-1:]
            and words(head)[-1] in FIELDS
            and (not lines or lines[-1].strip() or not any(each.strip() for each in lines))
        )
    if not rest:
        return True
    return set(words(head)) <= ENDINGS | {
        "instructions",
        "instruction",
        "task",
        "labels",
        "categories",
        "rules",
    } and (bool(lines))

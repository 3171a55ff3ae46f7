"""What a conversation asks: its instructions apart from the data they are about."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.targets.simulated.blocks import Block, split
from pytest_promptfuzz.targets.simulated.examples import find_examples
from pytest_promptfuzz.targets.simulated.instructions import (
    LIST_LINE,
    directive,
    instructs,
    lines_and_sentences,
    mentions_task,
    opening,
    refers,
    strays,
)
from pytest_promptfuzz.targets.simulated.tasks import names_task
from pytest_promptfuzz.targets.simulated.words import even, sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ATTENTION = 12
"""Sentences of data after which an instruction is no longer noticed."""
QUOTED = re.compile(r"\"([^\"\n]{12,})\"|(?<!\w)'([^'\n]{16,})'(?!\w)", re.DOTALL)
REPLIES = frozenset({"answer", "respond", "reply", "return", "output"})


@dataclass(frozen=True, slots=True)
class Reading:
    """A conversation as the model understands it.

    Attributes:
        prose: All instructions as written, lines kept; where labels, fields and formats are looked for.
        instructions: The instructions' sentences, in order.
        data: The text to work on; empty if there is none.
        question: The text under a ``Question:`` or ``Request:`` header.
        shapes: JSON examples or schemas given in the prompt.
        schema: SQL tables given in the prompt.
        examples: Solved examples, (input, answer).
        shouting: Whether the instructions are in capitals.
    """

    prose: str
    instructions: tuple[str, ...]
    data: str
    question: str = ""
    shapes: tuple[str, ...] = ()
    schema: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    shouting: bool = False
    response_format: dict[str, Any] = field(default_factory=dict)


def content_text(content: object) -> str:
    """The text of a message's content: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        parts = [
            each if isinstance(each, str) else each.get("text", "")
            for each in content
            if isinstance(each, str | dict)
        ]
        return "\n\n".join(part for part in parts if isinstance(part, str) and part)
    return ""


def read(messages: Sequence[Mapping[str, Any]], response_format: object = None) -> Reading:
    """Tell instructions from data in a chat.

    System messages instruct. The last user message holds data, instructions or both; earlier turns are examples if
    the assistant answered them.
    """
    system = "\n\n".join(
        content_text(m.get("content")) for m in messages if m.get("role") in {"system", "developer"}
    )
    turns = [m for m in messages if m.get("role") in {"user", "assistant"}]
    users = [index for index, m in enumerate(turns) if m.get("role") == "user"]
    last = even(content_text(turns[users[-1]].get("content"))) if users else ""
    pairs: list[tuple[str, str]] = []
    for one, two in itertools.pairwise(turns):
        if one.get("role") == "user" and two.get("role") == "assistant":
            pairs.append((even(content_text(one.get("content"))), even(content_text(two.get("content")))))
    above = split(even(system))
    if not any(directive(each) for each in _prose_sentences(above)) and pairs:
        above = above + [block for block in split(pairs[0][0]) if block.kind == "prose"]
    below = split(last)
    if above and any(mentions_task(each) for each in _prose_sentences(above)):
        below = _user_side(below, last)
    reading = _assemble(above, below)
    if isinstance(response_format, dict):
        reading = _with(reading, response_format=response_format)
    if pairs and not reading.examples:
        examples = tuple((_data_of(asked), answered) for asked, answered in pairs)
        return _with(reading, examples=examples)
    return reading


def _with(reading: Reading, **changes: Any) -> Reading:
    values = {name: getattr(reading, name) for name in Reading.__slots__}
    return Reading(**{**values, **changes})


def _data_of(text: str) -> str:
    found = [block.text for block in split(text) if block.kind == "data"]
    return found[-1] if found else text


def _user_side(blocks: list[Block], text: str) -> list[Block]:
    """With the task in the system message, a user message is data unless it visibly instructs."""
    if any(block.kind != "prose" for block in blocks):
        return blocks
    found = lines_and_sentences(text)
    if found and any(directive(each) and refers(each) for each in found[:1] + found[-1:]):
        return blocks
    return [Block("data", "", text, closed=True)]


def _prose_sentences(blocks: Iterable[Block]) -> list[str]:
    return [each for block in blocks if block.kind == "prose" for each in lines_and_sentences(block.text)]


def _assemble(above: list[Block], below: list[Block]) -> Reading:
    blocks = above + below
    prose = [block.text for block in blocks if block.kind == "prose"]
    data = [block for block in blocks if block.kind == "data"]
    if not data:
        prose, found = _divide(
            [b.text for b in above if b.kind == "prose"], [b.text for b in below if b.kind == "prose"]
        )
        data = [Block("data", "", found)] if found.strip() else []
    examples, data, leftover = find_examples(blocks, data)
    texts: list[str] = []
    question = ""
    told = any(mentions_task(each) for text in prose for each in lines_and_sentences(text))
    for block in data:
        kept, out = (block.text, []) if block.closed else _stray(block.text, told=told)
        prose += out
        if block.head.split()[-1:] in (["question"], ["request"], ["query"]) and (len(data) > 1 or not texts):
            asked = sentences(kept)
            out = [each for each in asked[1:] if opening(each)[:1] and opening(each)[0] in REPLIES]
            prose += out
            kept = question = " ".join(each for each in asked if each not in out)
        if kept and not (question == kept and len(data) > 1):
            texts.append(kept)
    prose = [text for text in prose if text not in leftover]
    joined = "\n".join(prose)
    letters = [each for each in joined if each.isalpha()]
    return Reading(
        prose=joined,
        instructions=tuple(each for text in prose for each in lines_and_sentences(text)),
        data="\n\n".join(texts),
        question=question,
        shapes=tuple(block.text for block in blocks if block.kind == "shape"),
        schema="\n".join(block.text for block in blocks if block.kind == "schema"),
        examples=examples,
        shouting=len(letters) >= 20 and sum(each.isupper() for each in letters) >= 0.9 * len(letters),
    )


def _announced(paragraphs: list[str]) -> list[str]:
    """Paragraphs and what separates them, a list joined to the paragraph that announces it with a colon."""
    joined: list[str] = paragraphs[:1]
    for gap, paragraph in zip(paragraphs[1::2], paragraphs[2::2], strict=False):
        if joined[-1].rstrip().endswith(":") and LIST_LINE.match(paragraph):
            joined[-1] += gap + paragraph
        else:
            joined += [gap, paragraph]
    return joined


def _stray(text: str, *, told: bool) -> tuple[str, list[str]]:
    """Data without the instructions that ended up in it; past ``ATTENTION`` sentences nobody looks for them.

    Paragraphs at its end that instruct are taken out readily if nothing else does (``told``), else only if they also
    name a task and the text it is about; single sentences if they do.
    """
    out: list[str] = []
    asked = re.search(r"\n[ ]*[A-Za-z][\w ]{0,24} ?\([^()\n]{3,80}\)[ ]*:[ ]*$", text)
    if asked:
        # "Language (English/French):" at the end asks for the answer.
        out, text = [asked.group().strip()], text[: asked.start()]
    paragraphs = _announced(re.split(r"(\n\s*\n)", text))
    while len(paragraphs) > 2 and len(sentences("".join(paragraphs[:-2]))) <= ATTENTION:
        found = lines_and_sentences(paragraphs[-1])
        telling = [instructs(each) or names_task(each) for each in found]
        if told and not (all(telling) and any(refers(each) and mentions_task(each) for each in found)):
            break
        if not told and not (any(telling[:1]) or all(telling[1:])):
            break
        out.insert(0, paragraphs[-1])
        del paragraphs[-2:]
    text = "".join(paragraphs)
    found = sentences(text)
    mixed = [each for each in found if strays(each)] if len(found) <= ATTENTION else []
    if len(mixed) < len(found):
        for each in mixed:
            pattern = r"\s+".join(re.escape(word) for word in each.split())
            text = re.sub(pattern, " ", text, count=1)
        out += mixed
    return text.strip(), out


def _divide(above: list[str], below: list[str]) -> tuple[list[str], str]:
    """Without headers, tags or fences: a quotation, what follows a colon, whole paragraphs, then sentences."""
    text = "\n\n".join(below or above)
    others = above if below else []
    quoted = [m for m in QUOTED.finditer(text) if len(words(m[1] or m[2])) >= 3]
    if quoted:
        longest = max(quoted, key=lambda match: len(match.group()))
        return [*others, text[: longest.start()] + " " + text[longest.end() :]], longest[1] or longest[2]
    paragraphs = [each for each in re.split(r"\n\s*\n", text) if each.strip()]
    told: list[str] = []
    data: list[str] = []
    apart = _pointed_at(paragraphs)
    if apart is not None:
        return [*others, *(each for each in paragraphs if each is not apart)], apart
    for paragraph in paragraphs:
        kept, found = _paragraph(paragraph, follows=bool(told))
        told += [kept] if kept.strip() else []
        data += [found] if found.strip() else []
    return [*others, *told], "\n\n".join(data)


def _pointed_at(paragraphs: list[str]) -> str | None:
    """The one paragraph that *the following text*, *the text below* or *the text above* can mean, if it is clear."""
    if len(paragraphs) < 2:
        return None
    for index, where in ((-1, r"\b(?:following|below)\b"), (0, r"\babove\b")):
        rest = paragraphs[:-1] if index else paragraphs[1:]
        pointing = [
            each
            for each in lines_and_sentences("\n".join(rest))
            if re.search(where, each.lower()) and refers(each)
        ]
        mine = lines_and_sentences(paragraphs[index])
        if pointing and mine and not any(mentions_task(each) and instructs(each) for each in mine):
            others = [each for other in rest for each in lines_and_sentences(other)]
            if all(instructs(each) or mentions_task(each) for each in others):
                return paragraphs[index]
    return None


def _paragraph(paragraph: str, *, follows: bool) -> tuple[str, str]:
    lines = paragraph.split("\n")
    listed = [line for line in lines if LIST_LINE.match(line)]
    if listed:
        # Whole sentences in a list are a text that somebody put in bullets.
        bare = [LIST_LINE.sub("", line).strip() for line in listed]
        if follows and all(
            re.search(r"[.!?]$", each) and len(each.split()) >= 5 and not instructs(each) for each in bare
        ):
            return "", paragraph
        return paragraph, ""
    told: list[str] = []
    data: list[str] = []
    if not any(
        instructs(each) or mentions_task(each) or (not follows and names_task(each))
        for each in lines_and_sentences(paragraph)
    ):
        return "", paragraph
    for sentence in lines_and_sentences(paragraph):
        left, colon, right = sentence.partition(": ")
        lists = re.search(r",|\bor\b|/", right) and len(words(right)) <= 12
        if (
            colon
            and (instructs(left) or mentions_task(left) or names_task(left))
            and not lists
            and not names_task(right)
            and len(words(right)) >= 2
        ):
            told.append(left + ":")
            data.append(right)
        elif (
            instructs(sentence)
            or (not follows and not data and names_task(sentence))
            or (mentions_task(sentence) and not follows and not told)
        ):
            told.append(sentence)
        else:
            data.append(sentence)
    return (" ".join(told), " ".join(data)) if told else ("", paragraph)

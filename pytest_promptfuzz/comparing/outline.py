"""What a text with headings, lists, tables and ``key: value`` lines holds, as plain data.

Markdown, HTML and free text all come down to the same few blocks, so that they are read in one place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_promptfuzz.comparing.text import strip_fence
from pytest_promptfuzz.expressions import expression

BlockKind = Literal["heading", "item", "row", "text"]


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a document.

    Attributes:
        kind: What it is.
        level: 1 to 6 of a heading, the depth of a list item from 0; 0 otherwise.
        cells: The cells of a table's row, else the one text.
    """

    kind: BlockKind
    level: int
    cells: tuple[str, ...]


@dataclass(slots=True)
class _Node:
    depth: int
    label: str
    children: list[_Node] = field(default_factory=list)
    rows: list[tuple[str, ...]] = field(default_factory=list)


_HEADING = expression(r"(#{1,6})[ \t]+(.*?)[ \t]*#*\Z")
_BOLD_LINE = expression(r"(?:\*\*|__)([^*_\n]{1,60}?):?(?:\*\*|__):?\Z")
_ITEM = expression(r"([ \t]*)(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]+(\S.*)\Z")
_RULE = expression(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*\Z")
_EMPHASIS = expression(r"(\*{1,3}|_{2,3}|`+)(?=\S)(.{1,400}?)(?<=\S)\1")
_ITALIC = expression(r"(?<!\w)_(?=\S)([^_\n]{1,400}?)(?<=\S)_(?!\w)")
_LINK = expression(r"!?\[([^\]\n]{1,200})\]\([^)\s]{1,500}\)")
_PAIR = expression(r"([^\s:][^:\n]{0,59}?)\s*[:：](?:\s+(\S.*))?\Z", re.DOTALL)
_MOST_KEY_WORDS = 5
_SENTENCE = expression(r"[.!?;,](?:\s|\Z)")
_TEXT_DEPTH = 7  # below every heading, above every list item


def inline(text: str) -> str:
    """A line without emphasis, code marks and link targets."""
    if "[" in text:
        text = _LINK.sub(r"\1", text)
    if "*" in text or "_" in text or "`" in text:
        for _ in range(2):
            text = _EMPHASIS.sub(r"\2", text)
        text = _ITALIC.sub(r"\1", text)
    return text.strip()


def markdown_blocks(text: str) -> list[Block]:
    """The blocks of a Markdown or plain text, a line each."""
    blocks: list[Block] = []
    indents: list[int] = []
    for line in strip_fence(text).expandtabs(4).split("\n"):
        bare = line.strip()
        if not bare or bare in {"---", "***", "___"} or bare.startswith("```"):
            continue
        heading = _HEADING.match(bare)
        item = _ITEM.match(line)
        if heading:
            indents = []
            blocks.append(Block("heading", len(heading[1]), (inline(heading[2]),)))
        elif bare[0] == "|" or _RULE.match(bare):
            if not _RULE.match(bare):
                cells = tuple(inline(cell) for cell in bare.strip("|").split("|"))
                blocks.append(Block("row", 0, cells))
        elif item:
            indent = len(item[1])
            while indents and indents[-1] >= indent:
                indents.pop()
            indents.append(indent)
            blocks.append(Block("item", len(indents) - 1, (inline(item[2]),)))
        elif indents and line[:1] == " " and blocks:
            # What is indented under an item goes on with it.
            blocks.append(Block("item", len(indents), (inline(bare),)))
        else:
            indents = []
            bold = _BOLD_LINE.match(bare)
            blocks.append(
                Block("heading", 6, (bold[1],))
                if bold and len(text) > len(bare) + 1
                else Block("text", 0, (inline(bare),))
            )
    return blocks


def text_of(blocks: list[Block]) -> str:
    """The words of the blocks, a line each, without markup."""
    return "\n".join(" ".join(cell for cell in block.cells if cell) for block in blocks)


def value_of(blocks: list[Block]) -> Any:
    r"""The data that blocks hold: mappings for keys, headings and tables, lists for items, else the text.

    >>> value_of(markdown_blocks("- **Name:** Ada\n- **Tags:**\n  - urgent"))
    {'Name': 'Ada', 'Tags': ['urgent']}
    """
    root = _Node(-1, "")
    stack = [root]
    for block in blocks:
        if block.kind == "row":
            stack[-1].rows.append(block.cells)
            continue
        text = block.cells[0]
        if block.kind == "heading":
            depth = block.level
        elif block.kind == "item":
            depth = _TEXT_DEPTH + 1 + block.level
        else:
            depth = _TEXT_DEPTH
        node = _Node(depth, text)
        while stack[-1].depth >= depth:
            stack.pop()
        stack[-1].children.append(node)
        if block.kind != "text" or text.endswith((":", "：")):
            stack.append(node)
    value = _combined(root)
    return value[0] if isinstance(value, list) and len(value) == 1 and blocks[0].kind == "text" else value


def pair_of(text: str) -> tuple[str, str] | None:
    """The key and value of a ``key: value`` line; a sentence that happens to hold a colon is none."""
    match = _PAIR.match(text)
    if match is None or len(match[1].split()) > _MOST_KEY_WORDS or _SENTENCE.search(match[1]):
        return None
    return match[1].strip(), (match[2] or "").strip()


def _combined(node: _Node) -> Any:
    """What stands under a node."""
    entries = [_entry(child) for child in node.children]
    if node.rows:
        table = _table(node.rows)
        if not entries:
            return table
        entries.append(("", table))
    keyed = [(key, value) for key, value in entries if key]
    loose = [value for key, value in entries if not key]
    if not keyed:
        return loose
    merged = _merged(keyed)
    if not loose:
        return merged
    tables = [value for value in loose if not isinstance(value, str)]
    if len(tables) == 1 and len(loose) == 1 and not keyed:
        return tables[0]
    return [*loose, merged] if isinstance(merged, dict) else [*loose, *merged]


def _entry(node: _Node) -> tuple[str, Any]:
    """What one node adds to the node above it: a key with a value, or a value alone (an empty key)."""
    pair = pair_of(node.label)
    inner = _combined(node) if node.children or node.rows else None
    if inner is None:
        if pair is None or (not pair[1] and not node.label.endswith((":", "："))):
            return "", node.label
        return pair[0], pair[1]
    key = node.label.rstrip(":： ")
    if pair is None or not pair[1]:
        return key, inner
    if isinstance(inner, dict):
        return "", {pair[0]: pair[1], **inner}
    return pair[0], [pair[1], *(inner if isinstance(inner, list) else [inner])]


def _merged(keyed: list[tuple[str, Any]]) -> Any:
    """Keys with their values as one mapping; as a list of mappings where the keys begin anew."""
    records: list[dict[str, Any]] = [{}]
    for key, value in keyed:
        if key in records[-1]:
            records.append({})
        records[-1][key] = value
    return records[0] if len(records) == 1 else records


def _table(rows: list[tuple[str, ...]]) -> Any:
    """A table of two columns without names of its own is a mapping, any other a list of mappings."""
    head, *body = rows
    if len(head) == 2 and (not body or head[0].casefold() in _KEY_HEADS):
        return {row[0]: row[1] if len(row) > 1 else "" for row in (body or rows)}
    if not body:
        return [*head]
    if len(head) == 1:
        return [row[0] for row in body]
    return [dict(zip(head, row, strict=False)) for row in body]


_KEY_HEADS = frozenset(
    {"field", "key", "name of field", "property", "attribute", "item", "fields", "parameter", ""}
)

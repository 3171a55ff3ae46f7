"""Which format an answer has (JSON, YAML, XML, HTML, Markdown), whether it is the one asked for, what it holds."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Literal
from xml.parsers import expat

from pytest_promptfuzz.comparing.formats import data_text
from pytest_promptfuzz.comparing.reading.text import strip_fence
from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.errors import UsageError, not_among
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable


# What a text with headings, lists, tables and ``key: value`` lines holds, as plain data.
#
# Markdown, HTML and free text all come down to the same few blocks, so that they are read in one place.


BlockKind = Literal["heading", "item", "row", "text"]


@dataclass(frozen=True, slots=True)
class DocumentBlock:
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


def markdown_blocks(text: str) -> list[DocumentBlock]:
    """The blocks of a Markdown or plain text, a line each."""
    blocks: list[DocumentBlock] = []
    indents: list[int] = []
    for line in strip_fence(text).expandtabs(4).split("\n"):
        bare = line.strip()
        if not bare or bare in {"---", "***", "___"} or bare.startswith("```"):
            continue
        heading = _HEADING.match(bare)
        item = _ITEM.match(line)
        if heading:
            indents = []
            blocks.append(DocumentBlock("heading", len(heading[1]), (inline(heading[2]),)))
        elif bare[0] == "|" or _RULE.match(bare):
            if not _RULE.match(bare):
                cells = tuple(inline(cell) for cell in bare.strip("|").split("|"))
                blocks.append(DocumentBlock("row", 0, cells))
        elif item:
            indent = len(item[1])
            while indents and indents[-1] >= indent:
                indents.pop()
            indents.append(indent)
            blocks.append(DocumentBlock("item", len(indents) - 1, (inline(item[2]),)))
        elif indents and line[:1] == " " and blocks:
            # What is indented under an item goes on with it.
            blocks.append(DocumentBlock("item", len(indents), (inline(bare),)))
        else:
            indents = []
            bold = _BOLD_LINE.match(bare)
            blocks.append(
                DocumentBlock("heading", 6, (bold[1],))
                if bold and len(text) > len(bare) + 1
                else DocumentBlock("text", 0, (inline(bare),))
            )
    return blocks


def text_of(blocks: list[DocumentBlock]) -> str:
    """The words of the blocks, a line each, without markup."""
    return "\n".join(" ".join(cell for cell in block.cells if cell) for block in blocks)


def value_of(blocks: list[DocumentBlock]) -> Any:
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


# XML and HTML in answers, read without trusting them.


_MOST_DEPTH = 100
_MOST_OPEN = 100


class MarkupError(ValueError):
    """The text is not well-formed; the message says where."""


class _Element:
    __slots__ = ("attributes", "children", "name", "texts")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.children: list[_Element] = []
        self.texts: list[str] = []


def load_xml(text: str) -> dict[str, Any]:
    """The root element of a well-formed XML document, as ``{name: value}``.

    An element with nothing but text is that text, stripped; attributes and child elements are keys, children that
    repeat a list. Text beside child elements makes the whole a text.

    Raises:
        MarkupError: It is not well-formed, declares a document type (entities are never expanded), or is nested
            too deeply.

    >>> load_xml("<order><id>7</id><item>lamp</item><item>desk</item></order>")
    {'order': {'id': '7', 'item': ['lamp', 'desk']}}
    """
    root = _Element("", {})
    stack = [root]

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(stack) > _MOST_DEPTH:
            raise MarkupError(f"it is nested deeper than {_MOST_DEPTH} elements")
        element = _Element(name, attributes)
        stack[-1].children.append(element)
        stack[-1].texts.append("")
        stack.append(element)

    def end(_name: str) -> None:
        stack.pop()

    def data(found: str) -> None:
        element = stack[-1]
        element.texts.append(found)
        for above in stack[1:-1]:
            above.texts.append(found if found.strip() else " ")

    def doctype(*_: object) -> None:
        raise MarkupError("it declares a document type, which is not read")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = data
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(text.strip().encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise MarkupError(str(error)) from None
    (element,) = root.children
    return {element.name: _value(element)}


def _value(element: _Element) -> Any:
    own = "".join(element.texts)
    if not element.children:
        if not element.attributes:
            return " ".join(own.split()) if "\n" in own else own.strip()
        return {**element.attributes, **({"text": own.strip()} if own.strip() else {})}
    if _mixed(element):
        return " ".join("".join(element.texts).split())
    found: dict[str, Any] = {**element.attributes}
    names = Counter(child.name for child in element.children)
    for child in element.children:
        if names[child.name] > 1:
            found.setdefault(child.name, []).append(_value(child))
        else:
            found[child.name] = _value(child)
    return found


def _mixed(element: _Element) -> bool:
    """Whether an element has text of its own beside its children."""
    whole = len("".join("".join(element.texts).split()))
    inner = sum(len("".join("".join(child.texts).split())) for child in element.children)
    return whole > inner


_TAG = expression(r"</?([a-zA-Z][a-zA-Z0-9]*)(?=[\s/>])")
_HTML_TAGS = word_set(
    """html head body title div span p br hr b strong i em u ul ol li dl dt dd table thead tbody tfoot tr th td caption
    h1 h2 h3 h4 h5 h6 a section article header footer main nav pre code blockquote small sub sup img figure address"""
)
_VOID = frozenset({"br", "hr", "img", "input", "meta", "link", "col", "wbr"})
_SKIPPED = frozenset({"script", "style", "title", "head"})
_INLINE = frozenset(
    {"span", "b", "strong", "i", "em", "u", "a", "code", "small", "sub", "sup", "mark", "abbr", "label"}
)
_OPTIONAL_END = frozenset(
    {"p", "li", "dt", "dd", "tr", "th", "td", "thead", "tbody", "tfoot", "html", "body", "head"}
)


def looks_like_html(text: str) -> bool:
    """Whether tags of HTML stand in the text, and no others."""
    names = [name.lower() for name in _TAG.findall(text)]
    return bool(names) and all(name in _HTML_TAGS or name in _VOID | _SKIPPED | _INLINE for name in names)


class _Html(HTMLParser):
    """Collects the blocks of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[DocumentBlock] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.cells: list[str] | None = None
        self.term: str | None = None
        self.tags = 0
        self.skipping = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags += 1
        if tag not in _INLINE:
            self.part(tag)
        if tag in _VOID:
            return
        if self.open and self.open[-1] == tag and tag in _OPTIONAL_END and tag != "li":
            self.open.pop()
        if tag in _SKIPPED:
            self.skipping += 1
        elif tag == "tr":
            self.cells = []
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        if tag not in self.open:
            raise MarkupError(f"</{tag}> closes nothing")
        if tag not in _INLINE:
            self.part(tag)
        while (last := self.open.pop()) != tag:
            if last not in _OPTIONAL_END:
                raise MarkupError(f"<{last}> is left open before </{tag}>")
        if tag in _SKIPPED:
            self.skipping -= 1
        elif tag == "tr" and self.cells is not None:
            self.blocks.append(DocumentBlock("row", 0, tuple(self.cells)))
            self.cells = None

    def handle_data(self, data: str) -> None:
        if not self.skipping:
            self.words.append(data)

    def part(self, tag: str) -> None:
        """A tag that is not inline parts two blocks; within a cell it parts two words."""
        if self.cells is not None and tag not in {"td", "th", "tr", "table"}:
            self.words.append(" ")
        else:
            self.flush()

    def flush(self) -> None:
        """What was read since the last block is one."""
        text = " ".join("".join(self.words).split())
        self.words = []
        holder = next((tag for tag in reversed(self.open) if tag not in _INLINE), "")
        if holder in {"td", "th"} and self.cells is not None:
            self.cells.append(text)
            return
        if not text:
            return
        if holder == "dt":
            self.term = text.rstrip(":")
        elif holder == "dd" and self.term is not None:
            self.blocks.append(DocumentBlock("text", 0, (f"{self.term}: {text}",)))
        elif holder[:1] == "h" and holder[1:].isdigit():
            self.blocks.append(DocumentBlock("heading", int(holder[1:]), (text,)))
        elif "li" in self.open:
            depth = max(0, self.open.count("ul") + self.open.count("ol") - 1)
            self.blocks.append(DocumentBlock("item", depth, (text,)))
        else:
            self.blocks.append(DocumentBlock("text", 0, (text,)))


def html_blocks(text: str) -> list[DocumentBlock]:
    """The blocks of an HTML page or fragment.

    Raises:
        MarkupError: It has no tags, or they do not match.
    """
    if text.count("<") > text.count(">") + _MOST_OPEN:
        # The standard library's parser takes quadratic time over tags that never end.
        raise MarkupError("its tags do not end")
    parser = _Html()
    parser.feed(text)
    parser.close()
    parser.flush()
    if not parser.tags:
        raise MarkupError("it has no tags")
    unclosed = [tag for tag in parser.open if tag not in _OPTIONAL_END]
    if unclosed:
        raise MarkupError(f"<{unclosed[-1]}> is left open")
    return parser.blocks


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
class FormattedAnswer:
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
        raise UsageError(not_among(f"requested_format={name!r}", name, FORMATS))
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
    if data_text.parse(bare) is not data_text.MISSING:
        return "json"
    if _TAGGED.search(bare):
        if looks_like_html(bare):
            return "html"
        if bare[:1] == "<" and bare[-1:] == ">":
            return "xml"
    if _like_yaml(bare):
        try:
            value = data_text.load(bare)
        except data_text.YamlError:
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
        not data_text.yaml_installed()
        and _like_yaml(bare)
        and any(line[:1] in {" ", "-"} for line in bare.split("\n"))
    )


def read(text: str, name: str | None = None) -> FormattedAnswer:
    """An answer as ``name``, or as whatever format it shows.

    Raises:
        NotConforming: It is not in that format.
        YamlMissingError: It must be YAML, and PyYAML is not installed.
    """
    if name is None:
        name = detect(text)
        if name not in STRICT and data_text.embedded(text) is not data_text.MISSING:
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


def _json(text: str) -> FormattedAnswer:
    value = data_text.parse(text)
    if value is not data_text.MISSING:
        return FormattedAnswer("json", value, text)
    bare = strip_fence(text).strip()
    try:
        return FormattedAnswer("json", json.loads(bare), text)
    except (ValueError, RecursionError) as error:
        value = data_text.embedded(text)
        if value is data_text.MISSING:
            said = str(error).partition(":")[0].lower() if bare[:1] in "{[" else "it begins like a text"
            raise NotConforming(f"the response is not JSON ({said})") from None
    return FormattedAnswer("json", value, text, wrapped=True)


def _yaml(text: str) -> FormattedAnswer:
    bare = strip_fence(text).strip("\n")
    wrapped = False
    if bare == text.strip("\n") and "```" in text:
        blocks = _FENCE.findall(text)
        if len(blocks) == 1:
            bare, wrapped = blocks[0][1], True
    try:
        value = data_text.load(bare)
    except data_text.YamlMissingError:
        raise
    except data_text.YamlError as error:
        raise NotConforming(f"the response is not YAML ({error})") from None
    if isinstance(value, str) and len(value.split()) > 1:
        # A sentence is a YAML scalar by the letter, and no answer in YAML.
        raise NotConforming("the response is not YAML (it is running text)")
    return FormattedAnswer("yaml", value, text, wrapped=wrapped)


def _xml(text: str) -> FormattedAnswer:
    bare = strip_fence(text).strip()
    try:
        return FormattedAnswer("xml", load_xml(bare), text)
    except MarkupError as error:
        first, last = bare.find("<"), bare.rfind(">")
        if first >= 0 and (first, last + 1) != (0, len(bare)) and last > first:
            try:
                return FormattedAnswer("xml", load_xml(bare[first : last + 1]), text, wrapped=True)
            except MarkupError:
                pass
        said = f"{error}" if first >= 0 else "it has no tags"
        raise NotConforming(f"the response is not XML ({said})") from None


def _html(text: str) -> FormattedAnswer:
    try:
        blocks = html_blocks(strip_fence(text).strip())
    except MarkupError as error:
        raise NotConforming(f"the response is not HTML ({error})") from None
    return _of_blocks("html", blocks)


def _markdown(text: str) -> FormattedAnswer:
    _no_other("markdown", text)
    return _loose("markdown", text)


def _text(text: str) -> FormattedAnswer:
    _no_other("text", text)
    if _MARKUP.search(text):
        raise NotConforming("the response is not plain text (it has Markdown)")
    loose = _loose("text", text)
    if detect(text) == "yaml" and any(line[:1] in " -" for line in text.split("\n")):
        # Fields within fields are told by how far they are indented.
        try:
            return replace(loose, value=data_text.load(strip_fence(text).strip("\n")))
        except data_text.YamlError:
            return loose
    return loose


def _no_other(name: str, text: str) -> None:
    found = detect(text)
    if found in {"json", "xml", "html"}:
        raise NotConforming(f"the response is {NAMES[found]}, not {NAMES[name]}")


def _loose(name: str, text: str) -> FormattedAnswer:
    return _of_blocks(name, markdown_blocks(text))


def _of_blocks(name: str, blocks: list[DocumentBlock]) -> FormattedAnswer:
    prose = text_of(blocks)
    return FormattedAnswer(name, value_of(blocks) if blocks else prose, prose)


_READERS = {"json": _json, "yaml": _yaml, "xml": _xml, "html": _html, "markdown": _markdown, "text": _text}

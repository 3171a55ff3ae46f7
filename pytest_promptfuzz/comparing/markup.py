"""XML and HTML in answers, read without trusting them."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser
from typing import Any
from xml.parsers import expat

from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.outline import Block
from pytest_promptfuzz.expressions import expression

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
        self.blocks: list[Block] = []
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
            self.blocks.append(Block("row", 0, tuple(self.cells)))
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
            self.blocks.append(Block("text", 0, (f"{self.term}: {text}",)))
        elif holder[:1] == "h" and holder[1:].isdigit():
            self.blocks.append(Block("heading", int(holder[1:]), (text,)))
        elif "li" in self.open:
            depth = max(0, self.open.count("ul") + self.open.count("ol") - 1)
            self.blocks.append(Block("item", depth, (text,)))
        else:
            self.blocks.append(Block("text", 0, (text,)))


def html_blocks(text: str) -> list[Block]:
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

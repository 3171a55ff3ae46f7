"""What a page is made of: nodes as plain lists, written as HTML or as JSON that the page's script builds elements of.

A node is a text, or a list ``[name, {attribute: value}?, *children]``; ``name`` may hold classes: ``"p.why bad"``.
Texts are data, whoever wrote them: nothing in a text is ever markup, and what would be invisible is shown.
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.reporting.safe import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Node: TypeAlias = "str | list[Any]"

_VOID = {"br", "input", "wbr"}
_ESCAPED = expression(r"\\[bfru]")  # the control characters of a text, in its JSON


def to_html(nodes: Iterable[Node]) -> str:
    """Nodes as HTML."""
    return "".join(piece for node in nodes for piece in _html(node))


def to_json(nodes: Iterable[Node]) -> str:
    """Nodes as JSON in which every text is visible and can be encoded."""
    made = json.dumps(list(nodes), ensure_ascii=False, separators=(",", ":"))
    if _ESCAPED.search(made) is None and visible(made) == made:  # nearly always, and the walk is what costs
        return made
    return json.dumps([_visible(node) for node in nodes], ensure_ascii=False, separators=(",", ":"))


def _html(node: Node) -> Iterator[str]:
    if isinstance(node, str):
        yield escape(visible(node), quote=False)
        return
    name, _, classes = node[0].partition(".")
    children = node[1:]
    yield f'<{name} class="{escape(classes)}"' if classes else f"<{name}"
    if children and isinstance(children[0], dict):
        for key, value in children[0].items():
            yield f" {key}" if value == "" else f' {key}="{escape(visible(value))}"'
        children = children[1:]
    yield ">"
    for child in children:
        yield from _html(child)
    if name not in _VOID:
        yield f"</{name}>"


def _visible(node: Node) -> Node:
    if isinstance(node, str):
        return visible(node)
    return [
        {key: visible(value) for key, value in each.items()} if isinstance(each, dict) else _visible(each)
        for each in node
    ]

"""Parts that all of the HTML page shares: texts that are never markup, badges, tables; nodes as HTML and as JSON."""

from __future__ import annotations

import hashlib
import json
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.safe_text import is_visible, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_promptfuzz.reporting.terminal.styled_text import Line


MOST_CHARACTERS = 20_000
"""Of one text; the rest is counted."""
MOST_NAME = 300
_JOINTS = expression(r"(?<=::)|(?<=[/_])")
_LONGEST_KEY = 200
SIGNS = {
    "pass": "✓",
    "brittle": "✗",
    "noisy": "≈",
    "inconclusive": "?",
    "unjudged": "!",
    "equivalent": "✓",
    "minor": "~",
    "deviation": "✗",
    "undecided": "?",
    "error": "!",
    "not-needed": "–",
}
WORDS = {"unjudged": "not judged", "not-needed": "not needed"}
_LEAST_CUT = 40  # characters: fewer are shown, since saying that they are missing takes as much room


def cut(text: str, limit: int = MOST_CHARACTERS) -> list[Node]:
    """A text and, where it is too long to be shown, how much of it is left out."""
    if len(text) <= limit + _LEAST_CUT:
        return [text]
    return [text[:limit], ["span.cut", f" … {len(text) - limit:,} more characters are not shown"]]


def inline(text: str, limit: int = MOST_NAME) -> Node:
    """A text of somebody else's within a sentence: on one row, and its writing direction stays its own."""
    return ["bdi", *cut(text.replace("\n", "⏎"), limit)]


def titled(text: str) -> Node:
    """The name of a test, which may be broken where its parts meet."""
    shown, *rest = cut(text, MOST_NAME)
    pieces = _JOINTS.split(str(shown).replace("\n", "⏎"))
    made: list[Node] = [piece for one in pieces for piece in (one, ["wbr"])][:-1]
    return ["bdi", *made, *rest]


def block(text: str, limit: int = MOST_CHARACTERS) -> Node:
    """A text of somebody else's as it is laid out."""
    return ["pre.text", {"dir": "auto"}, *cut(text, limit)]


def badge(word: str) -> Node:
    """A verdict or outcome: a sign, and the word."""
    return [
        f"span.badge is-{word}",
        ["span.sign", {"aria-hidden": "true"}, SIGNS.get(word, "·")],
        ["span.word", WORDS.get(word, word)],
    ]


def heading(level: int, text: str, *more: Node) -> Node:
    """A heading."""
    return [f"h{level}", text, *more]


def section(name: str, title: str, *children: Node) -> Node:
    """A section with its heading, which names it."""
    return [
        "section",
        {"aria-labelledby": f"{name}-title"},
        ["h2", {"id": f"{name}-title"}, title],
        *children,
    ]


def folded(
    summary: Sequence[Node], *children: Node, opened: bool = False, classes: str = "", **attributes: str
) -> Node:
    """What is shown when it is asked for."""
    given = {**attributes, **({"open": ""} if opened else {})}
    return [f"details.{classes}" if classes else "details", given, ["summary", *summary], *children]


def facts(pairs: Iterable[tuple[str, Node | None]]) -> Node:
    """Names and values, those that are known."""
    known = [["div", ["dt", name], ["dd", value]] for name, value in pairs if value not in (None, "")]
    return ["dl.facts", *known]


def table(
    caption: str, headings: Sequence[str], rows: Iterable[Sequence[Node]], classes: str = "plain"
) -> Node:
    """A table whose first column names its rows; it is moved sideways by itself where it is too wide.

    It is a short form: a list of its cells, of which ``to_html`` and the page's script make elements.
    """
    return [_TABLE, caption, classes, list(headings), [list(row) for row in rows]]


def _whole_table(caption: str, classes: str, headings: Sequence[str], rows: Iterable[Sequence[Node]]) -> Node:
    head = ["thead", ["tr", *(["th", {"scope": "col"}, name] for name in headings)]]
    body = [
        "tbody",
        *(["tr", ["th", {"scope": "row"}, row[0]], *(["td", cell] for cell in row[1:])] for row in rows),
    ]
    return scrolled(caption, [f"table.{classes}", ["caption.sr", caption], head, body])


def scrolled(name: str, child: Node) -> Node:
    """What may be wider than a phone."""
    return ["div.scrolled", {"role": "region", "aria-label": name, "tabindex": "0"}, child]


def command(text: str) -> Node:
    """A command, to be copied."""
    return ["p.command", ["code", {"dir": "ltr"}, text], ["button.copy", {"type": "button"}, "Copy"]]


def terminal(lines: Iterable[Line]) -> list[Node]:
    """Lines as the terminal has them, a paragraph each."""
    made: list[Node] = []
    for line in lines:
        pieces = [_piece(text, style) for text, style in line if text.strip() or style == "plain"]
        if any(text.strip() for text, _ in line):
            made.append(["p.said", {"dir": "auto"}, *pieces])
    return made


def _piece(text: str, style: str) -> Node:
    if style in {"plain", "hang"}:
        return text
    tag = {"removed": "del", "added": "ins", "command": "code"}.get(style)
    return [tag, text] if tag else [f"span.is-{style}", text]


def text_key(text: str) -> str:
    """A text as a name for addresses and values: visible, and of a bounded length."""
    made = visible(text)
    if len(made) <= _LONGEST_KEY:
        return made
    return f"{made[: _LONGEST_KEY // 2]}~{hashlib.sha256(made.encode()).hexdigest()[:12]}"


def test_href(name: str) -> str:
    """The address of a test's view within the page."""
    return f"#/test/{quote(name, safe='')}"


def money(amount: float | None) -> str:
    """A cost for people; a dash where it is not known."""
    if amount is None:
        return "–"
    return "$0" if amount == 0 else f"${amount:.4f}" if amount < 1 else f"${amount:,.2f}"


def digits(value: Any, form: str = ".2f") -> str:
    """A number for people; a dash for ``None``, and what cannot be formatted as it is."""
    if value is None:
        return "–"
    try:
        return format(value, form)
    except (OverflowError, TypeError, ValueError):
        return str(value)[:40]


# What a page is made of: nodes as plain lists, written as HTML or as JSON that the page's script builds elements of.
#
# A node is a text, or a list ``[name, {attribute: value}?, *children]``; ``name`` may hold classes: ``"p.why bad"``.
# Texts are data, whoever wrote them: nothing in a text is ever markup, and what would be invisible is shown.
# A name that begins with ``=`` is a short form, which holds less than the elements that are made of it.


Node: TypeAlias = "str | list[Any]"

_TABLE = "=table"
_VOID = {"br", "input", "wbr"}
_ESCAPED = expression(r"\\[bfru]")  # the control characters of a text, in its JSON


def to_html(nodes: Iterable[Node]) -> str:
    """Nodes as HTML."""
    pieces: list[str] = []
    for node in nodes:
        _write_html(node, pieces.append)
    return "".join(pieces)


def to_json(nodes: Iterable[Any]) -> str:
    """Nodes, and lists of them with numbers, as JSON in which every text is visible and can be encoded."""
    every = list(nodes)
    made = visible_json(every)  # nearly always, and the walk is what costs
    return _json([_visible(node) for node in every]) if made is None else made


def visible_json(nodes: list[Any]) -> str | None:
    """Nodes as JSON where every text is visible as it is; else nothing."""
    made = _json(nodes)
    return made if _ESCAPED.search(made) is None and is_visible(made) else None


# Nodes are made anew and hold no loops: to look for them takes a quarter of the time.
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def _write_html(node: Node, write: Callable[[str], object]) -> None:
    if isinstance(node, str):
        write(escape(visible(node), quote=False))
        return
    if node[0] == _TABLE:
        node = _whole_table(*node[1:])
    name, _, classes = node[0].partition(".")
    children = node[1:]
    write(f'<{name} class="{escape(classes)}"' if classes else f"<{name}")
    if children and isinstance(children[0], dict):
        for key, value in children[0].items():
            write(f" {key}" if value == "" else f' {key}="{escape(visible(value))}"')
        children = children[1:]
    write(">")
    for child in children:
        _write_html(child, write)
    if name not in _VOID:
        write(f"</{name}>")


def _visible(node: Any) -> Any:
    if isinstance(node, str):
        return visible(node)
    if not isinstance(node, list):
        return node
    return [
        {key: visible(value) for key, value in each.items()} if isinstance(each, dict) else _visible(each)
        for each in node
    ]

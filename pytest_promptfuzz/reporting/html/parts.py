"""Parts that all of the HTML page shares: texts that are never markup, badges, tables, charts as SVG."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from pytest_promptfuzz.reporting.phrases import interval_text, number, score_text, verdicts
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.safe_text import visible
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.history.changes import PastRunReport, PointReport
    from pytest_promptfuzz.reporting.model import TestReport
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
    """A table whose first column names its rows; it is moved sideways by itself where it is too wide."""
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


# Pictures, as inline SVG: scores, their distribution, their course. Each says in words what it shows.


VERDICTS = ("brittle", "noisy", "inconclusive", "pass")
_BINS = 20


def picture(said: str, width: int, height: int, *children: Node, classes: str = "chart") -> Node:
    """A picture, and what it shows in words; ``said`` is empty where the words stand beside it."""
    about = {"role": "img", "aria-label": said} if said else {"aria-hidden": "true"}
    return [
        f"svg.{classes}",
        {"viewBox": f"0 0 {width} {height}", "width": str(width), "height": str(height), **about},
        *children,
    ]


def line(classes: str, x1: float, y1: float, x2: float, y2: float) -> Node:
    """A straight line."""
    return [f"line.{classes}", {"x1": _at(x1), "y1": _at(y1), "x2": _at(x2), "y2": _at(y2)}]


def rect(classes: str, x: float, y: float, width: float, height: float) -> Node:
    """A rectangle."""
    return [f"rect.{classes}", {"x": _at(x), "y": _at(y), "width": _at(width), "height": _at(height)}]


def text(x: float, y: float, said: str, anchor: str = "middle") -> Node:
    """A label."""
    return ["text", {"x": _at(x), "y": _at(y), "text-anchor": anchor}, said]


def _at(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))


def scale(report: TestReport) -> Node:
    """The score with its interval against the threshold, from 0 to 1."""
    left, wide = 10.0, 300.0

    def x(value: float) -> float:
        return left + wide * _share(value)

    low, high = report["bounds"]
    interval, noise = report["interval"], report["noise"]
    said = f"Score {score_text(report)}, threshold {number(report['threshold'])}"
    parts: list[Node] = [rect("track", left, 26, wide, 8)]
    if report["verdict"] == "inconclusive" and low < high:
        parts.append(rect("open", x(low), 26, x(high) - x(low), 8))
    if interval:
        said += f", interval {interval_text(report)}"
        parts += [
            line("whisker", x(interval["low"]), 30, x(interval["high"]), 30),
            line("whisker", x(interval["low"]), 24, x(interval["low"]), 36),
            line("whisker", x(interval["high"]), 24, x(interval["high"]), 36),
        ]
    parts += [line("threshold", x(report["threshold"]), 16, x(report["threshold"]), 44)]
    parts.append(
        text(min(max(x(report["threshold"]), 50), 270), 12, f"threshold {number(report['threshold'])}")
    )
    if noise and noise["floor"] is not None:
        said += f", the unmutated prompt agrees with itself {number(noise['floor'])}"
        parts.append(line("floor", x(noise["floor"]), 20, x(noise["floor"]), 40))
    if report["adjusted_score"] is not None and report["adjusted_score"] != report["score"]:
        said += f", adjusted for noise {number(report['adjusted_score'])}"
        parts.append(["circle.adjusted", {"cx": _at(x(report["adjusted_score"])), "cy": "30", "r": "6"}])
    if report["score"] is not None:
        parts.append(
            [f"circle.dot is-{report['verdict']}", {"cx": _at(x(report["score"])), "cy": "30", "r": "6"}]
        )
    parts += [text(left, 58, "0"), text(left + wide / 2, 58, "0.5"), text(left + wide, 58, "1")]
    drawn = picture(f"{said}.", 320, 62, *parts, classes="chart scale")
    return ["figure.score", drawn, ["figcaption", {"aria-hidden": "true"}, " · ".join(_read(report))]]


def _read(report: TestReport) -> list[str]:
    """What the signs of :func:`scale` are."""
    noise = report["noise"]
    return [
        "● score",
        *(["○ adjusted for noise"] if report["adjusted_score"] not in {None, report["score"]} else []),
        *([f"├┤ its {report['interval']['level']:.0%} interval"] if report["interval"] else []),
        *(["┃ the unmutated prompt with itself"] if noise and noise["floor"] is not None else []),
        *(["▬ where it can lie"] if report["verdict"] == "inconclusive" else []),
    ]


def bar(report: TestReport) -> Node:
    """The same, small, beside the number that a table shows."""
    if report["score"] is None:
        return ""
    at, gate = 60 * _share(report["score"]), 60 * _share(report["threshold"])
    return picture(
        "", 60, 12,
        rect("track", 0, 4, 60, 4),
        rect(f"fill is-{report['verdict']}", 0, 4, at, 4),
        line("threshold", gate, 1, gate, 11),
        classes="bar",
    )  # fmt: skip


def histogram(reports: Sequence[TestReport]) -> Node | None:
    """How the scores are distributed, by verdict; nothing where fewer than two tests have one."""
    known = [each for each in reports if each["score"] is not None]
    if len(known) < 2:
        return None
    bins: list[Counter[str]] = [Counter() for _ in range(_BINS)]
    for each in known:
        # The last bin holds 1 as well; a thousandth is added so that 0.85 is not the bin below it.
        bins[min(_BINS - 1, int((_share(each["score"] or 0.0) + 1e-9) * _BINS))][each["verdict"]] += 1
    tallest = max(sum(one.values()) for one in bins)
    threshold, sharing = Counter(each["threshold"] for each in known).most_common(1)[0]
    below = sum((each["score"] or 0.0) < each["threshold"] for each in known)
    left, base, high, wide = 34.0, 132.0, 108.0, 22.0
    parts: list[Node] = [line("axis", left, base, left + wide * _BINS, base)]
    for place, one in enumerate(bins):
        top = base
        for verdict in VERDICTS[::-1]:
            if one[verdict]:
                tall = high * one[verdict] / tallest
                top -= tall
                parts.append(rect(f"fill is-{verdict}", left + wide * place + 1.5, top, wide - 3, tall))
    parts += [
        text(left - 6, base - high + 4, f"{tallest:,}", "end"),
        text(left - 6, base + 4, "0", "end"),
        *(text(left + wide * _BINS * tenth / 10, base + 16, f"{tenth / 10:g}") for tenth in range(0, 11, 2)),
    ]
    at = left + wide * _BINS * _share(threshold)
    parts += [line("threshold", at, 14, at, base), text(at, 10, f"threshold {number(threshold)}")]
    tests, above = counted(len(known), "test"), len(known) - below
    said = f"Scores of {tests}: {below} below their threshold, {above} at or above it."
    lenient = sum((each["score"] or 0.0) < each["threshold"] and each["verdict"] == "pass" for each in known)
    caption = f"{said} {lenient} of those below pass, adjusted for noise." if lenient else said
    caption += "" if sharing == len(known) else f" The line is the threshold of {sharing} of them."
    return ["figure", picture(said, 486, 152, *parts, classes="chart wide"), ["figcaption", caption]]


def sparkline(points: Sequence[PointReport], report: TestReport) -> Node:
    """A test's scores in earlier runs and now, small."""
    scores = [each["score"] for each in points] + [report["score"]]
    known = [(place, each) for place, each in enumerate(scores) if each is not None]
    if len(known) < 2:
        return ""
    step = 66 / max(1, len(scores) - 1)
    path = " ".join(f"{_at(3 + step * place)},{_at(15 - 12 * _share(each))}" for place, each in known)
    last_place, last = known[-1]
    said = f"{number(known[0][1])} to {number(last)} over {counted(len(known), 'run')}"
    gate, end = 15 - 12 * _share(report["threshold"]), _at(15 - 12 * _share(last))
    return picture(
        said, 72, 18,
        line("threshold", 0, gate, 72, gate),
        ["polyline.course", {"points": path}],
        [f"circle.dot is-{report['verdict']}", {"cx": _at(3 + step * last_place), "cy": end, "r": "2.5"}],
        classes="spark",
    )  # fmt: skip


def course(runs: Sequence[PastRunReport], tallies: Sequence[Mapping[str, int]]) -> Node:
    """The verdicts of each run, as stacked bars; the last one is this run, which ``runs`` does not hold."""
    tallest = max((sum(each.values()) for each in tallies), default=0) or 1
    wide = min(40.0, 440 / max(1, len(tallies)))
    left, base, high = 34.0, 122.0, 108.0
    parts: list[Node] = [line("axis", left, base, left + wide * len(tallies), base)]
    for place, tally in enumerate(tallies):
        top = base
        for verdict in VERDICTS[::-1]:
            if tally.get(verdict):
                tall = high * tally[verdict] / tallest
                top -= tall
                parts.append(
                    rect(f"fill is-{verdict}", left + wide * place + wide / 10, top, wide * 0.8, tall)
                )
    parts += [text(left - 6, base - high + 4, f"{tallest:,}", "end"), text(left - 6, base + 4, "0", "end")]
    if runs:
        parts.append(text(left, base + 16, runs[0]["started"][:10], "start"))
    parts.append(text(max(left + wide * len(tallies), left + 110), base + 16, "this run", "end"))
    said = "; ".join(f"{_tallied(tallies[place])}" for place in (0, -1)) if tallies else ""
    return picture(
        f"Verdicts of {counted(len(tallies), 'run')}, from {said}.".replace("; ", " to "),
        486,
        142,
        *parts,
        classes="chart wide",
    )


def _tallied(tally: Mapping[str, int]) -> str:
    return ", ".join(verdicts(tally[each], each) for each in VERDICTS if tally.get(each)) or "no test"


def legend() -> Node:
    """What the colours of verdicts mean."""
    return [
        "p.legend",
        {"aria-hidden": "true"},
        *(["span", [f"span.key is-{each}"], each] for each in VERDICTS),
    ]


def trend_table(runs: Sequence[Any], points: Sequence[PointReport]) -> list[list[Node]]:
    """A test's earlier runs as rows, the latest first."""
    return [
        [
            runs[each["run"]]["started"][:16].replace("T", " "),
            runs[each["run"]]["commit"][:10] or "–",
            number(each["score"]) or "–",
            each["verdict"],
        ]
        for each in reversed(points)
        if 0 <= each["run"] < len(runs)
    ]

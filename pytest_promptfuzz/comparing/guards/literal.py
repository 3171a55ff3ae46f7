"""What is read letter by letter: code, commands, paths and quotes, in which case, order and every mark count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.text import strip_fence
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.text import Text

_MOST_LINES = 200
_LONGEST_LINE = 300
_COMMANDS = (
    "git|rm|cd|ls|mkdir|rmdir|npm|npx|pip|docker|sudo|apt|apt-get|brew|kubectl|helm|curl|wget|chmod|chown|ssh|scp|rsync"
    "|tar|unzip|cargo|yarn|pnpm|systemctl|terraform|cp|mv"
)
_LINE = expression(
    rf"\s*(?:\$ )?(?:(?:{_COMMANDS}) \S.*"
    r"|[A-Za-z_][\w.]*(?:\[[^\]\n]*\])? ?(?:[-+*/|&]?=) ?(?:[\"'\[({\d]|[A-Za-z_][\w.]*(?:\(|\s*(?:=|\Z))).*"
    r"|(?:await )?[A-Za-z_][\w.]*\([^\n]*\);?"
    r"|(?:for|if|elif|while|def|class|with|else|try|except|finally)\b.*(?::|\{)(?:\s*[a-z_][\w.]*\(.*\))?"
    r"|(?:import [\w.]+|from [\w.]+ import .+|return .+|(?:let|const|var) .+|[\])}]+[;,]?))\s*"
)
_PIECE = expression(r"\w+|[^\w\s]")
_QUOTED = expression(r"(?<![\w\"])\"([^\"\n]{1,200})\"|(?<![\w'])'([^'\n]{1,200})'(?!\w)|`([^`\n]{1,200})`")
_PATH = expression(
    r"(?:(?<![\w:/.])(?:~|\.{1,2})?/|\b[A-Za-z]:\\)[\w.\\/-]{0,200}\w|(?<!\S)--?[A-Za-z][\w-]{0,60}|(?<=://)[^\s<>\"'`)\]]{0,300}\w"
)
_ALSO_A_WORD = expression(r"\b(?:US|us|IT|it|WHO|who|AIDS|aids)\b")
_HINTS = "\"'`/\\-"
_CURLY = str.maketrans("“”„‘’", '"""\'\'')


def is_code(text: Text) -> bool:
    """Whether every line of a text is one of a program or a shell."""
    return text.once(_code)


def _code(text: Text) -> bool:
    lines = [line for line in strip_fence(text.raw).splitlines() if line.strip()]
    if not 0 < len(lines) <= _MOST_LINES or len(max(lines, key=len)) > _LONGEST_LINE:
        return False
    return all(map(_LINE.fullmatch, lines))


def _pieces(text: Text) -> list[str]:
    """The words and marks of a program, as they are written."""
    lines = (line.strip().rstrip(";.") for line in strip_fence(text.raw).splitlines())
    return [piece for line in lines if line for piece in (*_PIECE.findall(line), "\n")]


def _paths(text: Text) -> list[str]:
    """Paths and options, as they are written."""
    found: list[str] = _PATH.findall(text.raw)
    return found


def _spans(text: Text) -> list[str]:
    """What stands in quotes, paths and options, as it is written."""
    quoted = _QUOTED.findall(text.raw.translate(_CURLY))
    return [mark for match in quoted for mark in match if mark] + text.once(_paths)


def other_case(first: Text, second: Text, *, quotes: bool = True) -> str | None:
    """What differs in case where case counts: within quotes, paths and options, and in "US" and "us".

    Args:
        first: The baseline.
        second: The response.
        quotes: Whether quotes are looked into: a label's own say nothing.
    """
    spans: list[list[str]] = [[], []]
    if any(hint in first.raw for hint in _HINTS) or "“" in first.raw or "‘" in first.raw:
        spans = [text.once(_spans if quotes else _paths) for text in (first, second)]
    if not first.raw.isupper() or not second.raw.isupper():
        words = [_ALSO_A_WORD.findall(text.raw) for text in (first, second)]
        spans = [found + more for found, more in zip(spans, words, strict=True)]
    if len(spans[0]) != len(spans[1]):
        return None
    for one, two in zip(*spans, strict=True):
        if one != two and one.casefold() == two.casefold():
            return f"{one!r} in the baseline became {two!r}"
    return None


def rewritten(first: Text, second: Text) -> str | None:
    """How two programs, or commands, differ in what is written; ``None`` where they do not or are none."""
    if not is_code(first) or not is_code(second):
        return None
    one, two = first.once(_pieces), second.once(_pieces)
    if one == two:
        return None
    if sorted(one) == sorted(two):
        return "the lines of code stand in another order"
    numbers = [sorted(each for each in pieces if each[0].isdigit()) for pieces in (one, two)]
    if numbers[0] != numbers[1]:
        return f"the code has other numbers: {', '.join(numbers[0]) or 'none'} became {', '.join(numbers[1]) or 'none'}"
    return "the code differs in case or in its marks"


def check(pair: Pair) -> Finding | None:
    """Whether what is read letter by letter is written otherwise."""
    found = rewritten(pair.a, pair.b)
    if found:
        kind = "contradiction" if found.startswith("the code has other numbers") else "doubt"
        return Finding("literal", "contradiction" if kind == "contradiction" else "doubt", found)
    found = other_case(pair.a, pair.b)
    return Finding("literal", "doubt", found) if found else None

"""The statements of an answer: sentences, list items, table cells, each with what it stands under and beside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator

_ITEM = expression(r"\s*(?:[-*+•‣]\s+|\d{1,2}[.)]\s+)")
_NUMBERED = expression(r"(?:step|part|point)\s+\d{1,2}\s*[:.,–-]\s*", 2)
_HEADING = expression(r"#{1,6}\s+")
_RULE = expression(r":?-+:?")
_BOLD_LINE = expression(r"\*\*[^*]{1,60}\*\*:?")
_SENTENCE_END = expression(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z0-9\"'(*])")
_ABBREVIATION = expression(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|No|e\.g|i\.e|vs|approx|max|min|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec|[A-Z]"
    r"|[ap]\.m)\.\Z"
)
_ABBREVIATION_WITHIN = 8
_LABEL_WITHIN = 60
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "`": None})


def statements(text: str) -> Iterator[tuple[str, str]]:
    r"""The heading (empty for none) and the words of each statement, in order.

    >>> list(statements("## Costs\n| Item | Price |\n|---|---|\n| Tea | 2 € |"))
    [('', 'Costs'), ('Costs', 'Tea: 2 €')]
    """
    heading = ""
    columns: list[str] = []
    for line in text.split("\n"):
        bare = line.strip()
        if not bare:
            continue
        if bare[0] == "|":
            cells = [_undecorated(cell) for cell in bare.strip("|").split("|")]
            if all(not cell or _RULE.fullmatch(cell) for cell in cells):
                continue
            if len(cells) != len(columns):
                columns = cells
            else:
                yield from ((heading, each) for each in _row(columns, cells))
            continue
        columns = []
        item = _ITEM.match(line)
        words = _undecorated(bare)
        if not words:
            continue
        ends_in_colon = words[-1] == ":" and len(words) < _LABEL_WITHIN and not item
        if _HEADING.match(bare) or _BOLD_LINE.fullmatch(bare) or ends_in_colon:
            heading = words.rstrip(":")
            yield "", heading
            continue
        bound = heading if item or line[0] in " \t" else ""
        yield from ((bound, sentence) for sentence in _sentences(words))


def _undecorated(line: str) -> str:
    """A line without list marker, heading marks, emphasis and curly quotes."""
    if not line.isascii() or "`" in line:
        line = line.translate(_QUOTES)
    line = line.replace("**", "").replace("__", "")
    for marker in (_ITEM, _HEADING, _NUMBERED):
        found = marker.match(line)
        if found:
            line = line[found.end() :]
    return line.strip()


def _row(columns: list[str], cells: list[str]) -> Iterator[str]:
    """The cells of a table's row, each with the row's name and its column."""
    name, wide = cells[0], len(cells) > 2
    for column, cell in zip(columns[1:], cells[1:], strict=True):
        if cell:
            yield f"{name} {column.lower()}: {cell}" if wide and column else f"{name}: {cell}"


def _sentences(line: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE_END.finditer(line):
        if _ABBREVIATION.search(line, max(start, end.start() - _ABBREVIATION_WITHIN), end.start()):
            continue
        yield line[start : end.start()].strip()
        start = end.end()
    rest = line[start:].strip()
    if rest:
        yield rest

"""Which paragraphs may become lists, and which lists may have their marks changed: those that instruct, not data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.fields import data_spans, inside
from pytest_promptfuzz.mutations.instructing import instruction_lines
from pytest_promptfuzz.mutations.layout import LineIndex, in_sections
from pytest_promptfuzz.mutations.lexicon.grammar import IMPERATIVES
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.said import TOKENS, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Line

_HEADS = words(
    """
    do don never always please kindly only make must if when unless you your no act attach behave condense design
    introduce map pay plan speak
    """
)
_RULED = words("do don never always return answer")
_BINDS = words("must should please you your")
_DATA = frozenset({"block", "field", "table"})
_STOPS = expression("[.!?…。！？؟][\"'”’»)\\]」』）]*$")
_ITEMS = frozenset({"bullet", "number"})
# What introduces the parts of an answer rather than rules for it.
_FORM = expression(
    r"\b(?:structur\w+|formats?|formatted|outputs?|templates?|outlines?|sections?|layout|parts?|answers?|respon\w+"
    r"|repl(?:y|ies)|reports?|return|write|produce|includ\w+|contain\w*|consist\w*|cover\w*|fill|headings?|titles?"
    r"|questions?|examples?|samples?|checklist|agenda|menu|options?|choices?|subtitles?|ha(?:ve|s)"
    r"|needs?|provide|give|deliver|describe|labels?|notes|minutes|categor\w+|class(?:es)?|tags?|one of)\b"
)
# Where a prompt speaks of its list, a second one would be mistaken for it.
_LIST = expression(
    r"\b(?:(?:the|this|that) lists?|(?:the|first|last|each) (?:bullets?|items?)|(?:der|die|dieser) liste"
    r"|(?:la|cette) liste|(?:la|nella|della) lista|(?:de|deze) lijst)\b",
    re.IGNORECASE,
)
_LIST_NOUNS = ("list", "bullet", "item", "lijst")  # one of them is in whatever speaks of a list
_RULES = expression(
    r"\b(?:rules?|guidelines?|requirements?|instructions?|constraints?|polic(?:y|ies)|limits|avoid)\b"
)


def kinds_of_lines(draft: Draft) -> frozenset[str]:
    """The kinds of line that a draft holds."""
    return frozenset([line.kind for line in draft.lines])


def told(draft: Draft) -> frozenset[int]:
    """The starts of the lines that cannot be data."""
    return frozenset(
        start
        for lines in in_sections(draft.lines)
        for start in instruction_lines(draft, LineIndex(lines), set())
    )


def line_index(draft: Draft) -> LineIndex:
    """The lines of a draft, of all its sections."""
    return LineIndex(draft.lines)


def listable(draft: Draft, run: Sequence[tuple[int, int]]) -> bool:
    """Whether the sentences of a paragraph instruct, so that a list may be made of them.

    The first paragraph of a prompt instructs if one of its sentences does, or if it is not English, where nothing else
    tells. Any other must instruct in each sentence, and the prompt must hold its data elsewhere.

    Args:
        draft: The prompt.
        run: The sentences ``(start, end)``.
    """
    text = draft.text
    if any("\n" in text[start:end] or not _STOPS.search(text[start:end]) for start, end in run):
        return False  # wrapped by hand, or no sentences
    if draft.once(_tells_of_a_list):
        return False
    index = draft.once(line_index)
    first, last = index.number(run[0][0]), index.number(run[-1][1])
    lines = index.lines
    before, after = index.before(first), index.after(last)
    if lines[first].start not in draft.once(told):
        return False
    if first and lines[first - 1].kind not in {"blank", "heading"}:
        return False  # it goes on from the line above
    if any(line is not None and line.kind in _ITEMS for line in (before, after)):
        return False  # the list would run on
    if last + 1 < len(lines) and lines[last + 1].kind == "prose":
        return False
    heads = [_instructs(draft, start, end) for start, end in run]
    if before is None:
        other = draft.language not in {"en", "und"} or not text[run[0][0] : run[-1][1]].isascii()
        return any(heads) or (draft.language != "en" and other)
    return all(heads) and (before.kind == "heading" or draft.once(_holds_data))


def _tells_of_a_list(draft: Draft) -> bool:
    text = draft.text.lower()
    return any(noun in text for noun in _LIST_NOUNS) and _LIST.search(draft.text) is not None


def _holds_data(draft: Draft) -> bool:
    """Whether a line of a prompt is a slot, a field or a table, and thus its data."""
    return any(line.kind in _DATA for line in draft.lines)


def _instructs(draft: Draft, start: int, end: int) -> bool:
    said = tokens_of(draft.free[start:end].lower())
    return bool(said) and (said[0] in IMPERATIVES or said[0] in _HEADS or not _BINDS.isdisjoint(said))


def remarkable(draft: Draft, items: Sequence[tuple[Line, int]]) -> bool:
    """Whether the marks of a list may change: it holds rules, neither data nor the parts of the answer.

    Args:
        draft: The prompt.
        items: The first line of each item, and where it ends.
    """
    index = draft.once(line_index)
    head = items[0][0]
    above = index.before(index.number(head.start))
    texts = [draft.free[line.content : end].lower() for line, end in items]
    if any(text.rstrip().endswith("?") for text in texts):
        return False  # questions: the answers go by their marks
    heads = [TOKENS.findall(text)[:1] for text in texts]
    instructing = all(said and (said[0] in IMPERATIVES or said[0] in _HEADS) for said in heads)
    if above is not None:
        intro = draft.free[above.start : above.end].lower()
        ruled = _RULES.search(intro) is not None
        if _FORM.search(intro) and not ruled and not instructing:
            return False
        if ruled:
            return True
        binding = any(said and said[0] in _RULED for said in heads)
        if above.kind not in {"lead", "heading"} and not binding and not draft.once(_holds_data):
            return False  # it may be what the prompt is about
    return instructing or (head.start in draft.once(told) and not inside(draft.once(data_spans), head.start))

"""Blocks of a prompt, instructions and the text they speak of, in another order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.casing import like
from pytest_promptfuzz.mutations.edits import Edit, Ref, reorder
from pytest_promptfuzz.mutations.instructing import titles
from pytest_promptfuzz.mutations.lexicon.grammar import IMPERATIVES
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.operator import operator
from pytest_promptfuzz.mutations.said import heard, tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.rng import Rng


class _Block(NamedTuple):
    start: int
    end: int
    role: Literal["text", "data", "cue"]


_POINTS = words("preceding previous next earlier later follows here aforementioned beginning end")
_INSTRUCTS = words("do don never always if when unless you your please only not make must")
_ADDRESSES = words("you your please")
_TOKENS = expression("[a-z]+")
_DOWN = expression(
    r"[Ff]ollowing(?<=\b[Tt]he .ollowing)(?= [A-Za-z]+\b(?!s? (?:steps|rules|format|labels|categories)))"
    r"|(?:[Bb]elow|BELOW)\b(?<=\b.....)(?! \x00)",
    re.ASCII,
)
_FOLLOWING = expression(r"following\b(?<=\bfollowing)")
_LISTED = expression(r"\n[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]")
_MOST = 8  # words that point at the data
_UP = expression(r"(?:[Aa]bove|ABOVE)\b(?<=\b.....)(?! \x00)", re.ASCII)
# A prompt without these words is not searched for what points.
_DOWNWARD = words("following below")
_UPWARD = words("above")
_ABOVE_NOUN = expression(
    r"above ([a-z]+)(?=[.,;:!?\n]|$| (?:as|into|in|and|or|to|for|with|by|using|is|are|that|without)\b)"
)
# "which floor the lift in the log above reaches": it belongs to the noun before it, not to the verb behind it.
_NOUN_ABOVE = expression(
    r"\b(?:the|this|these|those|each|every|all)(?: (?!(?:the|this|these|those|all)\b)[a-z]+){1,3} \Z",
    re.ASCII | re.IGNORECASE,
)


def _blocks(draft: Draft) -> list[list[_Block]]:
    """The blocks of each section, split at blank lines and where instructions turn to data."""
    found: list[list[_Block]] = []
    blocks: list[_Block] = []
    section = 0
    previous = "blank"
    titled = draft.once(titles)
    for line in draft.lines:
        if line.section != section:
            found.append(blocks)
            blocks, section, previous = [], line.section, "blank"
        if line.kind == "blank":
            previous = previous if previous in {"lead", "heading"} else "blank"
            continue
        kind = "heading" if line.start in titled else line.kind
        role: Literal["text", "data", "cue"] = "data" if kind in {"field", "block", "lead"} else "text"
        start = line.start + line.indent
        joins = bool(blocks) and (
            previous in {"lead", "heading"} or (previous != "blank" and role == blocks[-1].role)
        )
        if kind in {"lead", "heading"} and previous not in {"lead", "heading"}:
            joins = False
        if previous == "lead" and kind in {"bullet", "number"}:
            blocks[-1] = _Block(blocks[-1].start, line.end, "text")  # a list of rules or tools
        elif joins:
            kept = role if previous == "heading" else blocks[-1].role  # a heading is of what it heads
            blocks[-1] = _Block(blocks[-1].start, line.end, kept)
        else:
            blocks.append(_Block(start, line.end, role))
        previous = kind
    # "Label:" or "## Label" at the end: the answer is to follow it.
    if (
        blocks
        and previous in {"lead", "heading"}
        and "\n" not in draft.text[blocks[-1].start : blocks[-1].end]
    ):
        blocks[-1] = blocks[-1]._replace(role="cue")
    found.append(blocks)
    return found


def moved(draft: Draft, *, first: bool, mirror: bool = False) -> Iterator[list[Edit]]:
    """The one data block of a section put before or after its instructions, with the words that point at it.

    Args:
        draft: The prompt.
        first: Before the instructions, otherwise after them.
        mirror: Whether ``the above text`` may become ``the text below``; otherwise it keeps the data where it is.
    """
    own = draft.once(heard)
    up, down = not _UPWARD.isdisjoint(own), not _DOWNWARD.isdisjoint(own)
    for blocks in draft.once(_blocks):
        data = [index for index, block in enumerate(blocks) if block.role == "data"]
        last = len(blocks) - (bool(blocks) and blocks[-1].role == "cue")
        if len(data) != 1 or last < 2:
            continue
        rest = [index for index in range(last) if index != data[0]]
        order = [*data, *rest] if first else [*rest, *data]
        if order == sorted(order):
            continue
        texts = [draft.free[blocks[index].start : blocks[index].end] for index in rest]
        whole = "\n".join(texts).lower()
        if not _POINTS.isdisjoint(own) and not _POINTS.isdisjoint(tokens_of(whole)):
            continue
        if (up and _UP.search(whole)) if first else (down and _DOWN.search(whole)):
            continue
        if down and any(
            _DOWN.search(line) for line in whole.split("\n") if line.rstrip(" .\t\x00").endswith(":")
        ):
            continue  # it points at the list under it or the text after it, which stays there
        if _unlabelled(draft, blocks, data[0]):
            continue  # it would leave its heading empty, or stand under one that is not its own
        if _goes_on(draft, blocks[data[0]], [blocks[index] for index in rest if index > data[0]]):
            continue
        yield from _rotation(draft, blocks[:last], order, data[0], first=first, mirror=mirror)


def _unlabelled(draft: Draft, blocks: Sequence[_Block], data: int) -> bool:
    """Whether data is a mere line across the page, or opens with no label of its own in a section that has headings."""
    start, end, _ = blocks[data]
    if not draft.text[start:end].strip("-*_=~ \t\r\n"):
        return True
    titled = draft.once(titles)
    heads = [line for line in draft.lines if line.kind == "heading" or line.start in titled]
    if not any(blocks[0].start <= line.end and line.start < blocks[-1].end for line in heads):
        return False
    opening = draft.free[start:end].partition("\n")[0]
    return ":" not in opening and all(line.start + line.indent != start for line in heads)


def _goes_on(draft: Draft, data: _Block, after: Sequence[_Block]) -> bool:
    """Whether the paragraphs after data may belong to it: it is no slot but text, and they do not instruct."""
    lines = draft.free[data.start : data.end].lower().split("\n")
    if not any(_TOKENS.search(line.partition(":")[2] if ":" in line else line) for line in lines):
        return False
    opened = (_TOKENS.search(draft.free[block.start : block.end].lower()) for block in after)
    heads = [match.group() for match in opened if match is not None]
    return any(head not in IMPERATIVES and head not in _INSTRUCTS for head in heads)


def _rotation(
    draft: Draft, blocks: list[_Block], order: list[int], data: int, *, first: bool, mirror: bool
) -> Iterator[list[Edit]]:
    """The reordering, and ``following`` or ``below`` turned to ``above`` where the data now stands above."""
    edit = reorder([(block.start, block.end) for block in blocks], order)
    pattern, told, new = (_DOWN, _DOWNWARD, "above") if first else (_UP, _UPWARD, "below")
    own = draft.once(heard)
    swaps = []
    for index, block in enumerate(() if told.isdisjoint(own) else blocks):
        if index != data:
            for match in pattern.finditer(draft.free, block.start, block.end):
                if not first and match.group().lower() == "above" and draft.free[match.end() :][:1] == " ":
                    after = draft.free[match.end() + 1 : match.end() + 2]
                    if after.isalpha() and not _NOUN_ABOVE.search(draft.free, block.start, match.start()):
                        noun = _ABOVE_NOUN.match(draft.free, match.start()) if mirror else None
                        if noun is None:
                            return  # "the above text" has no mirror image with "below"
                        swaps.append((*noun.span(), noun[1] + " below"))
                        continue
                swaps.append((match.start(), match.end(), like(match.group(), new)))
    if len(swaps) > _MOST or not all(_means(draft, blocks, data, swap, first=first) for swap in swaps):
        return
    if not swaps and "following" in own and _FOLLOWING.search(draft.free.lower()):
        return
    yield [_with_swaps(edit, swaps)]


def _means(
    draft: Draft, blocks: Sequence[_Block], data: int, swap: tuple[int, int, str], *, first: bool
) -> bool:
    """Whether words that point at a place mean the data: they name it, or nothing else is there to be meant."""
    start, end, _ = swap
    block = next(number for number, each in enumerate(blocks) if each.start <= start < each.end)
    free = draft.free
    near = tokens_of(free[max(0, start - 40) : start].lower())[-2:]
    near += tokens_of(free[start:end].lower())
    near += tokens_of(free[end : end + 40].lower())[:2]
    named = {word.rstrip("s") for word in near if len(word) > 3} - {"below", "above", "following"}
    head = (
        draft.text[blocks[data].start : min(blocks[data].end, blocks[data].start + 200)]
        .partition("\n\n")[0]
        .lower()
    )
    if not named.isdisjoint([word.rstrip("s") for word in tokens_of(head)]):
        return True
    if first and _LISTED.search(free, end, blocks[block].end):
        return False
    others = blocks[block + 1 :] if first else blocks[:block]
    for each in others:
        if each is not blocks[data] and each.role != "cue":
            said = tokens_of(free[each.start : each.end].lower())
            if said[:1] and (said[0] in IMPERATIVES or said[0] in _INSTRUCTS):
                continue
            if _ADDRESSES.isdisjoint(said):
                return False
    return True


def _with_swaps(edit: Edit, swaps: list[tuple[int, int, str]]) -> Edit:
    parts: list[str | Ref] = []
    for part in edit.parts:
        if isinstance(part, str):
            parts.append(part)
            continue
        position = part.start
        for start, end, new in swaps:
            if position <= start and end <= part.end:
                parts += (Ref(position, start), new)
                position = end
        parts.append(Ref(position, part.end))
    return Edit(edit.start, edit.end, tuple(parts))


@operator(
    "context-first",
    dimension="structural",
    severity=0.7,
    version=4,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "S5"),
    example=("Classify the following text.\n\nText: {text}", "Text: {text}\n\nClassify the above text."),
    trusted=True,
)
def context_first(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    """The text an instruction speaks of is put before it."""
    return iter(draft.once(_text_first))


@operator(
    "context-last",
    dimension="structural",
    severity=0.7,
    version=4,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "S5"),
    example=("Text: {text}\n\nClassify the text above.", "Classify the text below.\n\nText: {text}"),
    trusted=True,
)
def context_last(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    """The text an instruction speaks of is put after it."""
    return iter(draft.once(_text_last))


def _text_first(draft: Draft) -> list[list[Edit]]:
    return list(moved(draft, first=True))


def _text_last(draft: Draft) -> list[list[Edit]]:
    return list(moved(draft, first=False))

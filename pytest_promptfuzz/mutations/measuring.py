"""What edits do to a text, for people and for numbers: words touched, and a diff by words."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.edits import Ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.mutations.edits import Edit

Sign = Literal["=", "-", "+"]

# Scripts without spaces between words count by character.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = expression(f"([{_UNSPACED}]|[^\\s{_UNSPACED}]+)")
_CHARACTER = expression(f"[{_UNSPACED}]")


class Tokens:
    """The words of a text, by position; where each is, is found when somebody asks.

    Attributes:
        text: The text.
        spaced: Whether all words are parted by white space, as far as writing goes.
    """

    __slots__ = ("_bounds", "_count", "spaced", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.spaced = text.isascii() or _CHARACTER.search(text) is None
        self._count = -1
        self._bounds: list[int] | None = None

    def __len__(self) -> int:
        """How many there are."""
        if self._count < 0:
            self._count = len(self.text.split()) if self.spaced else len(self.starts)
        return self._count

    @property
    def starts(self) -> list[int]:
        """Where each begins, ascending."""
        return self._found()[:-1:2]

    @property
    def ends(self) -> list[int]:
        """Where each ends."""
        return self._found()[1::2]

    def _found(self) -> list[int]:
        if self._bounds is None:
            # Every other piece is a word; adding up lengths is much quicker than asking each match for its span.
            self._bounds = list(accumulate(map(len, _TOKEN.split(self.text))))
        return self._bounds


def kept_refs(edit: Edit) -> frozenset[int]:
    """Which parts of an edit stay in place, seen from the others: the heaviest ascending run of its refs.

    Args:
        edit: Any edit.

    Returns:
        Indices into ``edit.parts``, chosen so that as few characters as possible count as moved.
    """
    low, high, parts = edit
    inside = [
        (index, part[0], part[1])
        for index, part in enumerate(parts)
        if isinstance(part, Ref) and low <= part[0] < part[1] <= high
    ]
    reached = low
    for _, start, end in inside:
        if start < reached:
            break
        reached = end
    else:
        return frozenset([index for index, _, _ in inside])
    before, number = _heaviest_run([(start, end) for _, start, end in inside])
    kept = []
    while number >= 0:
        kept.append(inside[number][0])
        number = before[number]
    return frozenset(kept)


def _heaviest_run(spans: Sequence[tuple[int, int]]) -> tuple[list[int], int]:
    """The heaviest ascending subsequence of spans: for each its predecessor, and the last one (ties: the later)."""
    before = [-1] * len(spans)
    if len(spans) <= 16:  # so few are quicker compared pair by pair
        ends: list[int] = []
        totals: list[int] = []
        for number, (start, end) in enumerate(spans):
            weight, last = 0, -1
            for other, stop in enumerate(ends):
                if stop <= start and totals[other] >= weight:
                    weight, last = totals[other], other
            before[number] = last
            ends.append(end)
            totals.append(weight + end - start)
        heaviest = max(totals)
        return before, len(totals) - 1 - totals[::-1].index(heaviest)
    # A Fenwick tree of prefix maxima: O(k log k).
    places = sorted({end for _, end in spans})
    tree: list[tuple[int, int]] = [(0, -1)] * (len(places) + 1)
    best = (0, -1)
    for number, (start, end) in enumerate(spans):
        reach, found = bisect_right(places, start), (0, -1)
        while reach > 0:
            found = max(found, tree[reach])
            reach &= reach - 1
        before[number] = found[1]
        total = (found[0] + end - start, number)
        best = max(best, total)
        reach = bisect_left(places, end) + 1
        while reach < len(tree):
            tree[reach] = max(tree[reach], total)
            reach += reach & -reach
    return before, best[1]


def removed(edit: Edit) -> list[tuple[int, int]]:
    """The spans of the original that do not stay in place under ``edit``; the bare point for an insertion."""
    if not any(isinstance(part, Ref) for part in edit.parts):
        return [(edit.start, edit.end)]
    kept = kept_refs(edit)
    spans: list[tuple[int, int]] = []
    position = edit.start
    for index, part in enumerate(edit.parts):
        if index in kept and isinstance(part, Ref):
            if part.start > position:
                spans.append((position, part.start))
            position = part.end
    if position < edit.end:
        spans.append((position, edit.end))
    return spans


def touched_words(edits: Iterable[Edit], tokens: Tokens) -> int:
    """How many words of the original the edits change, remove or move; each counts once.

    An insertion touches the word it is made in, and none between words.
    """
    spans: list[tuple[int, int]] = []
    for edit in edits:
        start, end, parts = edit
        if len(parts) == 1 and isinstance(parts[0], str):
            spans.append((start, end))
        else:
            spans += removed(edit)
    return _runs_of_space(spans, tokens.text) if tokens.spaced else _among(spans, tokens)


def _runs_of_space(spans: Iterable[tuple[int, int]], text: str) -> int:
    """How many words ``spans``, in order and apart, overlap, where white space parts them.

    A span holds a part of each word it overlaps, and nothing of others: they are counted without being looked for.
    """
    count = reached = 0
    for start, end in spans:
        if start < end:
            here = len(text[start:end].split())
        else:
            inside = 0 < start < len(text) and not (text[start - 1].isspace() or text[start].isspace())
            here = 1 if inside else 0
        if here:
            count += here
            # The first may be the last of the span before; mostly there is a space between.
            if reached and text.find(" ", reached - 1, start) < 0:
                between = text[reached - 1 : start + 1]
                count -= between.split() == [between]
            reached = end
    return count


def _among(spans: Iterable[tuple[int, int]], tokens: Tokens) -> int:
    """The same by position."""
    starts, ends = tokens.starts, tokens.ends
    count = counted = 0
    for start, end in spans:
        first = bisect_right(ends, start, counted)
        last = bisect_left(starts, end, first)
        if last > first:
            count += last - first
            counted = last
    return count


def word_diff(original: str, edits: Iterable[Edit]) -> list[tuple[Sign, str]]:
    """The change as a person reads it, in whole words.

    Joining the ``=`` and ``-`` pieces gives the original, joining ``=`` and ``+`` the mutated text. Segments that
    move are removed where they stood and added where they went.

    Args:
        original: The text the edits apply to.
        edits: In ascending order, not overlapping.
    """
    diff: list[tuple[Sign, str]] = []
    for run in _whole_words(_runs(original, edits)):
        kept, gone, new = run
        if gone == new:  # white space between segments that moved
            kept, gone, new = kept + gone, "", ""
        if kept and diff and diff[-1][0] == "=":
            kept = diff.pop()[1] + kept
        pieces: tuple[tuple[Sign, str], ...] = (("=", kept), ("-", gone), ("+", new))
        diff += [piece for piece in pieces if piece[1]]
    return diff


def _runs(original: str, edits: Iterable[Edit]) -> list[list[str]]:
    """``[kept, gone, new]`` in turn: what stays, then what is removed after it, then what takes its place."""
    runs: list[list[str]] = [["", "", ""]]

    def keep(text: str) -> None:
        if text:
            if runs[-1][1] or runs[-1][2]:
                runs.append(["", "", ""])
            runs[-1][0] += text

    position = 0
    for edit in edits:
        keep(original[position : edit.start])
        kept = kept_refs(edit)
        position = edit.start
        for index, part in enumerate(edit.parts):
            if isinstance(part, str):
                runs[-1][2] += part
            elif index in kept:
                runs[-1][1] += original[position : part.start]
                keep(original[part.start : part.end])
                position = part.end
            else:
                runs[-1][2] += original[part.start : part.end]
        runs[-1][1] += original[position : edit.end]
        position = edit.end
    keep(original[position:])
    return runs


def _whole_words(runs: list[list[str]]) -> list[list[str]]:
    """Widen each change to the words it lies in."""
    wide: list[list[str]] = [["", "", ""]]
    for number, (kept, gone, new) in enumerate(runs):
        if number:
            gone_before, new_before = wide[-1][1], wide[-1][2]
            if _inside_word(gone_before, kept) or _inside_word(new_before, kept):
                cut = len(kept) - len(kept.lstrip()) or next(
                    (i for i, c in enumerate(kept) if c.isspace()), len(kept)
                )
                wide[-1][1] += kept[:cut]
                wide[-1][2] += kept[:cut]
                kept = kept[cut:]  # noqa: PLW2901 - the rest of the run
        following = runs[number + 1][0] if number + 1 < len(runs) else ""
        head = ""
        if (
            kept
            and (gone or new)
            and (_inside_word(kept, gone or following) or _inside_word(kept, new or following))
        ):
            cut = max((i + 1 for i, c in enumerate(kept) if c.isspace()), default=0)
            kept, head = kept[:cut], kept[cut:]  # noqa: PLW2901 - the rest of the run
        if kept or number == 0:
            wide.append([kept, head + gone, head + new])
        else:
            wide[-1][1] += head + gone
            wide[-1][2] += head + new
    return wide


def _inside_word(left: str, right: str) -> bool:
    return bool(left and right) and not left[-1].isspace() and not right[0].isspace()

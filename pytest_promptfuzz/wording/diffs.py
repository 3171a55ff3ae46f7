"""A mutation's diff, and two answers, cut to what a person needs to see: changed places, moves, reorderings.

The report's diff is a list of ``["=", same]``, ``["-", removed]`` and ``["+", added]``. :func:`explain` turns
it into :class:`ShownChange` (words replaced, inserted or removed, white space made visible), :class:`Move` and
:class:`Reorder`, whatever they are rendered to.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.safe_text import is_digest, safe, show_codes, show_white
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


CONTEXT = 30  # characters of unchanged text shown on either side of a change
LONG = 160  # characters of changed text shown before its middle is left out
# Where a text is cut into what a reordering moves: lines, sentences, list items.
_SEGMENT = expression(r"\n+|(?<=[.!?;])[ \t]+|(?<=[\u3002\uff01\uff1f])")
_BLANKS = expression(r"\s+")


@dataclass(frozen=True, slots=True)
class ShownChange:
    """Changes near to each other, as pieces ``("=" | "-" | "+", text)`` that are ready to be shown."""

    pieces: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Move:
    """A passage that stands elsewhere now. The neighbours are what it stands after (empty: at the start)."""

    text: str
    was_after: str
    now_after: str


@dataclass(frozen=True, slots=True)
class Reorder:
    """Segments in their new order, each with its place in the old one (from 1)."""

    segments: tuple[tuple[int, str], ...]


Shown: TypeAlias = "ShownChange | Move | Reorder"


@dataclass(frozen=True, slots=True)
class _Hunk:
    """What was removed and added at one place of the diff (positions in the list of runs)."""

    at: int
    removed: str
    added: str


def explain(diff: Iterable[Sequence[str]], *, context: int = CONTEXT) -> list[Shown]:
    """What changed, in the order of the prompt; nothing for an unchanged prompt.

    Args:
        diff: Pairs of ``=``, ``-`` or ``+`` and a text, in order.
        context: Characters of unchanged text shown on either side of a change.
    """
    runs = _runs(diff)
    moves, rest = _moves(runs)
    if len(moves) == 1 and not _hunks(rest):
        return list(moves)
    reordering = _reordering(_side(runs, 1), _side(runs, 2)) if _same_letters(runs) else None
    return [reordering] if reordering is not None else [*moves, *_changes(_joined(rest), context)]


def blank_places(diff: Iterable[Sequence[str]]) -> int:
    """In how many places of the prompt nothing but white space changed."""
    return sum(_BLANKS.sub("", each.removed) == _BLANKS.sub("", each.added) for each in _hunks(_runs(diff)))


# A run is (same, removed, added): a stretch left alone, or what was taken away and put at one place.
_Run: TypeAlias = "tuple[str, str, str]"


def _runs(diff: Iterable[Sequence[str]]) -> list[_Run]:
    runs: list[_Run] = []
    for kind, text in diff:
        if not text:
            continue
        same, removed, added = runs[-1] if runs else ("", "", "")
        if kind == "=":
            if runs and same:
                runs[-1] = (same + text, "", "")
            else:
                runs.append((text, "", ""))
        elif runs and not same:
            runs[-1] = ("", removed + text, added) if kind == "-" else ("", removed, added + text)
        else:
            runs.append(("", text, "") if kind == "-" else ("", "", text))
    return runs


def _joined(runs: list[_Run]) -> list[_Run]:
    """Replacements of neighbouring words as one: only a blank stood between them."""
    joined: list[_Run] = []
    for run in runs:
        if len(joined) > 1 and run[1] and run[2] and all(joined[-2][1:]):
            blank = joined[-1][0]
            if blank and len(blank) <= 2 and not blank.strip():
                _, removed, added = joined[-2]
                joined[-2:] = [("", removed + blank + run[1], added + blank + run[2])]
                continue
        joined.append(run)
    return joined


def _hunks(runs: list[_Run]) -> list[_Hunk]:
    return [_Hunk(at, removed, added) for at, (same, removed, added) in enumerate(runs) if not same]


def _side(runs: list[_Run], side: int) -> str:
    return "".join(run[0] or run[side] for run in runs)


def _segments(text: str) -> list[str]:
    return [each.strip() for each in _SEGMENT.split(text) if each.strip()]


def _same_letters(runs: list[_Run]) -> bool:
    """Whether what was taken away was put back somewhere, by its letters: cheaper than to compare segments."""
    removed, added = ("".join("".join(run[side] for run in runs).split()) for side in (1, 2))
    return bool(removed) and len(removed) == len(added) and sorted(removed) == sorted(added)


def _reordering(before: str, after: str) -> Reorder | None:
    """The reordering that makes ``after`` of ``before``, if that is all that happened."""
    # The same segments are the same characters: most changes do not even keep how many there are.
    if len("".join(before.split())) != len("".join(after.split())):
        return None
    old, new = _segments(before), _segments(after)
    if len(old) < 2 or old == new or Counter(old) != Counter(new):
        return None
    places: dict[str, list[int]] = {}
    for place, each in enumerate(old, 1):
        places.setdefault(each, []).append(place)
    order = [(places[each].pop(0), each) for each in new]
    moved = [at for at, (place, _) in enumerate(order) if place != at + 1]
    return Reorder(tuple(order[moved[0] : moved[-1] + 1]))


def _moves(runs: list[_Run]) -> tuple[list[Move], list[_Run]]:
    """Passages taken from one place and put at another, and the runs without them."""
    hunks = _hunks(runs)
    if len(hunks) < 2:
        return [], runs
    put: dict[str, list[_Hunk]] = {}
    for hunk in reversed(hunks):
        if hunk.added.strip() and not hunk.removed:
            put.setdefault(_BLANKS.sub(" ", hunk.added.strip()), []).append(hunk)
    moves: list[Move] = []
    gone: set[int] = set()
    for hunk in hunks:
        text = _BLANKS.sub(" ", hunk.removed.strip())
        if hunk.added or not put.get(text) or len(text.split()) < 2:
            continue
        goal = put[text].pop()
        gone |= {hunk.at, goal.at}
        moves.append(Move(hunk.removed.strip(), _last_words(runs, hunk.at, 1), _last_words(runs, goal.at, 2)))
    # Neighbours of what is left out grow together.
    kept = [
        (kind, text)
        for at, run in enumerate(runs)
        if at not in gone
        for kind, text in zip("=-+", run, strict=True)
    ]
    return moves, _runs(kept)


def _last_words(runs: list[_Run], at: int, side: int) -> str:
    """The end of what stands before a run, in the old (1) or the new (2) text."""
    text = _BLANKS.sub(" ", _side(runs[:at], side)).strip()
    if len(text) <= CONTEXT:
        return text
    cut = text.find(" ", len(text) - CONTEXT)
    return "…" + (text[cut + 1 :] if 0 <= cut < len(text) - 1 else text[-CONTEXT:])


def _changes(runs: list[_Run], context: int) -> list[Shown]:
    """Changes with their neighbourhoods; a long equal stretch divides them."""
    shown: list[Shown] = []
    pieces: list[tuple[str, str]] = []
    last = len(runs) - 1
    for index, (same, removed, added) in enumerate(runs):
        if not same:
            pieces += _changed(removed, added)
            continue
        before = index > 0
        after = index < last
        full = sum(len(text) for _, text in pieces) > 2 * LONG
        if len(same) <= 2 * CONTEXT + 10 and before and after and not full:
            pieces.append(("=", _flat(same)))
            continue
        if before:
            pieces.append(("=", _head(same, context)))
            shown.append(ShownChange(tuple(pieces)))
            pieces = []
        if after and (not before or len(same) > context):  # a shorter one is shown whole already
            pieces.append(("=", _tail(same, context)))
    if any(kind != "=" for kind, _ in pieces):
        shown.append(ShownChange(tuple(pieces)))
    return shown


def _flat(text: str) -> str:
    """Unchanged text on one row."""
    return text.replace("\n", "⏎")


def _head(same: str, context: int) -> str:
    if len(same) <= context:
        return _flat(same)
    cut = same.rfind(" ", 0, context)
    return _flat(same[: cut if cut > 0 else context]) + " …"


def _tail(same: str, context: int) -> str:
    if len(same) <= context:
        return _flat(same)
    cut = same.find(" ", len(same) - context)
    return "… " + _flat(same[cut + 1 if 0 <= cut < len(same) - 1 else -context :])


def _changed(removed: str, added: str) -> list[tuple[str, str]]:
    """Both sides of a change, with what the eye would miss made visible."""
    if (
        (removed + added).isascii() and removed.isalpha() and added.isalpha()
    ):  # words: nothing to make visible
        return [("-", _elide(removed)), ("+", _elide(added))]
    lead, removed, added, trail = _shared_blanks(removed, added)
    if _BLANKS.sub("", removed) == _BLANKS.sub("", added):
        removed, added = show_white(removed), show_white(added)
    elif unicodedata.normalize("NFKC", removed) == unicodedata.normalize("NFKC", added):
        removed, added = show_codes(show_edges(removed)), show_codes(show_edges(added))
    else:
        one, other = show_edges(removed), show_edges(added)
        removed, added = show_codes(one, _lookalikes(one, other)), show_codes(other, _lookalikes(other, one))
    pieces = [("=", _flat(lead)), ("-", _elide(removed)), ("+", _elide(added)), ("=", _flat(trail))]
    return [piece for piece in pieces if piece[1]]


def _shared_blanks(removed: str, added: str) -> tuple[str, str, str, str]:
    """White space that both sides begin or end with belongs to the neighbourhood."""
    if not (removed.strip() and added.strip()):
        return "", removed, added, ""
    lead = 0
    while removed[lead] == added[lead] and removed[lead].isspace():
        lead += 1
    trail = 0
    while removed[-1 - trail] == added[-1 - trail] and removed[-1 - trail].isspace():
        trail += 1
    end = removed[len(removed) - trail :]
    return removed[:lead], removed[lead : len(removed) - trail], added[lead : len(added) - trail], end


def show_edges(text: str) -> str:
    """White space that is easily missed made visible: at the edges, doubled, line feeds, tabs, odd blanks.

    >>> show_edges("one two  three ")
    'one two··three·'
    """
    body = text.strip()
    if not body:
        return show_white(text)
    start = text.index(body)
    middle = re.sub(r"(?! \S)\s+|[\u200b-\u200f\u2060\ufeff]", lambda m: show_white(m.group()), body)
    return show_white(text[:start]) + middle + show_white(text[start + len(body) :])


def _lookalikes(text: str, other: str) -> set[int]:
    """Positions of letters from another alphabet that stand where the other text has an ASCII letter."""
    if len(text) != len(other):
        return set()
    return {
        index
        for index, (mine, theirs) in enumerate(zip(text, other, strict=True))
        if mine != theirs and not mine.isascii() and theirs.isascii() and _foreign_letter(mine)
    }


def _foreign_letter(character: str) -> bool:
    return character.isalpha() and not unicodedata.name(character, "").startswith("LATIN")


def _elide(text: str) -> str:
    if len(text) <= LONG:
        return text
    half = LONG // 2
    return f"{text[:half]} … {text[-half:]}"


# Answers, short enough to be read: JSON laid out, long equal beginnings left out, the rest counted.


MOST_CHARACTERS = 600
MOST_ROWS = 12
_ONE_ROW = 60
_MARGIN = 40  # characters shown before the first and after the last difference of two long answers


def answer_text(value: Any, *, limit: int = MOST_CHARACTERS) -> str:
    r"""A plain JSON-able value as a person wants to read it, safe for a terminal.

    Args:
        value: Text (a text that is a JSON object or array is laid out as such) or any JSON-able value.
        limit: The most characters shown; the rest is counted.

    >>> answer_text('{"a": 1}')
    '{"a": 1}'
    >>> answer_text("")
    '(empty text)'
    """
    return _clip(plain_text(value), limit)


def answer_pair(baseline: Any, response: Any, *, limit: int = MOST_CHARACTERS) -> tuple[str, str]:
    """Two answers to be read against each other: of long ones, what they share at either end is left out."""
    one, other = plain_text(baseline), plain_text(response)
    if min(len(one), len(other)) <= limit // 2 or one == other:
        return _clip(one, limit), _clip(other, limit)
    head = shared(one, other)
    tail = shared(one[head:][::-1], other[head:][::-1])
    start = max(0, head - _MARGIN)
    start = max(one.rfind(" ", 0, start), one.rfind("\n", 0, start)) + 1
    end = max(0, tail - _MARGIN)
    return _window(one, start, end, limit), _window(other, start, end, limit)


def answer_rows(baseline: Any, response: Any, room: int) -> tuple[str, str]:
    """Two answers, each in one row of at most ``room`` characters; of long ones, where they begin to differ."""
    one, other = (_ROWS.sub("⏎", safe(plain_text(each, row=10**9))) for each in (baseline, response))
    head = shared(one, other)
    start = max(0, head - room // 4) if max(len(one), len(other)) > room and head > room // 2 else 0
    return _row(one, start, room), _row(other, start, room)


_ROWS = expression(r"\s*\n\s*")


def _row(text: str, start: int, room: int) -> str:
    text = f"…{text[start:]}" if start else text
    return text if len(text) <= room else f"{text[: room - 1]}…"


def shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))


def _window(text: str, start: int, end: int, limit: int) -> str:
    before = f"(… {start:,} characters the same) " if start > limit // 6 else ""
    after = f" (… {end:,} characters the same)" if end > limit // 6 else ""
    return before + _clip(text[start if before else 0 : len(text) - end if after else None], limit) + after


def plain_text(value: Any, *, row: int = _ONE_ROW) -> str:
    """A plain JSON-able value as text, whole and not yet safe; JSON of more than ``row`` characters is laid out."""
    if value is None:
        return "(nothing)"
    if is_digest(value):
        return "(only a digest is kept)"
    if not isinstance(value, str):
        return _json(value, row)
    if not value:
        return "(empty text)"
    if not value.strip():
        return f"{show_white(value)} (white space only)"
    text = value.strip()
    # Only what cannot be prose: a lone number or a quoted word stays as the model wrote it.
    if text[0] + text[-1] in {"{}", "[]"} and len(text) <= 100_000:
        try:
            return _json(json.loads(text), row)
        except (ValueError, RecursionError):
            return value
    return value


def _json(value: Any, room: int) -> str:
    row = json.dumps(value, ensure_ascii=False, default=str)
    return row if len(row) <= room else json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _clip(text: str, limit: int) -> str:
    rows = text.split("\n")
    short = "\n".join(rows[:MOST_ROWS])
    rest = len(rows) - MOST_ROWS
    if len(short) > limit or rest <= 0:
        return safe(text, limit=limit)
    return f"{safe(short)}\n… (+{counted(rest, 'row')})"

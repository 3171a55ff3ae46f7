"""Counterexamples in reports: the smallest change that breaks an answer, in a few rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypedDict

from pytest_promptfuzz.reporting.answers import answer_rows
from pytest_promptfuzz.reporting.diff import Change, explain
from pytest_promptfuzz.reporting.rows import LABELLED, diff_lines, row
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.text import columns
from pytest_promptfuzz.reporting.words import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.reporting.model import TestReport
    from pytest_promptfuzz.reporting.text import Line, Piece, Style
    from pytest_promptfuzz.scoring.counterexample import Counterexample
    from pytest_promptfuzz.scoring.replayed import Replayed


class CounterexampleReport(TypedDict):
    """A counterexample as it is stored (``mutation`` to ``repeats``), with what its mutation comes to.

    ``diff`` is ``[["=", same], ["-", removed], ["+", added], ...]`` over the prompt, ``prompt`` the changed one.
    """

    id: str
    mutation: dict[str, Any]
    trial: str
    case: int
    baseline: Any
    answer: Any
    failure: str
    minimal: bool
    calls: int
    repeats: list[int]
    diff: list[list[str]]
    prompt: str


class ReplayedReport(TypedDict):
    """A counterexample that was known before, asked once more: what became of it, and it as it is today.

    ``status`` is ``breaks``, ``passes``, ``gone``, ``elsewhere``, ``varies`` or ``unanswered``; ``target`` the one that
    it was last seen to break.
    """

    id: str
    status: str
    why: str
    target: str
    now: CounterexampleReport | None


def replayed_report(found: Replayed) -> ReplayedReport:
    """As plain data."""
    now = None if found.now is None else counterexample_report(found.now)
    return ReplayedReport(
        id=found.known.id, status=found.status, why=found.why, target=found.known.target, now=now
    )


def counterexample_report(found: Counterexample) -> CounterexampleReport:
    """As plain data; ``Counterexample.from_json`` reads it."""
    mutation = found.mutation
    made: Any = {
        **found.to_json(),
        "id": found.id,
        "diff": [[kind, text] for kind, text in mutation.diff()],
        "prompt": mutation.text,
    }
    return made  # type: ignore[no-any-return]  # it has the keys of the type


_STYLES: dict[str, Style] = {"=": "plain", "-": "removed", "+": "added"}
_MARKS = 4  # columns of [--] or {++}
_LEAST = 8  # of unchanged text on either side of a change
_WHY = 300
_FIRST, _LAST = re.compile(r"\s*\S*"), re.compile(r"\S*\s*\Z")


def counterexample_lines(report: TestReport, width: int) -> list[Line]:
    """What a failure shows first: the line of the prompt that changed, both answers, and how it fails, a row each."""
    found = report.get("counterexamples") or []
    searched = report.get("searched")
    label = "shrunk" if searched is None else "known" if searched["known"] else "found"
    lines: list[Line] = []
    for number, each in enumerate(found, 1):
        title = "The smallest change that breaks it" if each["minimal"] else "A change that breaks it"
        title = f"{number}. {title[0].lower()}{title[1:]}" if len(found) > 1 else title
        on = f", on input {safe(report['inputs'][each['case']])}" if report["inputs"] else ""
        lines += [[(f"{title}{on}", "heading")], *_shown(each, width - LABELLED, label), []]
    return lines


def _shown(each: CounterexampleReport, room: int, label: str) -> list[Line]:
    """The rows of one; ``label`` says what its queries were made for, of which a search counts all."""
    lines = changed_lines(each["diff"], room)
    rows = answer_rows(each["baseline"], each["answer"], room)
    answers = zip(("baseline", "response"), (each["baseline"], each["answer"]), rows, strict=True)
    lines += [row(name, [(text, "plain")]) for name, value, text in answers if value is not None]
    lines.append(row("why", [(safe(each["failure"], limit=_WHY), "bad")]))
    lines.append(row(label, [(_how(each, label), "dim")]))
    return lines


def _how(each: CounterexampleReport, label: str) -> str:
    """Where it comes from, how sure it is, and what its title does not say of its size."""
    failed, asked = each["repeats"]
    queries = "1 query" if each["calls"] == 1 else f"{each['calls']} queries"
    spent = f" with {queries}" if label == "shrunk" else f" after {queries} of the search"
    came = f"from trial {each['trial']}{spent if each['calls'] and label != 'known' else ''}"
    smaller = "" if each["minimal"] else "; a smaller change may break it too"
    return f"{came}; broke it {failed} of {count(asked, 'time')}{smaller}"


def changed_lines(diff: Sequence[Sequence[str]], room: int) -> list[Line]:
    """The lines of the prompt that changed, one row of ``room`` columns each; what was moved as elsewhere."""
    shown = explain(diff, context=room)
    changes = [each for each in shown if isinstance(each, Change)]
    if not changes or len(changes) < len(shown):
        return diff_lines(diff)
    rows = [each for change in changes for each in _parted(change, room)]
    return [row("" if number else "prompt", _fitted(each, room)) for number, each in enumerate(rows)]


def _parted(change: Change, room: int) -> list[Change]:
    """A change of more places than fit in a row, as several, of which one goes on where another ends."""
    parts: list[Change] = []
    row: list[tuple[str, str]] = []
    used = 0
    for place, group in _places(change.pieces):
        wide = sum(columns(text) + _MARKS for _, text in group)
        wide += columns(_short(place)) if row else min(columns(place.rpartition("⏎")[2]), _LEAST)
        if row and group and used + wide > room:
            parts.append(Change(tuple(row)))
            row, used, place = [], 0, place.lstrip(" ")  # noqa: PLW2901
        row += [("=", place), *group]
        used += wide
    return [*parts, Change(tuple(each for each in row if each[1]))]


def _places(pieces: Sequence[tuple[str, str]]) -> list[tuple[str, list[tuple[str, str]]]]:
    """What stands before each place that changed, and what changed there; the last has the end of the text."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for kind, text in pieces:
        if kind == "=":
            found.append((text, []))
        elif found:
            found[-1][1].append((kind, text))
        else:
            found.append(("", [(kind, text)]))
    return found


def _short(text: str) -> str:
    """What must be shown of a text between two changes: its first word and its last."""
    first, last = _FIRST.match(text), _LAST.search(text)
    if first is None or last is None or first.end() >= last.start():
        return text
    short = f"{first.group()} … {last.group()}"
    return short if columns(short) < columns(text) else text


def _fitted(change: Change, room: int) -> list[Piece]:
    """A change with as much of its line as there is room for."""
    pieces = list(change.pieces)
    before = pieces.pop(0)[1].rpartition("⏎")[2] if pieces[0][0] == "=" else ""
    after = pieces.pop()[1].partition("⏎")[0] if pieces and pieces[-1][0] == "=" else ""
    changed = sum(columns(text) + _MARKS for kind, text in pieces if kind != "=")
    between = [columns(text) for kind, text in pieces if kind == "="]
    if changed + _LEAST * len(between) > room:
        each = (room - _LEAST * len(between)) // (len(pieces) - len(between)) - _MARKS
        pieces = [
            (kind, text if kind == "=" else _middle(text, max(each, 2 * _LEAST))) for kind, text in pieces
        ]
        changed = sum(columns(text) + _MARKS for kind, text in pieces if kind != "=")
    free = max(room - changed, 0)
    inner = max(free - sum(min(columns(text), _LEAST) for text in (before, after)), 0)
    if sum(between) > inner:
        pieces = _shortened(pieces, inner)
    free = max(free - sum(columns(text) for kind, text in pieces if kind == "="), 0)
    before = _end(before, max(free // 2, free - columns(after)))
    after = _start(after, max(free - columns(before), 0))
    return [(text, _STYLES[kind]) for kind, text in [("=", before), *pieces, ("=", after)] if text]


def _shortened(pieces: Sequence[tuple[str, str]], room: int) -> list[tuple[str, str]]:
    """What stands between changes in ``room`` columns, its first and last words at the least."""
    shorts = [_short(text) if kind == "=" else "" for kind, text in pieces]
    spare = max(room - sum(map(columns, shorts)), 0)
    made = []
    for (kind, text), short in zip(pieces, shorts, strict=True):
        if kind == "=" and columns(text) > columns(short):
            longer = _middle(text, columns(short) + spare)
            short = longer if columns(longer) > columns(short) else short  # noqa: PLW2901
            spare = max(spare - columns(short) + columns(_short(text)), 0)
            text = short  # noqa: PLW2901
        made.append((kind, text))
    return made


def _middle(text: str, room: int) -> str:
    """A text without its middle, cut between words where there are some."""
    half = max(_LEAST // 2, (room - 1) // 2)
    if columns(text) <= max(room, 2 * half):
        return text
    return f"{_start(text, half)}{_end(text, half)[1:]}"


def _start(text: str, room: int) -> str:
    """The beginning of a text in so many columns, cut between words where there are some."""
    if columns(text) <= room:
        return text
    cut = _cut(text, room - 2)
    if " " not in cut and _splits(text[len(cut) - 1 : len(cut) + 1]):
        return "…"
    return f"{cut.rpartition(' ')[0] if ' ' in cut else cut} …"


def _end(text: str, room: int) -> str:
    """The end of a text likewise."""
    if columns(text) <= room:
        return text
    cut = _cut(text[::-1], room - 2)[::-1]
    start = len(text) - len(cut)
    if " " not in cut and _splits(text[max(start - 1, 0) : start + 1]):
        return "…"
    return f"… {cut.partition(' ')[2] if ' ' in cut else cut}"


def _splits(around: str) -> bool:
    """Whether a cut between two characters is one through a word, of a script that parts words by blanks."""
    return around.isascii() and around.isalnum()


def _cut(text: str, room: int) -> str:
    """As much of the beginning as takes ``room`` columns."""
    used = 0
    for place, character in enumerate(text):
        used += columns(character)
        if used > room:
            return text[:place]
    return text

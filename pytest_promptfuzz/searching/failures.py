"""How a trial fails: which failures are the same; and a mutation put into a prompt that was edited since.

A smaller change that fails in another way has found something else. So failures are told apart rather than taken for
the same: what is left of a change may then be larger than it need be, and is never another failure's.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from rapidfuzz.distance import Indel, Prefix

from pytest_promptfuzz.comparing.comparison import Observation
from pytest_promptfuzz.errors import UsageError, quoted
from pytest_promptfuzz.mutations.engine.edits import Edit, Ref, check_edits, reorder
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.searching.shrinker import moved_segments
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.comparing.comparison import Comparison
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.spans import Span
    from pytest_promptfuzz.results.trials import Trial

    Kind = tuple[str, ...]


_WORDS = 3  # an answer of no more is a label, whose every word counts
_CHARACTERS = 40
_QUOTED = expression(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_ADDRESS = expression(r"\b0x[0-9a-fA-F]{6,}\b")
_MEASURED = expression(r"where (\d+) = len\(")
_PLACE = expression(r"(?m)^(?!E  )(\S[^\n]*?:\d+): [\w.]+$|^\s*File \"([^\n\"]+\", line \d+)")
_EDGES = " \t\r\n.,;:!?\"'`*_()[]"
# What these compare has parts, and their explanations say which part differs; of the others the reason is enough.
_BY_PART = ("json", "yaml", "sql", "schema")


def kind_of(trial: Trial) -> Kind | None:
    """How a trial fails; ``None`` where it does not.

    An exception of the body: its type, its place where it is known, and its message without what varies from answer to
    answer (prose that it quotes, its length, addresses). A comparison: its reason; of structured answers also which
    part differs, and how. An answer of a word or three is a label, and always counts: another wrong label is another
    failure.
    """
    if trial.outcome not in {"deviation", "minor"}:
        return None
    label = _label(trial.value)
    if trial.failure is not None:
        failure = trial.failure
        said = _said(failure.message, "" if label else trial.value)
        return (trial.outcome, "oracle", failure.type, _place(failure.traceback), said, label)
    if trial.comparison is None:  # an oracle that was to notice, and did not
        return (trial.outcome, "unnoticed", label)
    reason = trial.comparison.reason
    part = _part(trial.comparison) if reason.startswith(_BY_PART) else ""
    return (trial.outcome, "compared", reason, _masked(part), label)


def _part(comparison: Comparison) -> str:
    """The part that differs, and how; not where else the answers differ."""
    observed = comparison.observed
    return str(observed.with_others(_NOWHERE_ELSE) if isinstance(observed, Observation) else observed)


_NOWHERE_ELSE = {"also-at": "", "also-at-places": ""}


def same_failure(one: Trial, other: Trial) -> bool:
    """Whether two trials fail, and in the same way."""
    kind = kind_of(one)
    return kind is not None and kind == kind_of(other)


def by_kind(trials: Sequence[Trial]) -> list[list[Trial]]:
    """The trials that fail, those that fail in the same way together: the largest group first, in it the least severe.

    Groups of one size are in the order of their first trials.
    """
    groups: dict[Kind, list[Trial]] = {}
    for trial in trials:
        kind = kind_of(trial)
        if kind is not None:
            groups.setdefault(kind, []).append(trial)
    ranked = sorted(groups.values(), key=len, reverse=True)
    return [sorted(group, key=lambda trial: trial.mutation.severity) for group in ranked]


def in_one_line(trial: Trial) -> str:
    """How a trial fails, for people: the exception with the first line of its message, or why the answer differs."""
    if trial.failure is not None:
        kind, first = trial.failure.type, _first_line(trial.failure.message)
        said = first if first.startswith(kind) or not first else f"{kind}: {first}"
        return said or kind
    return " ".join(trial.comparison.explanation.split()) if trial.comparison is not None else ""


def _label(value: Any) -> str:
    """An answer that is a label, in lower case and without what stands around it; empty for any other."""
    if isinstance(value, bool | int | float):
        return str(value)
    if not isinstance(value, str):
        return ""
    bare = value.strip(_EDGES)
    short = len(bare) <= _CHARACTERS and len(bare.split()) <= _WORDS and "\n" not in bare
    return " ".join(bare.casefold().split()) if short else ""


def _said(message: str, answer: Any) -> str:
    """The first line of a message without what varies from answer to answer."""
    measured = set(_MEASURED.findall(message))
    said = _first_line(message)
    if isinstance(answer, str) and answer.strip():
        said = said.replace(" ".join(answer.split()), "…")
    said = _ADDRESS.sub("0x…", _masked(said))
    for number in sorted(measured):
        said = re.sub(rf"\b{number}\b", "…", said, count=1)
    return said


def _masked(text: str) -> str:
    """The text without the prose that it quotes; a word or three that it quotes stay."""
    return _QUOTED.sub(lambda found: found.group() if _label(found.group()[1:-1]) else "…", text)


def _first_line(text: str) -> str:
    return next((" ".join(line.split()) for line in text.splitlines() if line.strip()), "")


def _place(traceback: str) -> str:
    """File and line where a body failed, the innermost that a traceback names; empty where it names none."""
    found = _PLACE.findall(traceback)
    return (found[-1][0] or found[-1][1]) if found else ""


# A mutation of a prompt that was edited since: the same edits at the places where the same text stands now.


_AROUND = 80  # characters of either side that tell places apart
_NEXT = 40  # those of them that tell twice, up to the first that differs
_MOST = 60  # places of one edit that are looked at
_WORD = expression(r"\w+")
_NEAR = expression(r"\w+(?=\W*$)")
_TELLS = 4  # letters from which a piece of text is known by itself


class _EditPlace(NamedTuple):
    """Where an edit could go: how like its surroundings are, which edit, and the span."""

    likeness: float
    edit: int
    start: int
    end: int


def reanchored(mutation: Mutation, prompt: Prompt) -> Mutation | Note:
    """The same change of another text: each edit where the text that it changes stands now.

    Of several such places that with the most similar surroundings is taken. An edit that inserts goes where at least
    one of its neighbouring words still stands. Protected text stays so: an edit touches only what is free, or was
    protected for the same reason in the old text as well.

    Args:
        mutation: Of the old text.
        prompt: The new one, limited to what may change in it.

    Returns:
        The mutation of the new prompt; or, where an edit has no place any more, which.
    """
    old, new = mutation.original, prompt.text
    if old == new:
        return replace(mutation, source=prompt)
    before = Prompt(old).spans if old.strip() else ()
    wanted = [_kinds(edit.start, edit.end, before) for edit in mutation.edits]
    places = sorted(
        (
            place
            for number, edit in enumerate(mutation.edits)
            for place in _places(number, edit, old, new)
            if _kinds(place.start, place.end, prompt.spans) <= wanted[number]
        ),
        key=lambda place: (-place.likeness, place.edit, place.start),
    )
    chosen: dict[int, _EditPlace] = {}
    for place in places:
        if place.edit not in chosen and not any(_collide(place, other) for other in chosen.values()):
            chosen[place.edit] = place
    missing = next((edit for number, edit in enumerate(mutation.edits) if number not in chosen), None)
    if missing is None:
        edits = tuple(
            sorted(
                _moved(edit, chosen[number].start - edit.start) for number, edit in enumerate(mutation.edits)
            )
        )
    else:
        spread = _spread(missing, old, new) if len(mutation.edits) == 1 else None
        if spread is None:
            return _gone(missing, old, new)
        edits = (spread,)
    touched = frozenset[str]().union(*wanted)
    try:
        check_edits(
            edits, len(new), [(span.start, span.end) for span in prompt.spans if span.kind not in touched]
        )
        made = replace(mutation, original=new, edits=edits, source=prompt)
        _ = made.prompt
    except UsageError as error:
        return Note.of("searches:edits-do-not-fit", problem=str(error))
    return made if made.text != new else Note.of("searches:changed-already")


def _places(number: int, edit: Edit, old: str, new: str) -> Iterator[_EditPlace]:
    """Where an edit could go, whatever is protected there."""
    piece = old[edit.start : edit.end]
    if any(
        isinstance(part, Ref) and not edit.start <= part.start <= part.end <= edit.end for part in edit.parts
    ):
        return  # it takes its text from elsewhere: another prompt may hold anything there
    before, after = old[: edit.start], old[edit.end :]
    inside = _inside(before, piece), _inside(piece or before, after)
    alone = sum(map(str.isalpha, piece)) >= _TELLS
    found = 0
    for start in _occurrences(piece, new) if piece else _gaps(before, after, new):
        end = start + len(piece)
        here, there = new[:start], new[end:]
        if (_inside(here, piece), _inside(piece or here, there)) != inside:
            continue  # a part of a word is no word
        if not alone and not _neighbours(before, after, here, there):
            continue
        yield _EditPlace(_likeness(before, after, here, there), number, start, end)
        found += 1
        if found == _MOST:
            return


def _spread(edit: Edit, old: str, new: str) -> Edit | None:
    """The same reordering where its segments stand by now, whatever was put between them or within them.

    ``None`` where one does not stand there once, or they stand in another order.
    """
    segments = moved_segments(edit)
    if not segments:
        return None
    before = sorted(segments)
    spans = [_standing(old[start:end], new) for start, end in before]
    known = [span for span in spans if span is not None]
    if len(known) < len(spans) or any(one[1] > other[0] for one, other in pairwise(known)):
        return None
    return reorder(known, [before.index(each) for each in segments])


def _standing(piece: str, text: str) -> tuple[int, int] | None:
    """Where a piece stands, or its first and its last line if it has more than one; each must stand there once."""
    ends = [piece] if piece in text else [line for line in piece.splitlines() if line.strip()]
    first, last = ends[0] if ends else "", ends[-1] if ends else ""
    if not first or text.count(first) != 1 or text.count(last) != 1:
        return None
    start, end = text.index(first), text.index(last) + len(last)
    return (start, end) if start < end else None


def _occurrences(piece: str, text: str) -> Iterator[int]:
    start = text.find(piece)
    while start >= 0:
        yield start
        start = text.find(piece, start + 1)


def _gaps(before: str, after: str, text: str) -> Iterator[int]:
    """Where the characters beside an insertion stand beside each other; the start and the end are what they were."""
    last, first = before[-1:], after[:1]
    for start in range(len(text) + 1):
        left, right = text[max(0, start - 1) : start], text[start : start + 1]
        if (left == last and right == first) or (left == last == "") or (right == first == ""):
            yield start


def _inside(left: str, right: str) -> bool:
    """Whether the border of two texts lies within a word."""
    return bool(left and right) and (left[-1].isalnum() and right[0].isalnum())


def _neighbours(before: str, after: str, here: str, there: str) -> bool:
    """Whether the word before or the word after is the same, or the text begins or ends there in both."""
    words = [_NEAR.search(each[-_AROUND:]) for each in (before, here)]
    if words[0] is not None and words[1] is not None and words[0][0] == words[1][0]:
        return True
    words = [_WORD.search(each[:_AROUND]) for each in (after, there)]
    if words[0] is not None and words[1] is not None and words[0][0] == words[1][0]:
        return True
    return (not before.strip() and not here.strip()) or (not after.strip() and not there.strip())


def _likeness(before: str, after: str, here: str, there: str) -> float:
    """How like two surroundings are: characters that are the same from the place on, and how like the rest is."""
    same = _same(before[: -_NEXT - 1 : -1], here[: -_NEXT - 1 : -1]) + _same(after[:_NEXT], there[:_NEXT])
    return (
        same / _NEXT
        + Indel.normalized_similarity(before[-_AROUND:], here[-_AROUND:])
        + Indel.normalized_similarity(after[:_AROUND], there[:_AROUND])
    )


def _same(one: str, other: str) -> int:
    return int(Prefix.similarity(one, other))


def _kinds(start: int, end: int, spans: Sequence[Span]) -> frozenset[str]:
    """The kinds of the protected spans that an edit of ``[start, end)`` touches."""
    return frozenset(
        span.kind
        for span in spans
        if (span.start < end and start < span.end if start < end else span.start < start < span.end)
    )


def _collide(one: _EditPlace, other: _EditPlace) -> bool:
    if one.start == one.end or other.start == other.end:
        return (
            one[2:] == other[2:] or other.start < one.start < other.end or one.start < other.start < one.end
        )
    return one.start < other.end and other.start < one.end


def _moved(edit: Edit, by: int) -> Edit:
    parts = tuple(
        part if isinstance(part, str) else Ref(part.start + by, part.end + by) for part in edit.parts
    )
    return Edit(edit.start + by, edit.end + by, parts)


def _gone(edit: Edit, old: str, new: str) -> Note:
    start, end = edit.start, edit.end
    if start == end:
        return Note.of("searches:place-gone", around=quoted(old[max(0, start - 20) : start + 20]))
    while start and old[start - 1].isalnum() and old[start].isalnum():
        start -= 1
    while end < len(old) and old[end - 1].isalnum() and old[end].isalnum():
        end += 1
    piece = old[start:end]
    return Note.of("searches:text-protected" if piece in new else "searches:text-gone", text=quoted(piece))

"""What differs between two recordings: by test, so that a pull request cannot quietly edit answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_promptfuzz.targets.model import WireRequest
from pytest_promptfuzz.wire.key import request_difference
from pytest_promptfuzz.wire.paths import json_diff

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_promptfuzz.wire.answers import StoredAnswer
    from pytest_promptfuzz.wire.recordings.entry import Entry, Place
    from pytest_promptfuzz.wire.recordings.reading import Recorded, RecordingFile

Kind = Literal["added", "removed", "edited", "answer", "asked-again", "request", "plan", "replanned"]


class Change(NamedTuple):
    """One difference.

    Attributes:
        test: The test, as pytest names it within its module.
        kind: ``added`` or ``removed`` (an exchange, or a whole test where ``place`` is ``None``), ``edited`` (the line
            was changed by hand and is not used; ``new`` is what stands there), ``answer`` (the same
            request is answered otherwise), ``asked-again`` (answered the same at another time), ``request`` (another
            request in the same place), ``plan`` (of another prompt or other settings), ``replanned`` (other mutations
            of the same prompt under the same settings).
        place: Which call of the test.
        paths: JSON paths at which answer or request differ.
        old: The answer before, if there was one.
        new: The answer now, if there is one.
        line: Of the file now, where it was edited.
    """

    test: str
    kind: Kind
    place: Place | None = None
    paths: tuple[str, ...] = ()
    old: StoredAnswer | None = None
    new: StoredAnswer | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class _Rows:
    """The entries of one test, by key and by place."""

    keys: dict[str, Entry]
    places: dict[Place, Entry]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> _Rows:
        rows = list(entries)
        return cls({each.key: each for each in rows}, {each.place: each for each in rows})


def answers_in(files: Iterable[RecordingFile]) -> dict[str, Entry]:
    """Every answer of some recordings by its key, whichever test it belongs to; the first where there are several."""
    found: dict[str, Entry] = {}
    for file in files:
        for test in file.tests:
            for entry in file.read(test).entries:
                found.setdefault(entry.key, entry)
    return found


def difference(
    old: RecordingFile, new: RecordingFile, elsewhere: Mapping[str, Entry] | None = None
) -> list[Change]:
    """What differs, in the order of the tests' names and of the files.

    Args:
        old: The recording before.
        new: The recording now.
        elsewhere: The answers before of all tests, so that a test or file that was renamed hides none.
    """
    elsewhere = answers_in([old]) if elsewhere is None else elsewhere
    changes: list[Change] = []
    for test in sorted({*old.tests, *new.tests}):
        if test not in old.tests:
            changes.append(Change(test, "added"))
            for entry in new.read(test).entries:
                changes += _moved(test, entry, elsewhere)
        elif test not in new.tests:
            changes.append(Change(test, "removed"))
        else:
            changes += _of_test(test, old.read(test), new.read(test), elsewhere)
    return changes


def _of_test(test: str, old: Recorded, new: Recorded, elsewhere: Mapping[str, Entry]) -> list[Change]:
    changes = _of_plans(test, old, new)
    before, now = _Rows.of(old.entries), _Rows.of(new.entries)
    matched: set[str] = set()
    for entry in new.entries:
        same = before.keys.get(entry.key)
        if same is not None:
            matched.add(same.key)
            changes += _of_answers(test, same, entry)
            continue
        there = before.places.get(entry.place)
        if there is None or there.key in now.keys:
            moved = _moved(test, entry, elsewhere)
            changes += moved or [Change(test, "added", entry.place, new=entry.answer)]
            continue
        matched.add(there.key)
        paths = request_difference(_wire(there.answer), _wire(entry.answer))
        changes.append(Change(test, "request", entry.place, tuple(paths), there.answer, entry.answer))
    return changes + [_gone(test, entry, new) for entry in old.entries if entry.key not in matched]


def _gone(test: str, entry: Entry, new: Recorded) -> Change:
    """An answer that is not there any more: removed, or in a line that was edited."""
    edited = new.edited_answer(entry.key)
    if edited is None:
        return Change(test, "removed", entry.place, old=entry.answer)
    line, now = edited[0], edited[1].answer
    paths = tuple(_answer_paths(entry.answer, now))
    return Change(test, "edited", entry.place, paths, entry.answer, now, line)


def _moved(test: str, entry: Entry, elsewhere: Mapping[str, Entry]) -> list[Change]:
    """How an answer that is new to a test differs from the one that another had to the same request."""
    before = elsewhere.get(entry.key)
    return (
        [] if before is None else [each for each in _of_answers(test, before, entry) if each.kind == "answer"]
    )


def _of_plans(test: str, old: Recorded, new: Recorded) -> list[Change]:
    before, now = ({_occasion(each.plan): each.plan for each in kept.plans} for kept in (old, new))
    changes: list[Change] = [
        Change(test, "replanned")
        for occasion, plan in now.items()
        if occasion in before and before[occasion].get("mutations") != plan.get("mutations")
    ]
    if not changes and _plans(old) != _plans(new):
        changes.append(Change(test, "plan"))
    return changes


def _occasion(plan: dict[str, Any]) -> str:
    """What a plan was made from: the same prompt and settings."""
    return json.dumps([plan.get("prompt"), plan.get("asked")], sort_keys=True)


def _of_answers(test: str, old: Entry, new: Entry) -> list[Change]:
    paths = _answer_paths(old.answer, new.answer)
    if paths:
        return [Change(test, "answer", new.place, tuple(paths), old.answer, new.answer)]
    if old.answer.created != new.answer.created:
        return [Change(test, "asked-again", new.place, (), old.answer, new.answer)]
    return []


def _answer_paths(old: StoredAnswer, new: StoredAnswer) -> list[str]:
    # The request too: what ignore= leaves out of the key stands there, and may have been edited.
    first, second = (
        {"request": each.request, "status": each.status, "answer": _body(each)} for each in (old, new)
    )
    return json_diff(first, second, exact=True)


def _body(answer: StoredAnswer) -> Any:
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        return answer.body


def _wire(answer: StoredAnswer) -> WireRequest:
    return WireRequest(answer.url, answer.request, answer.headers)


def _plans(recorded: Recorded) -> list[tuple[int, dict[str, Any]]]:
    return [(each.case, each.plan) for each in recorded.plans]

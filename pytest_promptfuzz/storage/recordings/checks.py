"""Recordings checked (``cache verify``: keys, checksums, credentials) and compared (``cache diff``)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_promptfuzz.errors import StoreError, TargetError, UsageError
from pytest_promptfuzz.providers.formats import parse_stream
from pytest_promptfuzz.providers.requests import WireRequest
from pytest_promptfuzz.storage.answers import request_difference, request_digest
from pytest_promptfuzz.storage.recordings.entries import (
    REFUSAL_SAMPLES,
    EditedError,
    PlanEntry,
    RecordedExchange,
    answer_to_json,
    from_line,
)
from pytest_promptfuzz.storage.recordings.files import Problem, RecordingFile, answered_twice, ordered
from pytest_promptfuzz.storage.recordings.places import BESIDE
from pytest_promptfuzz.storage.recordings.unchanged_answers import is_unchanged
from pytest_promptfuzz.storage.redaction import DEFAULT
from pytest_promptfuzz.storage.secrets import VERSIONS, Secret, secrets_in
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.json_paths import json_diff

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from pytest_promptfuzz.storage.answers import StoredAnswer
    from pytest_promptfuzz.storage.recordings.entries import CallPlace
    from pytest_promptfuzz.storage.recordings.files import RecordedTest


_KEY = expression(r"(?P<digest>[0-9a-f]{64})-\d+-\d+")


@dataclass(slots=True)
class Checked:
    """What a check of a recording found.

    Attributes:
        path: The file.
        entries: Its exchanges that can be read, in order.
        plans: Its plans.
        problems: What must not be: damage, edits, duplicates, credentials.
        notes: What may be, and is worth knowing.
    """

    path: Path
    entries: list[RecordedExchange] = field(default_factory=list)
    plans: list[PlanEntry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check(path: Path) -> Checked:
    """Check a recording, plain or ``.gz``. Nothing is raised: what is wrong with the file is a problem."""
    file = RecordingFile(path)
    checked = Checked(path)
    written: list[bytes] = []
    for test in file.tests:
        lines = file.numbered(test)
        written += [line for _, line in lines]
        _check_test(checked, test, lines)
    checked.problems = sorted({*checked.problems, *file.problems}, key=lambda each: (each.line, each.why))
    if not checked.problems and written != _in_order(checked):
        checked.notes.append(
            f"{path} is not in the order in which recordings are written, as after a merge; recording a test of it "
            "again puts that test right."
        )
    return checked


def why_not(key: str, answer: StoredAnswer) -> str:
    """Why an answer does not stand under the key of its request; nothing where it does."""
    found = _KEY.fullmatch(key)
    if found is None:
        return f"the key {key[:24]!r} is no key of an answer"
    if answer.rules not in VERSIONS:
        return (
            f"it was written under version {answer.rules} of the redaction rules, and this release knows "
            f"{', '.join(map(str, VERSIONS))}; use the release that wrote it"
        )
    try:
        digest = request_digest(
            WireRequest(answer.url, answer.request, answer.headers),
            ignore=answer.ignore,
            backend=answer.backend,
            redaction=DEFAULT.under(answer.rules),
        )
    except (UsageError, ValueError) as error:
        return f"the request cannot be read: {error}"
    except RecursionError:
        return "the request is nested too deeply to be read"
    if digest != found["digest"]:
        return "the request is not the one that was answered: its key, computed anew, is another"
    return ""


def secrets_of(answer: StoredAnswer) -> Iterator[Secret]:
    """What looks like a credential in an answer or its request; in a stream, also what its events spell together."""
    found = [
        secret
        for name, value in _shown(answer).items()
        for secret in secrets_in(value, f"$.{name}", asked=name != "answer")
    ]
    yield from found
    if answer.streamed and not any(each.path.startswith("$.answer") for each in found):
        try:
            response = parse_stream(answer.url, answer.body.encode("utf-8", "surrogatepass"))
        except (TargetError, ValueError, RecursionError):
            return
        if response is not None:
            for each in secrets_in(response.text, "$.answer (its text)", asked=False):
                yield each
                return


def _shown(answer: StoredAnswer) -> dict[str, Any]:
    value = answer_to_json("", answer)
    return {name: value[name] for name in ("url", "headers", "request", "answer") if name in value}


def _check_test(checked: Checked, test: str, lines: list[tuple[int, bytes]]) -> None:
    keys: dict[str, RecordedExchange] = {}
    cases: dict[int, tuple[int, PlanEntry]] = {}
    twice: list[int] = []
    entries: list[RecordedExchange] = []
    edited: list[RecordedExchange] = []  # said once, and not that they are missing, too
    plans: list[PlanEntry] = []

    def problem(number: int, why: str) -> None:
        checked.problems.append(Problem(checked.path, number, why))

    for number, line in lines:
        for secret in _secrets_of_line(line):
            problem(
                number,
                f"{secret.path} holds {secret.kind}. Take it out of what {test} sends, or hide it with "
                "promptfuzz_redact; record the test again, and revoke the key if the file was ever pushed.",
            )
        try:
            entry = from_line(line)
        except StoreError as error:
            problem(number, f"{error}. Record {test} again.")
            now = error.entry() if isinstance(error, EditedError) else None
            if isinstance(now, RecordedExchange):
                edited.append(now)
            continue
        if isinstance(entry, PlanEntry):
            line_of, first = cases.setdefault(entry.case, (number, entry))
            if first != entry:
                problem(
                    number, f"another plan of {test}, beside the one in line {line_of}. Record {test} again."
                )
            plans.append(entry)
            continue
        if why := why_not(entry.key, entry.answer):
            problem(number, f"{why}. Record {test} again.")
        if not is_unchanged(keys.setdefault(entry.key, entry).answer, entry.answer):
            twice.append(number)
        entries.append(entry)
    if twice:
        problem(twice[0], answered_twice(test, len(twice)))
    checked.entries += entries
    checked.plans += plans
    _check_plans(checked, test, plans, [*entries, *edited])


def _check_plans(
    checked: Checked, test: str, plans: list[PlanEntry], entries: list[RecordedExchange]
) -> None:
    planned = {each.get("id", ""): each for plan in plans for each in plan.plan["mutations"]}
    answered = {entry.place.trial for entry in entries if entry.place.trial}
    strange = sorted(answered - planned.keys() - BESIDE.keys()) if plans else []  # a search has no plan
    if strange:
        checked.problems.append(
            Problem(
                checked.path,
                0,
                f"{test} holds answers to {_few('trial', strange)}, which no plan of it names. Record the test again.",
            )
        )
    for case, samples in _samples(entries).items():
        if lost := sorted(set(range(max(samples))) - samples):
            checked.problems.append(
                Problem(
                    checked.path,
                    0,
                    f"{test} lacks {_few('sample', [*map(str, lost)])} of its unmutated prompt (input {case}), and "
                    "holds later ones: they say how far the model varies. Record the test again.",
                )
            )
    if missing := [each for each in planned if each not in answered]:
        checked.notes.append(
            f"{checked.path}: {test} holds no answer of its own to {_few('trial', missing)} of its plan. That is "
            "right only if they ask what another run asks, or nothing."
        )


def _samples(entries: list[RecordedExchange]) -> dict[int, set[int]]:
    """Which samples of the unmutated prompt stand there, by input; without those that tell what was refused."""
    found: dict[int, set[int]] = {}
    for place in (each.place for each in entries):
        if not place.trial and place.sample is not None and place.sample < REFUSAL_SAMPLES:
            found.setdefault(place.case, set()).add(place.sample)
    return found


def _few(noun: str, names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{noun}{'s' if len(names) > 1 else ''} {', '.join(names[:3])}{more}"


def _secrets_of_line(line: bytes) -> list[Secret]:
    """What looks like a credential anywhere in a line, whether or not the line can be used."""
    try:
        return _looked_into(line)
    except RecursionError:
        return [Secret("the line", "values nested too deeply to be searched for credentials")]


def _looked_into(line: bytes) -> list[Secret]:
    try:
        entry = from_line(line)
        if isinstance(entry, RecordedExchange):
            return [*secrets_of(entry.answer), *secrets_in({"test": entry.test})]
        return list(secrets_in({"test": entry.test, "plan": entry.plan}))
    except StoreError:
        try:
            return list(secrets_in(json.loads(line)))
        except (ValueError, RecursionError):
            return list(secrets_in(line.decode("utf-8", "replace"), "the line"))


def _in_order(checked: Checked) -> list[bytes]:
    tests = sorted({each.test for each in checked.plans} | {each.test for each in checked.entries})
    return [
        line
        for test in tests
        for line in ordered(
            [each for each in checked.plans if each.test == test],
            [each for each in checked.entries if each.test == test],
        )
    ]


# What differs between two recordings: by test, so that a pull request cannot quietly edit answers.


Kind = Literal[
    "added", "removed", "edited", "answer", "asked-again", "request", "plan", "replanned", "renamed"
]


class RecordingChange(NamedTuple):
    """One difference.

    Attributes:
        test: The test, as pytest names it within its module.
        kind: ``added`` or ``removed`` (an exchange, or a whole test where ``place`` is ``None``), ``edited`` (the line
            was changed by hand and is not used; ``new`` is what stands there), ``answer`` (the same
            request is answered otherwise), ``asked-again`` (answered the same at another time), ``request`` (another
            request in the same place), ``plan`` (of another prompt or other settings), ``replanned`` (other mutations
            of the same prompt under the same settings), ``renamed`` (a test that asks
            what another one asked, which is gone).
        place: Which call of the test.
        paths: JSON paths at which answer or request differ.
        old: The answer before, if there was one.
        new: The answer now, if there is one.
        line: Of the file now, where it was edited.
        former: What the test was called, where it was renamed.
    """

    test: str
    kind: Kind
    place: CallPlace | None = None
    paths: tuple[str, ...] = ()
    old: StoredAnswer | None = None
    new: StoredAnswer | None = None
    line: int = 0
    former: str = ""


@dataclass(frozen=True, slots=True)
class _Rows:
    """The entries of one test, by key and by place."""

    keys: dict[str, RecordedExchange]
    places: dict[CallPlace, RecordedExchange]

    @classmethod
    def of(cls, entries: Iterable[RecordedExchange]) -> _Rows:
        rows = list(entries)
        return cls({each.key: each for each in rows}, {each.place: each for each in rows})


def answers_in(files: Iterable[RecordingFile]) -> dict[str, RecordedExchange]:
    """Every answer of some recordings by its key, whichever test it belongs to; the first where there are several."""
    found: dict[str, RecordedExchange] = {}
    for file in files:
        for test in file.tests:
            for entry in file.read(test).entries:
                found.setdefault(entry.key, entry)
    return found


def difference(
    old: RecordingFile, new: RecordingFile, elsewhere: Mapping[str, RecordedExchange] | None = None
) -> list[RecordingChange]:
    """What differs, in the order of the tests' names and of the files.

    Args:
        old: The recording before.
        new: The recording now.
        elsewhere: The answers before of all tests, so that a test or file that was renamed hides none.
    """
    elsewhere = answers_in([old]) if elsewhere is None else elsewhere
    changes: list[RecordingChange] = []
    for test in sorted({*old.tests, *new.tests}):
        if test not in old.tests:
            changes.append(RecordingChange(test, "added"))
            for entry in new.read(test).entries:
                changes += _moved(test, entry, elsewhere)
        elif test not in new.tests:
            changes.append(RecordingChange(test, "removed"))
        else:
            changes += _of_test(test, old.read(test), new.read(test), elsewhere)
    return changes


def _of_test(
    test: str, old: RecordedTest, new: RecordedTest, elsewhere: Mapping[str, RecordedExchange]
) -> list[RecordingChange]:
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
            changes += moved or [RecordingChange(test, "added", entry.place, new=entry.answer)]
            continue
        matched.add(there.key)
        paths = request_difference(_wire(there.answer), _wire(entry.answer))
        changes.append(
            RecordingChange(test, "request", entry.place, tuple(paths), there.answer, entry.answer)
        )
    return changes + [_gone(test, entry, new) for entry in old.entries if entry.key not in matched]


def _gone(test: str, entry: RecordedExchange, new: RecordedTest) -> RecordingChange:
    """An answer that is not there any more: removed, or in a line that was edited."""
    edited = new.edited_answer(entry.key)
    if edited is None:
        return RecordingChange(test, "removed", entry.place, old=entry.answer)
    line, now = edited[0], edited[1].answer
    paths = tuple(_answer_paths(entry.answer, now))
    return RecordingChange(test, "edited", entry.place, paths, entry.answer, now, line)


def _moved(
    test: str, entry: RecordedExchange, elsewhere: Mapping[str, RecordedExchange]
) -> list[RecordingChange]:
    """How an answer that is new to a test differs from the one that another had to the same request."""
    before = elsewhere.get(entry.key)
    return (
        [] if before is None else [each for each in _of_answers(test, before, entry) if each.kind == "answer"]
    )


def _of_plans(test: str, old: RecordedTest, new: RecordedTest) -> list[RecordingChange]:
    before, now = ({_occasion(each.plan): each.plan for each in kept.plans} for kept in (old, new))
    changes: list[RecordingChange] = [
        RecordingChange(test, "replanned")
        for occasion, plan in now.items()
        if occasion in before and before[occasion].get("mutations") != plan.get("mutations")
    ]
    if not changes and _plans(old) != _plans(new):
        changes.append(RecordingChange(test, "plan"))
    return changes


def _occasion(plan: dict[str, Any]) -> str:
    """What a plan was made from: the same prompt and settings."""
    return json.dumps([plan.get("prompt"), plan.get("asked")], sort_keys=True)


def _of_answers(test: str, old: RecordedExchange, new: RecordedExchange) -> list[RecordingChange]:
    paths = _answer_paths(old.answer, new.answer)
    if paths:
        return [RecordingChange(test, "answer", new.place, tuple(paths), old.answer, new.answer)]
    if old.answer.created != new.answer.created:
        return [RecordingChange(test, "asked-again", new.place, (), old.answer, new.answer)]
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


def _plans(recorded: RecordedTest) -> list[tuple[int, dict[str, Any]]]:
    return [(each.case, each.plan) for each in recorded.plans]

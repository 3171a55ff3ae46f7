"""Is a recording what was recorded? Every line is read, every key computed anew, and no credential may stand in it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import StoreError, TargetError, UsageError
from pytest_promptfuzz.targets.formats import parse_stream
from pytest_promptfuzz.targets.model import WireRequest
from pytest_promptfuzz.wire.key import request_digest
from pytest_promptfuzz.wire.recordings.entry import EditedError, Entry, PlanEntry, answer_to_json, from_line
from pytest_promptfuzz.wire.recordings.part import BESIDE
from pytest_promptfuzz.wire.recordings.reading import Problem, RecordingFile
from pytest_promptfuzz.wire.recordings.writing import ordered
from pytest_promptfuzz.wire.redact import DEFAULT
from pytest_promptfuzz.wire.secrets import VERSIONS, Secret, secrets_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_promptfuzz.wire.answers import StoredAnswer

_KEY = re.compile(r"(?P<digest>[0-9a-f]{64})-\d+-\d+")


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
    entries: list[Entry] = field(default_factory=list)
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
    keys: dict[str, int] = {}
    cases: dict[int, int] = {}
    entries: list[Entry] = []
    edited: list[Entry] = []  # said once, and not that they are missing, too
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
            if isinstance(now, Entry):
                edited.append(now)
            continue
        if isinstance(entry, PlanEntry):
            if (first := cases.setdefault(entry.case, number)) != number:
                problem(
                    number, f"another plan of {test}, beside the one in line {first}. Record the test again."
                )
            plans.append(entry)
            continue
        if why := why_not(entry.key, entry.answer):
            problem(number, f"{why}. Record {test} again.")
        if (first := keys.setdefault(entry.key, number)) != number:
            problem(number, f"the answer in line {first} stands here once more. Record {test} again.")
        entries.append(entry)
    checked.entries += entries
    checked.plans += plans
    _check_plans(checked, test, plans, [*entries, *edited])


def _check_plans(checked: Checked, test: str, plans: list[PlanEntry], entries: list[Entry]) -> None:
    planned = {each.get("id", ""): each for plan in plans for each in plan.plan["mutations"]}
    answered = {entry.place.trial for entry in entries if entry.place.trial}
    if strange := sorted(answered - planned.keys() - BESIDE.keys()):
        checked.problems.append(
            Problem(
                checked.path,
                0,
                f"{test} holds answers to {_trials(strange)}, which no plan of it names. Record the test again.",
            )
        )
    for case, samples in _samples(entries).items():
        if lost := sorted(set(range(max(samples))) - samples):
            checked.problems.append(
                Problem(
                    checked.path,
                    0,
                    f"{test} lacks sample {', '.join(map(str, lost))} of its unmutated prompt (input {case}), and "
                    "holds later ones: they say how far the model varies. Record the test again.",
                )
            )
    if missing := [each for each in planned if each not in answered]:
        checked.notes.append(
            f"{checked.path}: {test} holds no answer of its own to {_trials(missing)} of its plan. That is right only "
            "if they ask what another run asks, or nothing."
        )


def _samples(entries: list[Entry]) -> dict[int, set[int]]:
    """Which samples of the unmutated prompt stand there, by input."""
    found: dict[int, set[int]] = {}
    for place in (each.place for each in entries):
        if not place.trial and place.sample is not None:
            found.setdefault(place.case, set()).add(place.sample)
    return found


def _trials(trials: list[str]) -> str:
    more = f" and {len(trials) - 3} more" if len(trials) > 3 else ""
    return f"trial{'s' if len(trials) > 1 else ''} {', '.join(trials[:3])}{more}"


def _secrets_of_line(line: bytes) -> list[Secret]:
    """What looks like a credential anywhere in a line, whether or not the line can be used."""
    try:
        return _looked_into(line)
    except RecursionError:
        return [Secret("the line", "values nested too deeply to be searched for credentials")]


def _looked_into(line: bytes) -> list[Secret]:
    try:
        entry = from_line(line)
        if isinstance(entry, Entry):
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

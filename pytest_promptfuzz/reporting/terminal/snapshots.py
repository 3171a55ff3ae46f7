"""``promptfuzz snapshot`` in the terminal: what was accepted of a test, and what differs between two states of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.history.entries import outcomes_of
from pytest_promptfuzz.reporting.phrases import number
from pytest_promptfuzz.reporting.terminal.rows import LABELLED, changed_lines, diff_lines, row
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, Line, Piece, Style, named
from pytest_promptfuzz.text.safe_text import safe
from pytest_promptfuzz.text.word_diffs import word_diff
from pytest_promptfuzz.wording.diffs import answer_rows, answer_text, plain_text
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.history.snapshot_changes import SnapshotAnswerChange, SnapshotChange, TrialChange
    from pytest_promptfuzz.history.snapshots import Sample, Snapshot
    from pytest_promptfuzz.results.counterexamples import KnownCounterexample

_OF_LETTER: dict[str, Style] = {"E": "good", "M": "warn", "D": "bad"}
_STATUS: dict[str, Style] = {"added": "good", "removed": "bad", "changed": "warn", "same": "plain"}
_INPUTS = {
    "added": "added",
    "removed": "removed",
    "text": "another text of the prompt",
    "sent": "what is sent with the prompt changed",
}
_RANKS = "?EMD"
_MOST = 20
"""Trials that are new, or gone, are named up to so many of each."""


def listed_lines(found: Mapping[str, Snapshot]) -> list[Line]:
    """A line for each snapshot, by node ID."""
    return [named(_flat(test), _summary(each), style="plain") for test, each in found.items()]


def snapshot_lines(test: str, snapshot: Snapshot, path: str, *, width: int) -> list[Line]:
    """All that a snapshot says, for people.

    Args:
        test: Its node ID.
        snapshot: It.
        path: Where it lies.
        width: Columns it will be rendered to.
    """
    lines = [named(_flat(test), _summary(snapshot)), row("file", [(_flat(path), "dim")])]
    asked = [each for each in (snapshot.target, snapshot.model) if each]
    lines += [row("model", [(_flat(", answered by ".join(asked)), "plain")])] if asked else []
    lines.append(row("prompt", [(safe(snapshot.prompt), "plain")]))
    several = len(snapshot.inputs) > 1
    for each in snapshot.inputs:
        if several:
            lines.append(row("input", [(_flat(each.name), "heading")]))
        if each.text is not None:
            lines.append(row("prompt", [(safe(each.text), "plain")]))
        lines += [row("answer" if not nth else "", _sample(one)) for nth, one in enumerate(each.answers)]
        lines += _trials(snapshot, each.name)
    if snapshot.compared:
        said = ", ".join(f"{name} {_value(value)}" for name, value in sorted(snapshot.compared.items()))
        lines.append(row("compared", [(_flat(said), "dim")]))
    for _, known in snapshot.pinned():
        lines += _counterexample(known, width - LABELLED, "pinned")
    return lines


def change_lines(changes: Iterable[SnapshotChange], *, width: int) -> list[Line]:
    """What became of each test that is not as it was, and how many there are of each kind.

    Args:
        changes: All tests.
        width: Columns it will be rendered to.
    """
    every = list(changes)
    lines = [line for each in every if each.differs for line in _changed(each, width - LABELLED)]
    kinds = Counter("renamed" if each.former and each.status == "same" else each.status for each in every)
    same = kinds.pop("same", 0)
    if not lines:
        return [[(f"No difference in {counted(same, 'snapshot')}.", "good")]]
    said = ", ".join(
        f"{kinds[kind]} {kind}" for kind in ("changed", "added", "removed", "renamed") if kinds[kind]
    )
    rest = f"; {same} the same" if same else ""
    return [*lines, [(f"{counted(sum(kinds.values()), 'snapshot')}: {said}{rest}.", "plain")]]


def _summary(snapshot: Snapshot) -> str:
    score = "" if snapshot.score is None else f", score {number(snapshot.score, against=snapshot.threshold)}"
    return f"{snapshot.verdict}{score}, threshold {number(snapshot.threshold)}"


def _sample(one: Sample) -> list[Piece]:
    return [(f"{one.times}× ", "dim"), HANG, (answer_text(one.answer), "plain"), *_check(one)]


def _check(one: Sample) -> list[Piece]:
    return [(" (the test's own check failed)", "bad")] if one.failed else []


def _trials(snapshot: Snapshot, case: str) -> Iterator[Line]:
    """The trials of an input, those that deviate first."""
    letters = snapshot.trials.get(case, {})
    labelled = snapshot.labelled(case)
    labelled.sort(key=lambda each: -max(map(_RANKS.index, letters[each[1]]), default=0))
    for nth, (label, trial) in enumerate(labelled):
        yield row(
            "trials" if not nth else "",
            [(f"{_outcomes(letters[trial])}  ", _style(letters[trial])), HANG, (_flat(label), "plain")],
        )


def _counterexample(known: KnownCounterexample, room: int, label: str) -> list[Line]:
    """The line of the prompt before and after, both answers, and how it fails."""
    found = known.found
    one, other = answer_rows(found.baseline, found.answer, room)
    return [
        row(label, [(_flat(" + ".join(found.mutation.operators)), "plain"), (f" ({known.id})", "dim")]),
        *changed_lines(found.mutation.diff(), room),
        row("baseline", [(one, "plain")]),
        row("response", [(other, "plain")]),
        row("why", [(safe(found.failure), "bad")]),
    ]


def _changed(change: SnapshotChange, room: int) -> Iterator[Line]:
    said = "renamed" if change.former and change.status == "same" else change.status
    yield named(_flat(change.test), said, style=_STATUS[change.status])
    if change.former:
        yield row("was", [(_flat(change.former), "plain")])
    for name, values in change.fields.items():
        yield row(name, _pair(*map(_value, values)))
    if change.prompt is not None:
        yield from diff_lines(word_diff(*change.prompt))
    for what, names in change.inputs.items():
        yield row("input", [(f"{_flat(', '.join(names))}: {_INPUTS[what]}", "plain")])
    cases = [each.case for each in change.answers] + [each.case for each in change.trials]
    several = len({*cases}) > 1
    for answer in change.answers:
        yield from _answer(answer, room, several=several)
    yield from _trial_changes(change.trials, several=several)
    for name, values in change.compared.items():
        yield row("compared", [(f"{_flat(name)} ", "plain"), *_pair(*map(_value, values))])
    if any(change.operators):
        gone, came = (_flat(", ".join(each)) for each in change.operators)
        yield row("operators", _pair(gone, came))
    for label, pinned in zip(("unpinned", "pinned"), change.counterexamples, strict=True):
        for _, known in pinned:
            yield from _counterexample(known, room, label)


def _answer(change: SnapshotAnswerChange, room: int, *, several: bool) -> Iterator[Line]:
    """An answer as it was and as it is, the words that differ marked."""
    before, now = change.before, change.now
    where: list[Piece] = [(f" (input {_flat(change.case)})", "dim")] if several else []
    if before is None or now is None:
        if now is not None:
            yield row("answer", [(answer_text(now.answer), "added"), (f" {now.times}×", "dim"), *where])
        elif before is not None:
            yield row(
                "answer", [(answer_text(before.answer), "removed"), (f" {before.times}×", "dim"), *where]
            )
        return
    if before.answer == now.answer:
        yield row("answer", [*_sample(before), (f" → {now.times}×", "dim"), *_check(now), *where])
        return
    lines = _diffed(plain_text(before.answer), plain_text(now.answer), room)
    yield [*lines[0], *_check(now), *where]
    yield from lines[1:]


def _diffed(before: str, now: str, room: int) -> list[Line]:
    """Two texts in one, or, where they share no word, one after the other."""
    pieces = word_diff(before, now)
    if any(sign == "=" and text.strip() for sign, text in pieces):
        return diff_lines(pieces, label="answer")
    one, other = answer_rows(before, now, room)
    return [row("answer", [(one, "removed"), (" → ", "dim"), (other, "added")])]


def _trial_changes(changes: Sequence[TrialChange], *, several: bool) -> Iterator[Line]:
    """Trials that came to something else, then those that are new and those that are gone."""
    for each in changes:
        if each.before and each.now:
            yield row(
                "trial",
                [
                    (_flat(each.trial), "plain"),
                    (f" (input {_flat(each.case)})" if several else "", "dim"),
                    (": ", "plain"),
                    (_outcomes(each.before), _style(each.before)),
                    (" → ", "dim"),
                    (_outcomes(each.now), _style(each.now)),
                ],
            )
    styles: tuple[Style, Style] = ("removed", "added")
    for style in styles:
        those = [each for each in changes if not (each.now if style == "removed" else each.before)]
        if those:
            yield row(style, [(f"{counted(len(those), 'trial')}:", "plain")])
        for each in those[:_MOST]:
            outcome = _outcomes(each.before or each.now)
            yield row("", [(_flat(each.trial), style), (f" {outcome}", _style(each.before or each.now))])
        if len(those) > _MOST:
            yield row("", [(f"… and {counted(len(those) - _MOST, 'more trial')}", "dim")])


def _outcomes(letters: str) -> str:
    """What the samples of a trial came to: a word, or how often each came.

    >>> _outcomes("E"), _outcomes("EDD")
    ('equivalent', '1 equivalent, 2 deviation')
    """
    words = outcomes_of({"": {"": letters}}).values()
    counts = Counter(words)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{times} {word}" for word, times in counts.items())


def _style(letters: str) -> Style:
    return _OF_LETTER.get(max(letters, key=_RANKS.index, default="?"), "dim")


def _pair(before: str, now: str) -> list[Piece]:
    return [(before or "(none)", "plain"), (" → ", "dim"), (now or "(none)", "plain")]


def _value(value: Any) -> str:
    if isinstance(value, list):
        return " > ".join(map(str, value))
    return number(value) if isinstance(value, float) else "" if value is None else _flat(str(value))


def _flat(text: str) -> str:
    return safe(text).replace("\n", "⏎")

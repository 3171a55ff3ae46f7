"""How the snapshots of a project differ between two states of it, test by test: figures and texts, no sentences."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_promptfuzz.history.bases import entry_of
from pytest_promptfuzz.history.former_names import asking_the_same, former_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_promptfuzz.history.snapshots import Sample, Snapshot
    from pytest_promptfuzz.results.counterexamples import KnownCounterexample

    Pinned = tuple[dict[str, Any], KnownCounterexample]

FIELDS = ("verdict", "score", "threshold", "target", "model")
"""What a snapshot says of its test in one value each."""


class SnapshotAnswerChange(NamedTuple):
    """An answer to the unmutated prompt of an input that is another one now.

    Attributes:
        case: The input's name.
        before: The answer that it took the place of; ``None`` where it came in addition.
        now: The new one; ``None`` where the old one does not come any more.
    """

    case: str
    before: Sample | None
    now: Sample | None


class TrialChange(NamedTuple):
    """A trial that came to something else, is new, or is not in the plan any more.

    Attributes:
        case: The input's name.
        trial: What it is called.
        before: Its outcomes, a letter for each sample; empty for a new one.
        now: Those of today; empty where it is gone.
    """

    case: str
    trial: str
    before: str
    now: str


class SnapshotChange(NamedTuple):
    """What differs between two snapshots of a test.

    Attributes:
        test: Its node ID.
        status: What became of it.
        former: The node ID that it had, where that is another one.
        fields: By name, the old and the new value of what has one value: see ``FIELDS``.
        prompt: The old and the new text of the prompt; ``None`` where it is the same.
        inputs: By what became of them (``added``, ``removed``, ``sent``, ``text``), the names of inputs.
        answers: Those that changed.
        trials: Those that changed.
        compared: By name, the old and the new way to compare answers.
        operators: The operators that are only in the old, and only in the new one, with their versions.
        counterexamples: Those that are not pinned any more, and those that are new; see ``Snapshot.pinned``.
    """

    test: str
    status: Literal["changed", "added", "removed", "same"]
    former: str = ""
    fields: Mapping[str, tuple[Any, Any]] = {}
    prompt: tuple[str, str] | None = None
    inputs: Mapping[str, list[str]] = {}
    answers: Sequence[SnapshotAnswerChange] = ()
    trials: Sequence[TrialChange] = ()
    compared: Mapping[str, tuple[Any, Any]] = {}
    operators: tuple[Sequence[str], Sequence[str]] = ((), ())
    counterexamples: tuple[Sequence[Pinned], Sequence[Pinned]] = ((), ())

    @property
    def differs(self) -> bool:
        """Whether anything is not as it was, its name included."""
        return self.status != "same" or bool(self.former)


def snapshot_changes(before: Mapping[str, Snapshot], now: Mapping[str, Snapshot]) -> list[SnapshotChange]:
    """What became of each test, in the order of their names.

    Args:
        before: The old snapshots, by node ID.
        now: The new ones.
    """
    old, new = ({test: entry_of(test, each) for test, each in those.items()} for those in (before, now))
    known = asking_the_same(
        {test: each.asked for test, each in before.items() if test not in now},
        {test: each.asked for test, each in now.items() if test not in before},
    )
    names = former_names(old, new, gone=lambda test: test not in now, known=known)
    found = [
        _change(test, before.get(names.get(test, test)), each, names.get(test, ""))
        for test, each in now.items()
    ]
    left = before.keys() - now.keys() - set(names.values())
    found += [SnapshotChange(test, "removed") for test in left]
    return sorted(found, key=lambda each: each.test)


def _change(test: str, before: Snapshot | None, now: Snapshot, former: str) -> SnapshotChange:
    if before is None:
        return SnapshotChange(test, "added")
    fields = _unequal(
        {name: getattr(before, name) for name in FIELDS}, {name: getattr(now, name) for name in FIELDS}
    )
    old, new = before.pinned(), now.pinned()
    change = SnapshotChange(
        test,
        "changed",
        former,
        fields,
        None if before.prompt == now.prompt else (before.prompt, now.prompt),
        _inputs(before, now),
        [*_answers(before, now)],
        [*_trials(before, now)],
        _unequal(before.compared, now.compared),
        (sorted({*before.operators} - {*now.operators}), sorted({*now.operators} - {*before.operators})),
        (_without(old, new), _without(new, old)),
    )
    same = not any([*change[3:9], *change.operators, *change.counterexamples])
    return SnapshotChange(test, "same", former) if same else change


def _without(pinned: Sequence[Pinned], others: Sequence[Pinned]) -> list[Pinned]:
    """The counterexamples that others do not have in the same words."""
    known = [value for value, _ in others]
    return [each for each in pinned if each[0] not in known]


def _unequal(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What has another value now, by its name; ``None`` stands for none."""
    names = dict.fromkeys([*before, *now])
    return {name: (before.get(name), now.get(name)) for name in names if before.get(name) != now.get(name)}


def _inputs(before: Snapshot, now: Snapshot) -> dict[str, list[str]]:
    """What became of the inputs, by what it was.

    What is sent with a prompt is told apart only where the prompt is the same: its digest is over the prompt, too.
    """
    old, new = ({each.name: each for each in one.inputs} for one in (before, now))
    both = [(old[name], new[name]) for name in new if name in old]
    found = {
        "added": [name for name in new if name not in old],
        "removed": [name for name in old if name not in new],
        "text": [one.name for one, other in both if one.text != other.text],
        "sent": [one.name for one, other in both if one.prompt == other.prompt and one.sent != other.sent],
    }
    return {what: names for what, names in found.items() if names}


def _answers(before: Snapshot, now: Snapshot) -> Iterator[SnapshotAnswerChange]:
    """The answers of inputs that both have, the nth that went beside the nth that came."""
    old = {each.name: each.answers for each in before.inputs}
    for each in now.inputs:
        if each.name not in old:
            continue
        gone = [one for one in old[each.name] if one not in each.answers]
        came = [one for one in each.answers if one not in old[each.name]]
        # The same answer, more or less often, stands beside itself.
        for one in list(gone):
            again = next((other for other in came if other._replace(times=one.times) == one), None)
            if again is not None:
                gone.remove(one)
                came.remove(again)
                yield SnapshotAnswerChange(each.name, one, again)
        for old_one, new_one in zip_longest(gone, came):
            yield SnapshotAnswerChange(each.name, old_one, new_one)


def _trials(before: Snapshot, now: Snapshot) -> Iterator[TrialChange]:
    """The trials of inputs that both have, by what they are called; by their IDs where one side has no names."""
    labelled = bool(before.labels) and bool(now.labels)
    for case in now.trials:
        if case not in before.trials:
            continue
        old, new = (_outcomes(one, case, labelled=labelled) for one in (before, now))
        for trial in dict.fromkeys([*old, *new]):
            if old.get(trial, "") != new.get(trial, ""):
                called = trial if labelled else (now.labels or before.labels).get(case, {}).get(trial, trial)
                yield TrialChange(case, called, old.get(trial, ""), new.get(trial, ""))


def _outcomes(snapshot: Snapshot, case: str, *, labelled: bool) -> dict[str, str]:
    letters = snapshot.trials[case]
    return {label: letters[trial] for label, trial in snapshot.labelled(case)} if labelled else dict(letters)

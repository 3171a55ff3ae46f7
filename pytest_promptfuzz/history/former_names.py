"""Tests that have another name than in the base, paired with what the base knows of them by their prompt."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pytest_promptfuzz.history.entries import HistoryEntry


def former_names(
    before: Mapping[str, HistoryEntry],
    now: Mapping[str, HistoryEntry],
    gone: Callable[[str], bool],
    known: Mapping[str, str],
) -> dict[str, str]:
    """The names that tests of a run have in its base, where those are others.

    A pair is taken only where no other fits as well.

    Args:
        before: The base's tests, by name.
        now: The run's.
        gone: Tells whether no test has a name any more.
        known: Former names that are known from snapshots and recordings.
    """
    found = {test: name for test, name in known.items() if test in now and name in before}
    taken = set(found.values())
    free = [
        test
        for test in before
        if test not in taken and (gone(test) or (test in now and _prompt(before, test) != _prompt(now, test)))
    ]
    for test in now:
        other = test in before and _prompt(before, test) == _prompt(now, test)
        if test in found or other or not _prompt(now, test):
            continue
        alike = [name for name in free if name != test and _prompt(before, name) == _prompt(now, test)]
        if (
            test in before
        ):  # its own name stands for another test now: only other parameters of its own are meant
            alike = [name for name in alike if _function(name) == _function(test)]
        name = _likest(alike, test)
        rivals = [
            each
            for each in now
            if each not in found
            and _prompt(now, each) == _prompt(now, test)
            and not (each in before and _prompt(before, each) == _prompt(now, each))
        ]
        if name is not None and _likest(rivals, name) == test:
            found[test] = name
            free.remove(name)
    return found


def asking_the_same(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Tests of today, each with the one of before that asks the same, where no other asks it.

    Args:
        before: What tests asked, by name.
        now: What others ask.

    >>> asking_the_same({"test_a": "x", "test_b": "y"}, {"test_c[1]": "x", "test_c[2]": "z"})
    {'test_c[1]': 'test_a'}
    """
    then, today = Counter(before.values()), Counter(now.values())
    names = {asked: test for test, asked in before.items()}
    return {test: names[asked] for test, asked in now.items() if then[asked] == today[asked] == 1}


def renamed(before: Mapping[str, HistoryEntry], names: Mapping[str, str]) -> dict[str, HistoryEntry]:
    """The base's tests under the names that they have now.

    Args:
        before: By the names that they had.
        names: Those, by the names of today.
    """
    left = {test: entry for test, entry in before.items() if test not in names.values() and test not in names}
    return {**left, **{test: before[name] for test, name in names.items()}}


def _prompt(entries: Mapping[str, HistoryEntry], test: str) -> str:
    return entries[test]["prompt"]


def _function(test: str) -> str:
    return test.partition("[")[0]


def _parameters(test: str) -> str:
    return test.partition("[")[2]


def _likest(found: Iterable[str], test: str) -> str | None:
    """The only one of some names that is most like a test's; ``None`` where several are."""
    ranked: dict[tuple[bool, bool, bool], list[str]] = {}
    for name in found:
        function = _function(name).rpartition("::")[2] == _function(test).rpartition("::")[2]
        module = name.partition("::")[0] == test.partition("::")[0]
        likeness = (
            not (function and module),
            _parameters(name) != _parameters(test),
            not (function or module),
        )
        ranked.setdefault(likeness, []).append(name)
    best = ranked[min(ranked)] if ranked else []
    return best[0] if len(best) == 1 else None

"""Tests that have another name than in the base, paired with what the base knows of them by their prompt."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from pytest_promptfuzz.history.entries import HistoryEntry


def former_names(
    before: Mapping[str, HistoryEntry],
    now: Mapping[str, HistoryEntry],
    gone: Callable[[str], bool],
    known: Mapping[str, str],
) -> dict[str, str]:
    """The names that tests of a run have in its base, where those are others.

    A pair is taken only where no other fits as well. A test that asks in the base what it asks now keeps its own name.

    Args:
        before: The base's tests, by name.
        now: The run's.
        gone: Tells whether no test has a name any more.
        known: Former names that are known from snapshots and recordings.
    """
    new = [test for test in now if not keeps_name(test, before, now[test]["prompt"])]
    if not new:
        return {}
    free = {
        test
        for test in before
        if gone(test) or (test in now and not keeps_name(test, before, now[test]["prompt"]))
    }
    claims = Counter(known.get(test) for test in new)
    found = {test: name for test in new if (name := known.get(test)) in free and claims[name] == 1}
    free -= set(found.values())
    left = _by_prompt({test: before[test]["prompt"] for test in free})
    asking = _by_prompt({test: now[test]["prompt"] for test in set(new) - found.keys()})
    for test in new:
        prompt = now[test]["prompt"]
        if test in found or not prompt or prompt not in left:
            continue
        # Its own name may stand for another test now: then only other parameters of its own are meant.
        name = left[prompt].parameter(test) if test in before else left[prompt].likest(test)
        if name is not None and asking[prompt].likest(name) == test:
            found[test] = name
            left[prompt].discard(name)
            asking[prompt].discard(test)
    return found


def asking_the_same(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Tests of today, each with the one of before that asks the same; of several, the one that has the likest name.

    A pair is taken where both are likest to each other, and no other is as like; then what is left is looked at again.

    Args:
        before: What tests asked, by name; empty where that is not known.
        now: What others ask.

    >>> asking_the_same({"test_a": "x", "test_b": "y"}, {"test_c[1]": "x", "test_c[2]": "z"})
    {'test_c[1]': 'test_a'}
    >>> asking_the_same({"t::a": "x", "t::b": "x"}, {"u::b": "x", "t::c[1]": "x"})
    {'u::b': 't::b', 't::c[1]': 't::a'}
    """
    left = _by_prompt(before)
    asking = _by_prompt({test: asked for test, asked in now.items() if asked and asked in left})
    found: dict[str, str] = {}

    def likest() -> dict[str, str]:
        return {
            test: name
            for test, asked in now.items()
            if asked in asking
            and test not in found
            and (name := left[asked].likest(test)) is not None
            and asking[asked].likest(name) == test
        }

    while new := likest():
        for test, name in new.items():
            left[now[test]].discard(name)
            asking[now[test]].discard(test)
        found |= new
    return found


def keeps_name(test: str, before: Mapping[str, HistoryEntry], prompt: str) -> bool:
    """Whether the base has a test under its own name, as far as the digest of its prompt tells."""
    return test in before and before[test]["prompt"] in {"", prompt}


class BaseTests:
    """The tests of a base, among which a test looks for its former name while the run goes on.

    Args:
        before: The base's tests, by name.
        gone: Tells whether no test has a name any more.
    """

    def __init__(self, before: Mapping[str, HistoryEntry], gone: Callable[[str], bool]) -> None:
        self._before = before
        self._every = _by_prompt({test: entry["prompt"] for test, entry in before.items()})
        self._gone = _by_prompt({test: before[test]["prompt"] for test in filter(gone, before)})

    def former_name(self, test: str, prompt: str, known: str) -> str:
        """The name that a test may have in the base; only the whole run tells whether another test has it still.

        Args:
            test: It.
            prompt: The digest of its prompt.
            known: Its former name by its snapshot or recording; empty where that has its own.
        """
        if keeps_name(test, self._before, prompt):
            return test
        if known in self._before:
            return known
        alike = (self._every if test in self._before else self._gone).get(prompt)
        if not prompt or alike is None:
            return test
        return (alike.parameter(test) if test in self._before else alike.likest(test)) or test


def renamed(before: Mapping[str, HistoryEntry], names: Mapping[str, str]) -> dict[str, HistoryEntry]:
    """The base's tests under the names that they have now.

    Args:
        before: By the names that they had.
        names: Those, by the names of today.
    """
    left = {test: entry for test, entry in before.items() if test not in names.values() and test not in names}
    return {**left, **{test: before[name] for test, name in names.items()}}


Place = tuple["str | None", "str | None", "str | None"]


class _Names:
    """Names of tests of one prompt, found by the function, module and parameters that they share with another one."""

    def __init__(self) -> None:
        self._alike: dict[Place, set[str]] = {}
        self._own: dict[str, set[str]] = {}

    def add(self, name: str) -> None:
        self._own.setdefault(name.partition("[")[0], set()).add(name)
        for places in _places(name):
            for place in places:
                self._alike.setdefault(place, set()).add(name)

    def discard(self, name: str) -> None:
        self._own[name.partition("[")[0]].discard(name)
        for places in _places(name):
            for place in places:
                self._alike[place].discard(name)

    def parameter(self, test: str) -> str | None:
        """The only one that differs from a test's in nothing but its parameters."""
        return _only(self._own.get(test.partition("[")[0], ()))

    def likest(self, test: str) -> str | None:
        """The only one that is most like a test's; ``None`` where several are."""
        for places in _places(test):
            if found := [names for place in places if (names := self._alike.get(place))]:
                return (
                    _only(found[0]) if len(found) == 1 else None
                )  # no name is in both: it would be more alike
        return None


def _only(names: Collection[str]) -> str | None:
    return next(iter(names)) if len(names) == 1 else None


def _places(test: str) -> tuple[tuple[Place, ...], ...]:
    """What names that are like a test's have in common with it, those likest to it first."""
    from pytest_promptfuzz.text.node_ids import function_of

    function, module, parameters = function_of(test), test.partition("::")[0], test.partition("[")[2]
    return (
        ((function, module, parameters),),
        ((function, module, None),),
        ((function, None, parameters), (None, module, parameters)),
        ((None, None, parameters),),
        ((function, None, None), (None, module, None)),
        ((None, None, None),),
    )


def _by_prompt(prompts: Mapping[str, str]) -> dict[str, _Names]:
    found: dict[str, _Names] = {}
    for test, prompt in prompts.items():
        found.setdefault(prompt, _Names()).add(test)
    return found

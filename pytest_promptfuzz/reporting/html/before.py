"""What is known of tests from before, test by test: how each compares with its base, and its earlier results.

In a merged report several tests may have one name, each with another target.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.history.changes import ChangeReport, ChangesReport, PointReport, TrendsReport
    from pytest_promptfuzz.reporting.document import DocumentTest


def changes_of(tests: Sequence[DocumentTest], found: ChangesReport | None) -> list[ChangeReport | None]:
    """The change of each test; of several of one name that of the one with its target."""
    known = {change_key(each): each for each in found["tests"]} if found else {}
    times = Counter(each["test"] for each in tests)
    by_name = {test: each for (test, _), each in known.items() if times[test] == 1}
    return [known.get((each["test"], each["target"])) or by_name.get(each["test"]) for each in tests]


def change_key(change: ChangeReport) -> tuple[str, str]:
    """The test and its target; reports of older versions do not say which."""
    return change["test"], change.get("target", "")


def points_of(tests: Sequence[DocumentTest], found: TrendsReport | None) -> list[list[PointReport]]:
    """The earlier results of each test; none of several of one name."""
    times = Counter(each["test"] for each in tests)
    known = found["tests"] if found else {}
    return [known.get(each["test"], []) if times[each["test"]] == 1 else [] for each in tests]

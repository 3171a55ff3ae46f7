"""What is known of tests from before, test by test: how each compares with its base, and its earlier results.

Both are told by a test's name, which in a merged report several tests may have, each of another model.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.history.changes import ChangeReport, ChangesReport, PointReport, TrendsReport
    from pytest_promptfuzz.reporting.document import DocumentTest


def changes_of(tests: Sequence[DocumentTest], found: ChangesReport | None) -> list[ChangeReport | None]:
    """The change of each test; of several of one name that of the one which it was made of, if that can be told."""
    if found is None:
        return [None] * len(tests)
    by_name = {each["test"]: each for each in found["tests"]}
    times = Counter(each["test"] for each in tests)
    meant = Counter(each["test"] for each in tests if _made_of(each, by_name.get(each["test"])))
    return [
        by_name.get(each["test"])
        if times[each["test"]] == 1
        or (meant[each["test"]] == 1 and _made_of(each, by_name.get(each["test"])))
        else None
        for each in tests
    ]


def _made_of(test: DocumentTest, change: ChangeReport | None) -> bool:
    return change is not None and (change["verdict"], change["score"]) == (test["verdict"], test["score"])


def points_of(tests: Sequence[DocumentTest], found: TrendsReport | None) -> list[list[PointReport]]:
    """The earlier results of each test; none of several of one name."""
    times = Counter(each["test"] for each in tests)
    known = found["tests"] if found else {}
    return [known.get(each["test"], []) if times[each["test"]] == 1 else [] for each in tests]

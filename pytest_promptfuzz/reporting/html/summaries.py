"""What the overview says of each test, read once: a page of 10,000 tests never has all of their trials in memory."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pytest_promptfuzz.reporting.html.parts import text_key
from pytest_promptfuzz.reporting.html.trials import error_finding, finding
from pytest_promptfuzz.reporting.model import scored, untried
from pytest_promptfuzz.reporting.phrases import score_text, worst_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_promptfuzz.reporting.document import Document, DocumentTest
    from pytest_promptfuzz.reporting.html.parts import Node
    from pytest_promptfuzz.reporting.model import GroupReport, TestReport


GROUPS = ("by_dimension", "by_operator")
OTHER = "Other tests"
"""What tests are grouped under whose names hold no file."""
# What makes a test large, and stands on its own page only.
_LONG: dict[str, Any] = {
    "trials": [],
    "prompt": "",
    "baseline": None,
    "baselines": [],
    "inputs": [],
    "notes": [],
    "counterexamples": [],
    "replayed": [],
    "searched": None,
    "judging": None,
    "gold": None,
    "variance": None,
    "explanation": "",
    "by_dimension": {},
    "by_operator": {},
    "by_relation": {},
}


class KindScore(NamedTuple):
    """The score of one kind of mutation, as the heat map shows it; ``outcomes`` where no trial counts."""

    score: float | None
    broken: int
    total: int
    outcomes: tuple[tuple[str, int], ...] = ()


class TestBrief(NamedTuple):
    """A test without its trials and texts.

    ``place`` is that in the document, ``finding`` the first change that broke it and what was answered, ``kinds`` the
    scores by dimension and by operator.
    """

    place: int
    test: DocumentTest
    file: str
    score: str
    untried: bool
    finding: list[Node]
    kinds: Mapping[str, Mapping[str, KindScore]]


def briefs(tests: Iterable[DocumentTest]) -> list[TestBrief]:
    """Every test in brief, worst first."""
    shared: dict[Any, Any] = {}
    found = [_brief(place, test, shared) for place, test in enumerate(tests)]
    return sorted(found, key=lambda each: worst_first(each.test))


def _brief(place: int, test: DocumentTest, shared: dict[Any, Any]) -> TestBrief:
    kinds = {
        key: {name: _kind(group, shared) for name, group in cast("Any", test)[key].items()} for key in GROUPS
    }
    return TestBrief(
        place,
        cast("DocumentTest", {**test, **_LONG}),
        file_of(test["test"], test["location"]),
        score_text(test),
        untried(test),
        _finding(test),
        kinds,
    )


def _kind(group: GroupReport, shared: dict[Any, Any]) -> KindScore:
    """Equal ones are one object: a large run has thousands of them."""
    counts = group["counts"]
    undecided = (
        () if group["score"] is not None else tuple((name, each) for name, each in counts.items() if each)
    )
    made = KindScore(group["score"], counts.get("deviation", 0), sum(counts.values()), undecided)
    found: KindScore = shared.setdefault(made, made)
    return found


def file_of(test: str, location: Sequence[Any] | None = None) -> str:
    """The file that a test is grouped under."""
    file, colons, _ = test.partition("::")
    return file if colons else str(location[0]) if location else OTHER


def _finding(test: TestReport) -> list[Node]:
    """The smallest change that broke a test, or else its first deviation, or the first error."""
    for found in test["counterexamples"]:
        return finding(found["diff"], found["baseline"], found["answer"])
    mine = scored(test)
    deviation = next((each for each in mine if each["outcome"] == "deviation"), None)
    if deviation is not None:
        return finding(deviation["diff"], deviation["baseline"], deviation["response"])
    error = next((each for each in mine if each["error"]), None)
    return error_finding(error) if error is not None and test["verdict"] != "pass" else []


def by_file(found: Sequence[TestBrief], files: Iterable[str] = ()) -> dict[str, list[TestBrief]]:
    """The tests of each file in the order given; the file whose first test comes first is first.

    Args:
        found: The tests.
        files: What comes before all others.
    """
    made: dict[str, list[TestBrief]] = {each: [] for each in files}
    for each in found:
        made.setdefault(each.file, []).append(each)
    return made


def keys(named: Sequence[tuple[str, str]]) -> list[str]:
    """A name for each test that no other has, and that stays the same from run to run.

    Args:
        named: Names and targets.
    """
    made: list[str] = []
    taken: set[str] = set()
    times = Counter(name for name, _ in named)
    for test, target in named:
        name = text_key(test) + (f" @ {text_key(target)}" if times[test] > 1 and target else "")
        number, one = 1, name
        while one in taken:
            number += 1
            one = f"{name} ({number})"
        taken.add(one)
        made.append(one)
    return made


def in_brief(document: Document, found: Iterable[TestBrief]) -> Document:
    """The run with its tests in brief."""
    made: Any = {**document, "tests": [each.test for each in found]}
    return made  # type: ignore[no-any-return]  # it has the keys of the type

"""What a host shows at a line of code: one finding for each thing that is wrong with a test."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_promptfuzz.reporting.overview import (
    changed,
    drifts,
    fails_otherwise,
    is_lost,
    met,
    ordered,
    with_targets,
)
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.terminal import one_line

if TYPE_CHECKING:
    from pytest_promptfuzz.reporting.document import Document, DocumentTest
    from pytest_promptfuzz.reporting.drift import DriftReport

Kind = Literal["brittle", "noisy", "inconclusive", "unjudged", "failed", "condition", "worse", "drift"]
Level = Literal["error", "warning", "note"]

RULES: dict[Kind, str] = {
    "brittle": "The prompt is brittle: harmless changes to it change what the model answers.",
    "unjudged": "Nothing is known of the prompt: the test failed unmutated, or could not be run.",
    "failed": "The test failed, though its prompt was found robust.",
    "condition": "A condition of --promptfuzz-fail-on is met.",
    "worse": "The test is worse than its base, by more than noise.",
    "drift": "The test is not what its snapshot says: the model, the prompt or the way of comparing has changed.",
    "noisy": "The model does not agree with itself: no change of the prompt can be told from noise.",
    "inconclusive": "The verdict is open: trials without an outcome, or too few of them.",
}
_LEVELS: dict[Level, int] = {"error": 0, "warning": 1, "note": 2}
_MOST_LONG = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. ``message`` is safe for a terminal, ``line`` from 1; ``path`` is empty where no line is known.

    ``about`` is what tells it from other findings of its test and kind, the same in every run.
    """

    kind: Kind
    level: Level
    test: str
    path: str
    line: int
    message: str
    about: str = ""

    @property
    def fingerprint(self) -> str:
        """The same for the same finding of another run, on another line and with other scores: 32 hex digits."""
        told = f"{self.kind}\n{self.test}\n{self.about}"
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def findings(document: Document) -> list[Finding]:
    """The findings of a run, errors first, each level in the order of rules and the worst test first.

    A test that is expected to fail, or that was let through, makes a note.
    """
    several = with_targets(document)
    conditions = met(document)
    found = []
    for test in ordered(document):
        of_test = [condition for condition, tests in conditions if test["test"] in tests]
        found += _of_test(test, test["target"] if several else "", of_test)
    for lost in document["unjudged"]:
        path, line = lost["location"] or ("", 1)
        level: Level = "error" if lost["outcome"] in {"failed", "error"} else "note"
        found.append(Finding("unjudged", level, lost["test"], path, line, _short(lost["message"])))
    found += _compared(document)
    kinds = list(RULES)
    return sorted(found, key=lambda each: (_LEVELS[each.level], kinds.index(each.kind)))


def _of_test(test: DocumentTest, target: str, conditions: list[str]) -> list[Finding]:
    """Of one test, which meets ``conditions``; ``target`` tells it from others of its name, in a report of several."""
    path, line = test["location"] or ("", 1)
    lost = is_lost(test)
    of = f"{target}: " if target else ""
    found = []
    if test["verdict"] in ("brittle", "noisy", "inconclusive"):
        kind: Kind = test["verdict"]  # type: ignore[assignment]  # one of them
        level: Level = "note" if not lost else "error" if kind == "brittle" else "warning"
        found.append(Finding(kind, level, test["test"], path, line, _short(of + one_line(test)), target))
    for each in drifts(test):
        condition = next((text for text in conditions if _is_of(text, each)), "")
        level = "error" if each["policy"] == "fail" or condition else "warning"
        about = f"{each['kind']} {each['case']} {target}".rstrip()
        said = f"{of}drift: {each['message']}"
        if condition:
            said += f" ({_meets(condition)})"
        found.append(Finding("drift", level, test["test"], path, line, _short(said), about))
    if fails_otherwise(test):
        said = f"{of}the test failed, though its prompt passed"
        found.append(Finding("failed", "error", test["test"], path, line, _short(said), target))
    return found


def _compared(document: Document) -> list[Finding]:
    """Tests that meet a condition, and those that are worse by more than noise."""
    places = {test["test"]: test["location"] or ("", 1) for test in document["tests"]}
    drifted: dict[str, list[DriftReport]] = {}
    for one in document["tests"]:
        drifted.setdefault(one["test"], []).extend(drifts(one))
    found = []
    failing: set[str] = set()
    for condition, tests in met(document):
        for test in tests:
            if any(_is_of(condition, each) for each in drifted.get(test, ())):
                continue  # said with the drift
            failing.add(test)
            said = _meets(condition)
            found.append(
                Finding("condition", "error", test, *places.get(test, ("", 1)), _short(said), condition)
            )
    for each in changed(document, "worse"):
        if each["test"] not in failing:
            said = each["explanation"] or "worse than its base by more than noise"
            found.append(
                Finding("worse", "warning", each["test"], *places.get(each["test"], ("", 1)), _short(said))
            )
    return found


def _meets(condition: str) -> str:
    return f"meets the condition {condition!r} of --promptfuzz-fail-on"


def _is_of(condition: str, drift: DriftReport) -> bool:
    """Whether a condition is of such drift, as ``drift`` and ``model drift`` are of a changed model."""
    return condition.casefold().split() in (["drift"], [drift["kind"], "drift"])


def _short(text: str) -> str:
    return safe(text, limit=_MOST_LONG)

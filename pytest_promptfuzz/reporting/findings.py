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

Kind = Literal["brittle", "noisy", "inconclusive", "unjudged", "failed", "worse", "drift"]
Level = Literal["error", "warning", "note"]

RULES: dict[Kind, str] = {
    "brittle": "The prompt is brittle: harmless changes to it change what the model answers.",
    "unjudged": "Nothing is known of the prompt: the test failed unmutated, or could not be run.",
    "failed": "The test failed, though its prompt was found robust.",
    "worse": "The test is worse than its base, by more than noise or by a condition of --promptfuzz-fail-on.",
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
    found = [each for test in ordered(document) for each in _of_test(test, test["target"] if several else "")]
    for test in document["unjudged"]:
        path, line = test["location"] or ("", 1)
        level: Level = "error" if test["outcome"] in {"failed", "error"} else "note"
        found.append(Finding("unjudged", level, test["test"], path, line, _short(test["message"])))
    found += _compared(document)
    kinds = list(RULES)
    return sorted(found, key=lambda each: (_LEVELS[each.level], kinds.index(each.kind)))


def _of_test(test: DocumentTest, target: str) -> list[Finding]:
    """Of one test; ``target`` tells it from others of its name, in a report of several models."""
    path, line = test["location"] or ("", 1)
    lost = is_lost(test)
    of = f"{target}: " if target else ""
    found = []
    if test["verdict"] in ("brittle", "noisy", "inconclusive"):
        kind: Kind = test["verdict"]  # type: ignore[assignment]  # one of them
        level: Level = "note" if not lost else "error" if kind == "brittle" else "warning"
        found.append(Finding(kind, level, test["test"], path, line, _short(of + one_line(test)), target))
    for each in drifts(test):
        level = "error" if each["policy"] == "fail" else "warning"
        about = f"{each['kind']} {each['case']} {target}".rstrip()
        said = f"{of}drift: {each['message']}"
        found.append(Finding("drift", level, test["test"], path, line, _short(said), about))
    if fails_otherwise(test):
        said = f"{of}the test failed, though its prompt passed"
        found.append(Finding("failed", "error", test["test"], path, line, _short(said), target))
    return found


def _compared(document: Document) -> list[Finding]:
    """Tests that meet a condition, and those that are worse by more than noise."""
    places = {test["test"]: test["location"] or ("", 1) for test in document["tests"]}
    found = []
    failing: set[str] = set()
    for condition, tests in met(document):
        for test in tests:
            failing.add(test)
            said = f"meets the condition {condition!r} of --promptfuzz-fail-on"
            found.append(Finding("worse", "error", test, *places.get(test, ("", 1)), _short(said), condition))
    for each in changed(document, "worse"):
        if each["test"] not in failing:
            said = each["explanation"] or "worse than its base by more than noise"
            found.append(
                Finding("worse", "warning", each["test"], *places.get(each["test"], ("", 1)), _short(said))
            )
    return found


def _short(text: str) -> str:
    return safe(text, limit=_MOST_LONG)

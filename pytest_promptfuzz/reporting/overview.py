"""A run in a few figures and sentences, which every host of a report is told: added up, never computed anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_promptfuzz.reporting.words import count, verdicts, worst_first

if TYPE_CHECKING:
    from pytest_promptfuzz.history.changes import ChangeReport
    from pytest_promptfuzz.reporting.document import Document, DocumentTest
    from pytest_promptfuzz.reporting.drift import DriftReport

Result = Literal["failed", "error", "passed", "empty"]

_ORDER = ("brittle", "noisy", "inconclusive", "pass")
_LOST = ("failed", "error")


@dataclass(frozen=True, slots=True)
class Overview:
    """A run as a whole.

    ``result`` is ``failed`` where a test failed or a condition was met, ``error`` where one could not be judged or the
    run did not reach its end, ``empty`` without robust tests. ``verdicts`` counts tests by verdict, the worst first;
    ``failed`` are those that fail in pytest's sense, errors included. ``score_min`` is the lowest score that is
    certain; ``cost`` is in US dollars, of the calls whose price is known.
    """

    result: Result
    tests: int
    verdicts: dict[str, int]
    failed: int
    unjudged: int
    score_min: float | None
    cost: float | None
    calls: int
    hits: int
    unpriced: int
    drifted: int
    untold: int
    worse: int


def overview(document: Document) -> Overview:
    """The figures of a run."""
    tests, unjudged = document["tests"], document["unjudged"]
    outcomes = [each["outcome"] for each in (*tests, *unjudged)]
    verdicts = {name: sum(each["verdict"] == name for each in tests) for name in _ORDER}
    scores = [each["score"] for each in tests if each["score"] is not None and not is_open(each)]
    costs = [each["cost"] for each in tests if each["cost"] is not None]
    return Overview(
        result=_result(document, outcomes),
        tests=len(outcomes),
        verdicts={name: amount for name, amount in verdicts.items() if amount},
        failed=sum(each in _LOST for each in outcomes),
        unjudged=len(unjudged),
        score_min=min(scores, default=None),
        cost=sum(costs) if costs else None,
        calls=sum(each["spent"]["calls"] for each in tests),
        hits=sum(each["spent"]["hits"] for each in tests),
        unpriced=sum(each["spent"]["unpriced"] for each in tests),
        drifted=sum(bool(drifts(each)) for each in tests),
        untold=sum(_is_untold(each) for each in tests),
        worse=len(changed(document, "worse")),
    )


def _result(document: Document, outcomes: list[str]) -> Result:
    if "failed" in outcomes or met(document):
        return "failed"
    if "error" in outcomes or not document["run"]["complete"]:
        return "error"
    return "passed" if outcomes else "empty"


def ordered(document: Document) -> list[DocumentTest]:
    """The tests, the worst first."""
    return sorted(document["tests"], key=worst_first)


def with_targets(document: Document) -> bool:
    """Whether names alone do not tell tests apart: a report that was merged of runs with several models."""
    return len({each["test"] for each in document["tests"]}) < len(document["tests"])


def is_open(test: DocumentTest) -> bool:
    """Whether trials without an outcome leave the score open."""
    low, high = test["bounds"]
    return test["verdict"] == "inconclusive" and low < high


def is_excused(test: DocumentTest) -> bool:
    """Whether a verdict against the prompt fails nothing: it is expected, skipped or let through."""
    return test["verdict"] != "pass" and not is_lost(test)


def is_lost(test: DocumentTest) -> bool:
    """Whether a test failed in pytest's sense, or is an error."""
    return test["outcome"] in _LOST


def fails_otherwise(test: DocumentTest) -> bool:
    """Whether a test failed for a reason that is no part of its report: not its prompt, and not drift."""
    return (
        test["verdict"] == "pass" and is_lost(test) and all(each["policy"] != "fail" for each in drifts(test))
    )


def _is_untold(test: DocumentTest) -> bool:
    found = drifts(test)
    return bool(found) and all(each.get("undecided") for each in found)


def drifts(test: DocumentTest) -> list[DriftReport]:
    """In which ways a test is not what its snapshot says, apart from those that are to be ignored."""
    return [each for each in test["drift"] if each["policy"] != "ignore"]


def changed(document: Document, *statuses: str) -> list[ChangeReport]:
    """The tests that compare so with their base, in the comparison's order; all of them without a status."""
    changes = document["changes"]
    found = changes["tests"] if changes else []
    return [each for each in found if not statuses or each["status"] in statuses]


def met(document: Document) -> list[tuple[str, list[str]]]:
    """The conditions of ``--promptfuzz-fail-on`` that are met, and the tests that meet them."""
    changes = document["changes"]
    return [
        (each["expression"], each["tests"])
        for each in (changes["conditions"] if changes else [])
        if each["tests"]
    ]


def headline(document: Document) -> str:
    """What came of a run, in one line of our own words.

    For example ``2 brittle, 1 inconclusive, 9 passed of 12 robust tests``.
    """
    whole = overview(document)
    if not whole.tests:
        return "no robust test ran"
    parts = [verdicts(amount, verdict) for verdict, amount in whole.verdicts.items()]
    if whole.unjudged:
        parts.append(f"{whole.unjudged:,} not judged")
    said = f"{', '.join(parts)} of {count(whole.tests, 'robust test')}"
    if whole.tests == whole.verdicts.get("pass") and not whole.failed:
        said = f"{count(whole.tests, 'robust test')} passed" if whole.tests > 1 else "1 robust test passed"
    excused = sum(map(is_excused, document["tests"]))
    if excused:
        said += f"; {excused:,} of these expected or let through"
    if whole.worse:
        said += f"; {whole.worse:,} worse than the base by more than noise"
    if whole.drifted > whole.untold:
        said += f"; {whole.drifted - whole.untold:,} drifted"
    if whole.untold:
        said += f"; {count(whole.untold, 'test')}: no available comparison can tell whether the model changed"
    hidden = sum(map(fails_otherwise, document["tests"]))
    if hidden:
        said += f"; {hidden:,} failed for another reason than the prompt"
    return said if document["run"]["complete"] else f"{said}; the run did not reach its end"


def money(whole: Overview) -> str:
    """What a run cost: ``$0.0123``; what is not known is said."""
    if whole.cost is None:
        return "cost not known" if whole.unpriced else ""
    but = f" and {count(whole.unpriced, 'call')} of unknown price" if whole.unpriced else ""
    return f"${whole.cost:.4f}{but}"

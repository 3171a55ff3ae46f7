"""How a test differs from its snapshot, apart from robustness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from pytest_promptfuzz.reporting.answers import answer_pair
from pytest_promptfuzz.reporting.rows import diff_lines, row
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.text import HANG, Line, Style

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.scoring.drifting import Drift


class DriftReport(TypedDict):
    """One way in which a test is not what its snapshot says.

    ``kind`` is ``model`` (the same prompt has another answer), ``prompt`` (the prompt is another) or ``comparator``
    (answers are compared, or mutations made, by other versions); ``policy`` is ``fail``, ``warn`` or ``ignore``.
    ``message`` is a sentence. ``before`` and ``after`` are the answers to the unmutated prompt of input ``case``, or
    what else changed. ``p`` is the probability that noise alone makes answers differ so. ``undecided``: nothing tells
    whether the model changed. ``diff`` is the prompt's, word by word, as in trials: ``=``, ``-`` and ``+``. The last
    two are missing in what an older version wrote.
    """

    kind: str
    policy: str
    message: str
    before: Any
    after: Any
    case: int | None
    p: float | None
    undecided: bool
    diff: list[list[str]]


def drift_report(drift: Drift) -> DriftReport:
    """The report of one."""
    return DriftReport(
        kind=drift.kind,
        policy=drift.policy,
        message=drift.message,
        before=drift.before,
        after=drift.after,
        case=drift.case,
        p=drift.p,
        undecided=drift.undecided,
        diff=[list(each) for each in drift.diff],
    )


def fails(drift: Iterable[DriftReport]) -> bool:
    """Whether one of them fails the test."""
    return any(each["policy"] == "fail" for each in drift)


def undecided(drift: Iterable[DriftReport]) -> bool:
    """Whether nothing tells what would fail the test: an error, and no failure."""
    failing = [each for each in drift if each["policy"] == "fail"]
    return bool(failing) and all(each.get("undecided") for each in failing)


def drift_lines(drift: Iterable[DriftReport], *, test: str = "") -> list[Line]:
    """Each that is not ignored as a sentence, with both answers where it is of answers.

    Args:
        drift: Of one test.
        test: Its name, where that does not stand above.
    """
    lines: list[Line] = []
    for each in drift:
        if each["policy"] == "ignore":
            continue
        style: Style = "bad" if each["policy"] == "fail" else "warn"
        named = f"{safe(test)}: " if test else ""
        message = safe(each["message"]).replace("\n", "⏎")
        lines.append([("drift ", style), HANG, (f"{named}{message}", "plain")])
        if each.get("diff"):
            lines += diff_lines(each["diff"])
        if each["kind"] != "comparator" and each["case"] is not None and each["before"] != each["after"]:
            before, after = answer_pair(each["before"], each["after"])
            lines += [row("then", [(before, "plain")]), row("now", [(after, "plain")])]
        if each["policy"] == "fail":
            lines.append(row("", [("--promptfuzz-update accepts it", "plain")]))
    return lines

"""One counterexample or trial that was run once more, and the list of those that can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from pytest_promptfuzz.reporting.answers import answer_rows
from pytest_promptfuzz.reporting.counterexamples import changed_lines
from pytest_promptfuzz.reporting.model import report_test
from pytest_promptfuzz.reporting.rows import LABELLED, row
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.text import HANG

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.reporting.text import Line, Style
    from pytest_promptfuzz.scoring.replayed import Known
    from pytest_promptfuzz.scoring.robustness import Robustness
    from pytest_promptfuzz.wire.redact import Redaction

_WORDS: dict[str, tuple[str, Style]] = {
    "breaks": ("still breaks", "bad"),
    "passes": ("passes now", "good"),
    "elsewhere": ("passes here", "good"),
    "varies": ("breaks now and then", "warn"),
    "gone": ("has no place any more", "warn"),
    "unanswered": ("could not be asked", "warn"),
}
_WHY = 300


class Replay(TypedDict):
    """What became of one: ``status`` is that of :class:`~pytest_promptfuzz.scoring.replayed.Replayed`.

    ``diff`` is empty and ``prompt`` ``None`` where it has no place in the prompt any more.
    """

    id: str
    test: str
    status: str
    why: str
    diff: list[list[str]]
    prompt: str | None
    baseline: Any
    answer: Any


def replay_of(result: Robustness, name: str, test: str, redaction: Redaction) -> Replay:
    """What a run of that one alone came to.

    Args:
        result: Of the run.
        name: Its ID.
        test: Its test's.
        redaction: What is hidden.
    """
    report = redaction.json(report_test(result, test=test), names=False)
    for each in report["replayed"]:
        if each["id"] == name:
            now: Any = each["now"] or {}
            return Replay(
                id=name,
                test=test,
                status=each["status"],
                why=each["why"],
                diff=now.get("diff", []),
                prompt=now.get("prompt"),
                baseline=now.get("baseline"),
                answer=now.get("answer"),
            )
    trials = [each for each in report["trials"] if each["id"] == name]
    if not trials:
        return Replay(
            id=name,
            test=test,
            status="unanswered",
            why=report["explanation"],
            diff=[],
            prompt=None,
            baseline=None,
            answer=None,
        )
    broken = [each for each in trials if each["outcome"] == "deviation"]
    told = [each for each in trials if each["outcome"] in {"equivalent", "minor"}]
    one = (broken or told or trials)[0]
    failure, error = one["failure"], one["error"]
    why = failure["message"] if failure else error["message"] if error else one["explanation"]
    status = "breaks" if broken else "passes" if told else "unanswered"
    return Replay(
        id=name,
        test=test,
        status=status,
        why=why if status != "passes" else "",
        diff=one["diff"],
        prompt=one["prompt"],
        baseline=one["baseline"],
        answer=one["response"],
    )


def replay_lines(replay: Replay, *, width: int) -> list[Line]:
    """What a person reads: whether it still breaks, the change, both answers."""
    words, style = _WORDS[replay["status"]]
    lines: list[Line] = [
        [(f"{replay['id']} of {safe(replay['test'])}", "heading"), (": ", "heading"), HANG, (words, style)]
    ]
    if replay["prompt"] is not None:
        room = width - LABELLED
        lines += changed_lines(replay["diff"], room)
        if replay["baseline"] is not None or replay["answer"] is not None:
            one, other = answer_rows(replay["baseline"], replay["answer"], room)
            lines += [row("baseline", [(one, "plain")]), row("response", [(other, "plain")])]
    if replay["why"]:
        lines.append(row("why", [(safe(replay["why"], limit=_WHY), style)]))
    return lines


def listed_lines(rows: Iterable[tuple[str, str, Known | None, Sequence[str]]]) -> list[Line]:
    """The counterexamples that are stored: ID, test, where it is kept, how it fails."""
    lines: list[Line] = []
    for name, test, known, places in rows:
        if known is None:
            continue
        where = "pinned in git" if "git" in places else "kept here"
        lines.append(
            [
                (f"{name}  ", "label"),
                HANG,
                (f"{safe(test)}  ", "plain"),
                (f"{safe(known.found.failure, limit=_WHY)}  ", "plain"),
                (where, "dim"),
            ]
        )
    return lines

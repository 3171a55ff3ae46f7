"""Answers that changed since the base, as the terminal shows them: both answers, and the words that differ."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.document import answers_of, unanswered
from pytest_promptfuzz.reporting.phrases import answer_circumstances
from pytest_promptfuzz.reporting.terminal.changes import base_text, name_some
from pytest_promptfuzz.reporting.terminal.rows import LABELLED, diff_lines, row
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, MIN_WIDTH
from pytest_promptfuzz.text.safe_text import is_digest, safe
from pytest_promptfuzz.wording.diffs import answer_rows
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.history.changes import AnswerChange, ChangesReport, Condition
    from pytest_promptfuzz.reporting.terminal.styled_text import Line, Style


MOST = 8
"""Answers that are shown."""
_STYLES: dict[str, Style] = {"changed": "bad", "cannot tell": "warn", "minor": "warn"}
_IN = 3  # columns by which the rest of a long line is indented


def answer_lines(changes: ChangesReport, *, width: int = 80, most: int = MOST) -> list[Line]:
    """The answers that changed, may have changed or differ a little, with both; nothing where none did.

    Args:
        changes: The run beside its base.
        width: Columns.
        most: How many are shown.
    """
    told = [each for finding in _STYLES for each in answers_of(changes, finding)]
    if not told:
        return []
    said = f"{_counted(changes)} since "
    lines: list[Line] = [
        [(said[:_IN], "heading"), HANG, (said[_IN:], "heading"), (f"{base_text(changes['base'])}:", "plain")]
    ]
    room = max(width, MIN_WIDTH) - LABELLED
    for each in told[:most]:
        lines += _answer(each, room)
    if len(told) > most:
        lines.append(
            [(f"... and {counted(len(told) - most, 'more answer')}; promptfuzz compare shows all.", "dim")]
        )
    return lines


def not_compared_lines(changes: ChangesReport) -> list[str]:
    """A sentence for each reason for which answers are not compared with the base's."""
    return [
        f"{'answer' if len(tests) == 1 else 'answers'} of {name_some(tests)} not compared: {reason}"
        for reason, tests in unanswered(changes).items()
    ]


def answers_sentence(changes: ChangesReport) -> str:
    """The same in a few words, for runs that say little; empty where no answer changed."""
    changed = list(dict.fromkeys(each["test"] for each in answers_of(changes, "changed")))
    return (
        f"the {'answer' if len(changed) == 1 else 'answers'} of {name_some(changed)} changed"
        if changed
        else ""
    )


def undecided_lines(conditions: Iterable[Condition], changes: ChangesReport, option: str) -> list[str]:
    """A sentence for each condition on answers that none is known to meet, while some may: how many, and why.

    Args:
        conditions: All.
        changes: The run beside its base, with the conditions that are met.
        option: What conditions were given as.
    """
    reasons = Counter(each["explanation"] for each in answers_of(changes, "cannot tell"))
    told = "; ".join(
        f"{counted(times, 'answer')} cannot be told: {reason}" for reason, times in reasons.items()
    )
    met = {each["expression"] for each in changes["conditions"]}
    asked = [each.text for each in conditions if each.what == "answer" and each.text not in met]
    return [f"{option} {each!r}: not met; {told}" for each in asked if told]


def _counted(changes: ChangesReport) -> str:
    changed, open_, minor = (len(answers_of(changes, each)) for each in _STYLES)
    said = [f"{counted(changed, 'answer')} changed"] if changed else []
    said += [f"{counted(open_, 'answer')} may have changed"] if open_ else []
    said += [counted(minor, "minor variation")] if minor else []
    return ", ".join(said).capitalize()


def _answer(change: AnswerChange, room: int) -> list[Line]:
    named = safe(change["test"]).replace("\n", "⏎")
    on = f", input {safe(change['input'])}" if change["input"] else ""
    about = answer_circumstances(change)
    said = "; ".join(filter(None, [change["explanation"], about]))
    head: Line = [
        (f"{change['finding']} ", _STYLES[change["finding"]]),
        HANG,
        (f"{named}{on}", "heading"),
        (f": {said}" if said else "", "plain"),
    ]
    one, other = answer_rows(change["before"], change["after"], room)
    styles: tuple[Style, Style] = (
        "dim" if is_digest(change["before"]) else "removed",
        "dim" if is_digest(change["after"]) else "added",
    )
    lines = [head, row("was", [(one, styles[0])]), row("now", [(other, styles[1])])]
    # Where nothing is left of the old answer, a diff is both of them once more.
    if any(kind == "=" and any(map(str.isalnum, text)) for kind, text in change["diff"]):
        lines += diff_lines(change["diff"], label="words")
    return lines

"""One test in a report of Markdown: the smallest edit that breaks it, and folded, what else is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.reporting.answers import answer_pair
from pytest_promptfuzz.reporting.diff import Change, Move, explain
from pytest_promptfuzz.reporting.markdown.escaping import block, code, prose, tagged
from pytest_promptfuzz.reporting.markdown.tables import chance
from pytest_promptfuzz.reporting.model import scored
from pytest_promptfuzz.reporting.overview import drifts
from pytest_promptfuzz.reporting.rows import NEW_ORDER
from pytest_promptfuzz.reporting.words import MENDS, count, grouped, operator_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.reporting.diff import Shown
    from pytest_promptfuzz.reporting.document import DocumentTest
    from pytest_promptfuzz.reporting.model import TrialReport

MOST_CHANGES = 3
MOST_TRIALS = 5
MOST_NOTES = 10
_CONTEXT = 60
_TOLD = ("deviation", "minor", "undecided")


def test_block(test: DocumentTest) -> str:
    """A test that did not pass, or that has drifted: a heading, why, the smallest edit, and folded details."""
    parts = [f"#### {code(test['test'])}", prose(test["explanation"]) if test["explanation"] else ""]
    first = _first(test)
    if first is not None:
        parts.append(
            f"A change that breaks it ({code(operator_names(first))}):\n\n{edit_block(first['diff'])}"
        )
    known = test["counterexamples"][0]["diff"] if test["counterexamples"] else first and first["diff"]
    parts += [_smallest(test), _folded(test, known)]
    return "\n\n".join(filter(None, parts))


def _smallest(test: DocumentTest) -> str:
    """The smallest edit known to break the test."""
    if not test["counterexamples"]:
        return ""
    first = test["counterexamples"][0]
    what = "The smallest change that breaks it" if first["minimal"] else "A change that breaks it"
    failed, asked = first["repeats"]
    how = f", {failed} of {count(asked, 'time')}" if asked else ""
    return f"{what}{how}:\n\n{edit_block(first['diff'])}\n\n{prose(first['failure'])}"


def _first(test: DocumentTest) -> TrialReport | None:
    """The deviation that stands for a brittle test whose smallest edit is not known."""
    if test["counterexamples"] or test["verdict"] == "pass":
        return None
    return next((each for each in scored(test) if each["outcome"] == "deviation"), None)


def edit_block(diff: Sequence[Sequence[str]]) -> str:
    """An edit as a block: the changed places before and after, passages that moved with where they stood."""
    shown = explain(diff, context=_CONTEXT)
    rows = [row for each in shown[:MOST_CHANGES] for row in _rows(each)]
    rest = len(shown) - MOST_CHANGES
    if rest > 0:
        rows.append(("", f"… and {count(rest, 'more place')} changed"))
    return block(rows or [("", "(unchanged)")], language="diff")


def _rows(shown: Shown) -> list[tuple[str, str]]:
    if isinstance(shown, Change):
        sides = {side: "".join(text for kind, text in shown.pieces if kind in f"={side}") for side in "-+"}
        return [(side, text.replace("\n", "⏎")) for side, text in sides.items() if text]
    if isinstance(shown, Move):
        text = _short(shown.text)
        before, after = (
            f"after “{each}”" if each else "at the start" for each in (shown.was_after, shown.now_after)
        )
        return [("-", f"{text}  ({before})"), ("+", f"{text}  ({after})")]
    rows = [("", f"reordered: {NEW_ORDER}")]
    return rows + [("+", f"{place:>2}  {_short(text)}") for place, text in shown.segments[:6]]


def _short(text: str, limit: int = 200) -> str:
    flat = text.replace("\n", "⏎")
    return flat if len(flat) <= limit else f"{flat[: limit // 2]} … {flat[-limit // 2 :]}"


def _folded(test: DocumentTest, shown: list[list[str]] | None) -> str:
    """All else, without the edit that is ``shown`` already."""
    parts = [*_trials(test, shown), *_drift(test), *_errors(test)]
    if test["notes"]:
        notes = [f"- {code(note, limit=400)}" for note in test["notes"][:MOST_NOTES]]
        rest = len(test["notes"]) - MOST_NOTES
        parts.append("\n".join(["Notes:", "", *notes, *([f"- and {rest:,} more"] if rest > 0 else [])]))
    if not parts:
        return ""
    answered = f", answered by {tagged(test['model'], limit=60)}" if test["model"] else ""
    head = f"<details><summary>Answers, notes and how to see it again{answered}</summary>"
    return "\n\n".join([head, *parts, "</details>"])


def _trials(test: DocumentTest, shown: list[list[str]] | None) -> list[str]:
    found = test.get("searched")
    if found is not None:
        trials = [each for each in (found["found"] or found["nearest"],) if each is not None]
    else:
        trials = [each for name in _TOLD for each in scored(test) if each["outcome"] == name]
    groups = grouped(trials, _why)
    parts = [_trial(test, group, edit=group[0]["diff"] != shown) for group in groups[:MOST_TRIALS]]
    rest = sum(map(len, groups[MOST_TRIALS:]))
    return [*parts, f"And {count(rest, 'other change')} of such kinds."] if rest else parts


def _why(trial: TrialReport) -> tuple[str, ...]:
    failure = trial["failure"]
    return (
        trial["outcome"],
        *((failure["type"], failure["message"]) if failure else (trial["reason"], trial["explanation"])),
    )


def _trial(test: DocumentTest, group: Sequence[TrialReport], *, edit: bool) -> str:
    trial = group[0]
    told = f"**{prose(trial['outcome']).capitalize()}** by {code(operator_names(trial))}, trial {code(trial['id'])}"
    if test["inputs"]:
        told += f", on input {code(test['inputs'][trial['case']])}"
    if len(group) > 1:
        told += f", and {len(group) - 1} more of the same"
    parts = [f"{told}:", edit_block(trial["diff"]) if edit else ""]
    if not (test["oracle_only"] and trial["baseline"] is None and trial["response"] is None):
        parts.append(answers_block(trial["baseline"], trial["response"]))
    if trial["explanation"]:
        parts.append(f"Why: {prose(trial['explanation'])}")
    if trial["failure"]:
        failure = trial["failure"]
        parts.append(f"Check: {code(failure['type'])}\n\n{block([('', _clipped(failure['message']))])}")
    if trial["reproduce"]:
        parts.append(f"See it again:\n\n{block([('', _clipped(trial['reproduce'], 2000))], exact=True)}")
    return "\n\n".join(filter(None, parts))


def answers_block(before: Any, after: Any) -> str:
    """Two answers, one below the other."""
    one, other = answer_pair(before, after)
    return "\n\n".join(["Unmutated:", block([("", one)]), "Mutated:", block([("", other)])])


def _clipped(text: str, limit: int = 600) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… (+{len(text) - limit:,} characters)"


def _drift(test: DocumentTest) -> list[str]:
    parts = []
    for each in drifts(test):
        one, other = answer_pair(each["before"], each["after"])
        said = f"**Drift**: {prose(each['message'])}{chance(each['p'])}"
        if each.get("diff"):
            said += f"\n\n{edit_block(each['diff'])}"
        parts.append("\n\n".join([said, "Snapshot:", block([("", one)]), "Now:", block([("", other)])]))
    return parts


def _errors(test: DocumentTest) -> list[str]:
    failed = [(each["error"]["kind"], each["error"]["message"]) for each in test["trials"] if each["error"]]
    rows = []
    for group in grouped(failed, lambda each: each):
        kind, message = group[0]
        mend = MENDS.get(kind, "")
        rows.append(
            f"- {code(kind)}, {count(len(group), 'trial')}: {code(message, limit=300)}"
            + (f" {mend}" if mend else "")
        )
    return (
        ["\n".join(["Errors, which say nothing about the prompt:", "", *rows[:MOST_NOTES]])] if rows else []
    )

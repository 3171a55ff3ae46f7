"""The report as Markdown, for a comment on a pull request; texts of others are always code, never markup."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.reporting.document import (
    answers_of,
    changed,
    changes_of,
    deviations,
    drifts,
    headline,
    is_accepted,
    is_excused,
    is_known,
    is_lost,
    is_lower_unpaired,
    is_regression,
    met,
    money,
    news_of,
    ordered,
    overview,
    target_of,
    unanswered,
    uncollected,
    unjudged,
    updates,
    with_targets,
)
from pytest_promptfuzz.reporting.model import scored, untried
from pytest_promptfuzz.reporting.phrases import (
    MENDS,
    REORDERED,
    answer_circumstances,
    deviation_texts,
    grouped,
    number,
    operator_names,
    prompt_effect,
    real_judges,
    score_text,
    search_text,
    simulated,
    stored_answers,
    unfollowed,
)
from pytest_promptfuzz.reporting.terminal.changes import COUNTED, turned
from pytest_promptfuzz.reporting.terminal.summary import seconds
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.safe_text import safe, show_white
from pytest_promptfuzz.wording.diffs import Move, ShownChange, answer_pair, explain
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from pytest_promptfuzz.history.changes import AnswerChange, AnswerFinding, ChangeReport
    from pytest_promptfuzz.reporting.document import Document, DocumentTest, News, Overview, UnjudgedReport
    from pytest_promptfuzz.reporting.model import TrialReport
    from pytest_promptfuzz.wording.diffs import Shown


# Texts of others in Markdown: always code, never markup.
#
# GitHub and GitLab take what stands in code for no mention, issue, commit, link, picture, emoji, formula, command or
# tag. Characters with a meaning there cannot all be escaped one by one: the hosts look for mentions and commits after
# Markdown is read. So what a model, a test or a target's name says is a code span or a block; only our own words are
# prose.


_TICKS = expression(r"`+")
_PIPES = expression(r"(\\*)\|")
# Bots read a comment as it was written, code or not: `@bot do this`, or `/command` at the start of a line.
_BOT = expression(r"@(?=\w)")
_COMMAND = expression(r"^(?=/)")
_PLAIN = expression(
    r"[A-Za-z0-9 ,;()=+%<>“”…']+(?:(?:\.(?=[ 0-9]|\Z)|:(?= |\Z)|-(?=[a-z]))[A-Za-z0-9 ,;()=+%<>“”…']*)*"
)
# What a host could take for a commit, an issue or a link, and what would begin a list or a heading.
_MEANT = expression(r"\b(?:[0-9a-f]{7,}|www|GH)\b|^\d+[.)](?=\s|\Z)|^[=+<>]", re.IGNORECASE)


def code(text: str, *, limit: int = 120) -> str:
    r"""A code span on one line: white space at the edges visible, line feeds as ``⏎``, backticks within longer ones.

    Args:
        text: Any string.
        limit: The most characters of it that are kept; the rest is counted.

    >>> code("a`b")
    '``a`b``'
    """
    return _span(_flat(text, limit))


def _span(shown: str) -> str:
    shown = _COMMAND.sub(r"\\", shown)
    fence = "`" * (_longest_ticks(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def cell(text: str, *, limit: int = 120) -> str:
    r"""A code span in a table, where a pipe would begin another cell.

    >>> cell("a|b")
    '`a\\|b`'
    """
    # After a backslash, hosts differ in whether the pipe is escaped: there another sign stands for it.
    return _PIPES.sub(lambda found: found[1] + ("¦" if found[1] else r"\|"), code(text, limit=limit))


def tagged(text: str, *, limit: int = 120) -> str:
    """Code in HTML, for what Markdown does not reach: the ``<summary>`` of folded details."""
    return f"<code>{html.escape(_flat(text, limit))}</code>"


def prose(text: str, *, limit: int = 1000) -> str:
    """A sentence as it is if it is made of words and numbers alone; anything else as code."""
    flat = _flat(text, limit)
    if _PLAIN.fullmatch(flat) and not _MEANT.search(flat):
        return flat.replace("<", "&lt;").replace(">", "&gt;")
    return _span(flat)


def block(rows: Iterable[tuple[str, str]], *, language: str = "", exact: bool = False) -> str:
    """A block of code, its fence longer than any in it.

    Args:
        rows: Each with the sign it begins with (``-``, ``+`` or a blank), so that no text begins a line.
        language: ``diff`` colours rows by their sign.
        exact: For a command to be copied: mentions are left as they are.
    """
    shown = ((sign, safe(text) if exact else _unmentioned(safe(text))) for sign, text in rows)
    lines = [f"{sign or ' '} {each}".rstrip() for sign, text in shown for each in text.split("\n")]
    fence = "`" * max(3, 1 + max(map(_longest_ticks, lines), default=0))
    return "\n".join([fence + language, *lines, fence])


def _flat(text: str, limit: int) -> str:
    body = text.strip() or show_white(text) or "(empty)"
    return _unmentioned(safe(body, limit=limit)).replace("\n", "⏎").replace("\t", "→")


def _unmentioned(text: str) -> str:
    return _BOT.sub(r"@\\", text)


def _longest_ticks(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)


# The table of tests, the worst first, and what a run brought that its base did not have.


MOST_NAMED = 5  # tests named in one sentence
MOST_NEWS = 20

SIGNS = {"brittle": "❌", "noisy": "⚠️", "inconclusive": "⚠️", "pass": "✅"}
EXCUSED = "➖"
LOST = "❌"


def heading_rows(document: Document) -> list[str]:
    """The head of the table."""
    columns = ["", "test", "score", "min", "deviations"]
    sides = ["-", "-", "-:", "-:", "-:"]
    if with_targets(document):
        columns, sides = [*columns, "target"], [*sides, "-"]
    if document["changes"] is not None:
        columns, sides = [*columns, "against the base"], [*sides, "-"]
    return [_row(columns), _row(sides)]


def test_rows(document: Document) -> list[str]:
    """A row a test, the worst first: those that were not judged; then those that stand in the base only."""
    compared = document["changes"] is not None
    several = with_targets(document)
    tests = ordered(document)
    rows = [
        _test_row(test, change, compared=compared, several=several)
        for test, change in zip(tests, changes_of(tests, document["changes"]), strict=True)
    ]
    between = ["-"] * (4 if several else 3)
    missed = {each["test"] for each in changed(document, "unjudged")}
    lost = [
        _row(
            [
                f"{LOST} not judged",
                cell(each["test"]),
                *between,
                *(["could not be compared" if each["test"] in missed else "-"] if compared else []),
            ]
        )
        for each in unjudged(document)
    ]
    gone = [
        _row(["", cell(each["test"]), *between, f"gone, was {prose(each['verdict_before'])}"])
        for each in changed(document, "gone")
    ]
    return lost + rows + gone


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _test_row(test: DocumentTest, change: ChangeReport | None, *, compared: bool, several: bool) -> str:
    scored = "-" if test.get("searched") else score_text(test)
    cells = [
        f"{sign(test)} {prose(test['verdict'])}{_excused(test)}",
        cell(test["test"]),
        scored,
        "-" if test.get("searched") else number(test["threshold"]),
        _deviations(test),
    ]
    if several:
        cells.append(cell(test["target"], limit=60))
    if compared:
        cells.append(_change(change))
    return _row(cells)


def sign(test: DocumentTest) -> str:
    """A sign for the verdict; another where it fails nothing, or where something else does."""
    if test["verdict"] == "pass" and is_lost(test):
        return LOST
    return EXCUSED if is_excused(test) else SIGNS.get(test["verdict"], LOST)


def _excused(test: DocumentTest) -> str:
    """Where the verdict is not what pytest made of the test."""
    usual = {"pass": "passed", "brittle": "failed"}.get(test["verdict"], "error")
    if is_accepted(test):
        return " (accepted)"
    return "" if test["outcome"] == usual else f" ({prose(test['outcome'])})"


def _deviations(test: DocumentTest) -> str:
    if test.get("searched"):
        return cell(search_text(test))
    if untried(test) or test["relation"] == "must-change":
        return "-"
    said, silent = deviation_texts(test["counts"])
    return f"{said} ({silent})" if silent else said


def _change(found: ChangeReport | None) -> str:
    if found is None:
        return "-"
    turn = turned(found)
    if not turn and found.get("answer") == "changed":
        turn = "answer changed"
    said = prose(turn) if turn else COUNTED.get(found["status"])
    said = said or cell(found["status"])  # a later version may know more
    if found["difference"]:
        said = f"{found['difference']:+.3g}, {said}"
    return said


def named(tests: Iterable[str]) -> str:
    """Tests by name, the first few."""
    every = list(tests)
    rest = len(every) - MOST_NAMED
    return ", ".join(map(code, every[:MOST_NAMED])) + (f" and {rest:,} more" if rest > 0 else "")


def chance(p: float | None) -> str:
    """How probable noise alone makes it; nothing where that is not known."""
    return "" if p is None else f" (p = {p:.2g})"


def news_rows(document: Document) -> list[str]:
    """What else the base did not have: deviating anew, drifted, better."""
    return [
        *_changes([each for each in changed(document) if not is_regression(each)], document),
        *_drift(document),
    ]


def _changes(rows_of: Iterable[ChangeReport], document: Document) -> list[str]:
    trials = {
        (name, trial["id"]): trial
        for test in document["tests"]
        for trial in test["trials"]
        for name in (test["test"], (test["test"], test["target"]))
    }
    several = with_targets(document)
    deviating = {test["test"]: len(deviations(test)) for test in document["tests"]}
    rows = []
    for each in rows_of:
        said = []
        if each["verdict"] != each["verdict_before"] and each["status"] not in {"new", "gone"}:
            said.append(
                f"{prose(each['verdict_before'] or 'not judged')} before, {prose(each['verdict'] or 'not judged')} now"
            )
        if each["status"] == "worse":
            said.append(f"worse by more than noise ({_evidence(each)})")
        if each["status"] == "better":
            said.append(f"better by more than noise ({_evidence(each)})")
        if each["new_deviations"]:
            name = (each["test"], each.get("target", ""))
            found = [
                trials.get((name, trial), trials.get((each["test"], trial)))
                for trial in each["new_deviations"]
            ]
            operators = list(dict.fromkeys(operator_names(trial) for trial in found if trial))
            by = f" by {', '.join(map(code, operators[:MOST_NAMED]))}" if operators else ""
            said.append(f"{counted(len(each['new_deviations']), 'new deviation')}{by}")
        if is_lower_unpaired(each) and (amount := deviating.get(each["test"], 0)):
            none = (
                "; the base has none" if each["score_before"] == 1 else ", of other trials than in the base"
            )
            said.append(f"{counted(amount, 'deviation')}{none}")
        if each["model"] != each["model_before"] and each["model_before"] and each["model"]:
            said.append(f"model {code(each['model_before'])} before, {code(each['model'])} now")
        if each["status"] == "new" and each["verdict"] != "pass":
            said.append(f"new, and {prose(each['verdict'])}")
        if said:
            target = f" ({code(each['target'])})" if several and each.get("target") else ""
            rows.append(f"- {code(each['test'])}{target}: {'; '.join(said)}")
    return rows


def _evidence(change: ChangeReport) -> str:
    told = [f"{change['worse']} of {counted(change['pairs'], 'trial')} worse, {change['better']} better"]
    if change["adjusted_p"] is not None:
        told.append(f"p = {change['adjusted_p']:.2g}")
    return ", ".join(told)


def _drift(document: Document) -> list[str]:
    return [
        f"- {code(test['test'])}: {said}, {prose(each['message'])}{chance(each['p'])}"
        for said, told in (("drift", drifts), ("snapshot updated", updates))
        for test in ordered(document)
        for each in told(test)
    ]


# What a pull request changed: what it broke, other answers, other prompts.


def regression_rows(document: Document) -> list[str]:
    """The tests that a run made worse, each with what shows it."""
    return _changes(filter(is_regression, changed(document)), document)


MOST_ANSWERS = 20
_ANSWERS: tuple[AnswerFinding, ...] = ("changed", "cannot tell", "minor")
_LONG_ANSWER = 600  # characters of an answer


def answer_blocks(document: Document) -> list[str]:
    """The first answers that changed, may have or differ a little, old and new."""
    told = answers_of(document["changes"], *_ANSWERS)
    return [_answer_block(each) for each in told[:MOST_ANSWERS]]


def unanswered_rows(document: Document) -> list[str]:
    """Which answers are not compared, with the reason."""
    changes = document["changes"]
    if changes is None or changes["base"]["kind"] == "last":
        return []
    return [f"- {named(tests)}: {prose(reason)}" for reason, tests in unanswered(changes).items()]


def _answer_block(change: AnswerChange) -> str:
    on = f" on input {code(change['input'])}" if change["input"] else ""
    said = {
        "cannot tell": [f"cannot tell whether it changed: {change['explanation']}"],
        "minor": ["a minor variation"],
    }.get(change["finding"], [])
    said += filter(None, [answer_circumstances(change)])
    about = f": {prose('; '.join(said))}" if said else ""
    return f"- {code(change['test'])}{on}{about}\n\n{_answer_diff(change)}"


def _answer_diff(change: AnswerChange) -> str:
    """The words that differ in their neighbourhood; of answers that have none in common, both."""
    shared = any(kind == "=" and any(map(str.isalnum, text)) for kind, text in change["diff"])
    if shared and all(len(text) <= _LONG_ANSWER for kind, text in change["diff"] if kind != "="):
        return edit_block(change["diff"])
    one, other = answer_pair(change["before"], change["after"], limit=_LONG_ANSWER)
    return block([("-", one), ("+", other)], language="diff")


def prompt_rows(document: Document) -> list[str]:
    """The prompts that changed, each with what became of its test, and with the words where both texts are known."""
    return [
        f"- {code(each['test'])}: {prompt_effect(each, prose)}"
        + (f"\n\n{edit_block(diff)}\n" if (diff := each.get("prompt_diff")) else "")
        for each in changed(document)
        if each["prompt_changed"]
    ]


_ENDS = {
    "passes": "; it passes now, so that `accept_brittle` can go",
    "expired": ", which is past, so that it fails",
}


def accepted_rows(document: Document) -> list[str]:
    """The tests that are accepted as brittle, each with its reason and its last day."""
    return [
        f"- {code(each['test'])}: until {code(accepted['until'])}{_ENDS.get(accepted['status'], '')}: "
        f"{prose(accepted['reason'])}"
        for each in ordered(document)
        if (accepted := each["accepted"]) is not None
    ]


# One test in a report of Markdown: the smallest edit that breaks it, and folded, what else is known of it.


MOST_CHANGES = 3
MOST_TRIALS = 5
MOST_NOTES = 10
_CONTEXT = 60
_TOLD = ("deviation", "minor", "undecided")


def test_block(test: DocumentTest, news: News | None) -> str:
    """A test that did not pass, or that has drifted: a heading, why, the smallest edit, and folded details.

    Args:
        test: The test.
        news: What it has that its base lacks, to be shown unfolded with its answers.
    """
    parts = [f"#### {code(test['test'])}", prose(test["explanation"]) if test["explanation"] else ""]
    first = _first(test)
    if news is not None and news.trials:
        first = next((each for each in deviations(test) if each["id"] in news.trials), first)
    elif first is not None:
        parts.append(
            f"A change that breaks it ({code(operator_names(first))}):\n\n{edit_block(first['diff'])}"
        )
    known = test["counterexamples"][0]["diff"] if test["counterexamples"] else first and first["diff"]
    parts += [_smallest(test), *_fresh(test, known, news), _folded(test, known, news)]
    return "\n\n".join(filter(None, parts))


def _fresh(test: DocumentTest, shown: list[list[str]] | None, news: News | None) -> list[str]:
    """What the base lacks: deviations with their answers, and drift."""
    if news is None:
        return []
    trials = [each for each in deviations(test) if each["id"] in news.trials]
    return [
        *_groups(test, trials, shown if test["counterexamples"] else None),
        *_test_drift(test, news.drift),
    ]


def _smallest(test: DocumentTest) -> str:
    """The smallest edit known to break the test."""
    if not test["counterexamples"]:
        return ""
    first = test["counterexamples"][0]
    what = "The smallest change that breaks it" if first["minimal"] else "A change that breaks it"
    failed, asked = first["repeats"]
    often = "each time" if failed == asked else f"{failed} of {counted(asked, 'time')}"
    how = f" ({often})" if asked else ""
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
        rows.append(("", f"… and {counted(rest, 'more place')} changed"))
    return block(rows or [("", "(unchanged)")], language="diff")


def _rows(shown: Shown) -> list[tuple[str, str]]:
    if isinstance(shown, ShownChange):
        sides = {side: "".join(text for kind, text in shown.pieces if kind in f"={side}") for side in "-+"}
        return [(side, text.replace("\n", "⏎")) for side, text in sides.items() if text]
    if isinstance(shown, Move):
        text = _short(shown.text)
        before, after = (
            f"after “{each}”" if each else "at the start" for each in (shown.was_after, shown.now_after)
        )
        return [("-", f"{text}  ({before})"), ("+", f"{text}  ({after})")]
    rows = [("", REORDERED)]
    return rows + [("+", f"{place:>2}  {_short(text)}") for place, text in shown.segments[:6]]


def _short(text: str, limit: int = 200) -> str:
    flat = text.replace("\n", "⏎")
    return flat if len(flat) <= limit else f"{flat[: limit // 2]} … {flat[-limit // 2 :]}"


def _folded(test: DocumentTest, shown: list[list[str]] | None, news: News | None) -> str:
    """All else, without the edit that is ``shown`` already, and without what is new."""
    drift = {each["kind"] for each in drifts(test)} - (news.drift if news else set())
    parts = [*_trials(test, shown, news.trials if news else ()), *_test_drift(test, drift), *_errors(test)]
    if test["notes"]:
        notes = [f"- {code(note, limit=400)}" for note in test["notes"][:MOST_NOTES]]
        rest = len(test["notes"]) - MOST_NOTES
        parts.append("\n".join(["Notes:", "", *notes, *([f"- and {rest:,} more"] if rest > 0 else [])]))
    if not parts:
        return ""
    answered = f", answered by {tagged(test['model'], limit=60)}" if test["model"] else ""
    head = f"<details><summary>Answers, notes and how to reproduce it{answered}</summary>"
    return "\n\n".join([head, *parts, "</details>"])


def _trials(test: DocumentTest, shown: list[list[str]] | None, told: Collection[str]) -> list[str]:
    found = test.get("searched")
    if found is not None:
        trials = [each for each in (found["found"] or found["nearest"],) if each is not None]
    else:
        trials = [
            each
            for name in _TOLD
            for each in scored(test)
            if each["outcome"] == name and each["id"] not in told
        ]
    return _groups(test, trials, shown)


def _groups(test: DocumentTest, trials: Sequence[TrialReport], shown: list[list[str]] | None) -> list[str]:
    """Trials, those of one kind as one."""
    groups = grouped(trials, _trial_why)
    parts = [_trial(test, group, edit=group[0]["diff"] != shown) for group in groups[:MOST_TRIALS]]
    rest = sum(map(len, groups[MOST_TRIALS:]))
    return [*parts, f"And {counted(rest, 'other change')} of such kinds."] if rest else parts


def _trial_why(trial: TrialReport) -> tuple[str, ...]:
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
        parts.append(f"Reproduce:\n\n{block([('', _clipped(trial['reproduce'], 2000))], exact=True)}")
    return "\n\n".join(filter(None, parts))


def answers_block(before: Any, after: Any) -> str:
    """Two answers, one below the other."""
    one, other = answer_pair(before, after)
    return "\n\n".join(["Baseline:", block([("", one)]), "Response:", block([("", other)])])


def _clipped(text: str, limit: int = 600) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… (+{len(text) - limit:,} characters)"


def _test_drift(test: DocumentTest, kinds: Collection[str]) -> list[str]:
    parts = []
    for each in (each for each in drifts(test) if each["kind"] in kinds):
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
            f"- {code(kind)}, {counted(len(group), 'trial')}: {code(message, limit=300)}"
            + (f" {mend}" if mend else "")
        )
    return (
        ["\n".join(["Errors, which say nothing about the prompt:", "", *rows[:MOST_NOTES]])] if rows else []
    )


MARKER = "<!-- pytest-promptfuzz report -->"
"""The first line, by which a workflow finds the comment that it made before."""
LIMIT = 65_536
"""Of a comment on GitHub, in characters. Sizes here are bytes of UTF-8, of which a text has the most."""
LEAST = 2_000
_SIGNS = {"passed": "✅", "failed": "❌", "error": "⚠️", "empty": "⚠️"}
_TABLE = 0.5  # the table's share of what is left, where there are tests to show below it
_KEPT = 0.25  # the table's share of the whole, whatever stands above it
_SAYING = 250  # bytes kept for saying what was left out
_MORE = 30  # and for saying it at the end of a list


def markdown_report(document: Document, *, limit: int = LIMIT) -> str:
    """The report of a run as GitHub's and GitLab's Markdown.

    The verdict comes first and is never cut. What follows is left out whole, a row or a test at a time, where it would
    not fit, and it is said how much was: each list ends with how many more it has, and leaves room for the table. No
    text of a model or a test becomes markup, a link, a picture or a mention.

    Args:
        document: Of a run.
        limit: The most bytes of UTF-8, at least 2,000; so many characters, or UTF-16 units, are never exceeded either.

    Raises:
        ValueError: ``limit`` is below 2,000.
    """
    if limit < LEAST:
        raise ValueError(f"limit={limit} is too low. Write {LEAST:,} or more: the verdict is never cut.")
    whole = overview(document)
    head = f"{MARKER}\n### {_SIGNS[whole.result]} Prompt robustness: {headline(document)}"
    foot = _foot(document, whole)
    foot = foot if _size(foot) <= limit // 4 else ""
    rows = _List(test_rows(document), heading_rows(document))
    tests = ordered(document)
    compared = document["changes"] is not None
    blocks = _Blocks(document)
    room = _Room(limit - _size(head) - _size(foot) - _SAYING, rows, blocks.all)
    parts = [head, room.rows(_whys(document))]
    parts.append(room.rows(_uncollected(uncollected(document))))
    parts.append(room.rows(_unjudged(unjudged(document), several=with_targets(document))))
    parts.append(room.rows(regression_rows(document), lead=["**Regressions**", ""]))
    first = room.take(blocks.first, between="\n\n", share=_TABLE) if compared else _NOTHING
    parts.append(first.text)
    amount = len(answers_of(document["changes"], *_ANSWERS))
    lead = ["**Changed answers**"]
    parts.append(room.rows(answer_blocks(document), lead=lead, between="\n\n", amount=amount))
    lead = [] if parts[-1] else [*lead, ""]
    parts.append(room.rows(unanswered_rows(document), lead=[*lead, "Not compared:", ""]))
    parts.append(room.rows(prompt_rows(document), lead=["**Changed prompts**", ""]).rstrip("\n"))
    parts.append(room.rows(accepted_rows(document), lead=["**Accepted as brittle**", ""]))
    news, lead = news_rows(document), ["**What else is new**" if compared else "**What is new**", ""]
    parts.append(room.rows(news[:MOST_NEWS], lead=lead, amount=len(news)))
    fresh = room.take(blocks.fresh, between="\n\n", share=_TABLE)
    parts.append(fresh.text)
    details = [*blocks.known, *blocks.untold] if compared else blocks.first
    room.release()
    share = max(_TABLE, 1 - sum(map(_size, details)) / max(room.free, 1))
    table = room.take(rows.parts, lead=rows.lead, share=share)
    below = room.take(details, between="\n\n")
    rest = [table.text, below.text]
    summary = _known(len(tests) + len(unjudged(document)), len(blocks.known), len(blocks.untold))
    parts += [_fold(rest, summary)] if compared and table.text else rest
    parts += [_left_out(table.left, first.left + fresh.left + below.left, room.lost), foot]
    return "\n\n".join(filter(None, parts)) + "\n"


class _Blocks:
    """The details of tests by where they stand.

    ``first`` are regressions, or all where nothing is compared; ``fresh`` have something else that their base lacks;
    ``known`` only what it has, too; of ``untold`` nobody knows, since their trials cannot be compared.
    """

    def __init__(self, document: Document) -> None:
        self.first: list[str] = []
        self.fresh: list[str] = []
        self.known: list[str] = []
        self.untold: list[str] = []
        tests = ordered(document)
        for test, change in zip(tests, changes_of(tests, document["changes"]), strict=True):
            news = None if change is None else news_of(test, change)
            if not _is_told(test) and not (news and news.trials):
                continue
            if change is None or is_regression(change):
                self.first.append(test_block(test, None))
            elif news and any(news):
                self.fresh.append(test_block(test, news))
            elif test["verdict"] != "pass" or drifts(test) or is_lost(test):
                (self.known if is_known(test, change) else self.untold).append(test_block(test, None))

    @property
    def all(self) -> list[str]:
        """Those of every kind."""
        return [*self.first, *self.fresh, *self.known, *self.untold]


def _known(tests: int, told: int, untold: int) -> str:
    """What is folded: the table, what was so before, and what cannot be compared."""
    said = [f"All {counted(tests, 'test')}" if tests != 1 else "The test"]
    said += [f"{counted(told, 'finding')} that the base has, too"] if told else []
    said += [f"{counted(untold, 'finding')} that cannot be compared with the base"] if untold else []
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, and {said[-1]}"


def _fold(parts: Iterable[str], summary: str) -> str:
    return "\n\n".join(filter(None, [f"<details><summary>{summary}</summary>", *parts, "</details>"]))


class _Taken:
    """What fits, joined, and how many do not."""

    def __init__(self, text: str, left: int) -> None:
        self.text, self.left = text, left


_NOTHING = _Taken("", 0)


class _List(NamedTuple):
    """Parts, and what stands above them."""

    parts: list[str]
    lead: list[str]


class _Room:
    """So many bytes, of which parts take what they need while there are any.

    Args:
        free: Bytes.
        table: The table of tests, for which a share is kept until it is released.
        blocks: The details of tests, which lists leave room for.
    """

    def __init__(self, free: int, table: _List, blocks: Iterable[str]) -> None:
        needed = sum(map(_size, (*table.lead, *table.parts)))
        self._kept = max(0, min(needed, int(free * _KEPT)))
        self._later = needed - self._kept + sum(map(_size, blocks))
        self.free = free - self._kept
        self.lost = 0

    def release(self) -> None:
        """Free what is kept for the table."""
        self.free += self._kept

    def rows(
        self, parts: Sequence[str], *, lead: Sequence[str] = (), between: str = "\n", amount: int = 0
    ) -> str:
        """A list with as many of its parts as fit, and how many more there are.

        It may take half of what is free, and more where the table and the details of tests need less. ``amount`` is
        how many parts there are, where not all of them were made. Lines of lists of which nothing fits are ``lost``.
        """
        share = max(_TABLE, 1 - self._later / max(self.free, 1))
        taken = self.take(parts, lead=lead, between=between, share=share, beside=_MORE)
        left = max(amount, len(parts)) - len(parts) + taken.left
        if not taken.text or not left:
            self.lost += left
            return taken.text
        self.free -= _MORE
        return between.join([taken.text, f"- and {left:,} more"])

    def take(
        self,
        parts: Iterable[str],
        *,
        lead: Sequence[str] = (),
        between: str = "\n",
        share: float = 1.0,
        beside: int = 0,
    ) -> _Taken:
        """As many of the parts, from the first, as fit into a share of what is free.

        Once one does not fit, shorter ones may: a huge test hides no other. ``beside`` are bytes that stay free.
        """
        every = list(parts)
        budget = int(self.free * share) - beside
        used = sum(_size(each) for each in lead)
        kept: list[str] = []
        for each in every:
            if used + _size(each) <= budget:
                used += _size(each)
                kept.append(each)
        if not kept:
            return _Taken("", len(every))
        self.free -= used
        text = between.join(["\n".join(lead), *kept]) if lead else between.join(kept)
        return _Taken(text, len(every) - len(kept))


def _size(text: str) -> int:
    """Bytes, with what parts it from the next."""
    return len(text.encode("utf-8", "replace")) + 2


def _is_told(test: DocumentTest) -> bool:
    return test["verdict"] != "pass" or test["outcome"] != "passed" or bool(drifts(test))


def _whys(document: Document) -> list[str]:
    """Why the run failed, beside the verdicts in the table: other failures, conditions that are met, an early end."""
    bad = [each for each in ordered(document) if each["verdict"] == "pass" and is_lost(each)]
    rows = [f"- {sign(each)} {code(each['test'])}: {_why(each)}" for each in bad[:MOST_NAMED]]
    if len(bad) > MOST_NAMED:
        rows.append(f"- and {counted(len(bad) - MOST_NAMED, 'more test')} that failed")
    rows += [f"- ❌ {code(condition)} is met by {named(tests)}" for condition, tests in met(document)]
    if not document["run"]["complete"] and (document["tests"] or not uncollected(document)):
        rows.append("- ⚠️ The run ended before its last test: what was not run is missing here.")
    if not document["tests"] and not document["unjudged"]:
        rows.append("- ⚠️ Nothing was tested. Were tests selected that are marked `@robust`?")
    return rows + [f"- ⚠️ {prose(each, limit=400)}" for each in document["warnings"]]


def _why(test: DocumentTest) -> str:
    """Why a test failed whose prompt passed."""
    drift = [each for each in drifts(test) if each["policy"] == "fail"]
    if drift:
        return prose(drift[0]["message"])
    return f"the prompt passed, but the test {'failed' if test['outcome'] == 'failed' else 'is an error'}"


def _uncollected(files: Sequence[UnjudgedReport]) -> list[str]:
    """Files without tests, since pytest could not read them: an earlier report of them holds no longer."""
    if not files:
        return []
    rows = [f"- {code(each['test'])}: {code(each['message'], limit=300)}" for each in files]
    said = f"pytest could not collect {counted(len(files), 'file')}:"
    return [
        f"> **{said}** nothing is known of the prompts in {'it' if len(files) == 1 else 'them'}.\n",
        *rows,
    ]


def _unjudged(tests: Sequence[UnjudgedReport], *, several: bool) -> list[str]:
    """Robust tests that were not judged: nothing is known of their prompts, and that is easily missed."""
    if not tests:
        return []
    rows = [
        f"- {code(each['test'])}{_asked(each) if several else ''} ({prose(each['outcome'])}): "
        f"{code(each['message'], limit=300)}"
        for each in tests
    ]
    why = "the test failed with the unmutated prompt, or could not run."
    return [f"> **{counted(len(tests), 'robust test')} not judged:** {why}\n", *rows]


def _asked(test: UnjudgedReport) -> str:
    target = target_of(test)
    return f" with {code(target, limit=60)}" if target else ""


def _left_out(rows: int, blocks: int, lines: int) -> str:
    said = [f"{counted(rows, 'test')} in the table"] if rows else []
    said += [f"the details of {counted(blocks, 'test')}"] if blocks else []
    said += [f"{counted(lines, 'line')} of lists"] if lines else []
    if not said:
        return ""
    every = " and ".join(filter(None, [", ".join(said[:-1]), said[-1]]))
    return f"*Left out, for a host's limit: {every}. The JSON and HTML reports have all of them.*"


def _foot(document: Document, whole: Overview) -> str:
    """What it cost, and which run it was."""
    run, tests = document["run"], document["tests"]
    said = [
        f"{counted(whole.calls, 'call')}",
        *stored_answers((each["spent"] for each in tests), recording=run["mode"].startswith("record")),
        money(whole),
        seconds(run["seconds"]),
        f"mode {prose(run['mode'])}" if run["mode"] else "",
        f"seed {run['seed']}",
        f"commit {code(run['commit'][:12])}" + (" with changes" if run["dirty"] else "")
        if run["commit"]
        else "",
        f"pytest-promptfuzz {prose(run['version'])}",
    ]
    if document["changes"] is not None:
        said.append(f"compared with {code(document['changes']['base']['label'], limit=60)}")
    if tests and all(map(simulated, tests)):
        known = not real_judges(tests) and not unfollowed(tests)
        said.append("simulated answers, no real model was called" if known else "simulated answers")
    if left := unfollowed(tests, simulated=all(map(simulated, tests))):
        said.append(prose(left.rstrip(".")))
    return f"<sub>{'; '.join(filter(None, said))}</sub>"


# The report as Markdown, for a pull request's comment and a step's summary.


__all__ = ["LEAST", "LIMIT", "MARKER", "markdown_report"]

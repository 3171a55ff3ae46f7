"""What changed since an earlier run, as the terminal shows it; lists and trends of earlier runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypedDict

from pytest_promptfuzz.history.changes import finding_of
from pytest_promptfuzz.reporting.phrases import number
from pytest_promptfuzz.reporting.terminal.rows import verdict_style
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, MIN_WIDTH
from pytest_promptfuzz.text.safe_text import safe
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_promptfuzz.history.changes import (
        BaseReport,
        ChangeReport,
        ChangesReport,
        ConditionReport,
        Status,
        TrendsReport,
    )
    from pytest_promptfuzz.reporting.terminal.styled_text import Line, Style

    Operators = Mapping[str, Mapping[str, str]]


MOST = 8
"""Tests that are named."""
_MOST_NAMES = 5
_MOST_TOLD = 3  # tests that a single sentence names
_STYLES: Mapping[str, Style] = {
    "worse": "bad",
    "lower": "warn",
    "unpaired": "warn",
    "unjudged": "warn",
    "gone": "warn",
    "better": "good",
    "higher": "plain",
    "new": "plain",
}
COUNTED: Mapping[Status, str] = {
    "worse": "worse",
    "better": "better",
    "lower": "cannot tell",
    "higher": "cannot tell",
    "unpaired": "cannot tell",
    "unjudged": "not judged",
    "new": "new",
    "gone": "gone",
    "same": "the same",
}
"""What each status is called."""
_TURNABLE = frozenset({"lower", "higher", "unpaired"})
_TOLD = ("worse", "lower", "unpaired", "gone", "better", "higher")


def change_lines(
    changes: ChangesReport, operators: Operators, *, most: int = MOST, figures: bool = False
) -> list[Line]:
    """How many tests are not as before, and which, the worst first; nothing where all are, or are new.

    Args:
        changes: The run beside its base.
        operators: By test and trial: the operators of trials that deviate.
        most: How many tests are named.
        figures: Whether p stands beside what is told from noise by it.
    """
    told = [each for each in changes["tests"] if _is_told(each)]
    lines: list[Line] = []
    apart = [each for each in changes["tests"] if each["status"] == "unpaired" and not _is_told(each)]
    if any(map(_is_changed, changes["tests"])):
        lines.append(
            [("Since ", "heading"), HANG, (f"{base_text(changes['base'])}: {_counts(changes)}.", "plain")]
        )
        lines += [_line(each, operators.get(each["test"], {}), figures=figures) for each in told[:most]]
        lines += _incomparable(apart)
        if len(told) > most:
            lines.append(
                [(f"... and {counted(len(told) - most, 'more test')}; promptfuzz compare shows all.", "dim")]
            )
    return lines


def _incomparable(apart: Sequence[ChangeReport]) -> list[Line]:
    """The tests that cannot be compared, a line for each reason."""
    reasons: dict[str, list[str]] = {}
    for each in apart:
        reasons.setdefault(each["explanation"], []).append(each["test"])
    return [
        [("cannot tell ", "warn"), HANG, (name_some(tests), "heading"), (f": {reason}", "plain")]
        for reason, tests in reasons.items()
    ]


def one_line(changes: ChangesReport) -> str:
    """The same in a sentence, for runs that say little; empty where nothing changed."""
    told = [each for each in changes["tests"] if _is_told(each)]
    if not any(map(_is_changed, changes["tests"])):
        return ""
    if not told or len(told) > _MOST_TOLD:
        worse = [each["test"] for each in told if called(each) in {"newly brittle", "worse"}]
        names = f": {name_some(worse)}" if worse else ""
        return f"since {base_text(changes['base'])}: {_counts(changes)}{names}"
    groups: dict[str, list[str]] = {}
    for each in told:
        groups.setdefault(_said(each), []).append(each["test"])
    named = "; ".join(f"{name_some(tests)} {_verb(said, len(tests))}" for said, tests in groups.items())
    return f"since {base_text(changes['base'])}: {named}"


def _said(change: ChangeReport) -> str:
    """What became of a test, in a word or two."""
    if change["status"] == "same":
        return "new deviations" if change["new_deviations"] else "fewer deviations"
    return called(change)


def _verb(said: str, tests: int) -> str:
    """The same as the rest of a sentence about so many tests."""
    if said == "passes now":
        return said if tests == 1 else "pass now"
    if said == "cannot tell":
        return "cannot be told from noise"
    if said.endswith("deviations"):
        return f"{'has' if tests == 1 else 'have'} {said}"
    return f"{'is' if tests == 1 else 'are'} {said}"


def unchanged_line(changes: ChangesReport) -> str:
    """That a comparison which was asked for found no difference; empty where it found one."""
    if any(map(_is_changed, changes["tests"])) or any(
        each["finding"] != "not compared" for each in changes.get("answers", [])
    ):
        return ""
    new = sum(each["status"] == "new" for each in changes["tests"])
    beside = f" ({counted(new, 'test')} {'is' if new == 1 else 'are'} new)" if new else ""
    lost = sum(each["status"] == "unjudged" for each in changes["tests"])
    apart = f"; {counted(lost, 'test')} could not be compared" if lost else ""
    return f"compared with {base_text(changes['base'])}: no test is better or worse, no answer changed{beside}{apart}"


def unjudged_lines(changes: ChangesReport) -> list[str]:
    """A sentence for each reason for which tests of the base were not judged now, and so are not compared."""
    reasons: dict[str, list[str]] = {}
    for each in changes["tests"]:
        if each["status"] == "unjudged":
            reasons.setdefault(each["explanation"], []).append(each["test"])
    return [f"{name_some(tests)} not compared: {reason}" for reason, tests in reasons.items()]


def condition_lines(conditions: Iterable[ConditionReport], option: str) -> list[str]:
    """A sentence for each condition that fails the run.

    Args:
        conditions: Those that are met.
        option: What they were given as.
    """
    return [
        f"{option} '{each['expression']}' is met by {counted(len(each['tests']), 'test')}, so the run fails: "
        f"{name_some(each['tests'])}{_noise(each['expression'])}"
        for each in conditions
    ]


def unproven_lines(unproven: Iterable[ChangeReport], option: str, *, reasons: bool = True) -> list[str]:
    """A sentence for each test that meets no condition only because its drop is not proven.

    Args:
        unproven: Those tests.
        option: What conditions were given as.
        reasons: Whether it says what is missing; :func:`change_lines` does already.
    """
    return [
        f"{option}: the drop of {name_some([each['test']])} ({_scores(each)}) is not proven, so it fails nothing"
        + (f"; {each.get('missing') or each['explanation']}" if reasons else "")
        for each in unproven
    ]


def base_text(base: BaseReport) -> str:
    """What was compared with, in words."""
    about = [
        *([f"{base['started'][:16].replace('T', ' ')} UTC"] if base["started"] else []),
        *([f"on {base['branch']}"] if base["branch"] else []),
        *([f"at {base['commit'][:12]}"] if base["commit"] else []),
    ]
    label = safe(base["label"]).replace("\n", "⏎")
    names = {
        "last": "the last run",
        "name": f"the run {label}",
        "file": f"the run in {label}",
        "ref": f"the merge base {label}" if "..." in label else f"commit {label}",
    }
    name = names.get(base["kind"], label)
    return f"{name} ({', '.join(about)})" if about else name


def operators_of(tests: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """By test and trial: the operators of trials that deviate.

    Args:
        tests: Reports.
    """
    return {
        test["test"]: {
            each["id"]: " + ".join(name.partition("@")[0] for name in each["operators"])
            for each in test["trials"]
            if each["outcome"] == "deviation"
        }
        for test in tests
    }


def called(change: ChangeReport) -> str:
    """What became of a test: ``newly brittle``, ``worse``, ``better``, ``the same``, ``cannot tell`` and the like."""
    return turned(change) or COUNTED.get(change["status"], change["status"])


def turned(change: ChangeReport) -> str:
    """``newly brittle`` of a test that passed, ``passes now`` and the like of others whose trials do not prove as much.

    A test that passed and now fails is never called "within noise": its own verdict says that it is more.
    """
    before, now = change["verdict_before"], change["verdict"]
    if finding_of(change["status"], before, now) == "newly brittle":
        return "newly brittle"
    if change["status"] not in _TURNABLE or before == now or not before or not now:
        return ""
    return "passes now" if now == "pass" else f"newly {now}"


def shade(change: ChangeReport) -> str:
    """The status whose colour a test has: one that turned has that of ``worse`` or ``better``."""
    return {"": change["status"], "passes now": "better"}.get(turned(change), "worse")


def tallied(tests: Iterable[ChangeReport], names: Mapping[Status, str]) -> list[tuple[int, str]]:
    """How many tests came to what, in the order of ``names``; those whose verdict turned come first.

    Args:
        tests: The tests.
        names: What each status is called.
    """
    every = list(tests)
    turns = Counter(filter(None, map(turned, every)))
    tally = Counter(each["status"] for each in every if not turned(each))
    found = [(tally[status], said) for status, said in names.items()]
    first = [(turns[said], said) for said in sorted(turns, key=lambda said: (said == "passes now", said))]
    amounts: dict[str, int] = {}
    for amount, said in (*first, *found):
        amounts[said] = amounts.get(said, 0) + amount
    return [(amount, said) for said, amount in amounts.items() if amount]


def _is_changed(change: ChangeReport) -> bool:
    return change["status"] in _TOLD or bool(change["new_deviations"] or change["mended"])


def _is_told(change: ChangeReport) -> bool:
    """Whether a test has a line of its own: one that cannot be compared only where its verdict is another."""
    if change["status"] == "unpaired" and change["verdict"] == change["verdict_before"]:
        return False
    return _is_changed(change)


def _counts(changes: ChangesReport) -> str:
    return ", ".join(f"{amount} {said}" for amount, said in tallied(changes["tests"], COUNTED))


def _line(change: ChangeReport, operators: Mapping[str, str], *, figures: bool) -> Line:
    style = _STYLES.get(shade(change), "plain")
    said = [_scores(change), change["explanation"], change.get("missing", "")]
    if figures and change["adjusted_p"] is not None:
        said.append(f"p = {change['adjusted_p']:.2g} among all tests")
    new = list(dict.fromkeys(operators.get(each, each) for each in change["new_deviations"]))
    if new:
        said.append(f"new deviation{'s' if len(change['new_deviations']) > 1 else ''} by {name_some(new)}")
    if change["verdict_before"] != change["verdict"] and change["verdict"] and change["verdict_before"]:
        said.insert(0, f"{change['verdict_before']} before, {change['verdict']} now")
    text = "; ".join(each for each in said if each)
    return [
        (f"{called(change)} ", style),
        HANG,
        (safe(change["test"]).replace("\n", "⏎"), "heading"),
        (f": {text}", "plain"),
    ]


def _scores(change: ChangeReport) -> str:
    before, now = change["score_before"], change["score"]
    if before is None or now is None:
        return ""
    if before == now:
        return f"score {number(now)} as before"
    return f"score {number(now, against=before)}, was {number(before, against=now)}"


def name_some(names: Sequence[str]) -> str:
    """Tests by name, the first few."""
    shown = ", ".join(safe(each).replace("\n", "⏎") for each in names[:_MOST_NAMES])
    rest = len(names) - _MOST_NAMES
    return shown + (f" and {rest} more" if rest > 0 else "")


def _noise(expression: str) -> str:
    return " ('any' counts what is within noise, too)" if expression.lower().startswith("any ") else ""


# Earlier runs, as a terminal shows them: a list, and one test's score over time.


_WIDEST = 40  # columns of a bar
_VERDICTS = ("brittle", "noisy", "inconclusive", "pass")


class RunRow(TypedDict):
    """A run in a list: how many of its tests had which verdict; score and verdict are of one ``test``, if any."""

    id: str
    name: str
    started: str
    seconds: float
    commit: str
    branch: str
    dirty: bool | None
    complete: bool
    aside: str
    verdicts: dict[str, int]
    cost: float | None
    test: str | None
    score: float | None
    verdict: str


def runs_lines(rows: Sequence[RunRow]) -> list[Line]:
    """A line for each run; its ID can be compared with."""
    return [_run_line(each) for each in rows]


def trend_lines(trends: TrendsReport, test: str, *, width: int = 80) -> list[Line]:
    """A bar for each run that has the test, the newest last.

    Args:
        trends: Earlier runs.
        test: Which of its tests.
        width: Columns.
    """
    lines: list[Line] = [[(safe(test).replace("\n", "⏎"), "heading")]]
    room = max(8, min(_WIDEST, max(width, MIN_WIDTH) - 52))
    for point in trends["tests"].get(test, ()):
        run = trends["runs"][point["run"]]
        score = point["score"]
        bar = "#" * round(room * score) if score is not None else ""
        where = _shown(run["name"]) or run["commit"][:8] or run["id"][:8]
        lines.append(
            [
                (f"{_when(run['started'])}  {where[:12]:12}  ", "plain"),
                HANG,
                (f"{number(score) or '-':>5}  ", "plain"),
                (f"{bar:{room}}", verdict_style(point["verdict"])),
                (f"  {point['verdict']}", verdict_style(point["verdict"])),
            ]
        )
    return lines


def _run_line(row: RunRow) -> Line:
    verdicts = ", ".join(f"{row['verdicts'][each]} {each}" for each in _order(row["verdicts"])) or "no tests"
    about = [
        *([_shown(row["branch"])] if row["branch"] else []),
        *([row["commit"][:12]] if row["commit"] else []),
        *(["changed since"] if row["dirty"] else []),
        *([] if row["complete"] else ["ended before its last test"]),
        *([_shown(row["aside"])] if row["aside"] else []),
        *([f"${row['cost']:.4f}"] if row["cost"] is not None else []),
    ]
    name: Line = [(f"{_shown(row['name'])}  ", "label")] if row["name"] else []
    what = f"{number(row['score']) or '-'} {row['verdict']}" if row["test"] is not None else verdicts
    style = verdict_style(row["verdict"]) if row["test"] is not None else "plain"
    return [
        (f"{_when(row['started'])}  {row['id'][:12]:12}  ", "plain"),
        HANG,
        *name,
        (what, style),
        (f"  {', '.join(about)}" if about else "", "dim"),
    ]


def _order(verdicts: Mapping[str, int]) -> Iterable[str]:
    return sorted(verdicts, key=lambda each: (_VERDICTS.index(each) if each in _VERDICTS else -1, each))


def _when(started: str) -> str:
    return f"{_shown(started).replace('T', ' ').removesuffix('Z')[:16]:16}"


def _shown(text: str) -> str:
    return safe(text).replace("\n", "⏎")

"""Phrases that every report uses, made from the report document: figures in tables, half sentences, sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pytest_promptfuzz.history.changes import finding_of
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.reporting.model import untried
from pytest_promptfuzz.text.safe_text import safe
from pytest_promptfuzz.wording.sentences import as_expected, counted, sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from pytest_promptfuzz.history.changes import AnswerChange, ChangeReport
    from pytest_promptfuzz.reporting.model import SpentReport, TestReport, TestSummary, TrialReport


REORDERED = "reordered, the moved parts only (left: their place before)"

T = TypeVar("T")

#: What to do about each kind of error.
MENDS: dict[str, str] = {
    "rate-limit": "Run again later, or with fewer calls at a time: stored answers are not asked for twice.",
    "server": "The provider failed. Run again: stored answers are not asked for twice.",
    "connection": "Check the network and the base URL, then run again.",
    "timeout": "Run again, or allow each call more time.",
    "malformed": "The answer was not what the provider promises. Run again; if it stays, check the base URL.",
    "authentication": "Check the API key and what it may be used for.",
    "billing": "Add credit to the account or raise its limit, then run again: stored answers are not asked for twice.",
    "refused": "Check the base URL, the model and what the account may do.",
    "not-found": "Check the model's name and the base URL.",
    "bad-request": "Check the model's name and the parameters of the call.",
    "tier": "Mend the tier: it returns a number from 0 to 1, or None where it cannot tell.",
    "guard": "Mend the guard: it returns what contradicts, or None for nothing.",
    "judge": "Mend the judge: it returns 3, 2 or 1, a Rating, or None where it cannot tell (asked as a model: text).",
    "judge-answer": "Run with --promptfuzz-mode=live to ask the judge again; if it stays, name another model.",
    "target-raised": "Make the function answer, or raise an AssertionError where the prompt is to blame.",
    "not-text": "Make the target return text, a Response or a JSON-able value.",
    "skipped": "The test skipped itself for the changed prompt only: decide on it before the prompt is used.",
    "configuration": "Set what the message names, then run again.",
}

_EARLIER = ("earlier connection", "earlier program")
_MOST_PLACES = 4  # named of what was not followed
_ORDER = {"brittle": 0, "noisy": 1, "inconclusive": 2, "pass": 3}


def verdicts(amount: int, verdict: str) -> str:
    """How many tests came to a verdict, as sentences say it: ``2 brittle``, ``10 passed``."""
    return f"{amount:,} {'passed' if verdict == 'pass' else verdict}"


def worst_first(report: TestSummary) -> tuple[int, float, str]:
    """A sort key: brittle, noisy, inconclusive, pass; the lowest score first; then by name."""
    score = report["score"]
    return _ORDER.get(report["verdict"], -1), -1.0 if score is None else score, report["test"]


def number(value: float | None, *, against: float | None = None) -> str:
    """A score with two digits, or as many as keep it apart from what it is held against; empty for ``None``.

    >>> number(0.849), number(0.849, against=0.85)
    ('0.85', '0.849')
    """
    if value is None:
        return ""
    for digits in (2, 3, 4):
        text = f"{value:.{digits}f}"
        if against is None or value == against or text != f"{against:.{digits}f}":
            return text
    return repr(value)


def adjusted_text(report: TestSummary) -> str:
    """The score adjusted for noise, where it is another than the raw one."""
    adjusted = report["adjusted_score"]
    if adjusted is None or adjusted == report["score"]:
        return ""
    return number(adjusted, against=report["threshold"])


def interval_text(report: TestSummary) -> str:
    """The score's interval: ``[0.62, 0.93]``; nothing where there is none."""
    interval = report["interval"]
    return f"[{interval['low']:.2f}, {interval['high']:.2f}]" if interval else ""


def score_text(report: TestSummary) -> str:
    """The score as tables show it: where errors leave the verdict open, the lowest and highest it can be.

    Controls alone have none, and neither have mutations that were not tried.
    """
    if report["relation"] == "must-change" or untried(report):
        return "-"
    low, high = report["bounds"]
    if report["verdict"] == "inconclusive" and low < high and any(report["counts"].values()):
        return (
            f"{number(low)}-{number(high)}" if low or high < 1 else "-"
        )  # all that a score can be says nothing
    return number(report["score"], against=report["threshold"]) or "-"


def deviation_texts(counts: Mapping[str, int]) -> tuple[str, str]:
    """How many of the trials that were made deviate, and how many of them say nothing, as tables show it.

    Args:
        counts: Of a test's trials, by outcome.

    >>> deviation_texts({"equivalent": 3, "deviation": 0, "undecided": 1, "error": 0, "not-needed": 4})
    ('0 of 4', '1 undecided')
    """
    tried = sum(counts.values()) - counts["not-needed"]
    if tried and counts["error"] == tried:
        return counted(tried, "error"), ""
    silent = [f"{counts['undecided']:,} undecided"] if counts["undecided"] else []
    silent += [counted(counts["error"], "error")] if counts["error"] else []
    return f"{counts['deviation']:,} of {tried:,}", ", ".join(silent)


def minor_cost(report: TestSummary) -> str:
    """What a minor difference counts, if a brittle test would reach its threshold without any; else nothing."""
    counts = report["counts"]
    decided = counts["equivalent"] + counts["minor"] + counts["deviation"]
    reached = decided - counts["deviation"] >= report["threshold"] * decided
    if report["reason"] != "score-below-threshold" or report["verdict"] != "brittle":
        return ""
    if not counts["minor"] or not reached:
        return ""
    from pytest_promptfuzz.stats.scores import EQUIVALENT_CREDIT, MINOR_CREDIT  # a run that passes needs none

    return f"{MINOR_CREDIT / EQUIVALENT_CREDIT:g}"


def operator_names(trial: TrialReport) -> str:
    """The trial's operators without their versions, in order of application."""
    return " + ".join(name.partition("@")[0] for name in trial["operators"]) or "unchanged"


def simulated(report: TestSummary) -> bool:
    """Whether the answers came from the simulated model."""
    return report["target"].partition("?")[0] == "simulated"


def real_judges(reports: Iterable[TestSummary]) -> list[str]:
    """The judges that were asked and are not the simulated model, sorted."""
    names = {each["judge"] for each in reports}
    return sorted(each for each in names if each and each.partition("?")[0] != "simulated")


def simulation(reports: Iterable[TestSummary]) -> str:
    """What is said of reports whose answers all came from the simulated model.

    That no real model was called is said only where it is known.
    """
    judges, unknown = real_judges(reports), unfollowed(reports)
    if judges:
        said = f"Answers are simulated; {', '.join(map(safe, judges))} judged them."
    elif unknown:
        said = "Answers are simulated."
    else:
        said = "Answers are simulated: no real model was called."
    return f"{said} {unknown}".rstrip()


def unfollowed(reports: Iterable[TestSummary], *, simulated: bool = True) -> str:
    """What was not followed, in sentences; empty for nothing.

    Args:
        reports: Of whose tests.
        simulated: Whether it takes the place of "no real model was called"; else connections alone are named.
    """
    added: dict[tuple[str, str], tuple[int, str]] = {}
    for report in reports:
        for each in report.get("unfollowed") or ():
            amount, where = added.get((each["kind"], each["to"]), (0, ""))
            where = where or ", ".join(filter(None, [each["at"], f"by {each['by']}" if each["by"] else ""]))
            # What was there before the tests is the same for each of them.
            amount = max(amount, each["count"]) if each["kind"] in _EARLIER else amount + each["count"]
            added[each["kind"], each["to"]] = amount, where
    kinds = (
        ("connection", "request", *_EARLIER, "process", "library") if simulated else ("connection", "request")
    )
    return " ".join(
        _unfollowed(kind, {name: told for (of, name), told in added.items() if of == kind})
        for kind in kinds
        if any(of == kind for of, _ in added)
    )


def _unfollowed(kind: str, found: dict[str, tuple[int, str]]) -> str:
    amount = sum(each for each, _ in found.values())
    if kind in {"process", "earlier program", "library"}:
        names = ", ".join(map(safe, [*found][:_MOST_PLACES])) + ("" if len(found) <= _MOST_PLACES else ", …")
        if kind == "library":
            return f"What {names} asked cannot be seen."
        what, began = ("program", "started and ") if kind == "process" else (kind, "")
        return f"{counted(amount, what)} ({names}) {'was' if amount == 1 else 'were'} {began}not followed."
    places = [
        f"{counted(each, kind)} to {safe(name)}" + (f" ({safe(where)})" if where else "")
        for name, (each, where) in [*found.items()][:_MOST_PLACES]
    ]
    places += ["more"] if len(found) > _MOST_PLACES else []
    *most, last = places
    listed = f"{', '.join(most)} and {last}" if most else last
    return f"{listed} {'was' if amount == 1 else 'were'} not followed."


def grouped(items: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Items of equal key together, in the order in which a key first appears."""
    groups: dict[Hashable, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def stored_answers(spent: Iterable[SpentReport], *, recording: bool = False) -> list[str]:
    """How many answers were stored, in a few words; where a recording held some, by the place they came from.

    Args:
        spent: What tests took.
        recording: Whether the run records: it takes nothing from the local cache, and asks the same request of a test
            only once.
    """
    every = list(spent)
    hits, recorded = sum(each["hits"] for each in every), sum(each["recorded"] for each in every)
    if recording:
        said = [f"{counted(recorded, 'answer')} from the recording"] if recorded else []
        equal = hits - recorded
        return [*said, f"{counted(equal, 'equal request')} not asked again"] if equal > 0 else said
    if not recorded:
        return [counted(hits, "stored answer")]
    rest = [f"{hits - recorded:,} from the local cache"] if hits > recorded else []
    return [", ".join([f"{counted(recorded, 'answer')} from the recording", *rest])]


def gold_text(report: TestSummary) -> str:
    """For a table: ``1.00/0.88``, of the unmutated prompt and under mutation; nothing without gold answers."""
    gold = report.get("gold")
    return f"{number(gold['accuracy']) or '?'}/{number(gold['mutated']) or '?'}" if gold else ""


def gold_line(report: TestSummary) -> str:
    """A sentence for a test that does not pass; nothing without gold answers."""
    gold = report.get("gold")
    if not gold:
        return ""
    if gold["accuracy"] is None:
        return "No installed comparison can tell whether the answers are as expected."
    text = as_expected(gold["accuracy"], gold["mutated"])
    if gold["accuracy"] >= report["threshold"]:
        return f"{text}."
    if gold["accuracy"] == 0:
        return f"{text}: the prompt is wrong without any change."
    return f"{text}. This is below the threshold {number(report['threshold'])}, without any change."


def search_text(report: TestSummary) -> str:
    """What came of a search, in a few words."""
    found = report.get("searched")
    assert found is not None
    asked = f"{found['queries']:,} of {counted(found['budget'], 'query')}"
    if report["reason"] == "counterexample-found" and found["known"]:
        return "a known counterexample still breaks the test"
    if report["reason"] == "counterexample-found":
        return f"query {found['found_at']:,} of {found['budget']:,} found a change that breaks the test"
    if report["reason"] == "none-found":
        return f"no counterexample in {counted(found['queries'], 'query')} ({found['method']})"
    return f"not done, {asked} were made ({report['reason']})"


def searched_line(report: TestReport) -> str:
    """What was asked, in the place of what a plan's outcomes are; nothing where the verdict says it."""
    found = report.get("searched")
    assert found is not None
    if report["reason"] == "counterexample-found":
        return ""
    said = f"Searched for {found['objective']} with {found['method']}: "
    said += f"{found['queries']:,} of {counted(found['budget'], 'query')}"
    if found["places"]:  # a search that ended on the unmutated prompt has not looked at what could change
        said += f", {counted(found['places'], 'place')} of the prompt could change"
    if found["errors"]:
        said += f", {counted(found['errors'], 'query')} got no answer"
    if found["found"] is None and found["loss"] > 0:
        said += f"; the nearest came to {found['loss']:.2f}, where 1 is there"
    return f"{said}."


def name_of_test(report: TestSummary) -> str:
    """How a test is named, in one row."""
    return safe(report["test"]).replace("\n", "⏎")


def accepted_text(report: TestSummary) -> str:
    """That a test is accepted as brittle, why and until when; empty of any other."""
    accepted = report["accepted"]
    if accepted is None:
        return ""
    until = f"accepted as brittle until {accepted['until']}"
    if accepted["status"] == "passes":
        return f"passes now, and is still {until}: {accepted['reason']}. Remove accept_brittle="
    if accepted["status"] == "expired":
        return (
            f"was {until} ({accepted['reason']}), and that day is past. Mend the prompt, or set a later day"
        )
    return f"is {until}: {accepted['reason']}"


NO_EFFECT = "no effect seen"


def prompt_effect(change: ChangeReport, shown: Callable[[str], str] = str) -> str:
    """What changed with a prompt: the verdict, the score, the answer.

    Args:
        change: The test beside its base.
        shown: Makes a verdict, which another version may have written, fit to be shown.
    """
    said = []
    before, now = change["verdict_before"], change["verdict"]
    if before and before != now:
        said.append(f"{shown(before)} before, {shown(now)} now")
    if change["difference"]:
        turn = finding_of(change["status"], before, now)
        beyond = {"worse": "worse by more than noise", "better": "better by more than noise"}.get(
            turn, "may be noise"
        )
        said.append(f"score {change['difference']:+.3g}, {beyond}")
    answer = change.get("answer", "")
    if answer == "changed":
        said.append("the answer changed")
    if answer == "minor":
        said.append("a minor variation of the answer")
    if answer in {"cannot tell", "not compared"}:
        said.append(f"the answer: {answer}")
    return "; ".join(said) or NO_EFFECT


def answer_circumstances(change: AnswerChange) -> str:
    """What else changed together with an answer; empty where nothing did."""
    notes = [Note.of("history:prompt-changed")] if change["prompt_changed"] else []
    before, now = change["model_before"], change["model"]
    if before and now and before != now:
        notes.append(Note.of("history:model-changed", before=before, now=now))
    return "; ".join(map(sentence, notes))

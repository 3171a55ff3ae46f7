"""The verdict in words, what it rests on, and what to do where that is not enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.gold import gold_line
from pytest_promptfuzz.reporting.model import scored
from pytest_promptfuzz.reporting.searched import searched_line
from pytest_promptfuzz.reporting.text import HANG, Line
from pytest_promptfuzz.reporting.words import (
    adjusted_text,
    count,
    interval_text,
    minor_cost,
    number,
    simulated,
    simulation,
    unfollowed,
    verdict_style,
)

if TYPE_CHECKING:
    from pytest_promptfuzz.reporting.model import NoiseReport, TestReport, TrialReport

# Kinds of error of trials that never ran: the verdict has said why, and their names would tell nothing.
_NEVER_RAN = {"baseline-error", "baseline-mixed", "not-repeatable"}
_ORDINARY = {"score-reached", "score-below-threshold"}


def verdict_lines(report: TestReport) -> list[Line]:
    """The verdict, how many of what it rests on, and what to do where it can be trusted no further."""
    style, verdict = verdict_style(report["verdict"]), report["verdict"].capitalize()
    score = number(report["score"], against=report["threshold"])
    gate = number(report["threshold"])
    lines: list[Line] = []
    odd = report["verdict"] == "brittle" and (report["score"] or 0) >= report["threshold"]
    if report["reason"] in _ORDINARY and score and not odd:
        how = "reaches" if report["reason"] == "score-reached" else "is below"
        known, adjusted = interval_text(report), adjusted_text(report)
        interval = f" ({adjusted} {known} adjusted for noise)" if adjusted else f" {known}" if known else ""
        lines.append([(f"{verdict}: the score {score}{interval} {how} the threshold {gate}.", style)])
    else:
        lines.append([(f"{verdict}. {report['explanation']}", style)])
        if (
            score
            and report["verdict"] != "inconclusive"
            and not report["explanation"].startswith("The score ")
        ):
            lines.append([(f"The score is {score}, the threshold {gate}.", "plain")])
    if report["verdict"] == "pass" and report["reason"] in _ORDINARY and report["gate"] != "point":
        lines.append([(f"Gate {report['gate']!r}: {report['explanation']}", "plain")])
    lines.append([(searched_line(report) if report.get("searched") else _counts(report), "plain")])
    if report.get("gold") and report["verdict"] != "pass":  # a pass has a note, where all is not right
        lines.append([(gold_line(report), "plain")])
    if report["noise"] and report["reason"] in _ORDINARY:
        lines.append([(_noise(report["noise"], report), "plain")])
    if report["oracle_only"]:
        lines.append(
            [("Oracle only: the answers were not compared, the test's own checks are the judge.", "dim")]
        )
    if simulated(report):
        lines.append([(simulation([report]), "warn")])
    elif said := unfollowed([report], simulated=False):
        lines.append([(said, "dim")])
    mend = _advice(report)
    if mend:
        lines.append([("what to do: ", "label"), HANG, (mend, "plain")])
    return lines


def _advice(report: TestReport) -> str:
    """What to do about a verdict that rests on too few answers, or on ones that vary; empty for any other."""
    steadier = _steadier(report["target"])
    if report["reason"] == "noise-floor":
        if not steadier:
            return "Ask for a narrower answer, or compare less strictly."
        return f"Ask for a narrower answer, compare less strictly, or {steadier}."
    if report["reason"] == "baseline-mixed":
        also = f", or {steadier}" if steadier else ""
        return (
            f"Ask for an answer that the check accepts each time, or let the check accept more answers{also}."
        )
    if report["reason"] == "not-significant":
        samples = 1 + max((trial["sample"] for trial in report["trials"]), default=0)
        also = f", or {steadier}" if steadier else ""
        return (
            f"Ask for more answers: mutations={2 * report['planned']} or samples={2 * samples}{also}. A replay asks "
            "nothing: record the test again."
        )
    return ""


def _steadier(target: str) -> str:
    """How to have a target vary less; empty for a function of the application's own, of which nothing is known."""
    if target.partition("?")[0] == "simulated":
        return "lower noise= of the simulated model"
    return "" if target.startswith("function:") else "lower the temperature if the model has one"


def _noise(noise: NoiseReport, report: TestReport) -> str:
    floor = "" if noise["floor"] is None else f" agrees with itself {number(noise['floor'])}"
    text = f"Noise: the unmutated prompt{floor} ({count(noise['baselines'], 'answer')})"
    if noise["repeats"]:
        # Samples of one mutation were asked again together.
        asked = {(trial["case"], trial["id"]): trial["again"] for trial in scored(report)}
        outcomes = [outcome for again in asked.values() for outcome in again]
        differ = sum(outcome != "equivalent" for outcome in outcomes)
        text += f"; what differed was asked again and differed {differ} of {count(len(outcomes), 'time')}"
    if noise["p"] is not None:
        text += ": more than noise" if noise["p"] <= noise["alpha"] else ": this may be noise"
    return text + "."


_PROMISES = {
    "invariance": "should not matter",
    "format": "should change the format of the answer only",
    "language": "should change the language of the answer only",
    "renaming": "should change names in the answer only",
    "not-worse": "should not make the answer worse",
}


def _counts(report: TestReport) -> str:
    counts = report["counts"]
    total = sum(counts.values())
    if len(never_ran(report)) == total and report["verdict"] != "pass":
        return f"No mutation was tried: {count(total or report['planned'], 'trial')} left out."
    ways = _ways(report, total)
    if report["relation"] == "must-change":
        text = (
            f"The prompt was changed in {ways[0]} that must change the answer{ways[1]}: "
            f"{counts['equivalent']} did, {counts['deviation']} did not, {count(counts['error'], 'error')}"
        )
    else:
        text = (
            f"The prompt was changed in {ways[0]} that {_PROMISES[report['relation']]}{ways[1]}: "
            f"{counts['equivalent']} equivalent, {counts['minor']} minor, "
            f"{count(counts['deviation'], 'deviation')}, {count(counts['error'], 'error')}"
        )
    if counts["undecided"]:
        text += f", {counts['undecided']} undecided"
    if counts["not-needed"]:
        text += f", {counts['not-needed']} not needed"
    if report["planned"] > len({trial["id"] for trial in report["trials"]}):
        text += f" ({report['planned']} were asked for)"
    if costs := minor_cost(report):
        return f"{text}. A minor difference counts {costs}; without minor ones the score would reach the threshold."
    return f"{text}."


def never_ran(report: TestReport) -> list[TrialReport]:
    """The trials that were left out because of the unmutated prompt."""
    return [trial for trial in report["trials"] if trial["error"] and trial["error"]["kind"] in _NEVER_RAN]


def _ways(report: TestReport, total: int) -> tuple[str, str]:
    """How many mutations there are, and how many answers where these are more."""
    distinct = len({trial["id"] for trial in scored(report)})
    answers = "" if distinct in {0, total} else f" ({count(total, 'trial')} in all)"
    return count(distinct or total, "way"), answers

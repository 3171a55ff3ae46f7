"""The failure report of a test that is not robust: the verdict, each deviation, what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from pytest_promptfuzz.reporting.model import fails, never_ran, report_test, scored, untried
from pytest_promptfuzz.reporting.phrases import (
    MENDS,
    accepted_text,
    adjusted_text,
    gold_line,
    grouped,
    interval_text,
    minor_cost,
    number,
    operator_names,
    searched_line,
    simulated,
    unfollowed,
)
from pytest_promptfuzz.reporting.terminal.rows import (
    INDENT,
    LABEL,
    LABELLED,
    changed_lines,
    counterexample_lines,
    diff_lines,
    drift_lines,
    gate_text,
    row,
    varying_lines,
    verdict_style,
)
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, Line, Style, shorten_middle
from pytest_promptfuzz.stats.repeats import LOOKS
from pytest_promptfuzz.text.safe_text import safe
from pytest_promptfuzz.wording.diffs import answer_pair, answer_rows
from pytest_promptfuzz.wording.sentences import counted, lowered, percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_promptfuzz.reporting.model import CounterexampleReport, NoiseReport, TestReport, TrialReport
    from pytest_promptfuzz.results.counterexamples import KnownCounterexample
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.storage.redaction import Redaction


# The verdict in words, what it rests on, and what to do where that is not enough.


_ORDINARY = {"score-reached", "score-below-threshold"}


def verdict_lines(report: TestReport) -> list[Line]:
    """The verdict, how many of what it rests on, and what to do where it can be trusted no further."""
    lines = [_verdict(report)]
    if report["verdict"] == "pass" and (rests := gate_text(report)):
        lines.append([(f"Gate {report['gate']!r}: {rests}", "plain")])
    if report.get("searched"):
        lines += [[(said, "plain")]] if (said := searched_line(report)) else []
    else:
        lines.append([(_counts(report), "plain")])
    if report.get("gold") and report["verdict"] != "pass":  # a pass has a note, where all is not right
        lines.append([(gold_line(report), "plain")])
    if report["noise"] and report["reason"] in {*_ORDINARY, "too-many-deviations"}:
        lines.append([(_noise(report["noise"], report), "plain")])
    if report["oracle_only"]:
        lines.append([("Judged by its assertions only: the answers were not compared.", "dim")])
    if said := unfollowed([report], simulated=simulated(report)):
        lines.append([(said, "dim")])
    mend = _advice(report)
    if mend:
        lines.append(row("what to do", [(mend, "plain")], indent=""))
    return lines


def _verdict(report: TestReport) -> Line:
    """The verdict and why it is so."""
    style = verdict_style(report["verdict"])
    if fails(report["drift"]) and report["verdict"] == "pass":
        verdict = "The prompt is robust"
    else:
        verdict = report["verdict"].capitalize()
    score = number(report["score"], against=report["threshold"])
    gate = number(report["threshold"])
    odd = report["verdict"] == "brittle" and (report["score"] or 0) >= report["threshold"]
    if report["relation"] == "must-change" or report["reason"] not in _ORDINARY or not score or odd:
        return [(f"{verdict}: {lowered(report['explanation'])}", style)]
    how = "reaches" if report["reason"] == "score-reached" else "is below"
    known, adjusted = interval_text(report), adjusted_text(report)
    interval = f" ({adjusted} {known} adjusted for noise)" if adjusted else f" {known}" if known else ""
    return [(f"{verdict}: the score {score}{interval} {how} the threshold {gate}.", style)]


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
        more = f"rite mutations={2 * report['planned']} or samples={2 * samples}{also}"
        if not report["spent"]["recorded"]:
            return f"W{more}."
        if report["noise"] is not None and report["noise"]["baselines"] < LOOKS[-1]:
            return f"Ask for more answers with --promptfuzz-mode=record-missing. Or w{more}, and record the test again."
        return f"W{more}. Then record the test again."
    return ""


def _steadier(target: str) -> str:
    """How to have a target vary less; empty for a function of the application's own, of which nothing is known."""
    if target.partition("?")[0] == "simulated":
        return "lower noise= of the simulated model"
    return "" if target.startswith("function:") else "lower the temperature if the model has one"


def _noise(noise: NoiseReport, report: TestReport) -> str:
    """How the same prompts were answered when they were asked again."""
    asked = noise["baselines"]
    if noise["floor"] is None:
        text = f"Noise: the unmutated prompt was asked {counted(asked, 'time')}"
    elif noise["floor"] == 1:
        text = f"Noise: asked again, the unmutated prompt gave the same answer {asked} of {asked} times"
    else:
        text = (
            f"Noise: asked again, the unmutated prompt gave {asked} answers that agree in "
            f"{percent(noise['floor'])} of the pairs"
        )
    if noise["repeats"]:
        # Samples of one mutation were asked again together.
        again = {(trial["case"], trial["id"]): trial["again"] for trial in scored(report)}
        outcomes = [outcome for each in again.values() for outcome in each]
        differ = sum(outcome != "equivalent" for outcome in outcomes)
        text += f", and the mutations that differed did so {differ} of {counted(len(outcomes), 'time')}"
    if noise["p"] is None or report["reason"] not in _ORDINARY:
        return f"{text}."
    return f"{text}. This {'is more than' if noise['p'] <= noise['alpha'] else 'may be'} noise."


_PROMISES = {
    "format": "should change the format of the answer only",
    "language": "should change the language of the answer only",
    "renaming": "should change names in the answer only",
    "not-worse": "should not make the answer worse",
}


def _counts(report: TestReport) -> str:
    """How many mutations were tried, and what became of them."""
    if untried(report):
        return "No mutation was tried."
    counts, unneeded = report["counts"], report["counts"]["not-needed"]
    total = sum(counts.values())
    text = f"{_tried(report, total, unneeded)}: {_outcomes(report)}"
    if counts["undecided"]:
        text += f", {counts['undecided']} undecided"
    found = len({trial["id"] for trial in report["trials"]})
    if report["planned"] > found:
        text += f" ({report['planned']} were wanted)"
    if unneeded:
        last = "The last one" if unneeded == 1 else f"The last {unneeded}"
        text += f". {last} could not change the verdict"
    if costs := minor_cost(report):
        return f"{text}. A minor difference counts {costs}; without minor ones the score would reach the threshold."
    return f"{text}."


def _tried(report: TestReport, total: int, unneeded: int) -> str:
    """How many of the mutations were tried; where one was asked several times, how many of the trials."""
    distinct = len({trial["id"] for trial in scored(report)})
    noun = "control" if report["relation"] == "must-change" else "mutation"
    promise = _PROMISES.get(report["relation"], "")
    each = distinct in {0, total}
    what = counted(total, noun) if each else f"{counted(total, 'trial')} of {counted(distinct, noun)}"
    of = f"{total - unneeded} of " if unneeded else ""
    that = f" that {promise}" if promise else ""
    tried = f"{'was' if total - unneeded == 1 else 'were'} tried" if each else "ran"
    return f"{of}{what}{that} {tried}"


def _outcomes(report: TestReport) -> str:
    counts = report["counts"]
    errors = counted(counts["error"], "error")
    if report["relation"] == "must-change":
        return f"{counts['equivalent']} changed the answer, {counts['deviation']} did not, {errors}"
    deviations = counted(counts["deviation"], "deviation")
    return f"{counts['equivalent']} equivalent, {counts['minor']} minor, {deviations}, {errors}"


MOST_GROUPS = 8  # kinds of deviation shown in full
MOST_TRACE_ROWS = 20
_LONGEST = 300  # characters of an explanation, of an assertion's message, or of one row of a traceback


def failure_lines(report: TestReport, *, width: int = 80) -> list[Line]:
    """Why a test is not robust, for somebody who has never seen this tool.

    Args:
        report: Of one test.
        width: Columns it will be rendered to; a command that fits stands beside its label.

    Returns:
        Lines for :func:`~pytest_promptfuzz.reporting.terminal.styled_text.render`.
    """
    lines = [*counterexample_lines(report, width), *verdict_lines(report)]
    if accepted := accepted_text(report):
        lines = [[(f"This test {accepted}.", "warn")], *lines]
    lines += _searched(report, width)
    lines += [*_deviations(report, width), *_errors(report), *_undecided(report)]
    lines += varying_lines(report)
    drift = drift_lines(report["drift"])
    if drift:
        lines = [*drift, [], *lines] if fails(report["drift"]) else [*lines, [], *drift]
    if report["notes"]:
        lines.append([])
        lines += [row("note", [(note, "plain")], indent="") for note in report["notes"]]
    return lines


def _searched(report: TestReport, width: int) -> list[Line]:
    """Where a check failed on what a search found, and how to see it again; or what came nearest."""
    searched = report.get("searched")
    if searched is None:
        return []
    found, nearest = searched["found"], searched["nearest"]
    if found is not None:
        trace = _traceback(found["failure"]["traceback"]) if found["failure"] else []
        return [[], *trace, *_command(found["reproduce"], width)]
    if nearest is None:
        return []
    about: Line = [("What came nearest", "heading"), (f"  trial {nearest['id']}", "dim")]
    return [[], about, *diff_lines(nearest["diff"]), *_answers(report, nearest), *_reasons(nearest)]


def _deviations(report: TestReport, width: int) -> list[Line]:
    deviations = [trial for trial in scored(report) if trial["outcome"] == "deviation"]
    if report["verdict"] == "brittle":
        # Minor variations cost 0.3 each, so they can be why.
        deviations += [trial for trial in scored(report) if trial["outcome"] == "minor"]
    smallest = {(each["case"], each["trial"]): each for each in report.get("counterexamples") or []}
    groups = [_smallest_first(group, smallest) for group in grouped(deviations, _why_key)]
    # A command that is the same for every trial is given once, below them.
    shared = len(groups) > 1 and len({trial["reproduce"] for trial in deviations}) == 1
    lines: list[Line] = []
    for place, group in enumerate(groups[:MOST_GROUPS], 1):
        known = smallest.get((group[0]["case"], group[0]["id"]))
        lines += [[], *_deviation(report, place, group, known)]
        lines += [] if shared else _command(group[0]["reproduce"], width)
    rest = [trial for group in groups[MOST_GROUPS:] for trial in group]
    if rest:
        lines += [[], [(f"and {counted(len(rest), 'other change')}: {_who(rest)}", "dim")]]
    if shared:
        lines += [[], *_command(deviations[0]["reproduce"], width)]
    return lines


def _smallest_first(
    group: Sequence[TrialReport], smallest: Mapping[tuple[int, str], CounterexampleReport]
) -> list[TrialReport]:
    """Of trials that failed alike, the one whose smallest change is shown already stands for all."""
    return sorted(group, key=lambda trial: (trial["case"], trial["id"]) not in smallest)


def _why_key(trial: TrialReport) -> tuple[str, ...]:
    failure = trial["failure"]
    if failure:
        return ("oracle", failure["type"], failure["message"])
    return ("compared", trial["reason"], trial["explanation"])


def _who(trials: Iterable[TrialReport]) -> str:
    """Operators and IDs, each mutation once: several samples of it have its ID."""
    named = []
    for group in grouped(trials, lambda trial: trial["id"]):
        times = f", {len(group)} times" if len(group) > 1 else ""
        named.append(f"{operator_names(group[0])} ({group[0]['id']}{times})")
    return ", ".join(named)


def _deviation(
    report: TestReport, place: int, group: Sequence[TrialReport], known: CounterexampleReport | None
) -> list[Line]:
    """The trial that stands for a group; of one whose smallest change is ``known``, what differs from that."""
    trial = group[0]
    title = f"{place}. {operator_names(trial)}"
    about = f"  {trial['dimension']} change, severity {trial['severity']:.2f}, trial {trial['id']}"
    if report["inputs"]:
        about += f", input {safe(report['inputs'][trial['case']])}"
    elif any(each["case"] for each in report["trials"]):
        about += f", example {trial['case'] + 1}"
    if trial["outcome"] == "minor":
        about += ", a minor variation"
    lines: list[Line] = [[(title, "heading"), (about, "dim")]]
    if known is None:
        lines += [*diff_lines(trial["diff"]), *_answers(report, trial), *_reasons(trial)]
    else:
        lines += _beyond(report, trial, known)
    if trial["again"]:
        differs = sum(outcome != "equivalent" for outcome in trial["again"])
        lines.append(
            row("again", [(f"differed {differs} of {counted(len(trial['again']), 'time')}", "plain")])
        )
    rest = [each for each in group if each["id"] != trial["id"]]
    same = len(group) - len(rest)
    if same > 1:
        lines.append(row("also", [(f"{same} samples of this mutation had the same result", "plain")]))
    if rest:
        label = "also" if same == 1 else ""
        others = counted(len({each["id"] for each in rest}), "other mutation")
        lines.append(row(label, [(f"{others} had the same result: {_who(rest)}", "plain")]))
    return lines


def _beyond(report: TestReport, trial: TrialReport, known: CounterexampleReport) -> list[Line]:
    """What a trial shows that the smallest change, which was made of it, does not."""
    whole = trial["diff"] != known["diff"]
    lines = diff_lines(trial["diff"]) if whole else [row("prompt", [("(as above)", "dim")])]
    if (trial["baseline"], trial["response"]) != (known["baseline"], known["answer"]):
        lines += _answers(report, trial)[-1 if trial["baseline"] == known["baseline"] else -2 :]
    return lines + _reasons(trial, told=known["failure"])


def _answers(report: TestReport, trial: TrialReport) -> list[Line]:
    baseline, response = trial["baseline"], trial["response"]
    if report["oracle_only"] and baseline is None and response is None:
        return []
    one, other = answer_pair(baseline, response)
    return [row("baseline", [(one, "plain")]), row("response", [(other, "plain")])]


def _reasons(trial: TrialReport, *, told: str = "") -> list[Line]:
    """Why a trial failed, unless that was told above in the same words, and the traceback."""
    failure = trial["failure"]
    lines: list[Line] = []
    if trial["explanation"] and trial["explanation"] != told:
        similarity = trial["similarity"]
        how = f" (similarity {similarity:.2f})" if similarity is not None and not failure else ""
        lines.append(row("why", [(safe(trial["explanation"], limit=_LONGEST), "bad"), (how, "dim")]))
    if failure:
        message = safe(failure["message"], limit=_LONGEST) or "(no message)"
        if failure["traceback"].strip():
            # The rest stands in the traceback.
            message = message.partition("\n")[0]
        named = message if message.startswith(failure["type"]) else f"{failure['type']}: {message}"
        # A smaller prompt fails with other words, which the traceback has.
        if not (told.startswith(failure["type"]) and (failure["traceback"].strip() or told == named)):
            lines.append(row("why" if not lines else "check", [(named, "bad")]))
        lines += _traceback(failure["traceback"])
    return lines


def _traceback(text: str) -> list[Line]:
    rows = safe(text.strip("\n"), limit=6000).split("\n") if text.strip() else []
    skipped = len(rows) - MOST_TRACE_ROWS
    lines: list[Line] = []
    if skipped > 0:
        lines.append([(f"{INDENT}  … {counted(skipped, 'row')} left out", "dim")])
        rows = rows[skipped:]
    for each in rows:
        body = shorten_middle(each.lstrip(" "), _LONGEST)
        margin = f"{INDENT}  {' ' * (len(each) - len(each.lstrip(' ')))}"
        lines.append([(margin, "dim"), HANG, (body, "dim")])
    return lines


def _command(command: str, width: int) -> list[Line]:
    if not command:
        return []
    command = safe(command).replace("\n", "⏎")
    beside = len(INDENT) + LABEL + 1 + len(command) <= width
    if beside:
        return [row("reproduce", [(command, "command")])]
    return [row("reproduce", []), [(f"{INDENT}  ", "plain"), (command, "command")]]


def _errors(report: TestReport) -> list[Line]:
    left_out = never_ran(report)
    failed = [trial for trial in report["trials"] if trial["error"] and trial not in left_out]
    if not failed:
        return []
    unseen = all(trial["error"] and trial["error"]["kind"] == "not-exercised" for trial in failed)
    why = "the mutated text was in no request" if unseen else "these trials say nothing about the prompt"
    lines: list[Line] = [[], [(f"{counted(len(failed), 'error')}: {why}", "heading")]]
    for group in grouped(failed, _error_key):
        error = group[0]["error"]
        if error is None:
            continue
        lines.append(
            [
                (INDENT, "plain"),
                (error["kind"], "warn"),
                (f"  {len(group)} x  ", "plain"),
                (_who(group), "dim"),
            ]
        )
        if error["message"] not in report["explanation"]:  # which stands above
            lines.append(_block(safe(error["message"], limit=600), "plain"))
        mend = MENDS.get(error["kind"], "")
        if mend:
            lines.append(_block(mend, "good"))
    return lines


def _error_key(trial: TrialReport) -> tuple[str, ...]:
    error = trial["error"]
    return (error["kind"], error["message"]) if error else ()


def _undecided(report: TestReport) -> list[Line]:
    trials = [trial for trial in scored(report) if trial["outcome"] == "undecided"]
    if not trials:
        return []
    lines: list[Line] = [[], [(f"{len(trials)} undecided: no installed comparison can tell", "heading")]]
    for group in grouped(trials, lambda trial: (trial["reason"], trial["explanation"])):
        lines.append([(INDENT, "plain"), (_who(group), "warn")])
        if group[0]["explanation"]:
            lines.append(_block(group[0]["explanation"], "plain"))
        one, other = answer_pair(group[0]["baseline"], group[0]["response"], limit=200)
        lines += [row("baseline", [(one, "plain")]), row("response", [(other, "plain")])]
    return lines


def _block(text: str, style: Style) -> Line:
    return [(f"{INDENT}  ", "plain"), HANG, (text, style)]


# One counterexample or trial that was run once more, and the list of those that can be.


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
    """What became of one: ``status`` is that of :class:`~pytest_promptfuzz.results.counterexamples.Replayed`.

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


def listed_lines(rows: Iterable[tuple[str, str, KnownCounterexample | None, Sequence[str]]]) -> list[Line]:
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

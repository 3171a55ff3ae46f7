"""``promptfuzz explain`` in the terminal: which words, sentences and operators go with deviations."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from pytest_promptfuzz.mutations.engine.edits import Tokens
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, Line, Style, named, shorten_middle
from pytest_promptfuzz.results.explanations import ALPHA
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_promptfuzz.results.explanations import Cause, Explanation, PromptPart, Share


# The names of a prompt's parts (words, sentences, messages) in explanations.


_NAMES = {
    "at-start": "text at the start",
    "at-end": "text at the end",
    "in-between": "text in between",
    "wide": "more than half of the words",
}


def part_name(part: PromptPart) -> str:
    """The text of a word or sentence, the name of anything else."""
    if part.kind == "message":
        return f"{part.label} message, {part.number} of {part.of}"
    return _NAMES[part.label] if part.kind in {"added", "extent"} else part.label


_MOST_OPEN = 5
_MOST_SAME = 3  # of parts that nothing tells apart
_LABEL = 48
_FIGURES = 58  # columns beside a name in the table
_LONG = 30  # lines of a prompt from which those are left out that hold nothing
_STYLES: dict[str, Style] = {"matters": "bad", "beside": "warn", "untouched": "dim"}


class ShareReport(TypedDict):
    """How many ``trials`` there are, how many of them deviate, and the share with its interval.

    ``asked`` is the same as ``trials``: a mutation counts once, however often it was asked.
    """

    trials: int
    broken: int
    asked: int
    share: float | None
    interval: list[float] | None


class CauseReport(TypedDict):
    """Parts that the same trials touch: ``kind`` and ``parts`` as text, the shares, and what can be said of it.

    ``places`` says of each part where it stands (``line 3``, ``line 3, 2 of 4``) if others have the
    same text, else is empty.
    ``p`` is adjusted for all parts of the prompt.
    ``finding`` is ``matters``, ``beside`` (shows nothing beside what matters more), ``open`` or ``few`` (trials).
    """

    kinds: list[str]
    parts: list[str]
    places: list[str]
    finding: str
    p: float
    touching: ShareReport
    others: ShareReport


class ExplanationReport(TypedDict):
    """What matters of one prompt of a test.

    ``prompt`` is its text in pieces, each with ``matters``, ``beside``, ``untouched`` (no trial changes it) or nothing.
    """

    test: str
    prompt: list[list[str]]
    causes: list[CauseReport]
    trials: int
    deviating: int
    wide: int
    wide_deviating: int
    missing: int
    not_needed: int
    silent: int
    note: str


def explanation_report(
    found: Explanation, *, test: str, note: str = "", hide: Callable[[str], str] = str
) -> ExplanationReport:
    """The same as plain data.

    Args:
        found: What was found.
        test: How the test is named.
        note: What a reader must know of its run.
        hide: Takes secrets out of a text. A prompt that holds one is given as one piece, lest a part of it be shown.
    """
    hidden = hide(found.prompt)
    places = _places(found)
    return ExplanationReport(
        test=test,
        prompt=[list(each) for each in _pieces(found)] if hidden == found.prompt else [[hidden, ""]],
        causes=[_cause(each, places, hide) for each in found.causes],
        trials=found.told,
        deviating=found.broken,
        wide=found.wide,
        wide_deviating=found.wide_broken,
        missing=found.missing,
        not_needed=found.unasked,
        silent=found.silent,
        note=note,
    )


def _places(found: Explanation) -> dict[tuple[int, int], str]:
    """Where the words and sentences stand whose text another has as well, by their spans."""
    prompt = found.prompt
    same: dict[tuple[str, str], list[tuple[int, int]]] = {}
    tokens = Tokens(prompt)
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        same.setdefault(("word", prompt[start:end]), []).append((start, end))
    for each in found.causes:
        for part in each.parts:
            if part.kind == "sentence":
                same.setdefault((part.kind, part.label), []).append((part.start, part.end))
    said: dict[tuple[int, int], str] = {}
    for spans in same.values():
        lines = [prompt.count("\n", 0, start) + 1 for start, _ in sorted(spans)]
        for place, (span, line) in enumerate(zip(sorted(spans), lines, strict=True)):
            if len(spans) > 1:
                nth = (
                    f", {lines[: place + 1].count(line)} of {lines.count(line)}"
                    if lines.count(line) > 1
                    else ""
                )
                said[span] = f"line {line}{nth}"
    return said


def _cause(
    found: Cause[PromptPart], places: dict[tuple[int, int], str], hide: Callable[[str], str]
) -> CauseReport:
    return CauseReport(
        kinds=[part.kind for part in found.parts],
        parts=[hide(part_name(part)) for part in found.parts],
        places=[places.get((part.start, part.end), "") for part in found.parts],
        finding=found.finding,
        p=round(found.p, 4),
        touching=_share(found.touching),
        others=_share(found.others),
    )


def _share(found: Share) -> ShareReport:
    interval = found.interval
    return ShareReport(
        trials=found.trials,
        broken=found.broken,
        asked=found.asked,
        share=None if found.share is None else round(found.share, 4),
        interval=None if interval is None else [round(interval.low, 4), round(interval.high, 4)],
    )


def _pieces(found: Explanation) -> Iterator[tuple[str, str]]:
    """The prompt in pieces, each with its mark; of what matters, the smallest part is marked."""
    marks = [""] * len(found.prompt)
    for start, end in found.untouched:
        marks[start:end] = ["untouched"] * (end - start)
    for finding in ("beside", "matters"):
        parts = [part for each in found.causes if each.finding == finding for part in each.parts]
        for part in sorted(parts, key=lambda part: part.end - part.start):
            span = range(max(part.start, 0), max(part.end, 0))
            if finding not in {marks[place] for place in span}:
                marks[span.start : span.stop] = [finding] * len(span)
    start = 0
    for place in range(1, len(marks) + 1):
        if place == len(marks) or marks[place] != marks[start]:
            yield found.prompt[start:place], marks[start]
            start = place


def explanation_lines(report: ExplanationReport, *, width: int, color: bool) -> list[Line]:
    """What a person reads: the sum of it, the prompt with what matters marked, and a table, worst first.

    Args:
        report: What was found.
        width: Columns.
        color: Whether colour tells what matters; ``[…]`` does where it does not.
    """
    lines: list[Line] = [named(report["test"], _trials(report))]
    if report["note"]:
        lines.append([(report["note"], "warn")])
    lines += [[each] for each in _said(report)]
    if not report["deviating"]:
        return lines
    lines += [[], *_prompt_lines(report["prompt"], color=color)]
    shown = [each for each in report["causes"] if each["finding"] in {"matters", "beside"}]
    open_ = [each for each in report["causes"] if each["finding"] == "open" and each["touching"]["broken"]]
    if shown or open_:
        lines += [[], *_table([*shown, *open_[:_MOST_OPEN]], width)]
    if report["wide"]:
        lines += [[], [(_left_out(report), "dim")]]
    few = sum(len(each["parts"]) for each in report["causes"] if each["finding"] == "few")
    if few and report["deviating"]:
        have = "has" if few == 1 else "have"
        lines += [[], [(f"{counted(few, 'part')} {have} too few or too many trials to tell.", "dim")]]
    return lines


def _trials(report: ExplanationReport) -> str:
    if not report["trials"] and not report["missing"]:
        return "no trial reached the model."
    deviate = (
        "deviates in most of its answers" if report["deviating"] == 1 else "deviate in most of their answers"
    )
    said = [f"{report['deviating']} of {counted(report['trials'], 'trial')} {deviate}"]
    if report["missing"]:
        said.append(f"{report['missing']} more have no stored answer")
    if report["not_needed"]:
        said.append(f"{report['not_needed']} more were not needed")
    if report["silent"]:
        said.append(f"{report['silent']} more are undecided or errors")
    return "; ".join(said)


def _left_out(report: ExplanationReport) -> str:
    change, they = ("changes", "it counts") if report["wide"] == 1 else ("change", "they count")
    broken = f"{report['wide_deviating']} {'deviates' if report['wide_deviating'] == 1 else 'deviate'}"
    return (
        f"{counted(report['wide'], 'trial')} {change} more than half of the words ({broken}): "
        f"{they} for operators and dimensions, but not for words, sentences and messages."
    )


_ODD_BASELINE = "Look at the answer to the unmutated prompt: it may be the odd one."


def _said(report: ExplanationReport) -> Iterator[tuple[str, Style]]:
    mattering = [each for each in report["causes"] if each["finding"] == "matters"]
    for each in mattering:
        touching, others = each["touching"], each["others"]
        name = _named(each)
        said = (
            f"{name[0].upper()}{name[1:]} matters: of the trials that touch it {_counted(touching)} deviate,"
        )
        yield f"{said} of the others {_counted(others)} ({_p(each['p'])}).", "bad"
    if mattering:
        return
    if not report["trials"]:
        if report["missing"]:
            yield "No trial has a stored answer. Run the test first.", "warn"
    elif not report["deviating"]:
        yield "No trial deviates, so no part of the prompt is known to matter.", "good"
    elif all(each["finding"] == "few" for each in report["causes"]):
        if 2 * report["deviating"] > report["trials"]:
            most = "All" if report["deviating"] == report["trials"] else "Nearly all"
            yield f"{most} trials deviate, so no word can be told from the others. {_ODD_BASELINE}", "warn"
        else:
            yield "Too few trials deviate. Raise mutations.", "warn"
    else:
        yield f"The differences may be chance (no p is {ALPHA:g} or less). Raise mutations.", "warn"


def _prompt_lines(pieces: Sequence[Sequence[str]], *, color: bool) -> list[Line]:
    """The prompt, what matters marked; of a long one the lines that hold a mark, and their neighbours."""
    lines: list[Line] = [[]]
    marked: set[int] = set()
    for text, mark in pieces:
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([])
            if mark in {"matters", "beside"}:
                marked.add(len(lines) - 1)
            if not part:
                continue
            bare = mark == "matters" and not color
            lines[-1].append((f"[{part}]" if bare else part, "plain" if bare else _STYLES.get(mark, "plain")))
    if len(lines) <= _LONG:
        return lines
    kept = sorted({near for each in marked for near in (each - 1, each, each + 1) if 0 <= near < len(lines)})
    found: list[Line] = []
    reached = 0
    for place in [*kept, len(lines)]:
        if place > reached:
            found.append([(f"… {counted(place - reached, 'line')} …", "dim")])
        if place < len(lines):
            found.append(lines[place])
        reached = place + 1
    return found


def _table(causes: Sequence[CauseReport], width: int) -> list[Line]:
    names = [shorten_middle(_named(each), min(_LABEL, max(width - _FIGURES, _LABEL // 2))) for each in causes]
    wide = max(map(len, names), default=0)
    lines: list[Line] = [
        [(f"deviating, of trials that touch it and of the others (shown: p of {ALPHA:g} or less):", "dim")]
    ]
    for name, each in zip(names, causes, strict=True):
        verdict = {"matters": "matters", "beside": "goes with what matters more"}.get(
            each["finding"], "not shown"
        )
        style = _STYLES.get(each["finding"], "dim")
        lines.append(
            [
                (f"  {name:<{wide}}  ", "label"),
                HANG,
                (f"{_ranged(each['touching'])}, {_ranged(each['others'])}  ", "plain"),
                (f"{_p(each['p'])}  {verdict}", style),
            ]
        )
    return lines


def _named(each: CauseReport) -> str:
    names = [
        _one(kind, part) + (f" ({place})" if place else "")
        for kind, part, place in zip(each["kinds"], each["parts"], each["places"], strict=True)
    ]
    left = len(names) - _MOST_SAME
    said = " with ".join(names[:_MOST_SAME])
    return f"{said} and {left} more" if left > 0 else said


def _one(kind: str, part: str) -> str:
    if kind in {"word", "sentence"}:
        return f"the {kind} “{shorten_middle(part, _LABEL)}”"
    if kind == "message":
        return f"the {part}"
    return f"{'added ' if kind == 'added' else ''}{part}" if kind in {"added", "extent"} else f"{kind} {part}"


def _counted(share: ShareReport) -> str:
    return f"{share['broken']} of {share['asked']}"


def _ranged(share: ShareReport) -> str:
    if share["interval"] is None:
        return _counted(share)
    low, high = share["interval"]
    return f"{_counted(share)} ({100 * low:.0f}-{high:.0%})"


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def explained_worst_first(reports: Iterable[ExplanationReport]) -> list[ExplanationReport]:
    """Those in which something matters before the others, else as they came."""
    return sorted(reports, key=lambda each: not any(one["finding"] == "matters" for one in each["causes"]))

"""Rows of a report, as the terminal shows them: diffs, counterexamples, drift, what scores vary with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.model import UPDATED
from pytest_promptfuzz.reporting.phrases import REORDERED, name_of_test, number, search_text
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, Line, Piece, Style, columns, render
from pytest_promptfuzz.text.safe_text import safe
from pytest_promptfuzz.wording.sentences import counted, lowered

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.reporting.model import (
        CounterexampleReport,
        DriftReport,
        NoiseReport,
        PairedReport,
        TestReport,
        TestSummary,
        VarianceReport,
    )
    from pytest_promptfuzz.wording.diffs import Move, Reorder, Shown, ShownChange


# Rows with a label: what failures are made of, and a mutation's diff as such rows.


MOST_CHANGES = 3  # changed places of one prompt shown in full
MOST_CHARACTERS = 480  # of these places together
MOST_SEGMENTS = 6
MOST_PROMPT_ROWS = 8  # of a counterexample; as many more as make up for narrow ones
_MOST_COLUMNS = 600
LABEL = 10
INDENT = "   "
LABELLED = len(INDENT) + LABEL + 1
"""Columns before what a row says."""


def row(label: str, pieces: Sequence[Piece], *, indent: str = INDENT) -> Line:
    """A row: its label, then what it says."""
    return [(indent, "plain"), (label.ljust(LABEL) + " ", "label"), HANG, *pieces]


def diff_lines(diff: Iterable[Sequence[str]], *, label: str = "prompt") -> list[Line]:
    """A mutation's diff under a label: the changed places with their neighbourhood, moves as moves."""
    from pytest_promptfuzz.wording.diffs import ShownChange, explain

    lines: list[Line] = []
    room, rest = MOST_CHARACTERS, 0
    for place, each in enumerate(explain(diff)):
        named = label if not lines else ""
        if place >= MOST_CHANGES or room <= 0:
            rest += _places_changed(each)
        elif isinstance(each, ShownChange):
            kept = _first_places(each, room)
            lines.append(row(named, [(text, _EDIT_STYLES[kind]) for kind, text in kept.pieces]))
            rest += _places_changed(each) - _places_changed(kept)
            room = 0 if kept is not each else room - sum(len(text) for _, text in kept.pieces)
        else:
            lines += _reordered(each, named)
    return [*lines, *_more_places(rest)] or [row(label, [("(unchanged)", "dim")])]


_EDIT_WIDTH = 400  # characters of an edit in a line


def edit_text(diff: Iterable[Sequence[str]]) -> str:
    """An edit in a line: ``Classify the [-sentiment-]{+mood+} of …``."""
    said = " ".join(render(diff_lines(diff, label=""), width=_EDIT_WIDTH, color=False).split())
    return said if len(said) <= _EDIT_WIDTH else f"{said[: _EDIT_WIDTH - 1]}…"


def _first_places(change: ShownChange, room: int) -> ShownChange:
    """A change with as many of its places as have room, one at the least."""
    from pytest_promptfuzz.wording.diffs import ShownChange

    kept: list[tuple[str, str]] = []
    for before, group in _places(change.pieces):
        room -= len(before) + sum(len(text) for _, text in group)
        if kept and group and room < 0:
            return ShownChange((*kept, ("=", " …")))
        kept += [("=", before), *group]
    return change


def _places_changed(each: Shown) -> int:
    """In how many places a prompt is changed; what was moved or reordered is one."""
    from pytest_promptfuzz.wording.diffs import ShownChange

    return sum(bool(group) for _, group in _places(each.pieces)) if isinstance(each, ShownChange) else 1


def _more_places(rest: int) -> list[Line]:
    return [row("", [(f"… and {counted(rest, 'more place')} changed", "dim")])] if rest else []


def _reordered(each: Move | Reorder, label: str) -> list[Line]:
    from pytest_promptfuzz.wording.diffs import Move

    return _move(each, label) if isinstance(each, Move) else _reorder(each, label)


def _move(move: Move, label: str) -> list[Line]:
    def place(after: str) -> str:
        return f"after “{after}”" if after else "at the start"

    return [
        row(label, [("moved: ", "label"), (_short(move.text), "moved")]),
        row("", [(f"stood {place(move.was_after)}; stands {place(move.now_after)}", "plain")]),
    ]


def _reorder(reorder: Reorder, label: str) -> list[Line]:
    lines = [row(label, [(REORDERED, "label")])]
    for place, text in reorder.segments[:MOST_SEGMENTS]:
        lines.append(row("", [(f"{place:>2}  ", "label"), HANG, (_short(text), "moved")]))
    rest = len(reorder.segments) - MOST_SEGMENTS
    if rest > 0:
        lines.append(row("", [(f"… and {counted(rest, 'more part')}", "dim")]))
    return lines


def _short(text: str, limit: int = 100) -> str:
    flat = safe(text).replace("\n", "⏎")
    return flat if len(flat) <= limit else f"{flat[: limit // 2]} … {flat[-limit // 2 :]}"


# What scores vary with: the kind of change, and for tests with several inputs mutations, inputs and sampling.


MOST_OPERATORS = 8  # of a test, the most harmful ones


def varying_lines(report: TestReport) -> list[Line]:
    """The scores by kind of change, and where the variance comes from; nothing where there is neither."""
    lines = [*_dimensions(report), *_variance(report)]
    return [[], *lines] if lines else []


def _dimensions(report: TestReport) -> list[Line]:
    """The score of each kind of change, the lowest first; nothing where they do not differ."""
    scored = {name: group["score"] for name, group in report["by_dimension"].items()}
    known = {name: score for name, score in scored.items() if score is not None}
    if len(set(known.values())) < 2:
        return []
    parts = [f"{name} {number(score)}" for name, score in sorted(known.items(), key=lambda each: each[1])]
    return [[("score by kind of mutation: ", "label"), HANG, (", ".join(parts), "plain")]]


def _variance(report: TestSummary) -> list[Line]:
    """One line that says where the variance of a test with several inputs comes from; none for other tests."""
    found = report["variance"]
    text = "" if found is None else _shares(found)
    return [[("variance: ", "label"), HANG, (text, "plain")]] if text else []


def detail_lines(reports: Iterable[TestSummary]) -> list[Line]:
    """The figures behind verdicts: p of tests, and of passes at gates but ``point`` what they rest on.

    Of tests with several inputs, variance and operators' effects follow.
    """
    lines: list[Line] = []
    for report in reports:
        if report["verdict"] == "pass" and (rests := gate_text(report)):
            text = f"{name_of_test(report)}: {rests}"
            lines.append([(f"Gate {report['gate']!r}: ", "heading"), HANG, (text, "plain")])
    figured = [(report, figures) for report in reports if (figures := _probabilities(report))]
    if figured:
        lines.append([("Noise: ", "heading"), HANG, (_WHAT_P_IS, "plain")])
    for report, figures in figured:
        lines.append([("  ", "plain"), HANG, (f"{name_of_test(report)}: {'; '.join(figures)}", "plain")])
    for report in reports:
        said = [*_variance(report), *_effects(report)]
        if said:
            lines += [
                [],
                [("What scores vary with: ", "heading"), HANG, (name_of_test(report), "plain")],
                *said,
            ]
    return lines


def gate_text(report: TestSummary) -> str:
    """What a pass rests on besides its score, at gates but ``point``."""
    rest = report["explanation"].partition(". ")[2] if report["gate"] != "point" else ""
    return lowered(safe(rest))


_WHAT_P_IS = (
    "p is the chance that the model's own variation gives such a difference. Below the significance level it is more "
    "than noise."
)


def _probabilities(report: TestSummary) -> list[str]:
    """The p of each test that was made, and what it was held against where that is known."""
    noise, paired = report["noise"], report["paired"]
    found = [
        ("", *_test_of(noise)),
        ("this run against the stored one: ", *_test_of(paired)),
        *(("answers against the snapshot: ", each["p"], None) for each in report["drift"]),
    ]
    return [
        f"{what}p = {p:.2g}" + ("" if alpha is None else f" (significance level {alpha:.2g})")
        for what, p, alpha in found
        if p is not None
    ]


def _test_of(found: NoiseReport | PairedReport | None) -> tuple[float | None, float | None]:
    return (None, None) if found is None else (found["p"], found["alpha"])


def _shares(found: VarianceReport) -> str:
    if found["shares"] is None:
        # Of what cannot be told, the first note says why; where nothing varies, there is nothing to say.
        open_ = None in (found["inference"], found["item"], found["perturbation"])
        return found["notes"][0] if open_ and found["notes"] else ""
    inference, item, perturbation = (f"{each:.0%}".replace("%", " %") for each in found["shares"])
    low, high = (round(100 * each) for each in found["share_range"] or (0.0, 0.0))
    if low < high:  # inputs that are all alike say nothing of others
        perturbation += f" [{low}, {high}]"
    return f"mutations {perturbation}, inputs {item}, the model's sampling {inference}"


def _effects(report: TestSummary) -> list[Line]:
    effects = report["variance"]["effects"] if report["variance"] else []
    if not any(each["mean"] for each in effects):
        return []
    lines: list[Line] = [[("operators, against the others on the same inputs:", "label")]]
    wide = max(len(each["operator"]) for each in effects[:MOST_OPERATORS])
    for each in effects[:MOST_OPERATORS]:
        low, high = max(-1.0, each["low"]), min(1.0, each["high"])  # no scores differ by more
        spread = f"[{low:+.2f}, {high:+.2f}]" if low < high else "on every input"
        figures = f"{each['mean']:+.2f} {spread}"
        about = f"  {counted(each['items'], 'input')}"
        style: Style = "bad" if each["mean"] < 0 and each["p"] <= 0.05 else "plain"
        lines.append(
            [
                ("   " + safe(each["operator"]).ljust(wide) + "  ", "plain"),
                HANG,
                (figures, style),
                (about, "dim"),
            ]
        )
    rest = len(effects) - MOST_OPERATORS
    if rest > 0:
        lines.append([(f"   … and {counted(rest, 'operator')} that did better", "dim")])
    return lines


# Counterexamples: the smallest change that breaks an answer, in a few rows.


_EDIT_STYLES: dict[str, Style] = {"=": "plain", "-": "removed", "+": "added"}


_MARKS = 4  # columns of [--] or {++}


_LEAST = 8  # of unchanged text on either side of a change


_WHY = 300


_FIRST, _LAST = re.compile(r"\s*\S*"), re.compile(r"\S*\s*\Z")


def counterexample_lines(report: TestReport, width: int) -> list[Line]:
    """What a failure shows first: the line of the prompt that changed, both answers, and how it fails, a row each."""
    found = report.get("counterexamples") or []
    searched = report.get("searched")
    label = "shrunk" if searched is None else "known" if searched["known"] else "found"
    lines: list[Line] = []
    for nth, each in enumerate(found, 1):
        title = "The smallest change that breaks it" if each["minimal"] else "A change that breaks it"
        title = f"{nth}. {title[0].lower()}{title[1:]}" if len(found) > 1 else title
        on = f", on input {safe(report['inputs'][each['case']])}" if report["inputs"] else ""
        lines += [[(f"{title}{on}", "heading")], *_shown_counterexample(each, width - LABELLED, label), []]
    return lines


def _shown_counterexample(each: CounterexampleReport, room: int, label: str) -> list[Line]:
    """The rows of one; ``label`` says how it came to be known."""
    from pytest_promptfuzz.wording.diffs import answer_rows

    lines = changed_lines(each["diff"], room)
    rows = answer_rows(each["baseline"], each["answer"], room)
    answers = zip(("baseline", "response"), (each["baseline"], each["answer"]), rows, strict=True)
    lines += [row(name, [(text, "plain")]) for name, value, text in answers if value is not None]
    lines.append(row("why", [(safe(each["failure"], limit=_WHY), "bad")]))
    lines.append(row(label, [(_how(each), "dim")]))
    return lines


def _how(each: CounterexampleReport) -> str:
    """Where it comes from, how sure it is, and what its title does not say of its size."""
    failed, asked = each["repeats"]
    often = "each time" if failed == asked else f"{failed} of {counted(asked, 'time')}"
    smaller = "" if each["minimal"] else "; a smaller change may break it too"
    return f"from trial {each['trial']}; breaks the test {often}{smaller}"


def changed_lines(diff: Sequence[Sequence[str]], room: int) -> list[Line]:
    """The lines of the prompt that changed, one row of ``room`` columns each; what was moved as elsewhere."""
    from pytest_promptfuzz.wording.diffs import ShownChange, explain

    shown = explain(diff, context=room)
    changes = [each for each in shown if isinstance(each, ShownChange)]
    if not changes or len(changes) < len(shown):
        return diff_lines(diff)
    rows = [each for change in changes for each in _parted(change, room)]
    most = max(MOST_PROMPT_ROWS, _MOST_COLUMNS // max(room, 1))
    most = most if len(rows) > most + 1 else len(rows)
    lines = [row("" if number else "prompt", _fitted(each, room)) for number, each in enumerate(rows[:most])]
    return [*lines, *_more_places(sum(map(_places_changed, rows[most:])))]


def _parted(change: ShownChange, room: int) -> list[ShownChange]:
    """A change of more places than fit in a row, as several, of which one goes on where another ends."""
    from pytest_promptfuzz.wording.diffs import ShownChange

    parts: list[ShownChange] = []
    row: list[tuple[str, str]] = []
    used = 0
    for place, group in _places(change.pieces):
        wide = sum(columns(text) + _MARKS for _, text in group)
        wide += columns(_short_between(place)) if row else min(columns(place.rpartition("⏎")[2]), _LEAST)
        if row and group and used + wide > room:
            parts.append(ShownChange(tuple(row)))
            row, used, place = [], 0, place.lstrip(" ")  # noqa: PLW2901
        row += [("=", place), *group]
        used += wide
    return [*parts, ShownChange(tuple(each for each in row if each[1]))]


def _places(pieces: Sequence[tuple[str, str]]) -> list[tuple[str, list[tuple[str, str]]]]:
    """What stands before each place that changed, and what changed there; the last has the end of the text."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for kind, text in pieces:
        if kind == "=":
            found.append((text, []))
        elif found:
            found[-1][1].append((kind, text))
        else:
            found.append(("", [(kind, text)]))
    return found


def _short_between(text: str) -> str:
    """What must be shown of a text between two changes: its first word and its last."""
    first, last = _FIRST.match(text), _LAST.search(text)
    if first is None or last is None or first.end() >= last.start():
        return text
    short = f"{first.group()} … {last.group()}"
    return short if columns(short) < columns(text) else text


def _fitted(change: ShownChange, room: int) -> list[Piece]:
    """A change with as much of its line as there is room for."""
    pieces = list(change.pieces)
    before = pieces.pop(0)[1].rpartition("⏎")[2] if pieces[0][0] == "=" else ""
    after = pieces.pop()[1].partition("⏎")[0] if pieces and pieces[-1][0] == "=" else ""
    changed = sum(columns(text) + _MARKS for kind, text in pieces if kind != "=")
    between = [columns(text) for kind, text in pieces if kind == "="]
    if changed + _LEAST * len(between) > room:
        each = (room - _LEAST * len(between)) // (len(pieces) - len(between)) - _MARKS
        pieces = [
            (kind, text if kind == "=" else _middle(text, max(each, 2 * _LEAST))) for kind, text in pieces
        ]
        changed = sum(columns(text) + _MARKS for kind, text in pieces if kind != "=")
    free = max(room - changed, 0)
    inner = max(free - sum(min(columns(text), _LEAST) for text in (before, after)), 0)
    if sum(between) > inner:
        pieces = _shortened(pieces, inner)
    free = max(free - sum(columns(text) for kind, text in pieces if kind == "="), 0)
    before = _end(before, max(free // 2, free - columns(after)))
    after = _start(after, max(free - columns(before), 0))
    return [(text, _EDIT_STYLES[kind]) for kind, text in [("=", before), *pieces, ("=", after)] if text]


def _shortened(pieces: Sequence[tuple[str, str]], room: int) -> list[tuple[str, str]]:
    """What stands between changes in ``room`` columns, its first and last words at the least."""
    shorts = [_short_between(text) if kind == "=" else "" for kind, text in pieces]
    spare = max(room - sum(map(columns, shorts)), 0)
    made = []
    for (kind, text), short in zip(pieces, shorts, strict=True):
        if kind == "=" and columns(text) > columns(short):
            longer = _middle(text, columns(short) + spare)
            short = longer if columns(longer) > columns(short) else short  # noqa: PLW2901
            spare = max(spare - columns(short) + columns(_short_between(text)), 0)
            text = short  # noqa: PLW2901
        made.append((kind, text))
    return made


def _middle(text: str, room: int) -> str:
    """A text without its middle, cut between words where there are some."""
    half = max(_LEAST // 2, (room - 1) // 2)
    if columns(text) <= max(room, 2 * half):
        return text
    return f"{_start(text, half)}{_end(text, half)[1:]}"


def _start(text: str, room: int) -> str:
    """The beginning of a text in so many columns, cut between words where there are some."""
    if columns(text) <= room:
        return text
    cut = _cut(text, room - 2)
    if " " not in cut and _splits(text[len(cut) - 1 : len(cut) + 1]):
        return "…"
    return f"{cut.rpartition(' ')[0] if ' ' in cut else cut} …"


def _end(text: str, room: int) -> str:
    """The end of a text likewise."""
    if columns(text) <= room:
        return text
    cut = _cut(text[::-1], room - 2)[::-1]
    start = len(text) - len(cut)
    if " " not in cut and _splits(text[max(start - 1, 0) : start + 1]):
        return "…"
    return f"… {cut.partition(' ')[2] if ' ' in cut else cut}"


def _splits(around: str) -> bool:
    """Whether a cut between two characters is one through a word, of a script that parts words by blanks."""
    return around.isascii() and around.isalnum()


def _cut(text: str, room: int) -> str:
    """As much of the beginning as takes ``room`` columns."""
    used = 0
    for place, character in enumerate(text):
        used += columns(character)
        if used > room:
            return text[:place]
    return text


# How a test differs from its snapshot, and what came of searches.


def drift_lines(drift: Sequence[DriftReport], *, test: str = "") -> list[Line]:
    """Each that is not ignored as a sentence, with both answers where it is of answers.

    Args:
        drift: Of one test.
        test: Its name, where that does not stand above.
    """
    lines: list[Line] = []
    for each in drift:
        if each["policy"] == "ignore":
            continue
        style: Style = {"fail": "bad", UPDATED: "good"}.get(each["policy"], "warn")  # type: ignore[assignment]  # they are
        label = "Updated: " if each["policy"] == UPDATED else "Drift: "
        named = f"{safe(test)}: " if test else ""
        message = safe(each["message"]).replace("\n", "⏎")
        lines.append([(label, style), HANG, (f"{named}{message}{_failing(each)}", "plain")])
        if each.get("diff"):
            lines += diff_lines(each["diff"])
        if each["kind"] != "comparator" and each["case"] is not None and each["before"] != each["after"]:
            from pytest_promptfuzz.wording.diffs import answer_pair

            before, after = answer_pair(each["before"], each["after"])
            lines += [row("then", [(before, "plain")]), row("now", [(after, "plain")])]
    if any(each["policy"] == "fail" for each in drift):
        accept = "Accept the change with --promptfuzz-update, or undo it."
        lines.append(row("what to do", [(accept, "plain")], indent=""))
    return lines


def _failing(drift: DriftReport) -> str:
    """Which setting fails the test for it; nothing where none does."""
    option = f"--promptfuzz-{drift['kind']}-drift"
    return f". {option}=fail fails the test." if drift["policy"] == "fail" else ""


def summed_lines(reports: Sequence[TestSummary]) -> list[Line]:
    """Below the table: what came of each search, which has no score to show."""
    return [
        [("Searched: ", "label"), HANG, (f"{name_of_test(report)}: {search_text(report)}", "plain")]
        for report in reports
        if report.get("searched")
    ]


_STYLES: dict[str, Style] = {"brittle": "bad", "noisy": "warn", "inconclusive": "warn", "pass": "good"}


def verdict_style(verdict: str) -> Style:
    """The style a verdict is shown in."""
    return _STYLES.get(verdict, "plain")

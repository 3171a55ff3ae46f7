"""The trials of a test in the HTML page: what changed in the prompt, both answers side by side, grouped by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.reporting.html.parts import (
    MOST_CHARACTERS,
    badge,
    block,
    command,
    cut,
    digits,
    folded,
    heading,
    inline,
    money,
)
from pytest_promptfuzz.reporting.model import scored
from pytest_promptfuzz.reporting.phrases import MENDS, grouped, operator_names, stored_answers
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.safe_text import is_digest, show_white
from pytest_promptfuzz.wording.diffs import Move, Reorder, ShownChange, explain, plain_text, shared
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.reporting.html.parts import Node
    from pytest_promptfuzz.reporting.model import TestReport, TrialReport
    from pytest_promptfuzz.wording.diffs import Shown


# What a mutation changed in its prompt, as the terminal explains it: words, moves, reorderings.


_CONTEXT = 60
_MOST_PLACES = 12
_MOST_PARTS = 30
_TAGS = {"-": "del", "+": "ins"}


def changed(diff: Iterable[Sequence[str]]) -> Node:
    """The places that changed with their neighbourhood, moves as moves."""
    shown = explain(diff, context=_CONTEXT)
    made: list[Node] = [_shown(each) for each in shown[:_MOST_PLACES]]
    rest = len(shown) - _MOST_PLACES
    if rest > 0:
        made.append(["p.dim", f"… and {counted(rest, 'more place')} changed"])
    return ["div.changed", *(made or [["p.dim", "(unchanged)"]])]


def whole(diff: Iterable[Sequence[str]]) -> Node:
    """The whole prompt with what changed in it."""
    pieces: list[Node] = []
    room = MOST_CHARACTERS
    for kind, text in diff:
        if room <= 0:
            pieces.append(["span.cut", " … the rest is not shown"])
            break
        shown = cut(text, room)
        room -= len(text)
        pieces += [[_TAGS[kind], *shown]] if kind in _TAGS else shown
    return ["pre.text", {"dir": "auto"}, *pieces]


def _shown(each: Shown) -> Node:
    if isinstance(each, ShownChange):
        return [
            "p.change",
            {"dir": "auto"},
            *([_TAGS[kind], text] if kind in _TAGS else _context(text) for kind, text in each.pieces),
        ]
    return _move(each) if isinstance(each, Move) else _reorder(each)


def _context(text: str) -> str:
    """A stretch between two changes may be as long as it likes."""
    return text if len(text) <= 4 * _CONTEXT else f"{text[: 2 * _CONTEXT]} … {text[-2 * _CONTEXT :]}"


def _move(move: Move) -> Node:
    def place(after: str) -> list[Node]:
        return ["after “", ["bdi", after], "”"] if after else ["at the start"]

    return [
        "div.change",
        ["p", ["span.label", "moved "], ["bdi.moved", *cut(move.text, 600)]],
        ["p.dim", "stood ", *place(move.was_after), "; stands ", *place(move.now_after)],
    ]


def _reorder(reorder: Reorder) -> Node:
    rest = len(reorder.segments) - _MOST_PARTS
    parts: list[Node] = [
        ["li", ["span.label", f"{place} "], ["bdi.moved", *cut(text, 300)]]
        for place, text in reorder.segments[:_MOST_PARTS]
    ]
    if rest > 0:
        parts.append(["li.dim", f"… and {counted(rest, 'more part')}"])
    return [
        "div.change",
        ["p", ["span.label", "reordered "], "the parts in their new order, numbered as they were before"],
        ["ul.reordered", *parts],
    ]


# Two answers side by side, with the words marked in which they differ.


LIMIT = 6_000
"""Characters of an answer that are compared and shown."""
_MARGIN = 200  # characters shown before the first difference of two long answers
# Scripts that do not part words by blanks are compared by characters.
_WORDS = expression(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|\w+|\s+|[^\w\s]")


def answer(value: Any) -> str:
    """An answer as text; JSON is laid out."""
    try:
        return plain_text(value)
    except ValueError:  # a number of more digits than Python writes
        return "(a value that cannot be written)"


def beside(baseline: Any, response: Any, names: tuple[str, str] = ("baseline", "response")) -> Node:
    """The baseline's answer on the left, the response on the right; or what else they are named."""
    one, other = answer(baseline), answer(response)
    if one == other:
        return [
            "div.sides",
            _side(names[0], [*cut(one, LIMIT)]),
            ["div.side", ["p.label", names[1]], ["p.same", "the same, word for word"]],
        ]
    if is_digest(baseline) or is_digest(response):
        return [
            "div.sides",
            *(_side(name, [*cut(text, LIMIT)]) for name, text in zip(names, (one, other), strict=True)),
        ]
    start = 0
    if max(len(one), len(other)) > LIMIT:
        start = max(0, shared(one, other) - _MARGIN)
        start = start if start > _MARGIN else 0
    lead: list[Node] = [["span.cut", f"… {start:,} characters the same … "]] if start else []
    left, right = _marked(one[start : start + LIMIT], other[start : start + LIMIT])
    return [
        "div.sides",
        _side(names[0], [*lead, *left, *_rest(one, start)]),
        _side(names[1], [*lead, *right, *_rest(other, start)]),
    ]


def _rest(text: str, start: int) -> list[Node]:
    rest = len(text) - start - LIMIT
    return [["span.cut", f" … {rest:,} more characters are not shown"]] if rest > 0 else []


def _side(name: str, children: list[Node]) -> Node:
    return ["div.side", ["p.label", name], ["pre.text", {"dir": "auto"}, *children]]


def _marked(one: str, other: str) -> tuple[list[Node], list[Node]]:
    """Both texts in pieces; a piece that the other lacks is marked."""
    from rapidfuzz.distance import LCSseq

    mine, theirs = _WORDS.findall(one), _WORDS.findall(other)
    left: list[tuple[bool, str]] = []
    right: list[tuple[bool, str]] = []
    for step in LCSseq.opcodes(mine, theirs):
        same = step.tag == "equal"
        for pieces, words, start, end in (
            (left, mine, step.src_start, step.src_end),
            (right, theirs, step.dest_start, step.dest_end),
        ):
            _add(pieces, same, "".join(words[start:end]))
    return _nodes(left), _nodes(right)


def _add(pieces: list[tuple[bool, str]], same: bool, text: str) -> None:
    """What differs on both sides of a blank is one piece."""
    if not text:
        return
    if not same and len(pieces) > 1 and pieces[-1][0] and not pieces[-1][1].strip() and not pieces[-2][0]:
        blank = pieces.pop()[1]
        pieces[-1] = (False, pieces[-1][1] + blank + text)
    elif pieces and pieces[-1][0] == same:
        pieces[-1] = (same, pieces[-1][1] + text)
    else:
        pieces.append((same, text))


def _nodes(pieces: list[tuple[bool, str]]) -> list[Node]:
    return [text if same else ["mark", text if text.strip() else show_white(text)] for same, text in pieces]


# A change and what came of it, in two rows: in the table of tests, and where a trial is folded.


_NEAR = 16  # characters beside an edit
_EDIT, _ANSWER = 90, 110  # the most characters of each of its parts


def finding(diff: Iterable[Sequence[str]], before: Any, after: Any) -> list[Node]:
    """What was changed in the prompt, and the answer before and after."""
    shown = explain(diff, context=_NEAR)
    rest = len(shown) - 1
    edit: list[Node] = _edit(shown[0]) if shown else ["(prompt unchanged)"]
    edit += [["span.dim", f" and {counted(rest, 'more place')}"]] if rest > 0 else []
    made: list[Node] = [["span.edit", {"dir": "auto"}, *edit]]
    if (before, after) != (None, None):
        one, other = answer(before), answer(after)
        same = shared(one, other)
        start = same - _NEAR if same > 2 * _NEAR else 0
        was, now = (["bdi", _row(each, start)] for each in (one, other))
        made.append(["span.answers", was, ["span.arrow", " → "], ["b", now]])
    return made


def error_finding(trial: TrialReport) -> list[Node]:
    """Why a trial says nothing, in one row."""
    error = trial["error"] or {"kind": "error", "message": ""}
    return [["span.answers", ["code", error["kind"]], " ", ["bdi", _row(error["message"], 0, 2 * _ANSWER)]]]


def _edit(shown: Shown) -> list[Node]:
    if isinstance(shown, Move):
        return [["span.label", "moved "], ["bdi.moved", _row(shown.text, 0, _EDIT)]]
    if isinstance(shown, Reorder):
        return [["span.label", "reordered "], counted(len(shown.segments), "part")]
    return [
        [_TAGS[kind], _row(text, 0, _EDIT)] if kind in _TAGS else _row(text, 0, 2 * _NEAR)
        for kind, text in shown.pieces
    ]


def _row(text: str, start: int, limit: int = _ANSWER) -> str:
    """A stretch of a text on one row, with an ellipsis where something is left out."""
    end = start + limit
    lead, rest = "…" if start else "", "…" if len(text) > end else ""
    return f"{lead}{text[start:end]}{rest}".replace("\n", "⏎")


_LISTED = 16  # trials of one kind; more are folded once more
_OPENED = 3  # groups of deviations that are shown without being asked for
_TITLES = {
    "deviation": ("Deviations", "the answer changed where it should not"),
    "error": ("Errors", "these trials say nothing about the prompt"),
    "undecided": ("Undecided", "no installed comparison can tell"),
    "minor": ("Minor variations", "0.3 of a trial is lost by each"),
    "equivalent": ("Equivalent", "the behaviour stayed as it was"),
    "not-needed": ("Not needed", "they could not change the verdict"),
}


def trials(report: TestReport, *, short: bool = False) -> list[Node]:
    """The trials that the score is of, by outcome; then those of other relations.

    Args:
        report: Of the test.
        short: Whether those that broke nothing are kept in a short form.
    """
    mine = scored(report)
    ids = {id(each) for each in mine}
    others = [each for each in report["trials"] if id(each) not in ids]
    made = [
        _outcome(report, name, [each for each in mine if each["outcome"] == name], short=short)
        for name in _TITLES
    ]
    if others:
        head = heading(2, "Of other relations", ["small", "beside the score, not in it"])
        made.append(
            (_harmless(report, head, others) if short and len(others) <= _LISTED else None)
            or ["section", head, *(trial_node(report, each) for each in others)]
        )
    return [each for each in made if each]


def _outcome(report: TestReport, name: str, chosen: Sequence[TrialReport], *, short: bool) -> Node:
    if not chosen:
        return ""
    title, about = _TITLES[name]
    if report["relation"] == "must-change" and name in {"deviation", "equivalent"}:
        about = "the answer had to change, and did" + (" not" if name == "deviation" else "")
        title = "Unchanged" if name == "deviation" else "Changed"
    head = heading(2, title, " ", ["span.count", f"{len(chosen)}"], ["small", about])
    if name == "not-needed":
        return ["section", head, ["p", ", ".join(dict.fromkeys(operator_names(each) for each in chosen))]]
    if name == "equivalent":
        if short and (packed := _harmless(report, head, chosen)):
            return packed
        made = [trial_node(report, each) for each in chosen]
        if len(made) > _LISTED:
            made[_LISTED:] = [folded([f"{len(made) - _LISTED:,} more"], *made[_LISTED:], classes="lazy")]
        return ["section", head, *made]
    groups = grouped(chosen, _why)
    return ["section", head, *(_group(report, group, place < _OPENED) for place, group in enumerate(groups))]


def _why(trial: TrialReport) -> tuple[str, ...]:
    failure, error = trial["failure"], trial["error"]
    if error:
        return (error["kind"], error["message"])
    return (failure["type"], failure["message"]) if failure else (trial["reason"], trial["explanation"])


def _group(report: TestReport, group: Sequence[TrialReport], opened: bool) -> Node:
    """Trials that went wrong in the same way, the first one opened."""
    first = group[0]
    lead: list[Node] = []
    if first["error"]:
        mend = MENDS.get(first["error"]["kind"], "")
        lead = [["p.why", ["code", first["error"]["kind"]], " ", *cut(first["error"]["message"], 2_000)]]
        lead += [["p.mend", mend]] if mend else []
    elif len(group) > 1:
        lead = [
            ["p.why", f"{counted(len(group), 'trial')} in the same way: ", ["bdi", *cut(_reason(first), 600)]]
        ]
    made = [
        trial_node(report, each, opened=opened and not place and not first["error"])
        for place, each in enumerate(group)
    ]
    if len(made) > _LISTED:
        made[_LISTED:] = [folded([f"{len(made) - _LISTED:,} more"], *made[_LISTED:], classes="lazy")]
    return [
        "div.group",
        *lead,
        *made,
    ]


def _reason(trial: TrialReport) -> str:
    failure = trial["failure"]
    if not failure:
        return trial["explanation"] or trial["reason"]
    message = failure["message"].partition("\n")[0]
    return message if message.startswith(failure["type"]) else f"{failure['type']}: {message}"


def trial_node(report: TestReport, trial: TrialReport, *, opened: bool = False) -> Node:
    """One trial: its change, both answers, why; the rest folded."""
    similarity = trial["similarity"]
    summary: list[Node] = [
        badge(trial["outcome"]),
        ["strong", operator_names(trial)],
        ["span.dim", f"{trial['dimension']}{_which(report, trial)}"],
        *([["span.figure", f"similarity {digits(similarity)}"]] if similarity is not None else []),
        *_folded(report, trial),
    ]
    # Where nothing broke, which is nearly everywhere, the prompt with its marks says enough.
    kept = trial["outcome"] in {"equivalent", "not-needed"}
    body: list[Node] = [heading(3, "Prompt"), whole(trial["diff"]) if kept else changed(trial["diff"])]
    if trial["outcome"] != "not-needed" and not trial["error"]:
        if not (report["oracle_only"] and trial["baseline"] is None and trial["response"] is None):
            body += [heading(3, "Answers"), beside(trial["baseline"], trial["response"])]
        body += _judged(trial)
    elif trial["error"]:
        body.append(["p.why", ["code", trial["error"]["kind"]], " ", *cut(trial["error"]["message"], 2_000)])
    body += _again(trial)
    body += [
        *([] if kept else [folded(["The whole prompt"], whole(trial["diff"]))]),
        ["p.dim", _about(trial)],
        *([command(trial["reproduce"])] if trial["reproduce"] else []),
    ]
    shown = f"trial lazy is-{trial['outcome']}"
    return folded(summary, *body, opened=opened, classes=shown, **{"data-trial": trial["id"]})


def _again(trial: TrialReport) -> list[Node]:
    if not trial["again"]:
        return []
    differs = sum(outcome != "equivalent" for outcome in trial["again"])
    return [["p", f"Asked again {len(trial['again'])} times: it differed {differs} times."]]


_ID_PLACE = "{id}"


def _harmless(report: TestReport, head: Node, chosen: Sequence[TrialReport]) -> Node | None:
    """A section of trials that broke nothing in its short form; nothing where a trial does not fit.

    The page's script makes of it what ``trial_node`` makes. What several trials have in common (prompts, answers, why
    they are equivalent) stands in it once.
    """
    texts: dict[str, int] = {}
    said: list[list[Node]] = []
    last: Any = None
    made: list[list[Any]] = []
    for trial in chosen:
        name, diff, similarity, command = (
            trial["id"],
            trial["diff"],
            trial["similarity"],
            trial["reproduce"],
        )
        size = sum([len(text) for _, text in diff])
        if (
            size >= MOST_CHARACTERS
            or trial["error"]
            or trial["outcome"] != "equivalent"
            or _ID_PLACE in command
        ):
            return None
        why = (trial["explanation"], trial["tiers"], trial["failure"], trial["again"])
        if why != last:
            last = why
            said.append([*_judged(trial), *_again(trial)])
        prompt = "".join([text for kind, text in diff if kind != "+"])
        sides = _sides(report, trial)
        made.append(
            [
                name,
                operator_names(trial),
                f"{trial['dimension']}{_which(report, trial)}",
                None if similarity is None else digits(similarity),
                texts.setdefault(prompt, len(texts)),
                [text if kind == "+" else -len(text) if kind == "-" else len(text) for kind, text in diff],
                texts.setdefault(sides, len(texts)) if isinstance(sides, str) else sides,
                len(said) - 1,
                _figures(trial),
                texts.setdefault(command.replace(name, _ID_PLACE), len(texts)),
            ]
        )
    return ["=harmless", head, list(texts), said, made]


def _sides(report: TestReport, trial: TrialReport) -> Node | None:
    """The baseline's answer where the response is the same, else both of them; nothing where no answer was kept."""
    baseline, response = trial["baseline"], trial["response"]
    if report["oracle_only"] and baseline is None and response is None:
        return None
    if isinstance(baseline, str) and baseline == response and len(shown := answer(baseline)) <= LIMIT:
        return shown
    return beside(baseline, response)


def _folded(report: TestReport, trial: TrialReport) -> list[Node]:
    """What is seen of a trial that broke something while it is folded: its edit and its answer."""
    if trial["error"]:
        return [["span.finding", *error_finding(trial)]]
    if trial["outcome"] not in {"deviation", "minor", "undecided"}:
        return []
    answers = (None, None) if report["oracle_only"] else (trial["baseline"], trial["response"])
    return [["span.finding", *finding(trial["diff"], *answers)]]


def _which(report: TestReport, trial: TrialReport) -> str:
    said = ""
    if report["inputs"] and trial["case"] < len(report["inputs"]):
        said = f" · input {report['inputs'][trial['case']][:60]}"
    elif len(report["baselines"]) > 1:
        said = f" · example {trial['case'] + 1}"
    return said + (f" · sample {trial['sample'] + 1}" if trial["sample"] else "")


def _judged(trial: TrialReport) -> list[Node]:
    """Why the outcome is what it is: the reason, what each tier said, a check's own message."""
    made: list[Node] = []
    if trial["explanation"]:
        made.append(["p.why", ["b", "Why: "], inline(trial["explanation"], 2_000)])
    if trial["tiers"]:
        tiers = [
            ["li", str(name), " ", ["b", digits(similarity)], *([" ", inline(str(note))] if note else [])]
            for name, similarity, note in trial["tiers"]
        ]
        made.append(["ul.tiers", *tiers])
    failure = trial["failure"]
    if failure:
        made.append(["p.why", ["b", "Check: "], inline(_reason(trial), 2_000)])
        full: Iterable[str] = (failure["message"], failure["traceback"])
        parts = [block(each, 8_000) for each in full if "\n" in each.strip()]
        made += [folded(["The check's message and traceback"], *parts)] if parts else []
    return made


def _about(trial: TrialReport) -> str:
    return f"trial {trial['id']} · {_figures(trial)}"


def _figures(trial: TrialReport) -> str:
    spent = trial["spent"]
    said = (
        f"severity {digits(trial['severity'])} · {trial['change_rate']:.0%} of the words · "
        f"preserves: {trial['preserves']}"
    )
    if spent["calls"] or spent["hits"]:
        said += f" · {counted(spent['calls'], 'call') if spent['calls'] else 'a stored answer'}"
    return f"{said} · {digits(spent['seconds'])} s" if spent["seconds"] else said


def spent_text(report: TestReport) -> str:
    """What a test cost, in a few words."""
    spent = report["spent"]
    said = [counted(spent["calls"], "call"), *stored_answers([spent])]
    said += [f"{spent['retries']:,} made again"] if spent["retries"] else []
    said += (
        [f"{spent['judge_calls'] + spent['judge_hits']:,} of a judge"]
        if spent["judge_calls"] + spent["judge_hits"]
        else []
    )
    said += [f"{spent['saved']:,} not needed"] if spent["saved"] else []
    said += [counted(spent["controls"], "control")] if spent["controls"] else []
    said += [money(report["cost"])] if report["cost"] is not None else []
    return ", ".join(said)

"""SQL and programs compared by what they ask for: normal forms, then what little differs."""

from __future__ import annotations

import re

from rapidfuzz.distance import Indel

from pytest_promptfuzz.comparing import canonical_sql, code, code_answers, code_changes, guards, sql
from pytest_promptfuzz.comparing.comparison import Comparison, Outcome, Tier
from pytest_promptfuzz.comparing.guards.pair import Pair
from pytest_promptfuzz.comparing.long import shared_ends
from pytest_promptfuzz.comparing.text import analyse, shown
from pytest_promptfuzz.expressions import expression

_FEW_CHANGES = 2
_SMALL = 4
_SAME_FRAME = 0.5
_SHOWN = 12

_MOST = 5000
"""Tokens between what two programs share at both ends up to which they are aligned."""

Change = tuple[tuple[str, ...], tuple[str, ...]]


def compare_sql(first: str, second: str, *, dialect: str | None = None) -> Comparison | None:
    """Compare two queries in normal form, and where that leaves it open in the canonical form of ``sqlglot``.

    Another statement, another name, value or operator in an equal frame, and a condition that is left out are a
    deviation. Queries of different forms are undecided, as they may return the same rows.

    Args:
        first: The baseline.
        second: The response.
        dialect: In which dialect ``sqlglot`` reads them; ``None`` takes what a query shows.

    Returns:
        ``None`` where neither answer is a query.
    """
    query_a, query_b = sql.statement(first), sql.statement(second)
    if query_a is None and query_b is None:
        return None
    if query_a is None or query_b is None:
        which, other, text = (
            ("response", "baseline", second) if query_b is None else ("baseline", "response", first)
        )
        return _answer(
            "deviation", 0.0, "sql-format", f"the {other} is SQL, the {which} is not: {shown(text)}"
        )
    found, changes = _by_tokens(sql.tokens(query_a), sql.tokens(query_b))
    if found.outcome != "equivalent" and not _other_value(changes):
        found = _by_canonical_form(query_a, query_b, dialect) or found
    if (query_a == first) != (query_b == second) and found.outcome == "equivalent":
        return _answer("minor", 1.0, "sql-wrapped", "the query is equal, but stands within other text")
    return found


def _by_tokens(one: list[str], two: list[str]) -> tuple[Comparison, list[Change]]:
    """What the normal forms of two queries show, and what differs in them."""
    if one == two:
        said = "the queries are equal but for case, space, optional words and order"
        return _answer("equivalent", 1.0, "sql", said), []
    one, two = sql.unnamed(one), sql.unnamed(two)
    if one == two:
        return _answer("minor", 0.95, "sql", "the queries are equal, but name their columns otherwise"), []
    changes = _changes(one, two)
    likeness = _likeness(one, two, changes)
    words = _words(changes[0])
    if one[:1] != two[:1]:
        verbs = (one[0].upper() if one else "nothing", two[0].upper() if two else "nothing")
        return _answer("deviation", 0.0, "sql", f"{verbs[0]} became {verbs[1]}"), changes
    if len(changes) == 1 and _sorting(changes[0], one, two):
        said = f"only one of the queries sorts its rows: {words}"
        return _answer("minor", likeness, "sql", said), changes
    if _few(changes, likeness):
        return _answer("deviation", likeness, "sql", f"the queries differ: {words}"), changes
    mend = "" if canonical_sql.installed() else "; the extra 'sql' can tell in more cases"
    said = (
        f"the queries are written differently (first: {words}) and may still return the same rows; run them against a "
        f"small database in the test and compare the rows{mend}"
    )
    return _answer("undecided", likeness, "sql-form", said), changes


def _other_value(changes: list[Change]) -> bool:
    """Whether one value stands in another's place, and not only elsewhere: no rewriting makes that the same."""
    gone, come = ({token for change in changes for token in change[side]} for side in (0, 1))
    return any(
        len(old) == len(new) == 1
        and all(each[0].isdigit() or each[0] == "'" for each in (old[0], new[0]))
        and (old[0] not in come or new[0] not in gone)
        for old, new in changes
    )


def _by_canonical_form(first: str, second: str, dialect: str | None) -> Comparison | None:
    """That two queries are the same however they are written; ``None`` where that does not show."""
    for names in (True, False):
        forms = [
            canonical_sql.canonical(sql.bare(each), dialect=dialect, names=names) for each in (first, second)
        ]
        if forms[0] is None or forms[0] != forms[1]:
            continue
        if names:
            return _answer(
                "equivalent", 1.0, "sql-canonical", "the queries are written differently and ask for the same"
            )
        said = "the queries ask for the same, but name their columns otherwise"
        return _answer("minor", 0.95, "sql-canonical", said)
    return None


def compare_code(first: str, second: str) -> Comparison | None:
    """Compare two programs as ``_programs`` does, and where they are the same what their comments oblige one to.

    A comment that contradicts its counterpart is a deviation where one of them says what must or must not be, else
    minor; such an obligation that only one program has is minor too.

    Returns:
        ``None`` where one of the answers is a sentence, and the other no more than a line: these are compared as texts.
    """
    found = _no_program(first, second)
    if found:
        return found
    if any(map(code_answers.is_prose, (first, second))) and "\n" not in first.strip() + second.strip():
        return None
    found = _programs(first, second)
    if found.outcome != "equivalent":
        return found
    one, two = (" ".join(code.comments(code.block(each))) for each in (first, second))
    if one == two or not (_OBLIGES.search(one) or _OBLIGES.search(two)):
        return found
    if not one or not two:
        which = "baseline" if one else "response"
        said = f"the programs are equal; only the {which} says in a comment {shown(one or two)}"
        return _answer("minor", 0.9, "code-comment", said)
    pair = Pair(analyse(one), analyse(two))
    findings = guards.run(pair, guards.CHECKS)
    if findings and findings[-1].kind == "contradiction":
        said = f"the programs are equal, but a comment is not: {findings[-1].explanation}"
        return _answer("deviation", 0.0, "code-comment", said)
    if findings:
        said = f"the programs are equal; of their comments, {findings[-1].explanation}"
        return _answer("minor", 0.9, "code-comment", said)
    return found


def _no_program(first: str, second: str) -> Comparison | None:
    """A refusal, or a program that breaks off, against a whole program."""
    declined = code_answers.declines(first), code_answers.declines(second)
    if declined[0] != declined[1]:
        which, text = ("baseline", first) if declined[0] else ("response", second)
        return _answer(
            "deviation", 0.0, "guard:refusal", f"only the {which} declines the request: {shown(text)}"
        )
    one, two = code.block(first), code.block(second)
    for which, whole, start in (("response", one, two), ("baseline", two, one)):
        if code_answers.cut_off(whole, start):
            said = f"the {which} breaks off after {shown(start[-_SHOWN_END:])}"
            return _answer("deviation", len(start) / len(whole), "guard:sequence", said)
    return None


_SHOWN_END = 40

_OBLIGES = expression(
    r"\b(?:must|mustn't|shall|should|shouldn't|never|always|only|required?|requires|forbidden|allowed|do not|don't"
    r"|cannot|can't|may not|not safe|unsafe|thread-?safe|deprecated|not|no|mandatory|optional"
    r"|muss|darf|nicht|nie|doit|jamais|debe|nunca)\b",
    re.IGNORECASE,
)


def _programs(first: str, second: str) -> Comparison:
    """Compare two programs: by syntax tree where both are Python, else token by token.

    An operator, a value or a negation changed in an equal frame is a deviation; names that changed alike throughout
    are minor; programs written otherwise are undecided, as they may do the same.
    """
    one, two = code.block(first), code.block(second)
    tree = code.python_form(one)
    if tree is not None and tree == code.python_form(two):
        return _answer("equivalent", 1.0, "code", "the programs have the same syntax tree")
    tokens_a, tokens_b = code.tokens(one), code.tokens(two)
    if tokens_a == tokens_b:
        return _answer(
            "equivalent", 1.0, "code", "the programs are equal but for comments, space and style of quotes"
        )
    form = code.python_canonical(one)
    if form is not None and form == code.python_canonical(two):
        said = "the programs are written differently and do the same"
        return _answer("equivalent", 1.0, "code-canonical", said)
    changes = _changes(tokens_a, tokens_b)
    likeness = _likeness(tokens_a, tokens_b, changes)
    renamed = code.renaming(tokens_a, tokens_b)
    if renamed:
        names = ", ".join(f"{old} became {new}" for old, new in renamed[:3])
        return _answer("minor", 0.95, "code", f"the programs differ in names only: {names}")
    if code_changes.surely_differ(tokens_a, tokens_b, changes):
        return _answer("deviation", likeness, "code", f"the programs differ: {_words(changes[0])}")
    argument = code_changes.other_argument(one, two)
    if argument:
        old, new = argument
        return _answer("deviation", likeness, "code", f"the commands differ: {old} became {new}")
    lines = _changes(code.lines(one), code.lines(two))
    difference = lines[0] if lines else changes[0]
    words = f"{shown(' '.join(difference[0]))} became {shown(' '.join(difference[1]))}"
    return _answer(
        "undecided",
        likeness,
        "code-form",
        f"the programs differ (first: {words}) and may still do the same; run them in the test and compare",
    )


def _answer(outcome: Outcome, likeness: float, reason: str, explanation: str) -> Comparison:
    similarity = None if outcome == "undecided" else likeness
    return Comparison(outcome, similarity, reason, explanation, (Tier("structure", likeness),))


def _likeness(one: list[str], two: list[str], changes: list[Change]) -> float:
    """Indel similarity, 0..1: the share of the tokens that no change touches."""
    whole = len(one) + len(two)
    return 1 - sum(len(old) + len(new) for old, new in changes) / whole if whole else 1.0


def _sorting(change: Change, one: list[str], two: list[str]) -> bool:
    """Whether the only difference is an ``ORDER BY`` at the end."""
    extra = [*change[0], *change[1]]
    whole = one if change[0] else two
    return not all(change) and extra[:2] == ["order", "by"] and whole[-len(extra) :] == extra


def _few(changes: list[Change], likeness: float) -> bool:
    """Whether few small changes in an equal frame differ: these change what is asked for."""
    return (
        likeness >= _SAME_FRAME
        and len(changes) <= _FEW_CHANGES
        and all(len(old) <= _SMALL and len(new) <= _SMALL for old, new in changes)
    ) or (len(changes) == 1 and likeness >= _SAME_FRAME and not all(changes[0]))


def _words(change: Change) -> str:
    old, new = (_line([token for token in each if token[0] != "\n"]) for each in change)
    if not old and not new:
        return "a line is indented otherwise"
    if not new:
        return f"{old} is in the baseline only"
    if not old:
        return f"{new} is in the response only"
    return f"{old} became {new}"


def _changes(one: list[str], two: list[str]) -> list[Change]:
    start, end = shared_ends(one, two)
    one, two = one[start : len(one) - end], two[start : len(two) - end]
    if max(len(one), len(two)) > _MOST:
        return [(tuple(one), tuple(two))]
    changes: list[Change] = []
    before_a = before_b = 0
    for block in Indel.opcodes(one, two).as_matching_blocks():
        gone, come = tuple(one[before_a : block.a]), tuple(two[before_b : block.b])
        if gone or come:
            changes.append((gone, come))
        before_a, before_b = block.a + block.size, block.b + block.size
    return changes


def _line(tokens: list[str]) -> str:
    return " ".join(tokens[:_SHOWN]) + (" …" if len(tokens) > _SHOWN else "")

"""Figures of the baseline that the response replaces or leaves out."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.claims.names import missing_names, shared_names
from pytest_promptfuzz.comparing.claims.places import same_place
from pytest_promptfuzz.comparing.claims.residue import unmatched
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.values.figures import Figure, agree

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.reading.answer import Answer, Token
    from pytest_promptfuzz.comparing.reading.pieces import Key

_COUNTING = word_set("zone year line step grade level phase tier class room gate page chapter")
"""Nouns that a number after them names one of: "zone 3"."""


def changed_figure(baseline: Answer, response: Answer) -> Finding | None:
    """A figure of the baseline that became another, or that the response leaves out.

    Two answers of one application give the same figures, two answers of different authors need not: a figure that is
    missing is often one that follows from the others (a day between two dates). It counts where it is an amount of
    money or a share, or where nothing else changed; one that stands in its place counts always.
    """
    gone, come = _without(baseline, response), _without(response, baseline)
    telling = [(token, figure) for token, figure in gone if not (figure.is_slight or _is_step(token))]
    for token, old in telling:
        for other, new in come:
            other_unit = old.plain is not None and old.plain == new.plain
            if (old.measure == new.measure or other_unit) and same_place(token, other):
                return _became(old, new)
    if telling:
        essential = next((figure for token, figure in telling if _is_essential(token, response)), None)
        old = essential or telling[0][1]
        replaced = [new for _, new in come if new.measure == old.measure and not new.is_slight]
        share = _share(baseline, response, {token.key for token, _ in telling})
        if replaced and share >= _SOME:
            return _became(old, replaced[0])
        only_left_out = share > _MOST and not unmatched(response, baseline)
        decides = essential is not None or only_left_out
        return Finding(
            "numbers", "contradiction" if decides else "doubt", f"the response does not give {old.written}"
        )
    changed = _in_other_rows(baseline, response) or _recounted(gone, come)
    return _became(*changed) if changed else None


def _is_essential(token: Token, response: Answer) -> bool:
    """Whether a figure is an amount or a share of which its statement gives no other that the response has.

    "From 18 % to 22 %" is told by "to 22 %".
    """
    kept = {figure.written for _, figure in response.figures}
    assert token.figure is not None
    return token.figure.measure in _ESSENTIAL and not any(
        each.figure is not None
        and each.figure.measure == token.figure.measure
        and each.figure.written in kept
        for each in token.statement.pieces
    )


_OPERATORS = frozenset("=×+*÷→/")


def _is_step(token: Token) -> bool:
    """Whether a figure stands in a calculation, of which another way of writing shows other steps."""
    tokens = token.statement.pieces
    return any(
        each.text in _OPERATORS
        for each in (*tokens[max(0, token.at - 1) : token.at], *tokens[token.at + 1 : token.at + 2])
    )


_ESSENTIAL = frozenset({"money", "percent"})
"""Measures of what an answer is asked for, seldom left out because it follows from the rest."""
_SOME, _MOST = 0.5, 0.85
"""Shares of the baseline's figures and names that the response has, from which a replaced figure decides, and one that
is left out where the response says nothing new."""


def _became(old: Figure, new: Figure) -> Finding:
    return Finding("numbers", "contradiction", f"{old.written} in the baseline became {new.written}")


def _share(baseline: Answer, response: Answer, gone: set[Key]) -> float:
    """The share of the baseline's figures and names that the response has too, 0..1."""
    figures = {token.key for token, figure in baseline.figures if not figure.is_slight}
    written = {token.low.removesuffix("'s") for token in baseline.capitals}
    names = shared_names(baseline, response) & written
    return 1 - (len(gone) + len(missing_names(baseline, response))) / (len(figures) + len(names))


def _in_other_rows(baseline: Answer, response: Answer) -> tuple[Figure, Figure] | None:
    """A figure and the one that stands in its place in a statement of the same words: a row, "Dairy sales: 45"."""
    there = _rows(response)
    for words, figures in _rows(baseline).items():
        others = there.get(words, figures)
        if len(others) != len(figures):
            continue
        for old in figures:
            if any(agree(old, new) and old.negative == new.negative for new in others):
                continue
            replaced = next((new for new in others if new.measure == old.measure), None)
            if replaced is not None:
                return old, replaced
    return None


def _rows(answer: Answer) -> dict[frozenset[Key], list[Figure]]:
    """The figures of each statement by its other telling words."""
    found: dict[frozenset[Key], list[Figure]] = {}
    for statement in answer.statements:
        figures = [each.figure for each in statement.pieces if each.figure is not None]
        words = frozenset([each.key for each in statement.pieces if each.telling and each.figure is None])
        if figures and words:
            found.setdefault(words, []).extend(figures)
    return found


def added_figure(baseline: Answer, response: Answer) -> Figure | None:
    """A figure that only the response gives."""
    return next((figure for _, figure in _without(response, baseline) if not figure.is_slight), None)


def _without(one: Answer, two: Answer) -> list[tuple[Token, Figure]]:
    """The figures of an answer that none of the other agrees with."""
    if one.values <= two.values:
        return []
    others = [figure for _, figure in two.figures]
    return [
        (token, figure)
        for token, figure in one.figures
        if figure.value not in two.values
        and not any(agree(figure, other) or _is_fraction(figure, other) for other in others)
        and two.forms.isdisjoint(_IN_WORDS.get((figure.measure, figure.amount), ()))
    ]


def _is_fraction(one: Figure, two: Figure) -> bool:
    """Whether one is the share that the other gives as a number: 6 % and 0.06."""
    if (one.measure == "percent") == (two.measure == "percent") or one.amount is None or two.amount is None:
        return False
    share, number = (one, two) if one.measure == "percent" else (two, one)
    return number.measure in {"number", "times"} and isclose(
        share.amount or 0.0, 100 * (number.amount or 0.0)
    )


_DAY = 86400.0
_IN_WORDS: dict[tuple[str, float | None], frozenset[str]] = {
    ("percent", 25.0): frozenset({"quarter"}),
    ("percent", 50.0): frozenset({"half", "halve", "halved"}),
    ("percent", 100.0): frozenset({"full", "fully", "whole", "entire", "all"}),
    ("months", 1.0): frozenset({"month", "monthly"}),
    ("months", 12.0): frozenset({"year", "yearly", "annual", "annually"}),
    ("time", 7 * _DAY): frozenset({"week", "weekly"}),
    ("time", _DAY): frozenset({"day", "daily"}),
    ("time", 3600.0): frozenset({"hour", "hourly"}),
    ("money", 0.0): frozenset({"free", "no", "nothing"}),
}
"""Figures that words without a number give as well: "50 %" and "half", "12 months" and "a year"."""


def _recounted(
    gone: list[tuple[Token, Figure]], come: list[tuple[Token, Figure]]
) -> tuple[Figure, Figure] | None:
    """Two small numbers, each in one answer only, of the same thing: "five shifts", "fifteen shifts"."""
    before, after = _counts(gone), _counts(come)
    return next(((before[key], after[key]) for key in before if key in after), None)


def _counts(figures: list[tuple[Token, Figure]]) -> dict[tuple[str, Key], Figure]:
    """What is counted by each of the figures (the noun behind it), or named by it (the noun before it)."""
    found: dict[tuple[str, Key], Figure] = {}
    for token, figure in figures:
        if figure.measure not in {"number", "one", "ordinal"}:
            continue
        tokens = token.statement.pieces
        for counted in tokens[token.at + 1 : token.at + 3]:
            if counted.kind != "word":
                break
            if counted.telling:
                found.setdefault(("of", counted.key), figure)
                break
        named = tokens[token.at - 1] if token.at else None
        if named is not None and (named.low in _COUNTING or (named.telling and named.is_capital)):
            found.setdefault(("named", named.key), figure)
    return found
